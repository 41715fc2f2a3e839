import { describe, expect, it } from "vitest";
import { beginningOf } from "./preview";

const LARGE = new Uint8Array(3 * 1024 * 1024);

describe("the beginning of files", () => {
  it("is short for a long file of lines", () => {
    const [cut] = beginningOf([new File([LARGE], "rows.CSV")]);
    expect(cut).toMatchObject({ name: "rows.CSV", size: 2 * 1024 * 1024 });
  });

  it("is the whole of a file that cannot be cut, or is short", () => {
    const book = new File([LARGE], "rows.xlsx");
    const short = new File(["id\n1\n"], "rows.csv");
    expect(beginningOf([book, short])).toEqual([book, short]);
  });

  it("is a few of very many", () => {
    const images = Array.from({ length: 50 }, (_, n) => new File(["x"], `${n}.png`));
    expect(beginningOf(images)).toHaveLength(20);
  });
});
