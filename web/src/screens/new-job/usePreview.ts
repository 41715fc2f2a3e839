import { useQuery } from "@tanstack/react-query";
import { preview, previewSource } from "../../api";
import { type Draft, hasRows } from "./draft";
import { beginningOf } from "./fileHead";

const numbers = new WeakMap<readonly File[], number>();
let chosen = 0;

/** A number for a set of files: files cannot be part of a query key. */
function numberOf(files: readonly File[]): number {
  const number = numbers.get(files) ?? ++chosen;
  numbers.set(files, number);
  return number;
}

/** The first rows of the draft's file, with its import settings. */
export function usePreview(draft: Draft) {
  const { files, source, read } = draft;
  return useQuery({
    queryKey: ["preview", numberOf(files), source, read],
    queryFn: ({ signal }) =>
      files.length > 0
        ? preview(beginningOf(files), { read: { ...read } }, signal)
        : previewSource(source, { read: { ...read } }, signal),
    enabled: hasRows(draft),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
}
