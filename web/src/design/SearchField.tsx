import { useEffect, useRef, useState } from "react";
import { Field } from "./Field";
import { usePhone } from "./media";

const SETTLED_MS = 250;

/** Text to look for; it is passed on once the typing rests. The key `/` goes here. */
export function SearchField({
  label,
  placeholder = label,
  value,
  onSearch,
}: {
  label: string;
  /** What is looked through; the label where nothing else is said. */
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
    const timer = setTimeout(() => search.current(text), SETTLED_MS);
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
