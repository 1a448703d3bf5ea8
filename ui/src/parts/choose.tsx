import { useId } from "preact/hooks";

interface Props {
  label: string;
  value: string;
  /** Values and their texts. */
  options: readonly (readonly [string, string])[];
  onChange: (value: string) => void;
}

/** One of several choices, in a line with its label. */
export function Choose({ label, value, options, onChange }: Props) {
  const id = useId();
  return (
    <span class="choice">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map(([word, text]) => (
          <option key={word} value={word}>
            {text}
          </option>
        ))}
      </select>
    </span>
  );
}
