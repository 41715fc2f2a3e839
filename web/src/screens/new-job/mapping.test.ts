import { describe, expect, it } from "vitest";
import { columnFor, suggested, withColumn } from "./mapping";

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
