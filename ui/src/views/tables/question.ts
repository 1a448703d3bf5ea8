// What a chart of a table asks: the options of the command `ask`, from the address.
import { post } from "../../api/client";
import type { Integer } from "../../api/json";
import type { TableAbout, TableColumn } from "../../api/types";
import { quoted, written } from "../../app/expression";

/** A measure: an aggregate and its column. */
export interface Measure {
  of: (typeof AGGREGATES)[number][0];
  column: string;
}

export const AGGREGATES = [
  ["count", "count"],
  ["avg", "average"],
  ["sum", "sum"],
  ["min", "least"],
  ["max", "greatest"],
  ["stddev", "standard deviation"],
  ["p50", "median"],
  ["p95", "95% quantile"],
  ["p99", "99% quantile"],
  ["distinct", "distinct values"],
] as const;

/** Ages that `since` takes, with their seconds. */
export const RANGES = [
  ["15m", "15 min", 900],
  ["1h", "1 h", 3600],
  ["6h", "6 h", 21_600],
  ["24h", "24 h", 86_400],
  ["7d", "7 d", 604_800],
  ["30d", "30 d", 2_592_000],
  ["all", "All", 0],
] as const;

export const BUCKETS = [
  ["1s", 1], ["5s", 5], ["15s", 15], ["30s", 30], ["1m", 60], ["5m", 300], ["15m", 900], ["30m", 1800], ["1h", 3600], ["3h", 10_800],
  ["6h", 21_600], ["12h", 43_200], ["1d", 86_400], ["1w", 604_800],
] as const;

const WANTED_BUCKETS = 150;
/** More groups than this make no readable chart. */
export const LINES = 8;
export const GROUPS = 50;

export interface Asking {
  table: string;
  measure: Measure;
  group: string | undefined;
  where: readonly string[];
  time: string | undefined;
  /** Ages or times; all rows without them. */
  since: string | undefined;
  until: string | undefined;
  /** The length of a bucket; chosen by the span without it. */
  bucket: string | undefined;
}

type Row = Record<string, unknown>;

export const isNumber = (column: TableColumn) => /^(?:U?Int|Float|Decimal)\d*/.test(column.type);
export const isSet = (column: TableColumn) => column.type.startsWith("List");

/** Columns of times; `time` first, which `ask` takes by itself. */
export function timeColumns({ columns }: TableAbout): string[] {
  const found = columns.filter((column) => column.type.startsWith("Timestamp")).map((column) => column.name);
  return found.includes("time") ? ["time", ...found.filter((name) => name !== "time")] : found;
}

/** The column of the answer that has the measure. */
export function answered({ of, column }: Measure): string {
  return of === "count" ? "count" : `${of}(${column})`;
}

function body({ table, measure: { of, column }, where, time, since, until }: Asking): Record<string, unknown> {
  const isQuantile = /^p\d/.test(of);
  return {
    table,
    ...(of === "count" ? { count: true } : isQuantile ? { quantiles: [`${column}:${of}`] } : { [of]: [column] }),
    ...(where.length > 0 && { where }),
    ...(time !== undefined && time !== "time" && { time }),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
  };
}

const ask = (question: object, signal: AbortSignal) => post<Row[]>("/api/v1/ask", question, signal);

/** A group of the answer: its label, its value, and the condition that its rows meet. */
export interface Group {
  key: unknown;
  value: Integer | null;
  condition: string;
}

/** The greatest groups over the whole time; one more than `GROUPS` says that there are more. */
export async function askGroups(asking: Asking, column: TableColumn, signal: AbortSignal): Promise<Group[]> {
  const { group = "" } = asking;
  const rows = await ask({ ...body(asking), group: [group], limit: GROUPS + 1 }, signal);
  const name = answered(asking.measure);
  return rows.map((row) => ({ key: row[group], value: number(row[name]), condition: condition(column, row[group]) }));
}

