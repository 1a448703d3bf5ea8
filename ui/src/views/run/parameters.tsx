import type { ParameterSpec, Value } from "../../api/types";
import { value as shown } from "../../app/format";

/** What the viewer typed for parameters that differ from their defaults, by name. */
export type Typed = ReadonlyMap<string, string>;

/** The text of a value in a field. */
export function text(value: Value): string {
  return Array.isArray(value) ? value.join(", ") : String(value);
}

/** Reads what was typed; a message if the parameter does not accept it. */
export function read(spec: ParameterSpec, typed: string): { value: Value } | { fault: string } {
  const isList = spec.kind === "numbers" || spec.kind === "texts";
  const items = isList
    ? typed
        .split(",")
        .map((item) => item.trim())
        .filter((item) => item !== "")
    : [typed.trim()];
  if (spec.items_max !== undefined && items.length > spec.items_max)
    return { fault: `give at most ${spec.items_max} items` };
  if (spec.kind === "number" || spec.kind === "numbers") {
    const numbers = items.map((item) => (item === "" ? NaN : Number(item)));
    const outside = numbers.some((n) => Number.isNaN(n) || n < (spec.min ?? -Infinity) || n > (spec.max ?? Infinity));
    if (outside) return { fault: `give ${isList ? "numbers" : "a number"} ${bounds(spec)}`.trim() };
    return { value: isList ? numbers : (numbers[0] as number) };
  }
  const unknown = items.find((item) => spec.words && !spec.words.includes(item));
  if (unknown !== undefined) return { fault: `give ${spec.words?.join(", ")}` };
  return { value: isList ? items : (items[0] as string) };
}

function bounds({ min, max }: ParameterSpec): string {
  if (min != null && max != null) return `from ${shown(min)} to ${shown(max)}`;
  return min != null ? `from ${shown(min)}` : max != null ? `up to ${shown(max)}` : "";
}

interface Props {
  spec: ParameterSpec;
  typed: string | undefined;
  onInput: (text: string | undefined) => void;
}

/** A field for a parameter, with its meaning, bounds and default. */
export function ParameterField({ spec, typed, onInput }: Props) {
  const id = `parameter-${spec.name}`;
  const standard = text(spec.default);
  const current = typed ?? standard;
  const found = read(spec, current);
  const fault = "fault" in found ? found.fault : undefined;
  const input = (now: string) => onInput(now === standard ? undefined : now);
  const about = [bounds(spec), `default ${standard === "" ? "none" : standard}`].filter(Boolean).join(", ");
  const aria = { id, "aria-describedby": `${id}-about`, "aria-invalid": fault ? true : undefined } as const;
  return (
    <div class="field parameter" data-changed={typed !== undefined}>
      <label for={id}>{spec.name.replaceAll("_", " ")}</label>
      <div class="parameter-row">
        {spec.words && spec.kind === "text" ? (
          <select {...aria} value={current} onChange={(event) => input(event.currentTarget.value)}>
            {spec.words.map((word) => (
              <option key={word}>{word}</option>
            ))}
          </select>
        ) : (
          <input
            {...aria}
            inputMode={spec.kind === "number" ? "decimal" : "text"}
            spellcheck={false}
            value={current}
            onInput={(event) => input(event.currentTarget.value)}
          />
        )}
        {typed !== undefined && (
          <button
            type="button"
            class="quiet small"
            aria-label={`Reset ${spec.name}`}
            onClick={() => onInput(undefined)}
          >
            Reset
          </button>
        )}
      </div>
      <small id={`${id}-about`}>
        {spec.doc} ({about}){fault && <span class="bad"> {fault}</span>}
      </small>
    </div>
  );
}
