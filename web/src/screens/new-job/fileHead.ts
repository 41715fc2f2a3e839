const ENOUGH = 2 * 1024 * 1024;
const AT_ONCE = 20;
const IN_LINES = /\.(csv|tsv|tab|txt|list|jsonl|ndjson)$/i;

/**
 * As much of the files as a look at their first rows needs, so that a large one is not sent twice.
 * A file of lines may be cut; others can only be read as a whole.
 */
export function beginningOf(files: readonly File[]): File[] {
  return files.slice(0, AT_ONCE).map((file) => {
    if (file.size <= ENOUGH || !IN_LINES.test(file.name)) return file;
    return new File([file.slice(0, ENOUGH)], file.name, { type: file.type });
  });
}
