import { useEffect, useRef } from "preact/hooks";
import { Icon } from "./icon";

interface Props {
  label: string;
  value: string;
  onChange: (text: string) => void;
  /** Whether the key `/` leads here. */
  shortcut?: boolean;
}

/** A field that filters a list as the viewer types. */
export function Search({ label, value, onChange, shortcut }: Props) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (!shortcut) return;
    const press = (event: KeyboardEvent) => {
      const typing = (event.target as HTMLElement).closest("input, textarea, select, [contenteditable]");
      if (event.key !== "/" || typing || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      field.current?.focus();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [shortcut]);
  return (
    <div class="search">
      <Icon name="search" />
      <input
        ref={field}
        type="search"
        aria-label={label}
        placeholder={label}
        title={shortcut ? `${label} (key /)` : label}
        spellcheck={false}
        autocomplete="off"
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </div>
  );
}

/** Whether every word of `search` is in one of the texts; case does not matter. */
export function matches(search: string, ...texts: string[]): boolean {
  const words = search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const all = texts.join("\n").toLowerCase();
  return words.every((word) => all.includes(word));
}
