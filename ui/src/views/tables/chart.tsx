import { useState } from "preact/hooks";
import type { ApiError } from "../../api/client";
import type { TableAbout, TableColumn } from "../../api/types";
import { count, time, value } from "../../app/format";
import { usePolled } from "../../app/poll";
import { query, setQuery } from "../../app/router";
import { BarRank } from "../../charts/bar_rank";
import { TimeSeries } from "../../charts/time_series";
import { Empty } from "../../parts/empty";
import { ErrorNote } from "../../parts/error_note";
import { VirtualTable } from "../../parts/virtual_table";
import { ChartControls } from "./chart_controls";
import { type Asking, type Group, type Measure, type Points, AGGREGATES, GROUPS, LINES, RANGES, answered, askGroups, askPoints, label, timeColumns } from "./question";

/** Spans this short move on while one looks at them. */
const MOVING = new Set(["15m", "1h", "6h"]);
const MOVING_MS = 5000;

/** What the address asks. */
function asking(table: string, about: TableAbout): Asking {
  const of = (name: string) => query.value.get(name) ?? undefined;
  const [word = "count", column = ""] = (of("measure") ?? "count").split(/:(.*)/s);
  const known = AGGREGATES.find(([name]) => name === word)?.[0] ?? "count";
  const isWhole = about.columns.some((one) => one.name === column);
  const measure: Measure = known === "count" || !isWhole ? { of: "count", column: "" } : { of: known, column };
  const group = of("group");
  const range = of("since") ?? "24h";
  return {
    table,
    measure,
    group: about.columns.some((one) => one.name === group) ? group : undefined,
    where: query.value.getAll("where"),
    time: timeColumns(about).find((name) => name === of("time")) ?? timeColumns(about)[0],
    since: range === "all" ? undefined : range,
    until: of("until"),
    bucket: of("bucket"),
  };
}

/** A measure over time, by groups, with filters. */
export function ChartView({ table, about }: { table: string; about: TableAbout }) {
  const now = asking(table, about);
  const column = about.columns.find((one) => one.name === now.group);
  const key = JSON.stringify(now);
  const pace = now.until === undefined && MOVING.has(now.since ?? "") ? MOVING_MS : undefined;
  const groups = usePolled(column && key, async (signal) => ({ key, list: await askGroups(now, column as TableColumn, signal) }), pace);
  const list = column ? groups.value?.list : undefined;
  // The groups of the question before are shown, but not asked about.
  const isReady = column === undefined || groups.value?.key === key;
  const shown = list?.slice(0, LINES);
  const points = usePolled(
    now.time === undefined || !isReady ? undefined : `${key}\n${shown?.map((one) => one.condition).join("\n") ?? ""}`,
    (signal) => askPoints(now, shown, signal),
    pace,
  );
  const error = groups.error ?? points.error;
  return (
    <>
      <ChartControls about={about} asking={now} error={error && isOfFilter(error) ? error : undefined} />
      {error && !isOfFilter(error) && <ErrorNote error={error} again={groups.error ? groups.again : points.again} />}
      {now.time === undefined && <p class="note">This table has no column of times, so nothing can be drawn over time. Choose a column to group by.</p>}
      {!error && points.value && <Drawn points={points.value} measure={now.measure} asking={now} about={about} />}
      {!error && list && <Groups groups={list} measure={now.measure} name={now.group ?? ""} />}
    </>
  );
}

function isOfFilter(error: ApiError): boolean {
  return error.place !== undefined || error.message.startsWith("condition");
}

function Drawn({ points, measure, asking, about }: { points: Points; measure: Measure; asking: Asking; about: TableAbout }) {
  const [isTable, setTable] = useState(false);
  if (points.at.length === 0) {
    return (
      <Empty title="No rows">
        {asking.where.length > 0 ? "No row of this span meets the filters." : "No row is from this span."}
        {about.newest && ` The newest row of the table is from ${time(about.newest)}.`}
        {(query.value.get("since") ?? "24h") !== "all" && <button onClick={() => setQuery({ since: "all", until: null })}>Show all times</button>}
      </Empty>
    );
  }
  const name = `${answered(measure)} per ${points.bucket}`;
  return (
    <figure class="card view" aria-label={name}>
      <div class="bar-row">
        <h2>{name}</h2>
        <span class="muted">{RANGES.find(([age]) => age === asking.since)?.[1] ?? ""}</span>
        <button class="small end" aria-expanded={isTable} onClick={() => setTable(!isTable)}>
          Values
        </button>
      </div>
      <TimeSeries label={name} at={points.at} lines={points.lines} height={300} />
      {isTable && <Values points={points} />}
    </figure>
  );
}

/** The drawn numbers. */
function Values({ points }: { points: Points }) {
  return (
    <VirtualTable
      label="Values"
      class="values"
      rows={{ length: points.at.length, at: (index) => points.at.length - 1 - index }}
      rowKey={(place) => points.at[place] as number}
      rowHeight={28}
      columns={[
        { key: "time", title: "From", width: 180, cell: (place) => time((points.at[place] as number) * 1000) },
        ...points.lines.map((line, i) => ({
          key: String(i),
          title: line.name,
          width: 130,
          align: "right" as const,
          cell: (place: number) => value(line.values[place]),
        })),
      ]}
    />
  );
}

function Groups({ groups, measure, name }: { groups: readonly Group[]; measure: Measure; name: string }) {
  if (groups.length === 0) return null;
  const filter = (group: Group) => setQuery({ where: [...query.value.getAll("where"), group.condition] }, { push: true });
  return (
    <section class="view">
      <div class="bar-row">
        <h2>
          By <bdi>{name}</bdi>
        </h2>
        <span class="muted">
          {groups.length > GROUPS ? `the first ${count(GROUPS)}` : `${count(groups.length)}`}
          {groups.length > LINES && `; ${LINES} are drawn`}
        </span>
      </div>
      <BarRank
        label={`${answered(measure)} by ${name}`}
        items={groups.slice(0, GROUPS).map((group, i) => ({
          key: String(i),
          name: (
            <button class="quiet name" title="Show these rows only" onClick={() => filter(group)}>
              <bdi>{label(group.key)}</bdi>
            </button>
          ),
          value: Number(group.value ?? 0),
          text: group.value === null ? "NULL" : value(group.value),
        }))}
      />
    </section>
  );
}
