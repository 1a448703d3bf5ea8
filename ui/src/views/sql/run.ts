// Statements that run, and what they returned. They go on while the viewer looks at another view.
import { signal } from "@preact/signals";
import { type Result, readArrow } from "../../api/arrow";
import { ApiError, isCancelled, send } from "../../api/client";
import type { Statement } from "../../sql/statements";
import { remember } from "./store";

export interface Run {
  statement: Statement;
  state: "waiting" | "running" | "done" | "failed" | "cancelled";
  /** When it began, by the clock of `performance.now`. */
  began: number;
  ms: number;
  result?: Result;
  /** The answer as it came: an Arrow stream. */
  bytes?: ArrayBuffer;
  error?: ApiError;
  notes?: string;
}

/** Runs by the tab that began them. */
export const runs = signal<ReadonlyMap<string, readonly Run[]>>(new Map());
const controls = new Map<string, AbortController>();

const NOTES = "x-manyworlds-note";

function put(tab: string, place: number, change: Partial<Run>): void {
  const list = runs.value.get(tab);
  if (!list) return;
  runs.value = new Map(runs.value).set(tab, list.map((run, i) => (i === place ? { ...run, ...change } : run)));
}

/** Runs statements one after another, until one fails. */
export async function start(tab: string, statements: readonly Statement[]): Promise<void> {
  cancel(tab);
  const control = new AbortController();
  controls.set(tab, control);
  runs.value = new Map(runs.value).set(tab, statements.map((statement) => ({ statement, state: "waiting", began: 0, ms: 0 })));
  for (let place = 0; place < statements.length; place++) {
    const ended = await one(tab, place, statements[place] as Statement, control.signal);
    // Another run of the tab has taken its place.
    if (controls.get(tab) !== control) return;
    put(tab, place, ended);
    if (ended.state !== "done") break;
  }
  const list = runs.value.get(tab) ?? [];
  runs.value = new Map(runs.value).set(tab, list.filter((run) => run.state !== "waiting"));
  controls.delete(tab);
}

async function one(tab: string, place: number, statement: Statement, signal: AbortSignal): Promise<Partial<Run>> {
  const [began, at] = [performance.now(), Date.now()];
  put(tab, place, { state: "running", began });
  const ms = () => performance.now() - began;
  try {
    const answer = await send("/api/v1/sql", { sql: statement.text }, { format: "arrow" }, signal);
    const bytes = await answer.arrayBuffer();
    const took = ms();
    const result = readArrow(bytes);
    remember({ sql: statement.text, at, ms: took, rows: result.rows });
    const notes = answer.headers.get(NOTES);
    return { state: "done", ms: took, result, bytes, ...(notes !== null && { notes }) };
  } catch (error) {
    if (isCancelled(error)) return { state: "cancelled", ms: ms() };
    const told = error instanceof ApiError ? error : new ApiError(0, `cannot read the answer: ${String(error)}`);
    remember({ sql: statement.text, at, ms: ms(), error: told.message });
    return { state: "failed", ms: ms(), error: told };
  }
}

/** Ends what the tab runs: the server stops a query whose client has gone. */
export function cancel(tab: string): void {
  controls.get(tab)?.abort();
}

export function isRunning(tab: string): boolean {
  return runs.value.get(tab)?.some((run) => run.state === "running" || run.state === "waiting") ?? false;
}

export function discard(tab: string): void {
  cancel(tab);
  controls.delete(tab);
  const rest = new Map(runs.value);
  rest.delete(tab);
  runs.value = rest;
}

/** Where in its statement an error is. */
export function placeOf(error: ApiError, statement: string): number | undefined {
  if (error.text === statement && error.place !== undefined) return error.place;
  const found = /at Line: (\d+), Column: (\d+)/.exec(error.message);
  if (!found) return undefined;
  const lines = statement.split("\n");
  const [line, column] = [Number(found[1]), Number(found[2])];
  const before = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
  // Columns count characters, places in a text its UTF-16 units.
  return Math.min(statement.length, before + [...(lines[line - 1] ?? "")].slice(0, column - 1).join("").length);
}
