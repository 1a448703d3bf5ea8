import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../../api/client";
import { askPrice } from "../../api/questions";
import { useAsked } from "../../app/asked";
import { completeOutcome } from "../../app/expression";
import { percent, plural } from "../../app/format";
import { complain } from "../../app/toasts";
import { ExpressionField } from "../../parts/expression_field";
import { Icon } from "../../parts/icon";
import { useEnsemble } from "../ensemble/context";
import { alone } from "./ask";

interface Props {
  label: string;
  placeholder: string;
  /** The text to begin with, to change a condition. */
  text?: string;
  entity: string;
  verb: string;
  onAdd: (text: string) => void;
  onCancel?: () => void;
  /** Whether the condition is a given, which may be in the model's own words. */
  isGiven?: boolean;
}

const PAUSE_MS = 250;

/** A field that adds a condition: says its probability, or what is wrong with it, while the viewer types. */
export function Adder({ label, placeholder, text: first = "", entity, verb, onAdd, onCancel, isGiven = false }: Props) {
  const { name, catalogue, edition } = useEnsemble();
  const [text, setText] = useState(first);
  const [refused, setRefused] = useState<{ text: string; error: ApiError }>();
  const steady = useSteady(text, PAUSE_MS);
  const wanted = text.trim();
  // An unfinished name is no error yet.
  const asks = steady === text && isFinished(text);
  const key = asks ? JSON.stringify([entity, wanted]) : undefined;
  const probe = useAsked(key, (signal) => askPrice(alone(name, entity, wanted, isGiven), signal), { edition, keep: () => false });
  const owner = catalogue.entities.find((one) => one.name === entity);
  // What is there may have changed while the server checks the text.
  const latest = useRef(onAdd);
  latest.current = onAdd;
  // Conditions that are checked at once are added in the order of their entry.
  const queue = useRef(Promise.resolve());
  const add = () => {
    if (wanted === "") return;
    const checked = askPrice(alone(name, entity, wanted, isGiven));
    const enter = async (earlier: Promise<void>) => {
      try {
        await checked;
      } catch (error) {
        if (error instanceof ApiError && error.status === 400) setRefused({ text, error });
        else complain(error);
        return earlier;
      }
      await earlier;
      setText((now) => (now.trim() === wanted ? "" : now));
      latest.current(wanted);
      // The next one is added to what this one leaves, once that is drawn.
      await new Promise((drawn) => setTimeout(drawn));
    };
    queue.current = enter(queue.current);
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
        error={refused?.text === text ? refused.error : probe.error}
      />
      <span class="adder-probe muted" aria-live="polite">
        {probe.value && (isGiven ? plural(probe.value.worlds, "world") : percent(probe.value.probability))}
      </span>
      <button disabled={wanted === ""}>
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

/** A text once it has not changed for `ms`. */
function useSteady(text: string, ms: number): string | undefined {
  const [steady, setSteady] = useState<string>();
  useEffect(() => {
    const timer = setTimeout(() => setSteady(text), ms);
    return () => clearTimeout(timer);
  }, [text, ms]);
  return steady;
}

/** Whether a text looks like a whole condition: closed quotes and parentheses, and a value after the last comparison. */
function isFinished(text: string): boolean {
  const bare = text.replace(/'(?:[^']|'')*'/g, "0").replace(/"(?:[^"]|"")*"/g, "x");
  const count = (sign: string) => bare.split(sign).length;
  const last = bare.split(/\b(?:and|or)\b|&&|\|\|/i).at(-1) ?? "";
  return !/['"]/.test(bare) && count("(") === count(")") && /(?:[=<>]|\bin\b).*[\w.)]\s*$/i.test(last);
}
