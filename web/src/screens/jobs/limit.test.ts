import { expect, it } from "vitest";
import { limitIn } from "./limit";

it("parts what limits a job into the place and the reason", () => {
  expect(limitIn({ kind: "gate", why: "127.0.0.1:8080: the learned rate, 1.9/s" })).toEqual({
    where: "127.0.0.1:8080",
    why: "the learned rate, 1.9/s",
  });
  expect(limitIn({ kind: "worker", why: "no worker is running: start one" })).toEqual({
    where: "",
    why: "no worker is running: start one",
  });
});
