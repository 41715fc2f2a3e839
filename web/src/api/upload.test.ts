import { describe, expect, it } from "vitest";
import { form } from "./upload";

describe("the form of an upload", () => {
  it("sends text as it is, the rest as JSON, and nothing that is empty", () => {
    const file = new File(["id\n1\n"], "rows.csv");
    const data = form([file], {
      handler: "shop.price",
      name: "",
      priority: 0,
      columns: { Title: "title" },
    });
    expect(data.get("handler")).toBe("shop.price");
    expect(data.has("name")).toBe(false);
    expect(data.get("priority")).toBe("0");
    expect(data.get("columns")).toBe('{"Title":"title"}');
    expect((data.get("file") as File).name).toBe("rows.csv");
  });
});
