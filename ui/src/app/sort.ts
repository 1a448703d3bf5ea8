import type { Integer } from "../api/json";
import { query, setQuery } from "./router";

/** By which column a table is ordered. */
export interface Sort {
  key: string;
  down: boolean;
}

/** The order of a view's table, which its address keeps; `standard` unless the viewer chose another. */
export function sorting(standard: Sort): { sort: Sort; onSort: (sort: Sort) => void } {
  const [key, direction] = (query.value.get("sort") ?? "").split(".");
  return {
    sort: key ? { key, down: direction === "down" } : standard,
    onSort: ({ key, down }) => setQuery({ sort: `${key}.${down ? "down" : "up"}` }),
  };
}

const NAMES = new Intl.Collator("en", { numeric: true });

/** Compares names as people order them, with numbers by value. */
export const byName = NAMES.compare;

/** Compares two values of one kind. */
export function compared(a: string | Integer, b: string | Integer): number {
  if (typeof a === "string" && typeof b === "string") return byName(a, b);
  return a < b ? -1 : a > b ? 1 : 0;
}
