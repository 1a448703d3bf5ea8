import { get } from "../../api/client";
import type { Ensemble, Run } from "../../api/types";
import { useAsked } from "../../app/asked";
import { bytes, count, duration, percent, plural, rate, time } from "../../app/format";
import { listChanges, runs, status } from "../../app/live";
import { Link, href, query, setQuery } from "../../app/router";
import { mayPlay } from "../../app/session";
import { sorting } from "../../app/sort";
import { useNarrow } from "../../app/window";
import { useTitle } from "../../app/title";
import { Command, Empty } from "../../parts/empty";
import { ErrorNote } from "../../parts/error_note";
import { Icon } from "../../parts/icon";
import { Progress } from "../../parts/progress";
import { Search, matches } from "../../parts/search";
import { type Column, VirtualTable } from "../../parts/virtual_table";
import { Actions } from "./actions";
import { type Row, isActive, rowsOf, sorted, tone } from "./rows";
import { Workers } from "./workers";

const COLUMNS: Column<Row>[] = [
  { key: "name", title: "Ensemble", width: 150, sorts: true, cell: (row) => <Name row={row} /> },
  { key: "state", title: "State", width: 100, sorts: true, cell: (row) => <State row={row} /> },
  { key: "progress", title: "Progress", width: 214, cell: (row) => <Played row={row} /> },
  {
    key: "rate",
    title: "Rate",
    width: 66,
    align: "right",
    cell: ({ run }) => playing(run) && rate(playing(run)?.worlds_per_s ?? 0),
  },
  {
    key: "left",
    title: "Time left",
    width: 96,
    align: "right",
    cell: ({ run }) => playing(run)?.left_s != null && duration(playing(run)?.left_s ?? 0),
  },
  {
    key: "actions",
    title: <span class="hidden">Actions</span>,
    width: 72,
    cell: ({ run }) => run && <Actions run={run} />,
  },
  { key: "model", title: "Model", sorts: true, cell: (row) => <span title={row.model}>{row.model}</span> },
  {
    key: "differs",
    title: "Differs in",
    hint: "Parameters that are not the same in all ensembles of the model",
    cell: (row) => <Differs row={row} />,
  },
  {
    key: "seed",
    title: "Seed",
    align: "right",
    sorts: true,
    cell: ({ stored }) => <span title={seed(stored)}>{seed(stored)}</span>,
  },
  {
    key: "bytes",
    title: "Size",
    width: 92,
    align: "right",
    sorts: true,
    cell: ({ stored }) => stored?.outcome_bytes !== undefined && bytes(stored.outcome_bytes + stored.event_bytes),
  },
  { key: "created", title: "Created", width: 178, sorts: true, cell: ({ stored }) => time(stored?.created) },
];

/** Pixels of a character and beside a text, and the characters of a column that fits its texts. */
const [CHARACTER, PADDING, TEXT_MAX] = [8, 20, 14];

function seed(stored: Ensemble | undefined): string {
  return stored?.seed === undefined ? "" : String(stored.seed);
}

function playing(run: Run | undefined): Run | undefined {
  return run?.state === "running" ? run : undefined;
}

/** Columns that have something to show. */
function columnsOf(rows: readonly Row[], isNarrow: boolean): Column<Row>[] {
  const without = new Set([
    ...(rows.some((row) => row.run !== undefined) ? [] : ["rate", "left", "actions"]),
    ...(rows.some((row) => row.differs.length > 0) ? [] : ["differs"]),
  ]);
  const widest = (text: (row: Row) => string) =>
    Math.min(TEXT_MAX, Math.max(4, ...rows.map((row) => text(row).length))) * CHARACTER + PADDING;
  const fitted: Record<string, number> = {
    ...(isNarrow && { name: 130 }),
    model: widest((row) => row.model),
    seed: widest((row) => seed(row.stored)),
  };
  const width = ({ key, width }: Column<Row>) => {
    const found = fitted[key] ?? width;
    return found === undefined ? {} : { width: found };
  };
  return COLUMNS.filter((column) => !without.has(column.key)).map((column) => ({ ...column, ...width(column) }));
}

