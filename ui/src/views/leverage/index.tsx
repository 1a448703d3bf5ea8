import { useState } from "preact/hooks";
import { type Lever, askLeverage } from "../../api/questions";
import { useAsked } from "../../app/asked";
import { completeOutcome } from "../../app/expression";
import { count, percent, plural } from "../../app/format";
import { jointHref, remembered } from "../../app/question";
import { Link, query, setQuery } from "../../app/router";
import { Empty } from "../../parts/empty";
import { ErrorNote } from "../../parts/error_note";
import { ExpressionField } from "../../parts/expression_field";
import { Icon } from "../../parts/icon";
import { Search, matches } from "../../parts/search";
import { useEnsemble } from "../ensemble/context";
import { EntityPicker } from "../ensemble/entity_picker";
import { Adder } from "../joint/adder";
import { active } from "../joint/ask";
import { Levers } from "./levers";

const LIMITS = [50, 200, 1000];

/** Which events move the probability of a condition most. */
export default function LeverageView() {
  const { name, catalogue, edition } = useEnsemble();
  const q = query.value;
  const [entity, condition, given] = [q.get("entity") ?? "", q.get("condition") ?? "", q.getAll("given")];
  const among = catalogue.kinds.find((kind) => kind.name === q.get("among"));
  const outcomes = (q.get("outcomes") ?? "").split(/,\s*/).filter(Boolean);
  const limit = LIMITS.find((n) => n === Number(q.get("limit"))) ?? LIMITS[0];
  const kind = among && catalogue.kinds.indexOf(among);
  const question = {
    ensemble: name,
    condition,
    limit,
    ...(entity ? { entity } : {}),
    ...(given.length > 0 ? { given } : {}),
    ...(among ? { entities: catalogue.entities.filter((one) => one.kind === kind).map((one) => one.name) } : {}),
    ...(outcomes.length > 0 ? { outcomes } : {}),
  };
  const key = condition === "" ? undefined : JSON.stringify(question);
  const found = useAsked(key, (signal) => askLeverage(question, signal), { edition });
  return (
    <div class="view leverage">
      <Ask entity={entity} condition={condition} given={given} error={found.error} />
      {found.error && !isInCondition(found.error.text, condition) && <ErrorNote error={found.error} again={found.again} />}
      {condition === "" && (
        <Empty title="Which condition?">
          Enter a condition, such as {catalogue.kinds[0]?.outcomes[0]?.name ?? "wins"} &gt; 9. The events that move its probability most follow.
        </Empty>
      )}
      {found.value && condition !== "" && <Found condition={condition} given={given} entity={entity} limit={limit ?? 50} among={among?.name ?? ""} found={found.value} busy={found.busy} />}
      {found.value === undefined && found.busy && condition !== "" && <p class="muted">Comparing all events…</p>}
    </div>
  );
}

function isInCondition(text: string | undefined, condition: string): boolean {
  return text !== undefined && text === condition;
}

interface AskProps {
  entity: string;
  condition: string;
  given: string[];
  error: ReturnType<typeof useAsked>["error"];
}

