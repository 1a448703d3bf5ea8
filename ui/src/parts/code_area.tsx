import { useRef } from "preact/hooks";

/** A mark in the text: its line from 1, its column from 1 where it is known. */
export interface Mark {
  line: number;
  column?: number | undefined;
  tone: "bad" | "warn";
}

interface Props {
  id: string;
  label: string;
  value: string;
  onInput: (text: string) => void;
  marks: readonly Mark[];
  readOnly?: boolean;
  rows?: number;
  describedBy?: string;
}

/** A plain editor with line numbers and marked lines. */
export function CodeArea({ id, label, value, onInput, marks, readOnly, rows = 24, describedBy }: Props) {
  const gutter = useRef<HTMLDivElement>(null);
  const tones = new Map(marks.map((mark) => [mark.line, mark.tone]));
  const lines = value.split("\n").length;
  return (
    <div class="code-area">
      <div class="gutter" ref={gutter} aria-hidden="true">
        {Array.from({ length: lines }, (_, i) => (
          <div key={i} data-tone={tones.get(i + 1)}>
            {i + 1}
          </div>
        ))}
      </div>
      <textarea
        id={id}
        class="mono"
        aria-label={label}
        aria-describedby={describedBy}
        aria-invalid={marks.some((mark) => mark.tone === "bad") ? true : undefined}
        rows={rows}
        wrap="off"
        spellcheck={false}
        autocomplete="off"
        readOnly={readOnly}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
        onScroll={(event) => {
          if (gutter.current) gutter.current.scrollTop = event.currentTarget.scrollTop;
        }}
      />
    </div>
  );
}

/** Puts the cursor of an editor to a mark and shows it. */
export function show(id: string, { line, column = 1 }: { line: number; column?: number | undefined }): void {
  const area = document.getElementById(id);
  if (!(area instanceof HTMLTextAreaElement)) return;
  const lines = area.value.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
  // Columns count characters, places in a text its UTF-16 units.
  const at = start + [...(lines[line - 1] ?? "")].slice(0, column - 1).join("").length;
  area.focus();
  area.setSelectionRange(at, start + (lines[line - 1]?.length ?? 0));
  area.scrollTop = (line - 4) * Number.parseFloat(getComputedStyle(area).lineHeight);
}
