type Matrix = readonly (readonly (number | null)[])[];

interface Cluster {
  /** Rows in drawing order. */
  order: number[];
  size: number;
}

/**
 * Orders the rows of a correlation matrix so that outcomes that go together are neighbours: average linkage over
 * the distance 1 - |r|, by chains of nearest neighbours, in time quadratic in the rows.
 */
export function clusterOrder(matrix: Matrix): number[] {
  const n = matrix.length;
  if (n < 3) return matrix.map((_, i) => i);
  const distance = distances(matrix);
  const clusters: (Cluster | undefined)[] = matrix.map((_, i) => ({ order: [i], size: 1 }));
  const chain: number[] = [];
  for (let left = n; left > 1; left--) {
    if (chain.length === 0) chain.push(clusters.findIndex((one) => one !== undefined));
    for (;;) {
      const last = chain.at(-1) as number;
      const before = chain.at(-2);
      const next = nearest(distance, n, last, before, clusters);
      if (next === before) break;
      chain.push(next);
    }
    const [b, a] = [chain.pop() as number, chain.pop() as number];
    merge(distance, n, a, b, clusters, matrix);
  }
  return clusters.find((one) => one !== undefined)?.order ?? [];
}

/** A constant outcome has no correlation: it is as far from all others as can be. */
function distances(matrix: Matrix): Float32Array {
  const n = matrix.length;
  const distance = new Float32Array(n * n);
  matrix.forEach((row, i) => row.forEach((r, j) => (distance[i * n + j] = r === null ? 1 : 1 - Math.abs(r))));
  return distance;
}

/** The cluster nearest to `of`; the one before in the chain wins ties, or the chain would never close. */
function nearest(distance: Float32Array, n: number, of: number, before: number | undefined, clusters: readonly (Cluster | undefined)[]): number {
  let best = before ?? -1;
  let least = before === undefined ? Infinity : (distance[of * n + before] as number);
  for (let i = 0; i < n; i++) {
    if (i === of || clusters[i] === undefined) continue;
    const d = distance[of * n + i] as number;
    if (d < least) [best, least] = [i, d];
  }
  return best;
}

/** Joins `b` into `a`, turned so that their most alike ends meet. */
function merge(distance: Float32Array, n: number, a: number, b: number, clusters: (Cluster | undefined)[], matrix: Matrix): void {
  const [one, two] = [clusters[a] as Cluster, clusters[b] as Cluster];
  const like = (i: number | undefined, j: number | undefined) => Math.abs(matrix[i ?? 0]?.[j ?? 0] ?? 0);
  const [x, y] = [one.order, two.order];
  const joins: [number, () => number[]][] = [
    [like(x.at(-1), y[0]), () => [...x, ...y]],
    [like(x.at(-1), y.at(-1)), () => [...x, ...y.toReversed()]],
    [like(x[0], y[0]), () => [...x.toReversed(), ...y]],
    [like(x[0], y.at(-1)), () => [...y, ...x]],
  ];
  const [, join] = joins.reduce((best, next) => (next[0] > best[0] ? next : best));
  const size = one.size + two.size;
  clusters[a] = { order: join(), size };
  clusters[b] = undefined;
  for (let i = 0; i < n; i++) {
    const mean = ((distance[a * n + i] as number) * one.size + (distance[b * n + i] as number) * two.size) / size;
    distance[a * n + i] = distance[i * n + a] = mean;
  }
}
