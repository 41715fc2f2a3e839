export const ENCODINGS = [
  { value: "", label: "Auto-detect" },
  { value: "utf-8", label: "UTF-8" },
  { value: "cp1252", label: "Windows-1252" },
  { value: "latin-1", label: "Latin-1 (Western Europe)" },
  { value: "cp1250", label: "Windows-1250 (Central Europe)" },
  { value: "cp1251", label: "Windows-1251 (Cyrillic)" },
  { value: "shift_jis", label: "Shift JIS" },
  { value: "gb18030", label: "GB 18030" },
] as const;
