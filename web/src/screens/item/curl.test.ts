import { expect, it } from "vitest";
import { curlOf, curlOfApi } from "./curl";

it("writes a call as a command that a shell takes as it is", () => {
  const url = "https://api.example/a?q=it's&key=***";
  expect(curlOf({ verb: "GET", url })).toBe(`curl 'https://api.example/a?q=it'\\''s&key=***'`);
  expect(curlOf({ verb: "POST", url: "https://api.example/" })).toBe(
    "curl -X POST 'https://api.example/'",
  );
  expect(curlOf({ verb: "GET", url: "" })).toBeNull();
});

it("never writes a token down", () => {
  expect(curlOfApi("http://127.0.0.1:8470", "/api/items/7")).toBe(
    `curl -H "Authorization: Bearer $HEADGATE_TOKEN" 'http://127.0.0.1:8470/api/items/7'`,
  );
});
