const ENOUGH = 2 * 1024 * 1024;
const AT_ONCE = 20;
const IN_LINES = /\.(csv|tsv|tab|txt|list|jsonl|ndjson)$/i;

/**
 * The start of the files, for the preview, so that a large file is not sent twice. Line-based files
 * may be cut; others are needed whole.
 */
export function beginningOf(files: readonly File[]): File[] {
  return files.slice(0, AT_ONCE).map((file) => {
    if (file.size <= ENOUGH || !IN_LINES.test(file.name)) return file;
    return new File([file.slice(0, ENOUGH)], file.name, { type: file.type });
  });
}
