import type { Distribution, Real } from "../../api/types";
import { post } from "../../api/client";
import type { Series } from "../../charts/series";

/** As many dots as the viewer counts easily: each stands for one of 100 worlds. */
const DOTS = 100;
/** The quantiles of the dots: the middle of each hundredth. */
const DOT_QUANTILES = Array.from({ length: DOTS }, (_, i) => Number(((2 * i + 1) / (2 * DOTS)).toFixed(3)));
/** The quantiles that the shell prints. */
export const QUANTILES = [0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99];
/** Bins of the cumulative curve: one a value where the outcome has no more of them. */
const CURVE_BINS = 500;

export interface Question {
  ensemble: string;
  entities: string[];
  outcome: string;
}

/** Distributions for bars and dots: one an entity. */
export function askBars(
  { ensemble, entities, outcome }: Question,
  bins: number,
  signal: AbortSignal,
): Promise<Distribution[]> {
  const quantiles = [...new Set([...QUANTILES, ...DOT_QUANTILES])].sort((a, b) => a - b);
  return post("/api/v1/outcome", { ensemble, entities, outcomes: [outcome], bins, quantiles }, signal);
}

/** Distributions in fine bins, for the cumulative curve. */
export function askCurve({ ensemble, entities, outcome }: Question, signal: AbortSignal): Promise<Distribution[]> {
  return post("/api/v1/outcome", { ensemble, entities, outcomes: [outcome], bins: CURVE_BINS }, signal);
}

export function series(distribution: Distribution): Series {
  return {
    name: distribution.entity ?? distribution.outcome,
    bins: distribution.histogram,
    worlds: distribution.worlds,
  };
}

/** The values of the dots. */
export function dots(distribution: Distribution): number[] {
  return DOT_QUANTILES.map((q) => distribution.quantiles[String(q)]).filter((v) => typeof v === "number");
}

/** Whether charts can show it: all of its values are finite, and so are the bounds of its bins. */
export function isFinite({ min, max, histogram }: Distribution): boolean {
  return [min, max, ...histogram.flatMap((bin): Real[] => [bin.from, bin.to])].every(Number.isFinite);
}
