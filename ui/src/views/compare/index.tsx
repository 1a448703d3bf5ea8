import { useState } from "preact/hooks";
import { get, post } from "../../api/client";
import type { Comparison } from "../../api/questions";
import type { Distribution, Ensemble, OutcomeSpec } from "../../api/types";
import { useAsked } from "../../app/asked";
import { shellWord } from "../../app/command";
import { written } from "../../app/expression";
import { count, plural } from "../../app/format";
import { listChanges, runs } from "../../app/live";
import { Link, href, query, setQuery } from "../../app/router";
import { Cdf } from "../../charts/cdf";
import { Histogram } from "../../charts/histogram";
import type { Series } from "../../charts/series";
import { Combobox } from "../../parts/combobox";
import { Command, Empty } from "../../parts/empty";
import { ErrorNote } from "../../parts/error_note";
import { Search, matches } from "../../parts/search";
import { Segmented } from "../../parts/segmented";
import { EDITION_MS, outcomesOf, useEnsemble, useThrottled, wordsOf } from "../ensemble/context";
import { isFinite } from "../ensemble/distributions";
import { EntityPicker } from "../ensemble/entity_picker";
import { Differences, type Row, evidence, pairing } from "./differences";
import { Parameters } from "./parameters";

/** Outcomes of one question: more are found with the search. */
const AT_ONCE = 400;

/** Two ensembles beside each other: parameters, paired differences, and distributions. */
export default function CompareView() {
  const { name, stored } = useEnsemble();
  const list = useAsked("ensembles", (signal) => get<Ensemble[]>("/api/v1/ensembles", {}, signal), { edition: listChanges.value });
  const other = query.value.get("with") ?? "";
  const second = list.value?.find((one) => one.ensemble === other);
  const worlds = Math.max(second?.worlds ?? 0, runs.value.get(other)?.worlds_stored ?? 0);
  const shown = useThrottled(worlds, EDITION_MS);
  const choices = (list.value ?? []).filter((one) => one.ensemble !== name && one.error === undefined);
  // Ensembles of the same model have the same outcomes.
  choices.sort((a, b) => Number(b.model === stored.model) - Number(a.model === stored.model));
  return (
    <div class="view">
      <div class="bar-row bottom">
        <Other choices={choices} value={other} />
        {second && (
          <Link class="button small" to={href(["ensemble", other, "compare"], { with: name, entity: query.value.get("entity"), outcome: query.value.get("outcome") })}>
            Swap
          </Link>
        )}
      </div>
      {list.error && <ErrorNote error={list.error} again={list.again} />}
      {list.value && other === "" && (
        <Empty title="Compare with which ensemble?">
          {choices.length === 0 ? (
            <>
              There is no other one yet. Play one with the same seed and another parameter:
              <Command text={`manyworlds run ${stored.model} --seed ${stored.seed} --worlds ${stored.worlds} --param NAME=VALUE --name other`} />
            </>
          ) : (
            "Choose another ensemble. With the same seed, worlds are compared in pairs, so small differences show."
          )}
        </Empty>
      )}
      {list.value && other !== "" && second === undefined && <Empty title={`There is no ensemble "${other}"`} />}
      {second && <Parameters first={stored} second={second} />}
      {second && second.error === undefined && (worlds > 0 ? <Outcomes second={second} worlds={shown} /> : <Empty title={`${other} has no worlds yet`} />)}
    </div>
  );
}

function Other({ choices, value }: { choices: readonly Ensemble[]; value: string }) {
  const [text, setText] = useState(value);
  const [from, setFrom] = useState(value);
  if (from !== value) {
    setFrom(value);
    setText(value);
  }
  const found = choices.filter((one) => text === value || matches(text, one.ensemble, one.model));
  const take = (other: string) => {
    setText(other);
    setQuery({ with: other }, { push: true });
  };
  return (
    <div class="entity-picker">
      <Combobox
        label="Compare with"
        value={text}
        onInput={setText}
        options={found.slice(0, 60).map((one) => ({ value: one.ensemble, detail: `${one.model}, ${plural(one.worlds, "world")}` }))}
        onChoose={(option) => take(option.value)}
        onEnter={() => {
          const only = choices.find((one) => one.ensemble === text.trim()) ?? (found.length === 1 ? found[0] : undefined);
          if (only) take(only.ensemble);
        }}
        placeholder="another ensemble"
      />
    </div>
  );
}

