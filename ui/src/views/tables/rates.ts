import { useRef } from "preact/hooks";
import type { ListedTable } from "../../api/types";

/** The time over which a rate is averaged. */
const WINDOW_MS = 10_000;

interface Sample {
  at: number;
  rows: number;
}

/** Rows per second of each table, from how many the server had acknowledged at each answer; nothing before the second one. */
export function useRates(tables: readonly ListedTable[] | undefined): ReadonlyMap<string, number> {
  const samples = useRef(new Map<string, Sample[]>());
  const last = useRef<readonly ListedTable[]>(undefined);
  const rates = useRef(new Map<string, number>());
  if (tables === undefined || tables === last.current) return rates.current;
  last.current = tables;
  const at = performance.now();
  const [found, kept] = [new Map<string, number>(), new Map<string, Sample[]>()];
  for (const table of tables) {
    const rows = Number(table.acknowledged);
    const before = (samples.current.get(table.table) ?? []).filter((one) => at - one.at <= WINDOW_MS);
    // A restarted server counts from 0 again.
    const list = (before.at(-1)?.rows ?? 0) > rows ? [] : before;
    const first = list[0];
    if (first) found.set(table.table, (rows - first.rows) / ((at - first.at) / 1000));
    kept.set(table.table, [...list, { at, rows }]);
  }
  samples.current = kept;
  rates.current = found;
  return found;
}
