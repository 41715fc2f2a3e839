// Drawn by `npm run schema` from the program's own tables.
export const READ_FORMATS = {"csv": "CSV", "tsv": "Tab-separated (tsv)", "jsonl": "JSON Lines", "list": "One value per line", "xlsx": "Excel (xlsx)", "parquet": "Parquet", "images": "Images"} as const;
export const WRITTEN_FORMATS = {"csv": "CSV", "tsv": "Tab-separated (tsv)", "jsonl": "JSON Lines", "xlsx": "Excel (xlsx)", "parquet": "Parquet"} as const;
export const READ_ENDINGS = [".csv", ".tsv", ".jsonl", ".txt", ".xlsx", ".parquet"] as const;
