import { useMemo } from "preact/hooks";
import { post } from "../../api/client";
import type { Correlations } from "../../api/questions";
import { useAsked } from "../../app/asked";
import { decimal, plural } from "../../app/format";
import { Link, href, query, setQuery } from "../../app/router";
import { HeatMap } from "../../charts/heat_map";
import { Empty } from "../../parts/empty";
import { ErrorNote } from "../../parts/error_note";
import { Search, matches } from "../../parts/search";
import { Segmented } from "../../parts/segmented";
import { type Column, VirtualTable } from "../../parts/virtual_table";
import { outcomesOf, useEnsemble } from "../ensemble/context";
import { EntityPicker } from "../ensemble/entity_picker";
import { clusterOrder } from "./cluster";

interface Pair {
  one: string;
  other: string;
  r: number;
}

const PAIRS_MAX = 500;

/** How the outcomes of an entity go together. */
export default function CorrelationsView() {
  const { name, catalogue, edition } = useEnsemble();
  const entity = query.value.get("entity") ?? catalogue.entities[0]?.name ?? "";
  const question = { ensemble: name, entity };
  const found = useAsked(
    JSON.stringify(question),
    (signal) => post<Correlations>("/api/v1/correlate", question, signal),
    { edition, keep: () => false },
  );
  const search = query.value.get("q") ?? "";
  const order = query.value.get("order") === "listed" ? "listed" : "clustered";
  const seen = useMemo(() => (found.value ? select(found.value, search) : undefined), [found.value, search]);
  const drawn = useMemo(() => seen && arrange(seen, order), [seen, order]);
  const at = query.value.getAll("at");
  const spec = catalogue.entities.find((one) => one.name === entity);
  const units = new Map(spec ? outcomesOf(catalogue, spec).map((one) => [one.name, one.unit]) : []);
  return (
    <div class="view">
      <div class="bar-row">
        <EntityPicker label="Entity" value={entity} onChange={(entity) => setQuery({ entity, at: "" }, { push: true })} />
        <Segmented
          label="Order"
          value={order}
          options={[["clustered", "Clustered"], ["listed", "As listed"]] as const}
          onChange={(order) => setQuery({ order })}
        />
        <span class="end">
          <Search label="Search outcomes" value={search} onChange={(q) => setQuery({ q })} />
        </span>
      </div>
      {found.error && <ErrorNote error={found.error} again={found.again} />}
      {found.value === undefined && found.busy && <p class="muted">Correlating all outcomes…</p>}
      {drawn && drawn.names.length === 0 && <Empty title={search === "" ? "All outcomes are constant" : `No outcome matches "${search}"`} />}
      {drawn && drawn.names.length > 0 && (
        <div class="correlations" aria-busy={found.busy}>
          <section class="card">
            <HeatMap
              label={`Correlations of ${entity}`}
              names={drawn.names}
              matrix={drawn.matrix}
              say={(row, column) => `${drawn.names[row]} and ${drawn.names[column]}: ${decimal(drawn.matrix[row]?.[column] ?? null, 3)}`}
              onPick={(row, column) => setQuery({ at: [drawn.names[row] ?? "", drawn.names[column] ?? ""] })}
            />
            <p class="heat-key muted">
              <span>-1</span>
              <i />
              <span>1</span>
              <span class="end">
                {plural(drawn.names.length, "outcome")}, {plural(found.value?.worlds ?? 0, "world")}
                {drawn.constant > 0 && `; ${plural(drawn.constant, "constant outcome")} left out`}
              </span>
            </p>
          </section>
          <section class="view" aria-label="Strongest pairs">
            {at.length === 2 && <Chosen pair={at} drawn={drawn} entity={entity} ensemble={name} units={units} />}
            <Pairs pairs={drawn.pairs} entity={entity} ensemble={name} />
          </section>
        </div>
      )}
    </div>
  );
}

interface Seen {
  names: string[];
  matrix: (number | null)[][];
  /** Outcomes with one value in all worlds: they go with nothing. */
  constant: number;
}

