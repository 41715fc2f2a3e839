import { useEffect, useRef, useState } from "react";
import { Field } from "./Field";
import { usePhone } from "./hooks";

const TYPING_PAUSE_MS = 250;

/** A search field. It reports the text once the user stops typing. The key `/` focuses it. */
export function SearchField({
  label,
  placeholder = label,
  value,
  onSearch,
}: {
  label: string;
  /** What is searched; defaults to the label. */
  placeholder?: string;
  value: string;
  onSearch: (text: string) => void;
}) {
  const isPhone = usePhone();
  const [text, setText] = useState(value);
  const [given, setGiven] = useState(value);
  if (given !== value) {
    setGiven(value);
    setText(value);
  }
  const search = useRef(onSearch);
  useEffect(() => {
    search.current = onSearch;
  });
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => search.current(text), TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, value]);
  return (
    <Field
      label={label}
      hideLabel
      type="search"
      data-key="/"
      placeholder={isPhone ? placeholder : `${placeholder}  ( / )`}
      value={text}
      onChange={(event) => setText(event.target.value)}
      onKeyDown={(event) => {
        if (event.key === "Enter") onSearch(text);
        if (event.key === "Escape") event.currentTarget.blur();
      }}
    />
  );
}
