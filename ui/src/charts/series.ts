import type { Bin } from "../api/types";

/** One distribution in a chart that shows several. */
export interface Series {
  name: string;
  bins: readonly Bin[];
  worlds: number;
}

/** A bar: the values it stands for, where it is drawn, and its share of the worlds. */
export interface Bar {
  bin: Bin;
  left: number;
  right: number;
  share: number;
}

/** Bars of a histogram. Bins of one value, and of whole numbers such as 0 to 19, get the space up to their neighbours. */
export function bars({ bins, worlds }: Series): Bar[] {
  let gap = Infinity;
  for (let i = 1; i < bins.length; i++) gap = Math.min(gap, (bins[i] as Bin).from - (bins[i - 1] as Bin).to);
  // Bins of real numbers touch; a lone value gets the space of one.
  const around = Number.isFinite(gap) ? Math.max(0, gap) / 2 : bins[0] && bins[0].from === bins[0].to ? 0.5 : 0;
  return bins.map((bin) => ({ bin, left: bin.from - around, right: bin.to + around, share: bin.worlds / worlds }));
}

/** Whether all bins stand for one value each. */
export function isDiscrete(bins: readonly Bin[]): boolean {
  return bins.every((bin) => bin.from === bin.to);
}