function Outcomes({ second, worlds }: { second: Ensemble; worlds: number }) {
  const { name, catalogue, edition: first } = useEnsemble();
  const edition = `${first} ${worlds}`;
  const q = query.value;
  const entity = catalogue.entities.find((one) => one.name === q.get("entity")) ?? catalogue.entities[0];
  const search = q.get("q") ?? "";
  const order = q.get("order") === "listed" ? "listed" : "evidence";
  const all = entity ? outcomesOf(catalogue, entity) : [];
  const found = all.filter((one) => matches(search, one.name, one.unit));
  const asked = found.slice(0, AT_ONCE);
  const pair = JSON.stringify([name, second.ensemble, second.version, entity?.name]);
  const answer = useAsked(
    asked.length === 0 ? undefined : `${pair}\n${asked.map((one) => one.name).join("\n")}`,
    async (signal) => {
      const outcomes = asked.map((one) => written(`${entity?.name}:${one.name}`));
      const answers = await post<Comparison[]>("/api/v1/compare", { first: name, second: second.ensemble, outcomes }, signal);
      return answers.map((found, i): Row => ({ spec: asked[i] as OutcomeSpec, found }));
    },
    { edition, keep: (before) => before.startsWith(`${pair}\n`) },
  );
  if (!entity) return null;
  // The answer may be that of the search before.
  const rows = (answer.value ?? []).filter(({ spec }) => matches(search, spec.name, spec.unit));
  if (order === "evidence") rows.sort((a, b) => evidence(b) - evidence(a));
  const outcome = q.get("outcome") ?? "";
  const row = rows.find(({ spec }) => spec.name === outcome);
  return (
    <>
      <div class="bar-row">
        <EntityPicker label="Entity" value={entity.name} onChange={(entity) => setQuery({ entity, outcome: "" }, { push: true })} />
        <Segmented
          label="Order"
          value={order}
          options={[["evidence", "Clearest first"], ["listed", "As listed"]] as const}
          onChange={(order) => setQuery({ order })}
        />
        <span class="muted">
          {pairing(rows)}
          {found.length > AT_ONCE && `; the first ${count(AT_ONCE)} of ${count(found.length)} outcomes: search for others`}
        </span>
        <span class="end">
          <Search label="Search outcomes" value={search} onChange={(q) => setQuery({ q })} />
        </span>
      </div>
      {answer.error && <ErrorNote error={answer.error} again={answer.again} />}
      {rows.length === 0 && answer.busy && <p class="muted">Comparing all outcomes…</p>}
      {found.length === 0 && <Empty title={`No outcome matches "${search}"`} />}
      {row && <Over row={row} entity={entity.name} second={second} edition={edition} />}
      {rows.length > 0 && (
        <Differences
          rows={rows}
          names={[name, second.ensemble]}
          chosen={outcome}
          busy={answer.busy}
          onChoose={(outcome) => setQuery({ outcome: outcome === q.get("outcome") ? "" : outcome })}
        />
      )}
    </>
  );
}

const BINS = 40;
const CURVE_BINS = 500;

/** The distributions of one outcome in both ensembles, over each other. */
function Over({ row: { spec }, entity, second, edition }: { row: Row; entity: string; second: Ensemble; edition: string }) {
  const { name } = useEnsemble();
  const ask = (bins: number, signal: AbortSignal) =>
    Promise.all(
      [name, second.ensemble].map(async (ensemble) => {
        const body = { ensemble, entities: [entity], outcomes: [spec.name], bins };
        const [found] = await post<Distribution[]>("/api/v1/outcome", body, signal);
        return { ensemble, found: found as Distribution };
      }),
    );
  const key = JSON.stringify([name, second.ensemble, second.version, entity, spec.name]);
  const how = { edition, keep: () => false };
  const bars = useAsked(key, (signal) => ask(BINS, signal), how);
  const curves = useAsked(key, (signal) => ask(CURVE_BINS, signal), how);
  const series = (all: typeof bars.value): Series[] =>
    (all ?? []).map(({ ensemble, found }) => ({ name: ensemble, bins: found.histogram, worlds: found.worlds }));
  const word = wordsOf(spec);
  const title = `${spec.name} of ${entity}`;
  const drawn = (all: typeof bars.value) => all?.every(({ found }) => isFinite(found));
  return (
    <section class="card view" aria-label={title}>
      <div class="bar-row">
        <h2 class="mono">{spec.name}</h2>
        {[name, second.ensemble].map((one, i) => (
          <span key={one} class={`pill s${i + 1}`}>
            <span class="key" />
            <Link to={href(["ensemble", one], { entity, outcome: spec.name })}>{one}</Link>
          </span>
        ))}
      </div>
      {bars.error && <ErrorNote error={bars.error} again={bars.again} />}
      <div class="pictures" aria-busy={bars.busy}>
        {drawn(bars.value) && <Histogram label={`Histograms, ${title}`} series={series(bars.value)} unit={spec.unit} {...(word ? { word } : {})} />}
        {drawn(curves.value) && <Cdf label={`Cumulative distributions, ${title}`} series={series(curves.value)} unit={spec.unit} />}
      </div>
      <Command text={`manyworlds compare ${shellWord(name)} ${shellWord(second.ensemble)} --outcome ${shellWord(written(`${entity}:${spec.name}`))}`} />
    </section>
  );
}
