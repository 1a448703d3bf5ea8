import type { Bin } from "../api/types";
import { count, percent, value } from "../app/format";
import { Frame, useCursor } from "./frame";
import { type Bar, type Series, bars, isDiscrete } from "./series";
import { extent, linear } from "./scale";

interface Props {
  label: string;
  series: readonly Series[];
  unit: string;
  height?: number;
  /** The word of a code. */
  word?: (code: number) => string | undefined;
  /** Called with the bin of the first series that the viewer picks, and the one after it. */
  onPick?: (bin: Bin, next: Bin | undefined) => void;
}

/** The text of a bin: its value, word or range. */
export function binText(bin: Bin, word?: (code: number) => string | undefined): string {
  return bin.from === bin.to ? (word?.(bin.from) ?? value(bin.from)) : `${value(bin.from)} to ${value(bin.to)}`;
}

/** Bars of one distribution; outlines of several over each other, by density where their bins differ in width. */
export function Histogram({ label, series, unit, height, word, onPick }: Props) {
  const all = series.map(bars);
  const widths = all.map((some) => (some[0] ? some[0].right - some[0].left : 1));
  const sameWidth =
    series.length === 1 || widths.every((width) => Math.abs(width / (widths[0] ?? 1) - 1) < 1e-9);
  const tall = (bar: Bar) => (sameWidth ? bar.share : bar.share / (bar.right - bar.left));
  const [left, right] = extent(all.flatMap((some) => some.flatMap((bar) => [bar.left, bar.right])));
  const top = Math.max(1e-12, ...all.flatMap((some) => some.map(tall)));
  const places = [...new Set(all.flatMap((some) => some.map((bar) => (bar.left + bar.right) / 2)))].sort(
    (a, b) => a - b,
  );
  const at = (some: readonly Bar[], x: number) =>
    some.find((bar) => x >= bar.left && x < bar.right) ?? some.find((bar) => x === bar.right);
  const say = (index: number) => {
    const x = places[index] as number;
    return all
      .map((some, i) => {
        const bar = at(some, x);
        const name = series.length > 1 ? `${series[i]?.name}: ` : "";
        if (!bar) return `${name}none`;
        const share = percent(bar.share);
        return `${name}${binText(bar.bin, word)}: ${share}, ${count(bar.bin.worlds)} of ${count(series[i]?.worlds)} worlds`;
      })
      .join("; ");
  };
  const pick =
    onPick &&
    ((index: number) => {
      const some = all[0] ?? [];
      const bar = at(some, places[index] as number);
      if (bar) onPick(bar.bin, some[some.indexOf(bar) + 1]?.bin);
    });
  const cursor = useCursor(places, say, pick);
  const held = cursor.index === undefined ? undefined : places[cursor.index];
  const codes =
    word && isDiscrete(series[0]?.bins ?? []) ? places.filter((place) => word(place) !== undefined) : undefined;
  return (
    <Frame
      label={label}
      height={height ?? 220}
      x={[left, right]}
      y={[0, top * 1.04]}
      xLabel={unit}
      wholeX={series.every(({ bins }) => bins.every((bin) => Number.isInteger(bin.from)))}
      xText={(tick) => word?.(tick) ?? value(tick)}
      {...(codes && codes.length <= 12 ? { xTicks: codes } : {})}
      yText={(tick) => (sameWidth ? percent(tick, top < 0.05 ? 1 : 0) : value(tick))}
      readout={cursor.index === undefined ? undefined : say(cursor.index)}
      cursor={cursor}
    >
      {({ x, y }) =>
        series.length === 1
          ? (all[0] ?? []).map((bar) => {
              const gap = Math.min(1.5, (x.at(bar.right) - x.at(bar.left)) * 0.12);
              return (
                <rect
                  key={bar.left}
                  class={held !== undefined && held >= bar.left && held <= bar.right ? "bar s1 held" : "bar s1"}
                  x={x.at(bar.left) + gap / 2}
                  width={Math.max(0.5, x.at(bar.right) - x.at(bar.left) - gap)}
                  y={y.at(bar.share)}
                  height={Math.max(0, y.at(0) - y.at(bar.share))}
                />
              );
            })
          : all.map((some, i) => (
              <path
                key={i}
                class={`outline s${(i % 8) + 1}`}
                d={outline(some, x.at, (bar) => y.at(tall(bar)), y.at(0))}
              />
            ))
      }
    </Frame>
  );
}

function outline(some: readonly Bar[], x: (v: number) => number, y: (bar: Bar) => number, floor: number): string {
  let path = "";
  some.forEach((bar, i) => {
    const before = some[i - 1];
    const joined = before !== undefined && Math.abs(before.right - bar.left) < 1e-9 * Math.max(1, Math.abs(bar.left));
    if (!joined) path += `${before ? `V${floor}` : ""}M${x(bar.left)},${floor}`;
    path += `V${y(bar)}H${x(bar.right)}`;
  });
  return some.length > 0 ? `${path}V${floor}` : "";
}

/** A histogram as small as a word, for tables and small multiples. */
export function Spark({ series, width = 120, height = 28 }: { series: Series; width?: number; height?: number }) {
  const some = bars(series);
  const [left, right] = extent(some.flatMap((bar) => [bar.left, bar.right]));
  const top = Math.max(1e-12, ...some.map((bar) => bar.share));
  const { at } = linear([left, right], [0, width]);
  const path = some.map((bar) => {
    const wide = Math.max(1, at(bar.right) - at(bar.left) - 0.6);
    const tall = Math.max(0.5, (bar.share / top) * height);
    return `M${at(bar.left).toFixed(1)},${height}v${(-tall).toFixed(1)}h${wide.toFixed(1)}v${tall.toFixed(1)}z`;
  });
  return (
    <svg class="spark" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
      <path class="bar s1" d={path.join("")} />
    </svg>
  );
}
