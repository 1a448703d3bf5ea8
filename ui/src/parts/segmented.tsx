import { useId } from "preact/hooks";

interface Props<T extends string> {
  label: string;
  value: T;
  options: readonly (readonly [T, string])[];
  onChange: (value: T) => void;
  hideLabel?: boolean;
}

/** One of a few choices, side by side. */
export function Segmented<T extends string>({ label, value, options, onChange, hideLabel }: Props<T>) {
  const name = useId();
  return (
    <fieldset class="segmented">
      <legend class={hideLabel ? "hidden" : undefined}>{label}</legend>
      {options.map(([word, text]) => (
        <label key={word}>
          <input type="radio" name={name} checked={value === word} onChange={() => onChange(word)} />
          <span>{text}</span>
        </label>
      ))}
    </fieldset>
  );
}