/** The condition that a column has a value of an answer. */
export function condition(column: TableColumn, value: unknown): string {
  const name = written(column.name);
  if (value === null || value === undefined) return `${name} IS NULL`;
  const text = typeof value === "string" ? quoted(value) : String(value);
  return isSet(column) ? `${name} HAS ${text}` : `${name} = ${text}`;
}

export interface Points {
  /** Unix seconds, every bucket of the span. */
  at: number[];
  lines: { name: string; values: (Integer | null)[] }[];
  bucket: string;
}

/** The measure over time; of the given groups each. */
export async function askPoints(asking: Asking, groups: readonly Group[] | undefined, signal: AbortSignal): Promise<Points> {
  const bucket = asking.bucket ?? (await fittingBucket(asking, signal));
  const conditions = groups?.map((one) => one.condition) ?? [];
  const where = conditions.length > 0 ? [...asking.where, conditions.map((one) => `(${one})`).join(" OR ")] : asking.where;
  const { group } = asking;
  const rows = await ask({ ...body({ ...asking, where }), time_bucket: bucket, ...(groups && group !== undefined && { group: [group] }) }, signal);
  const seconds = BUCKETS.find(([length]) => length === bucket)?.[1] ?? 1;
  const time = asking.time ?? "time";
  const at = steps(rows.map((row) => Date.parse(String(row[time])) / 1000), seconds);
  const place = new Map(at.map((second, i) => [second, i]));
  const missing = asking.measure.of === "count" ? 0 : null;
  const keys = groups?.map((one) => one.key) ?? [undefined];
  const lines = keys.map((key) => ({ name: groups ? label(key) : answered(asking.measure), values: at.map((): Integer | null => missing) }));
  const line = new Map(keys.map((key, i) => [label(key), lines[i]]));
  for (const row of rows) {
    const found = line.get(label(groups ? row[group ?? ""] : undefined));
    const step = place.get(Date.parse(String(row[time])) / 1000);
    if (found && step !== undefined) found.values[step] = number(row[answered(asking.measure)]);
  }
  return { at, lines, bucket };
}

/** Every bucket from the first to the last, so that gaps are seen; only those with rows where that would be too many. */
function steps(found: number[], seconds: number): number[] {
  const known = [...new Set(found.filter((second) => !Number.isNaN(second)))].sort((a, b) => a - b);
  const [first, last] = [known[0], known.at(-1)];
  if (first === undefined || last === undefined || (last - first) / seconds > 5000) return known;
  return Array.from({ length: Math.round((last - first) / seconds) + 1 }, (_, i) => first + i * seconds);
}

/** The length of buckets that makes about `WANTED_BUCKETS` of the span. */
async function fittingBucket(asking: Asking, signal: AbortSignal): Promise<string> {
  const range = RANGES.find(([age]) => age === asking.since);
  let seconds: number = range && asking.until === undefined ? range[2] : 0;
  if (seconds === 0) {
    const time = asking.time ?? "time";
    const [row] = await ask({ ...body({ ...asking, measure: { of: "count", column: "" } }), count: undefined, min: [time], max: [time] }, signal);
    const span = Date.parse(String(row?.[`max(${time})`])) - Date.parse(String(row?.[`min(${time})`]));
    seconds = Number.isNaN(span) ? 0 : span / 1000;
  }
  return (BUCKETS.find(([, length]) => seconds / length <= WANTED_BUCKETS * 1.3) ?? BUCKETS[BUCKETS.length - 1] as (typeof BUCKETS)[number])[0];
}

/** A group as people read it. NULL and the text "NULL" differ. */
export function label(key: unknown): string {
  if (key === null) return "NULL (no value)";
  return typeof key === "string" ? (key === "" ? "(empty)" : key) : String(key);
}

function number(value: unknown): Integer | null {
  return value === null || value === undefined ? null : typeof value === "bigint" ? value : Number(value);
}