/** The condition, and the givens. */
function Ask({ entity, condition, given, error }: AskProps) {
  const { name, catalogue } = useEnsemble();
  const [text, setText] = useState(condition);
  const [from, setFrom] = useState(condition);
  if (from !== condition) {
    setFrom(condition);
    setText(condition);
  }
  const owner = catalogue.entities.find((one) => one.name === entity);
  const enter = () => setQuery({ condition: text.trim() }, { push: true });
  const joint = remembered(name);
  const legs = active(joint.legs);
  return (
    <section class="card view" aria-label="Condition">
      <div class="leverage-ask">
        <EntityPicker label="Default entity" value={entity} optional onChange={(entity) => setQuery({ entity })} />
        <div class="field">
          <form
            class="leverage-condition"
            onSubmit={(event) => {
              event.preventDefault();
              enter();
            }}
          >
            <ExpressionField
              label="Condition whose probability moves"
              value={text}
              onInput={setText}
              onEnter={enter}
              complete={(typed, cursor) => completeOutcome(typed, cursor, catalogue, owner)}
              error={text === condition && isInCondition(error?.text, condition) ? error : undefined}
            />
            <button class="primary">Rank events</button>
          </form>
        </div>
      </div>
      {condition === "" && legs.length > 0 && (
        <p>
          <Link to={jointHref(name, joint)}>Your joint question</Link> has {plural(legs.length, "leg")}; open it and choose "What moves it".
        </p>
      )}
      {given.map((one) => (
        <div key={one} class="bar-row">
          <span class="muted">given</span>
          <code>{one}</code>
          <button class="quiet" aria-label={`Remove ${one}`} onClick={() => setQuery({ given: given.filter((other) => other !== one) })}>
            <Icon name="close" />
          </button>
        </div>
      ))}
      {condition !== "" && (
        <details>
          <summary>Add a given</summary>
          <Adder
            label="Add a given"
            placeholder="count only the worlds that meet this"
            entity={entity}
            verb="Add"
            isGiven
            onAdd={(text) => setQuery({ given: [...given, text] }, { push: true })}
          />
        </details>
      )}
    </section>
  );
}

interface FoundProps {
  condition: string;
  given: string[];
  entity: string;
  limit: number;
  among: string;
  found: Awaited<ReturnType<typeof askLeverage>>;
  busy: boolean;
}

function Found({ condition, given, entity, limit, among, found, busy }: FoundProps) {
  const { catalogue } = useEnsemble();
  const search = query.value.get("q") ?? "";
  const events = found.events.filter((one) => matches(search, one.event, one.entity ?? "", one.title));
  const weak = events.filter((one) => one.movement <= found.chance).length;
  return (
    <>
      <div class="bar-row">
        <span>
          Probability <b id="leverage-probability">{percent(found.probability)}</b> <span class="muted">in {plural(found.worlds, "world")}</span>
        </span>
        <span class="muted">
          {count(found.compared)} events compared
          {found.left_out > 0 && `, ${count(found.left_out)} numbers left out`}
        </span>
        <span class="end">{catalogue.kinds.length > 1 && <Among among={among} />}</span>
        <span>
          <Search label="Search events" value={search} onChange={(q) => setQuery({ q })} />
        </span>
        <label class="check">
          <span class="muted">Show</span>
          <select class="narrow" value={limit} onChange={(event) => setQuery({ limit: event.currentTarget.value })}>
            {LIMITS.map((n) => (
              <option key={n}>{n}</option>
            ))}
          </select>
        </label>
      </div>
      {events.length === 0 ? (
        <Empty title={search === "" ? "No event moves it" : `No event matches "${search}"`} />
      ) : (
        <Levers
          events={events as readonly Lever[]}
          probability={found.probability}
          chance={found.chance}
          worlds={found.worlds}
          condition={condition}
          given={given}
          entity={entity}
          busy={busy}
        />
      )}
      {weak > 0 && (
        <p class="muted">
          {plural(weak, "grey event")} may be chance: with 95% confidence, chance alone moves none of the {count(found.compared)} events by more than{" "}
          {percent(found.chance)}.
        </p>
      )}
    </>
  );
}

/** The kind of entity whose events are compared. */
function Among({ among }: { among: string }) {
  const { catalogue } = useEnsemble();
  return (
    <label class="check">
      <span class="muted">Events of</span>
      <select class="narrow" value={among} onChange={(event) => setQuery({ among: event.currentTarget.value })}>
        <option value="">all entities</option>
        {catalogue.kinds.map((one) => (
          <option key={one.name} value={one.name}>
            {one.name.replaceAll("_", " ")}
          </option>
        ))}
      </select>
    </label>
  );
}
