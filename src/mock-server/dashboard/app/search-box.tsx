import { useEffect, useRef, useState } from 'preact/hooks';
import { TextField } from './field.js';

const DEBOUNCE_MS = 200;

interface SearchBoxProps {
  readonly search: string;
  readonly onSearch: (search: string) => void;
}

export function SearchBox({ search, onSearch }: SearchBoxProps) {
  const [text, setText] = useState(search);
  const timer = useRef<number | undefined>(undefined);
  useEffect(() => () => window.clearTimeout(timer.current), []);

  return (
    <search>
      <TextField
        label="Search by reference or status"
        type="search"
        value={text}
        onValue={(value) => {
          setText(value);
          window.clearTimeout(timer.current);
          timer.current = window.setTimeout(() => onSearch(value.trim()), DEBOUNCE_MS);
        }}
      />
    </search>
  );
}