/** The outcomes that match the search and vary. */
function select({ outcomes, matrix }: Correlations, search: string): Seen {
  const matching = outcomes.flatMap((name, i) => (matches(search, name) ? [i] : []));
  const places = matching.filter((i) => matrix[i]?.[i] !== null);
  return {
    names: places.map((i) => outcomes[i] as string),
    matrix: places.map((i) => places.map((j) => matrix[i]?.[j] ?? null)),
    constant: matching.length - places.length,
  };
}

function arrange({ names, matrix, constant }: Seen, order: "clustered" | "listed") {
  const places = order === "listed" ? names.map((_, i) => i) : clusterOrder(matrix);
  return {
    names: places.map((i) => names[i] as string),
    matrix: places.map((i) => places.map((j) => matrix[i]?.[j] ?? null)),
    constant,
    pairs: strongest(names, matrix),
  };
}

/** The strongest pairs, without a list of all: hundreds of outcomes have hundreds of thousands of pairs. */
function strongest(names: readonly string[], matrix: Seen["matrix"]): Pair[] {
  let best: Pair[] = [];
  let least = 0;
  const trim = () => {
    best = best.sort((a, b) => Math.abs(b.r) - Math.abs(a.r)).slice(0, PAIRS_MAX);
    if (best.length === PAIRS_MAX) least = Math.abs(best.at(-1)?.r ?? 0);
  };
  for (let i = 1; i < matrix.length; i++) {
    for (let j = 0; j < i; j++) {
      const r = matrix[i]?.[j] ?? null;
      if (r === null || Math.abs(r) <= least) continue;
      best.push({ one: names[j] as string, other: names[i] as string, r });
      if (best.length >= 4 * PAIRS_MAX) trim();
    }
  }
  trim();
  return best;
}

interface ChosenProps {
  pair: string[];
  drawn: ReturnType<typeof arrange>;
  entity: string;
  ensemble: string;
  units: Map<string, string>;
}

/** The pair that the viewer picked. */
function Chosen({ pair: [one = "", other = ""], drawn, entity, ensemble, units }: ChosenProps) {
  const r = drawn.matrix[drawn.names.indexOf(one)]?.[drawn.names.indexOf(other)];
  if (r === undefined) return null;
  return (
    <div class="card chosen-pair">
      <b class="big" id="chosen-correlation">{decimal(r, 3)}</b>
      <span>
        {[one, other].map((outcome) => (
          <span key={outcome}>
            <Link class="mono" to={href(["ensemble", ensemble], { entity, outcome })}>
              {outcome}
            </Link>{" "}
            <small class="muted">{units.get(outcome)}</small>
          </span>
        ))}
      </span>
    </div>
  );
}

function Pairs({ pairs, entity, ensemble }: { pairs: readonly Pair[]; entity: string; ensemble: string }) {
  const link = (outcome: string) => (
    <Link class="mono" to={href(["ensemble", ensemble], { entity, outcome })} title={outcome}>
      {outcome}
    </Link>
  );
  const columns: Column<Pair>[] = [
    { key: "one", title: "Strongest pairs", width: 150, cell: ({ one }) => link(one) },
    { key: "other", title: <span class="hidden">Other outcome</span>, width: 150, cell: ({ other }) => link(other) },
    {
      key: "bar",
      title: <span class="hidden">Strength</span>,
      width: 64,
      cell: ({ r }) => (
        <span class="pair-bar" data-below={r < 0} aria-hidden="true">
          <span style={{ width: `${Math.abs(r) * 100}%` }} />
        </span>
      ),
    },
    { key: "r", title: "r", width: 72, align: "right", cell: ({ r }) => decimal(r, 3) },
  ];
  return (
    <VirtualTable
      label="Pairs by strength"
      columns={columns}
      rows={pairs}
      around={300}
      rowKey={(pair) => `${pair.one} ${pair.other}`}
      rowHeight={30}
    />
  );
}
