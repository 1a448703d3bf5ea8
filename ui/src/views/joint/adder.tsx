import { useState } from "preact/hooks";
import type { ApiError } from "../../api/client";
import { completeOutcome } from "../../app/expression";
import { percent } from "../../app/format";
import { ExpressionField } from "../../parts/expression_field";
import { Icon } from "../../parts/icon";
import { useEnsemble, useThrottled } from "../ensemble/context";
import { useProbe } from "./ask";

interface Props {
  label: string;
  placeholder: string;
  /** The text to begin with, to change a condition. */
  text?: string;
  entity: string;
  verb: string;
  onAdd: (text: string) => void;
  onCancel?: () => void;
  /** Conditions in the model's own words are known to the server alone; only their worlds can be counted. */
  ownWords?: boolean;
}

const PAUSE_MS = 250;

/** A field that adds a condition: says its probability, or what is wrong with it, while the viewer types. */
export function Adder({ label, placeholder, text: first = "", entity, verb, onAdd, onCancel, ownWords }: Props) {
  const { catalogue } = useEnsemble();
  const [text, setText] = useState(first);
  const [entered, setEntered] = useState("");
  const steady = useThrottled(text, PAUSE_MS);
  const probe = useProbe(steady.trim(), entity);
  const owner = catalogue.entities.find((one) => one.name === entity);
  const isCurrent = steady === text && !probe.busy;
  // An unfinished name is no error yet: only what the viewer entered is marked at once.
  const error: ApiError | undefined = isCurrent && (entered === text || isFinished(text)) ? probe.error : undefined;
  const shown = ownWords ? undefined : error;
  const add = () => {
    const wanted = text.trim();
    setEntered(text);
    if (wanted === "" || (probe.error && isCurrent && !ownWords)) return;
    onAdd(wanted);
    setText("");
  };
  return (
    <form
      class="adder"
      onSubmit={(event) => {
        event.preventDefault();
        add();
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape" && !event.defaultPrevented) onCancel?.();
      }}
    >
      <ExpressionField
        label={label}
        hideLabel
        placeholder={placeholder}
        value={text}
        onInput={setText}
        onEnter={add}
        complete={(typed, cursor) => completeOutcome(typed, cursor, catalogue, owner)}
        error={shown}
      />
      <span class="adder-probe muted" aria-live="polite">
        {isCurrent && probe.value && percent(probe.value.probability)}
      </span>
      <button disabled={text.trim() === ""}>
        <Icon name="plus" /> {verb}
      </button>
      {onCancel && (
        <button type="button" class="quiet" onClick={onCancel}>
          Cancel
        </button>
      )}
    </form>
  );
}

/** Whether a text looks like a whole condition: it ends in a value or a closing sign after a comparison. */
function isFinished(text: string): boolean {
  return /(?:[=<>]|\bin\b).*[\w'")]\s*$/i.test(text);
}
