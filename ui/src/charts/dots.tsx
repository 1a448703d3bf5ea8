import { useState } from "preact/hooks";
import { value } from "../app/format";
import { Frame, useCursor } from "./frame";
import { extent } from "./scale";

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
  const [low, high] = domain ?? extent(quantiles);
  const margin = (high - low || 1) * 0.06;
  return (
    <Frame
      label={label}
      height={height}
      x={[low - margin, high + margin]}
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
        const { stacks, radius } = stack(quantiles, x.at, y.at(0) - y.at(1));
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

/** Stacks dots in columns as wide as a dot, with the largest radius at which the tallest column fits. */
function stack(
  values: readonly number[],
  x: (value: number) => number,
  tall: number,
): { stacks: Dot[]; radius: number } {
  for (let radius = RADIUS_MAX; ; radius -= 0.5) {
    const stacks = columns(values, x, radius);
    const most = Math.max(0, ...stacks.map((dot) => dot.level + 1));
    if (most * radius * 2 <= tall || radius <= 1) return { stacks, radius };
  }
}

function columns(values: readonly number[], x: (value: number) => number, radius: number): Dot[] {
  const dots: Dot[] = [];
  let column: number[] = [];
  const close = () => {
    if (column.length === 0) return;
    const middle = (x(column[0] as number) + x(column.at(-1) as number)) / 2;
    column.forEach((value, level) => dots.push({ value, x: middle, level }));
  };
  for (const value of values) {
    // A column holds what is within a dot's width of its first value.
    if (column.length > 0 && x(value) - x(column[0] as number) >= radius * 2) {
      close();
      column = [];
    }
    column.push(value);
  }
  close();
  return dots;
}
