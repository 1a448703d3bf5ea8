/** Maps numbers to pixels. */
export interface Scale {
  domain: readonly [number, number];
  at: (value: number) => number;
  invert: (pixel: number) => number;
}

export function linear(domain: readonly [number, number], range: readonly [number, number]): Scale {
  const [low, high] = domain;
  const size = range[1] - range[0];
  // The span of numbers near the largest ones is none: half of it is.
  const unit = Number.isFinite(high - low) ? 1 : 0.5;
  const span = high * unit - low * unit || 1;
  return {
    domain,
    at: (value) => range[0] + ((value * unit - low * unit) / span) * size,
    invert: (pixel) => low + (((pixel - range[0]) / size) * span) / unit,
  };
}

/** A domain with a share of its width added on both sides; more where doubles are farther apart. */
export function padded([low, high]: readonly [number, number], share: number): [number, number] {
  const apart = Math.max(Math.abs(low), Math.abs(high)) * 2 * Number.EPSILON;
  const margin = Math.max(high * share - low * share || share, apart);
  return [Math.max(-Number.MAX_VALUE, low - margin), Math.min(Number.MAX_VALUE, high + margin)];
}

/** About `wanted` round numbers inside the domain; with `whole`, integers only. */
export function ticks([low, high]: readonly [number, number], wanted: number, whole = false): number[] {
  if (!(high > low)) return [low];
  const rough = high / Math.max(1, wanted) - low / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough) ?? rough;
  const used = whole ? Math.max(1, Math.round(step)) : step;
  const first = Math.ceil(low / used - 1e-9);
  const last = Math.floor(high / used + 1e-9);
  // Division keeps 0.3 from becoming 0.30000000000000004.
  const inverse = 1 / used;
  const exact = used < 1 && Math.abs(inverse - Math.round(inverse)) < 1e-6;
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) =>
    exact ? (first + i) / Math.round(inverse) : (first + i) * used,
  );
}

/** The domain that covers all given numbers. */
export function extent(values: Iterable<number>): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : [0, 1];
}
