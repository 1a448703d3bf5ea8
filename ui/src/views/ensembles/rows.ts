import type { Integer } from "../../api/json";
import type { Ensemble, Run, Value } from "../../api/types";
import { type Sort, byName, compared } from "../../app/sort";

/** A line of the list: what is stored of an ensemble, what runs of it, or both. */
export interface Row {
  name: string;
  stored: Ensemble | undefined;
  run: Run | undefined;
  state: string;
  model: string;
  worlds: number;
  planned: number;
  /** Parameters in which it differs from others of its model. */
  differs: [string, Value][];
}

/** Joins what is stored and what runs. */
export function rowsOf(stored: readonly Ensemble[], runs: ReadonlyMap<string, Run>): Row[] {
  const differing = differences(stored);
  const known = new Set(stored.map((ensemble) => ensemble.ensemble));
  const starting = [...runs.values()].filter((run) => !known.has(run.ensemble));
  return [
    ...starting.map((run) => row(run.ensemble, undefined, run, [])),
    ...stored.map((one) => row(one.ensemble, one, runs.get(one.ensemble), differing.get(one) ?? [])),
  ];
}

function row(name: string, stored: Ensemble | undefined, run: Run | undefined, differs: [string, Value][]): Row {
  return {
    name,
    stored,
    run,
    differs,
    state: run?.state ?? stored?.state ?? "unknown",
    model: stored?.model ?? run?.model ?? "",
    worlds: Math.max(run?.worlds_done ?? 0, stored?.worlds ?? 0),
    planned: run?.worlds ?? stored?.planned ?? 0,
  };
}

/** For each ensemble, its values of the parameters that are not the same in all ensembles of its model. */
function differences(stored: readonly Ensemble[]): Map<Ensemble, [string, Value][]> {
  const values = new Map<string, Map<string, Set<string>>>();
  const read = (one: Ensemble) => Object.entries(one.parameters ?? {});
  for (const one of stored) {
    const model = values.get(one.model) ?? new Map<string, Set<string>>();
    values.set(one.model, model);
    for (const [name, value] of read(one)) model.set(name, (model.get(name) ?? new Set()).add(JSON.stringify(value)));
  }
  const differ = (one: Ensemble, name: string) => (values.get(one.model)?.get(name)?.size ?? 0) > 1;
  return new Map(stored.map((one) => [one, read(one).filter(([name]) => differ(one, name))]));
}

export type SortKey = "name" | "state" | "model" | "worlds" | "bytes" | "created" | "seed";

/** Orders rows; what runs now is always first. */
export function sorted(rows: readonly Row[], { key, down }: Sort): Row[] {
  const of = (row: Row): string | Integer => {
    switch (key as SortKey) {
      case "name":
        return row.name;
      case "state":
        return row.state;
      case "model":
        return row.model;
      case "worlds":
        return row.worlds;
      case "seed":
        return row.stored?.seed ?? 0;
      case "bytes":
        return (row.stored?.outcome_bytes ?? 0) + (row.stored?.event_bytes ?? 0);
      default:
        return started(row);
    }
  };
  const order = (a: Row, b: Row) => {
    const by = compared(of(a), of(b));
    return Number(isActive(b)) - Number(isActive(a)) || (down ? -by : by) || byName(a.name, b.name);
  };
  return [...rows].sort(order);
}

function started(row: Row): number {
  return new Date(row.stored?.created ?? row.run?.started ?? 0).getTime();
}

export function isActive(row: Row): boolean {
  return ["starting", "queued", "running", "pausing", "paused"].includes(row.state) && row.run !== undefined;
}

/** The colour of a state. */
export function tone(state: string): "good" | "run" | "warn" | "bad" | "none" {
  if (["complete", "enough"].includes(state)) return "good";
  if (["running", "starting", "queued", "pausing"].includes(state)) return "run";
  if (["failed", "unreadable", "damaged"].includes(state)) return "bad";
  return state === "paused" || state === "incomplete" ? "warn" : "none";
}
