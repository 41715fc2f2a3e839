import { act, renderHook } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { useSelection } from "./selection";

describe("a selection", () => {
  it("is of some, or of all but some, and goes with the filter", () => {
    const { result, rerender } = renderHook(({ filter }) => useSelection(filter), {
      initialProps: { filter: "a" },
    });
    act(() => result.current.toggle("1"));
    expect([result.current.has("1"), result.current.has("2")]).toEqual([true, false]);
    act(() => result.current.selectAll());
    act(() => result.current.toggle("2"));
    expect([result.current.has("1"), result.current.has("2")]).toEqual([true, false]);
    expect(result.current.everything).toBe(true);
    rerender({ filter: "b" });
    expect(result.current.any).toBe(false);
  });
});
