import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, renderHook, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { describe, expect, it } from "vitest";
import { type PageRequest, useKeyset } from "./keyset";
import { Problem } from "./problem";

const SIZE = 10;

/** A server with a number of rows; it records the requests. */
class Server {
  asked: string[] = [];

  constructor(
    public rows: number[],
    readonly fails = false,
  ) {}

  readonly fetchPage = async ({ after, pageSize }: PageRequest) => {
    this.asked.push(after ?? "start");
    if (this.fails) throw new Problem(422, "No", "this filter is not possible");
    const items = this.rows.filter((row) => row > Number(after ?? -1)).slice(0, pageSize);
    const last = items.at(-1);
    return { items, next: items.length === pageSize ? String(last) : null };
  };
}

function keyset(server: Pick<Server, "fetchPage">, start?: string) {
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={queries}>{children}</QueryClientProvider>
  );
  const hook = renderHook(
    ({ filter }) =>
      useKeyset({
        queryKey: ["rows", filter],
        fetchPage: server.fetchPage,
        pageSize: SIZE,
        start,
      }),
    { wrapper, initialProps: { filter: "a" } },
  );
  return { hook, queries };
}

const upTo = (n: number) => Array.from({ length: n }, (_, row) => row);

describe("rows of a list", () => {
  it("come page by page as they are looked at", async () => {
    const server = new Server(upTo(25));
    const { hook } = keyset(server);
    await waitFor(() => expect(hook.result.current.count).toBe(10));
    expect(hook.result.current.complete).toBe(false);
    act(() => hook.result.current.show(0, 9));
    await waitFor(() => expect(hook.result.current.count).toBe(20));
    act(() => hook.result.current.show(15, 19));
    await waitFor(() => expect(hook.result.current.complete).toBe(true));
    expect(hook.result.current.count).toBe(25);
    expect(server.asked).toEqual(["start", "9", "19"]);
    expect(hook.result.current.row(17)).toBe(17);
    expect(hook.result.current.row(3)).toBeUndefined(); // out of sight, no longer held
    expect(hook.result.current.cursorAt(17)).toBe("9");
  });

  it("are read again only where they are in sight", async () => {
    const server = new Server(upTo(40));
    const { hook, queries } = keyset(server);
    for (const seen of [9, 19, 29]) {
      await waitFor(() => expect(hook.result.current.count).toBe(seen + 1));
      act(() => hook.result.current.show(seen - 2, seen));
    }
    act(() => hook.result.current.show(12, 14));
    server.asked = [];
    await act(() => queries.invalidateQueries({ queryKey: ["rows"] }));
    expect(server.asked).toEqual(["9"]);
  });

  it("follow a list that becomes shorter", async () => {
    const server = new Server(upTo(20));
    const { hook, queries } = keyset(server);
    await waitFor(() => expect(hook.result.current.count).toBe(10));
    act(() => hook.result.current.show(0, 9));
    await waitFor(() => expect(hook.result.current.count).toBe(20));
    server.rows = upTo(4);
    await act(() => queries.invalidateQueries({ queryKey: ["rows"] }));
    await waitFor(() => expect(hook.result.current.complete).toBe(true));
    expect(hook.result.current.count).toBe(4);
  });

  it("begin where a link points", async () => {
    const { hook } = keyset(new Server(upTo(25)), "19");
    await waitFor(() => expect(hook.result.current.complete).toBe(true));
    expect(hook.result.current.row(0)).toBe(20);
    expect(hook.result.current.count).toBe(5);
  });

  it("begin at the beginning also where the first pages hold nothing", async () => {
    const server = new Server(upTo(30));
    const sparse = async (asked: PageRequest) => {
      const page = await server.fetchPage(asked);
      return { ...page, items: page.items.filter((row) => row >= 20) };
    };
    const { hook } = keyset({ fetchPage: sparse });
    await waitFor(() => expect(hook.result.current.count).toBe(10));
    expect(hook.result.current.row(0)).toBe(20);
    expect(hook.result.current.cursorAt(0)).toBeUndefined();
  });

  it("begin again with another filter", async () => {
    const { hook } = keyset(new Server(upTo(5)));
    await waitFor(() => expect(hook.result.current.complete).toBe(true));
    hook.rerender({ filter: "b" });
    expect(hook.result.current.loading).toBe(true);
    await waitFor(() => expect(hook.result.current.count).toBe(5));
  });

  it("say in the server's words why there are none", async () => {
    const { hook } = keyset(new Server([], true));
    await waitFor(() => expect(hook.result.current.problem).not.toBeNull());
    expect(hook.result.current.problem?.detail).toBe("this filter is not possible");
    expect(hook.result.current.loading).toBe(false);
  });
});
