// The forms of answers about joint probabilities, leverage, correlations, comparisons and single worlds.
import { post, send } from "./client";
import type { Real } from "./types";

export interface Price {
  probability: number;
  ci: [number, number];
  standard_error: number;
  worlds: number;
  hits: number;
  fair_odds: number | null;
  independent: number;
  legs: { leg: string; probability: number }[];
}

export interface PriceQuestion {
  ensemble: string;
  entity?: string;
  legs: string[];
  given?: string[];
  min_worlds?: number;
}

export function askPrice(question: PriceQuestion, signal?: AbortSignal): Promise<Price> {
  return post("/api/v1/price", question, signal);
}

export interface Lever {
  entity: string | null;
  title: string;
  /** The event as a condition about its entity. */
  event: string;
  /** The same as a condition of its own; `null` if it cannot stand alone. */
  leg: string | null;
  worlds: number;
  with: number;
  without: number;
  swing: number;
  movement: number;
}

export interface Leverage {
  worlds: number;
  probability: number;
  compared: number;
  /** Numbers that were not examined. */
  left_out: number;
  /** The movement that chance alone stays below. */
  chance: number;
  events: Lever[];
}

export interface LeverageQuestion {
  ensemble: string;
  condition: string;
  entity?: string;
  given?: string[];
  entities?: string[];
  outcomes?: string[];
  limit?: number;
  min_worlds?: number;
}

export function askLeverage(question: LeverageQuestion, signal?: AbortSignal): Promise<Leverage> {
  return post("/api/v1/leverage", question, signal);
}

export interface Correlations {
  entity: string | null;
  worlds: number;
  outcomes: string[];
  matrix: (number | null)[][];
}

export interface Comparison {
  outcome: string;
  worlds: number;
  is_paired: boolean;
  means: [Real, Real];
  difference: Real;
  ci: [number, number] | null;
  ci_half_width: number | null;
  unpaired_half_width: number | null;
  correlation: number | null;
  shares: [number, number, number] | null;
}

export type Cell = string | number | null;

export interface Events {
  columns: string[];
  rows: Cell[][];
  total: number;
}

export interface Summary {
  entity: string;
  title: string;
  outcomes: Record<string, number>;
  tables: { name: string; columns: string[]; rows: Cell[][] }[];
  note?: string;
}

/** The numbers of the worlds that meet all conditions, ascending; without conditions those of all worlds. */
export async function askWorlds(ensemble: string, entity: string, conditions: readonly string[], signal?: AbortSignal): Promise<Uint32Array> {
  const outcomes = conditions.length === 0 ? [] : [conditions.map((one) => `(${one})`).join(" and ")];
  const entities = entity === "" || outcomes.length === 0 ? [] : [entity];
  const answer = await send("/api/v1/worlds", { ensemble, entities, outcomes }, {}, signal);
  const [bytes, { tableFromIPC }] = await Promise.all([answer.arrayBuffer(), import("@uwdata/flechette")]);
  const table = tableFromIPC(new Uint8Array(bytes));
  const worlds = Uint32Array.from(table.getChildAt(0));
  const holds = outcomes.length === 0 ? undefined : table.getChildAt(1);
  return holds === undefined ? worlds : worlds.filter((_, place) => Number(holds.at(place)) !== 0);
}

export interface BookTail {
  level: number;
  value_at_risk: number;
  expected_shortfall: number;
}

export interface Book {
  worlds: number;
  stake: number;
  mean: number;
  ci: [number, number] | null;
  standard_deviation: number;
  min: number;
  max: number;
  histogram: { from: number; to: number; worlds: number }[];
  loss: { probability: number; ci: [number, number] };
  tails: BookTail[];
  worst: { world: number; profit: number; lost: string[] }[];
  bets: {
    id: string;
    probability: number;
    expected_profit: number;
    expected_profit_ci: [number, number] | null;
    edge: number | null;
  }[];
}