/** The list of ensembles, with what runs now. */
export default function List() {
  useTitle("");
  const stored = useAsked("ensembles", (signal) => get<Ensemble[]>("/api/v1/ensembles", {}, signal), { edition: listChanges.value });
  const isNarrow = useNarrow();
  const search = query.value.get("q") ?? "";
  const order = sorting({ key: "created", down: true });
  if (stored.value === undefined) {
    return stored.error ? <ErrorNote error={stored.error} again={stored.again} /> : null;
  }
  const all = rowsOf(stored.value, runs.value);
  const found = all.filter((row) =>
    matches(search, row.name, row.model, row.state, ...row.differs.map(([name, value]) => `${name}=${value}`)),
  );
  const rows = sorted(found, order.sort);
  const active = all.filter(isActive).length;
  return (
    <div class="view">
      <div class="bar-row">
        <h1>Ensembles</h1>
        <span class="muted">
          {search === "" ? count(all.length) : `${count(rows.length)} of ${count(all.length)}`}
          {active > 0 && ` · ${count(active)} running`}
        </span>
        {all.length > 0 && (
          <Search label="Search ensembles" value={search} onChange={(q) => setQuery({ q })} shortcut />
        )}
        {mayPlay.value && (
          <Link class="button primary end" to={href(["run"])}>
            <Icon name="plus" /> Start a run
          </Link>
        )}
      </div>
      {all.length === 0 ? (
        <Empty title="No ensembles yet">
          An ensemble is a set of simulated worlds. Play one:
          <Command text="manyworlds run football --worlds 1000 --name season" />
        </Empty>
      ) : rows.length === 0 ? (
        <Empty title={`No ensemble matches "${search}"`}>
          <button onClick={() => setQuery({ q: "" })}>Show all</button>
        </Empty>
      ) : (
        <VirtualTable
          label="Ensembles"
          class="dense"
          columns={columnsOf(all, isNarrow)}
          rows={rows}
          around={130}
          rowKey={(row) => row.name}
          rowHeight={36}
          {...order}
        />
      )}
      {status.value?.fleet_error && (
        <p class="note">Runs of the fleet may be out of date: {status.value.fleet_error}</p>
      )}
      {(status.value?.workers.length ?? 0) > 0 && <Workers workers={status.value?.workers ?? []} />}
    </div>
  );
}

function Name({ row }: { row: Row }) {
  if (row.stored?.error !== undefined) return <span title={row.stored.error}>{row.name}</span>;
  return (
    <Link class="strong" to={href(["ensemble", row.name])} title={row.name}>
      {row.name}
    </Link>
  );
}

function State({ row }: { row: Row }) {
  const why = row.run?.error ?? row.stored?.error ?? undefined;
  return (
    <span class="state" data-tone={tone(row.state)} title={why}>
      {row.state}
    </span>
  );
}

function Played({ row }: { row: Row }) {
  if (row.stored?.error !== undefined) return <span class="bad">{row.stored.error}</span>;
  if (row.run?.state === "failed" && row.run.error)
    return (
      <span class="bad" title={row.run.error}>
        {row.run.error}
      </span>
    );
  if (!isActive(row) && row.worlds === row.planned) return <>{plural(row.worlds, "world")}</>;
  return (
    <span class="played">
      <Progress done={row.worlds} of={row.planned} label={`Progress of ${row.name}`} />
      <span>
        {count(row.worlds)} of {count(row.planned)}
        {isActive(row) && row.planned > 0 && ` · ${percent(row.worlds / row.planned, 0)}`}
      </span>
    </span>
  );
}

function Differs({ row }: { row: Row }) {
  return (
    <span class="parameters">
      {row.differs.map(([name, value]) => (
        <span key={name} title={`${name} = ${value}`}>
          <span class="muted">{name}</span> {Array.isArray(value) ? value.join(", ") : String(value)}
        </span>
      ))}
    </span>
  );
}
