import { useState } from "preact/hooks";
import { value } from "../app/format";
import { Frame, useCursor } from "./frame";
import { type Scale, extent, padded } from "./scale";

interface Props {
  label: string;
  /** As many quantiles as dots, ascending: each stands for the same share of the worlds. */
  quantiles: readonly number[];
  unit: string;
  height?: number;
  word?: (code: number) => string | undefined;
  /** The values that the axis covers, the same for charts that are compared. */
  domain?: readonly [number, number];
  /** Which of the colours of series, from 0. */
  tone?: number;
}

const RADIUS_MAX = 7;
/** The least that people count without effort. */
const RADIUS_COUNTED = 3;
/** Dots beside each other for one value. */
const ABREAST_MAX = 10;

/**
 * A quantile dot plot: of 100 dots, as many are at or above a value as of 100 worlds. People count dots more reliably
 * than they read percentages.
 */
export function QuantileDots({ label, quantiles, unit, height = 220, word, domain, tone = 0 }: Props) {
  const [side, setSide] = useState<"least" | "most">("least");
  const places = [...new Set(quantiles)];
  const inside = (dot: number, at: number) => (side === "least" ? dot >= at : dot <= at);
  const say = (index: number) => {
    const at = places[index] as number;
    const n = quantiles.filter((dot) => inside(dot, at)).length;
    return `${n} of ${quantiles.length}: ${word?.(at) ?? value(at)} or ${side === "least" ? "more" : "less"}`;
  };
  const cursor = useCursor(places, say, () => setSide(side === "least" ? "most" : "least"));
  const held = cursor.index === undefined ? undefined : places[cursor.index];
  return (
    <Frame
      label={label}
      height={height}
      x={padded(domain ?? extent(quantiles), 0.06)}
      xLabel={unit}
      xText={(tick) => word?.(tick) ?? value(tick)}
      wholeX={quantiles.every(Number.isInteger)}
      readout={
        cursor.index === undefined
          ? undefined
          : `${say(cursor.index)} (click for ${side === "least" ? "less" : "more"})`
      }
      cursor={cursor}
    >
      {({ x, y }) => {
        const { stacks, radius } = stack(quantiles, x, y.at(0) - y.at(1));
        return stacks.map((dot, i) => (
          <circle
            key={i}
            class={held === undefined || inside(dot.value, held) ? `dot s${tone + 1}` : `dot aside s${tone + 1}`}
            cx={dot.x}
            cy={y.at(0) - radius * (2 * dot.level + 1) - 1}
            r={radius * 0.88}
          />
        ));
      }}
    </Frame>
  );
}

interface Dot {
  value: number;
  x: number;
  level: number;
}

/** Stacks dots in columns, with the largest radius at which the tallest column fits. */
function stack(values: readonly number[], x: Scale, tall: number): { stacks: Dot[]; radius: number } {
  const [left, right] = x.domain.map(x.at) as [number, number];
  for (let radius = RADIUS_MAX; ; radius -= 0.5) {
    const groups = columns(values, x.at, radius);
    const most = Math.max(0, ...groups.map((group) => group.values.length));
    // Dots of a few values, far apart, would be too small to count: they are beside each other.
    const isOne = most * RADIUS_COUNTED * 2 <= tall;
    const gaps = groups.slice(1).map((group, i) => group.middle - (groups[i] as Column).middle);
    const room = Math.floor((0.8 * Math.min(...gaps, Infinity)) / (radius * 2));
    const abreast = isOne ? 1 : Math.max(1, Math.min(ABREAST_MAX, room));
    if (Math.ceil(most / abreast) * radius * 2 > tall && radius > 1) continue;
    // No more of them abreast than it takes.
    const needed = Math.min(abreast, Math.ceil(most / Math.max(1, Math.floor(tall / (radius * 2)))));
    const half = needed * radius;
    const stacks = groups.flatMap(({ values, middle }) => {
      const inside = Math.max(left + half, Math.min(right - half, middle));
      return values.map((value, i) => {
        const side = (i % needed) - (needed - 1) / 2;
        return { value, x: inside + side * radius * 2, level: Math.floor(i / needed) };
      });
    });
    return { stacks, radius };
  }
}

interface Column {
  values: number[];
  middle: number;
}

function columns(values: readonly number[], x: (value: number) => number, radius: number): Column[] {
  const groups: Column[] = [];
  let first = -Infinity;
  for (const value of values) {
    // A column holds what is within a dot's width of its first value.
    if (x(value) - first >= radius * 2) {
      groups.push({ values: [], middle: 0 });
      first = x(value);
    }
    const group = groups.at(-1) as Column;
    group.values.push(value);
    group.middle = (first + x(value)) / 2;
  }
  return groups;
}
