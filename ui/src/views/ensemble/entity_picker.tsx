import { useEffect, useState } from "preact/hooks";
import { Combobox } from "../../parts/combobox";
import { matches } from "../../parts/search";
import { useEnsemble } from "./context";

interface Props {
  label: string;
  value: string;
  onChange: (entity: string) => void;
  /** Whether no entity is a choice. */
  optional?: boolean;
  /** Only entities of this kind. */
  kind?: number | undefined;
}

const SHOWN = 60;

/** Chooses an entity by its name or title. */
export function EntityPicker({ label, value, onChange, optional, kind }: Props) {
  const { catalogue } = useEnsemble();
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const all = catalogue.entities.filter((one) => kind === undefined || one.kind === kind);
  const isTyped = text !== value;
  const found = all.filter((one) => !isTyped || matches(text, one.name, one.title)).slice(0, SHOWN);
  const title = catalogue.entities.find((one) => one.name === value)?.title;
  const take = () => {
    if (text.trim() === "" && optional) return onChange("");
    const only = all.find((one) => one.name === text.trim()) ?? (found.length === 1 ? found[0] : undefined);
    if (only) onChange(only.name);
  };
  return (
    <div class="entity-picker">
      <Combobox
        label={label}
        value={text}
        onInput={setText}
        options={found.map((one) => (one.title === "" || one.title === one.name ? { value: one.name } : { value: one.name, detail: one.title }))}
        onChoose={(option) => {
          setText(option.value);
          onChange(option.value);
        }}
        onEnter={take}
        placeholder={optional ? "none" : "choose one"}
      />
      {title && title.toLowerCase() !== value.toLowerCase() && <small class="muted">{title}</small>}
    </div>
  );
}
