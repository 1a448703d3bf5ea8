import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ApiError } from "../api/client";
import type { Completion } from "../app/expression";
import { Combobox } from "./combobox";
import { Marked } from "./error_note";

interface Props {
  label: string;
  value: string;
  onInput: (text: string) => void;
  onEnter: () => void;
  complete: (text: string, cursor: number) => Completion;
  /** Why the server refuses the text. */
  error?: ApiError | undefined;
  placeholder?: string;
  hideLabel?: boolean;
  /** The id of a text that says more about the field. */
  describedBy?: string;
}

/** A field for an expression: completes the name at the cursor, and marks the server's error at its place. */
export function ExpressionField({ label, value, onInput, onEnter, complete, error, placeholder, hideLabel, describedBy }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [cursor, setCursor] = useState(value.length);
  const caret = useRef<number | undefined>(undefined);
  useLayoutEffect(() => {
    if (caret.current === undefined) return;
    const field = box.current?.querySelector("input");
    field?.setSelectionRange(caret.current, caret.current);
    if (field) field.scrollLeft = field.scrollWidth;
    caret.current = undefined;
  });
  const at = Math.min(cursor, value.length);
  const { from, options } = complete(value, at);
  const place = error?.place;
  return (
    <div class="expression" ref={box}>
      <Combobox
        label={label}
        {...(hideLabel ? { hideLabel } : {})}
        {...(placeholder ? { placeholder } : {})}
        {...(describedBy ? { describedBy } : {})}
        isFaulty={error !== undefined}
        value={value}
        options={options}
        onInput={(text, place) => {
          setCursor(place);
          onInput(text);
        }}
        onChoose={(option) => {
          const insert = options.find((one) => one.value === option.value)?.insert ?? option.value;
          caret.current = from + insert.length;
          setCursor(caret.current);
          onInput(value.slice(0, from) + insert + value.slice(at));
        }}
        onEnter={onEnter}
      />
      {error && (
        <div class="bad expression-error" role="alert">
          {place !== undefined && error.text !== undefined && <Marked text={error.text} place={place} />}
          <span>{reason(error)}</span>
        </div>
      )}
    </div>
  );
}

/** The server's words without the expression, which is marked beside them. */
export function reason({ message }: ApiError): string {
  const lines = message.split("\n");
  return lines.length >= 3 && /^\s*\^/.test(lines[2] ?? "") ? [lines[0], ...lines.slice(3)].join(" ") : (lines[0] ?? "");
}
