import { describe, expect, it } from "vitest";
import type { Handler, Preview } from "../../api";
import {
  blockers,
  bodyOf,
  columnFor,
  type Draft,
  EMPTY_DRAFT,
  fieldsOf,
  suggested,
  withColumn,
} from "./model";

const FILE = new File(["Title\nriver\n"], "words.csv");
const PREVIEW: Preview = {
  format: "csv",
  columns: ["Title", "year"],
  rows: [{ Title: "river", year: "1984" }],
  problems: [],
  notes: [],
  missing: [],
  sheets: [],
  misread: false,
  encoding: null,
};
const HANDLER = { name: "sample.words", needs: ["word"], configSchema: null } as unknown as Handler;

function draft(part: Partial<Draft>): Draft {
  return { ...EMPTY_DRAFT, files: [FILE], handler: "sample.words", ...part };
}

describe("what keeps a job from being made", () => {
  it("is nothing once the file is read and its columns are what the handler needs", () => {
    expect(blockers(draft({ names: { Title: "word" } }), PREVIEW, HANDLER)).toEqual([]);
  });

  it("is the lack of rows, of a handler, of a column", () => {
    expect(blockers(EMPTY_DRAFT, undefined, undefined)).toHaveLength(2);
    expect(blockers(draft({}), undefined, HANDLER)).toEqual([
      "Wait until the first rows are read.",
    ]);
    expect(blockers(draft({}), PREVIEW, HANDLER)).toEqual([
      "Choose the column for “word”: the handler requires it.",
    ]);
  });

  it("is an encoding that makes letters wrong, until one is chosen", () => {
    const misread = { ...PREVIEW, misread: true, encoding: "cp1252" };
    const names = { Title: "word" };
    expect(blockers(draft({ names }), misread, HANDLER).join()).toContain("encoding");
  });

  it("is a setting beyond its limits", () => {
    const properties = { days: { type: "integer", title: "Days", minimum: 1, maximum: 365 } };
    const handler = { ...HANDLER, needs: [], configSchema: { properties } };
    const left = (days: unknown) => blockers(draft({ config: { days } }), PREVIEW, handler);
    expect(left(99_999)).toEqual(["“Days” must be at most 365."]);
    expect(left(0)).toEqual(["“Days” must be at least 1."]);
    expect(left(1.5)).toEqual(["“Days” must be a whole number."]);
    expect(left(30)).toEqual([]);
  });

  it("is a name that two columns would bear", () => {
    const names = { Title: "word", year: "word" };
    expect(blockers(draft({ names }), PREVIEW, HANDLER).join()).toContain("Two columns");
  });

  it("is a setting that the handler needs, or one that is not JSON", () => {
    const handler = { ...HANDLER, needs: [], configSchema: { required: ["service"] } };
    expect(blockers(draft({}), PREVIEW, handler)).toEqual([
      "Enter “service”: the handler requires it.",
    ]);
    const config = { service: "a.test" };
    expect(blockers(draft({ config, configProblem: "bad" }), PREVIEW, handler)).toEqual(["bad"]);
  });

  it("is a bad row where none may be, and never a bad row that may be kept", () => {
    const rows = [...PREVIEW.rows, ...PREVIEW.rows];
    const preview = { ...PREVIEW, rows, problems: [{ row: 3, problem: "one cell too many" }] };
    const names = { Title: "word" };
    expect(blockers(draft({ names }), preview, HANDLER)).toEqual([]);
    expect(blockers(draft({ names, onBadRow: "fail" }), preview, HANDLER).join()).toContain(
      "Line 3",
    );
    const hopeless = { ...preview, rows: PREVIEW.rows };
    expect(blockers(draft({ names }), hopeless, HANDLER).join()).toContain("No row is valid");
  });
});

describe("a draft as the API takes it", () => {
  const whole = draft({
    names: { Title: " word ", year: "" },
    key: ["Title", "year"],
    name: " Rivers ",
    reuse: "30d",
  });

  it("names the key by the names that columns will have, and only real renames", () => {
    expect(fieldsOf(whole)).toMatchObject({
      key: "word,year",
      columns: { Title: "word" },
      name: "Rivers",
      reuse: "30d",
      onBadRow: "item-error",
    });
  });

  it("has the source instead of files, and nothing where nothing was chosen", () => {
    const body = bodyOf({ ...whole, files: [], source: "s3://bucket/a.csv", reuse: "" });
    expect(body).toMatchObject({ source: "s3://bucket/a.csv", key: ["word", "year"] });
    expect(body).not.toHaveProperty("reuse");
  });
});

const COLUMNS = ["Product Name", "SKU", "price"];

describe("columns for what a handler needs", () => {
  it("are suggested where only the writing differs", () => {
    expect(suggested(COLUMNS, ["product_name", "sku", "price", "colour"])).toEqual({
      "Product Name": "product_name",
      SKU: "sku",
    });
  });

  it("are never the same column twice", () => {
    expect(suggested(["SKU"], ["sku", "s_k_u"])).toEqual({ SKU: "sku" });
  });

  it("are found under their new names", () => {
    expect(columnFor(COLUMNS, { SKU: "id" }, "id")).toBe("SKU");
    expect(columnFor(COLUMNS, {}, "price")).toBe("price");
    expect(columnFor(COLUMNS, { price: "cost" }, "price")).toBe("");
  });

  it("make way for one another", () => {
    const first = withColumn(COLUMNS, {}, "id", "SKU");
    expect(first).toEqual({ SKU: "id" });
    expect(withColumn(COLUMNS, first, "id", "price")).toEqual({ price: "id" });
    expect(withColumn(COLUMNS, first, "id", "")).toEqual({});
    expect(withColumn(COLUMNS, {}, "price", "SKU")).toEqual({
      price: "price_original",
      SKU: "price",
    });
    expect(
      withColumn(COLUMNS, { price: "price_original", SKU: "price" }, "price", "price"),
    ).toEqual({});
  });
});
