import { useState } from "preact/hooks";
import type { ApiError } from "../../api/client";
import type { Catalogue } from "../../api/types";
import { odds, percent } from "../../app/format";
import type { Leg } from "../../app/question";
import { Marked } from "../../parts/error_note";
import { reason } from "../../parts/expression_field";
import { Icon } from "../../parts/icon";
import { useEnsemble } from "../ensemble/context";
import { Adder } from "./adder";
import { counted } from "./ask";

interface Props {
  /** "Legs" or "Given". */
  title: string;
  /** "leg" or "given": what one is called. */
  one: string;
  hint: string;
  placeholder: string;
  legs: readonly Leg[];
  entity: string;
  /** The probability of a condition as it counts; nothing where it is not known. */
  probability?: (text: string) => number | undefined;
  error: ApiError | undefined;
  isGiven?: boolean;
  onChange: (legs: Leg[]) => void;
}

const NEGATION = "not (".length;

/** Conditions that can be switched, changed, removed and added. */
export function Legs({ title, one, hint, placeholder, legs, entity, probability, error, isGiven = false, onChange }: Props) {
  const [edited, setEdited] = useState<number>();
  const put = (place: number, leg: Partial<Leg>) => onChange(legs.map((old, i) => (i === place ? { ...old, ...leg } : old)));
  return (
    <section class="card legs" aria-label={title}>
      <div class="bar-row">
        <h2>{title}</h2>
        <span class="muted">{hint}</span>
      </div>
      {legs.length > 0 && (
        <ul class="leg-list">
          {legs.map((leg, i) => (
            <li key={`${i} ${leg.text}`} class="leg" data-is={leg.is} data-odds={probability !== undefined}>
              <Switches leg={leg} onChange={(is) => put(i, { is })} />
              {edited === i ? (
                <Adder
                  label={`Change ${leg.text}`}
                  placeholder={placeholder}
                  text={leg.text}
                  entity={entity}
                  verb="Change"
                  isGiven={isGiven}
                  onAdd={(text) => {
                    setEdited(undefined);
                    put(i, { text });
                  }}
                  onCancel={() => setEdited(undefined)}
                />
              ) : (
                <Condition leg={leg} error={error} onEdit={() => setEdited(i)} />
              )}
              {probability && edited !== i && <Alone p={leg.is === "off" ? undefined : probability(counted(leg))} />}
              <button class="quiet" aria-label={`Remove ${leg.text}`} onClick={() => onChange(legs.filter((_, place) => place !== i))}>
                <Icon name="close" />
              </button>
            </li>
          ))}
        </ul>
      )}
      <Adder
        label={`Add a ${one}`}
        placeholder={placeholder}
        entity={entity}
        verb="Add"
        isGiven={isGiven}
        onAdd={(text) => onChange([...legs, { text, is: "on" }])}
      />
    </section>
  );
}

/** Whether a leg counts, counts negated, or is left out. */
function Switches({ leg, onChange }: { leg: Leg; onChange: (is: Leg["is"]) => void }) {
  return (
    <span class="switches">
      <input
        type="checkbox"
        aria-label={`Count ${leg.text}`}
        checked={leg.is !== "off"}
        onChange={(event) => onChange(event.currentTarget.checked ? "on" : "off")}
      />
      <button
        class="small not"
        aria-pressed={leg.is === "not"}
        aria-label={`not ${leg.text}`}
        title="Count the worlds in which it does not hold"
        onClick={() => onChange(leg.is === "not" ? "on" : "not")}
      >
        not
      </button>
    </span>
  );
}

function Condition({ leg, error, onEdit }: { leg: Leg; error: ApiError | undefined; onEdit: () => void }) {
  const { catalogue } = useEnsemble();
  const wrong = error?.text !== undefined && (error.text === leg.text || error.text === counted(leg)) ? error : undefined;
  // The server counts the place in the text as it counts: `not (` may stand before it.
  const place = wrong?.place === undefined ? undefined : wrong.place - (wrong.text === leg.text ? 0 : NEGATION);
  return (
    <div class="condition">
      <button class="quiet mono" aria-label={`Change ${leg.text}`} title="Change" onClick={onEdit}>
        {place === undefined ? leg.text : <Marked text={leg.text} place={place} />}
      </button>
      {wrong ? <small class="bad">{reason(wrong)}</small> : <small class="muted">{titles(leg.text, catalogue)}</small>}
    </div>
  );
}

/** The titles of the entities that a condition names. */
export function titles(text: string, catalogue: Catalogue): string {
  const named = new Set([...text.matchAll(/([\p{Alphabetic}_][\p{Alphabetic}\p{N}_.-]*):|"([^":]+):/gu)].map((found) => found[1] ?? found[2]));
  const known = catalogue.entities.filter((one) => named.has(one.name) && one.title !== "" && one.title !== one.name);
  return known.map((one) => one.title).join(", ");
}

/** The probability of a leg by itself, its odds, and a bar. */
function Alone({ p }: { p: number | undefined }) {
  return (
    <>
      <span class={p === undefined ? "" : "leg-bar"} aria-hidden="true">
        {p !== undefined && <span style={{ width: `${p * 100}%` }} />}
      </span>
      <span class="right strong leg-share">{percent(p)}</span>
      <span class="right muted leg-odds">{p === undefined ? "" : odds(p)}</span>
    </>
  );
}
