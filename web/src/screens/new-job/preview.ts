import { useQuery } from "@tanstack/react-query";
import { preview, previewSource } from "../../api";
import { type Draft, hasRows } from "./model";

const PREVIEW_BYTES = 2 * 1024 * 1024;
const MOST_FILES = 20;
const LINE_BASED = /\.(csv|tsv|tab|txt|list|jsonl|ndjson)$/i;

/**
 * The start of the files, for the preview, so that a large file is not sent twice. Line-based files
 * may be cut; others are needed whole.
 */
export function beginningOf(files: readonly File[]): File[] {
  return files.slice(0, MOST_FILES).map((file) => {
    if (file.size <= PREVIEW_BYTES || !LINE_BASED.test(file.name)) return file;
    return new File([file.slice(0, PREVIEW_BYTES)], file.name, { type: file.type });
  });
}

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
