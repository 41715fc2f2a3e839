import { act, renderHook } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { useSelection } from "./selection";

describe("a selection", () => {
  it("takes several rows in or out, also of all that match", () => {
    const { result } = renderHook(() => useSelection("a"));
    act(() => result.current.choose(["1", "2", "3"], true));
    act(() => result.current.choose(["2"], false));
    expect(["1", "2", "3"].filter(result.current.has)).toEqual(["1", "3"]);
    act(() => result.current.selectAll());
    act(() => result.current.choose(["1", "2"], false));
    act(() => result.current.choose(["2"], true));
    expect(["1", "2", "3"].filter(result.current.has)).toEqual(["2", "3"]);
  });

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
