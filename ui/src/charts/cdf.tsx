import { percent, value } from "../app/format";
import { Frame, useCursor } from "./frame";
import { type Series, isDiscrete } from "./series";
import { extent, padded } from "./scale";

/** A point of a cumulative curve: the share of worlds at or below a value. */
interface Point {
  value: number;
  share: number;
}

/** The cumulative curve of a histogram; exact at every bin's end. */
export function cumulative({ bins, worlds }: Series): Point[] {
  let below = 0;
  return bins.map((bin) => {
    below += bin.worlds;
    return { value: bin.to, share: below / worlds };
  });
}

interface Props {
  label: string;
  series: readonly Series[];
  unit: string;
  height?: number;
}

/** The share of worlds at or below each value, for one or several distributions. */
export function Cdf({ label, series, unit, height }: Props) {
  const curves = series.map(cumulative);
  const starts = series.map(({ bins }) => bins[0]?.from ?? 0);
  const places = [...new Set([...starts, ...curves.flatMap((curve) => curve.map((point) => point.value))])].sort(
    (a, b) => a - b,
  );
  const say = (index: number) => {
    const at = places[index] as number;
    return curves
      .map((curve, i) => {
        const point = curve.findLast((point) => point.value <= at);
        const name = series.length > 1 ? `${series[i]?.name}: ` : "";
        return `${name}${percent(point?.share ?? 0)} at or below ${value(point?.value ?? at)}, ${percent(1 - (point?.share ?? 0))} above`;
      })
      .join("; ");
  };
  const cursor = useCursor(places, say);
  return (
    <Frame
      label={label}
      height={height ?? 220}
      x={padded(extent(places), 0.02)}
      y={[0, 1]}
      xLabel={unit}
      xText={value}
      wholeX={places.every(Number.isInteger)}
      yText={(tick) => percent(tick, 0)}
      readout={cursor.index === undefined ? undefined : say(cursor.index)}
      cursor={cursor}
    >
      {({ x, y }) => (
        <>
          {curves.map((curve, i) => (
            <path
              key={i}
              class={`line s${(i % 8) + 1}`}
              d={line(curve, starts[i] ?? 0, isDiscrete(series[i]?.bins ?? []), x.at, y.at, x.domain)}
            />
          ))}
          {cursor.index !== undefined && (
            <line
              class="cursor"
              x1={x.at(places[cursor.index] as number)}
              x2={x.at(places[cursor.index] as number)}
              y1={y.at(0)}
              y2={y.at(1)}
            />
          )}
        </>
      )}
    </Frame>
  );
}

type Map = (value: number) => number;

/** Steps where every value is known, straight lines between the ends of bins. */
function line(
  curve: readonly Point[],
  start: number,
  steps: boolean,
  x: Map,
  y: Map,
  [low, high]: readonly [number, number],
): string {
  const drawn = curve.map((point) =>
    steps ? `H${x(point.value)}V${y(point.share)}` : `L${x(point.value)},${y(point.share)}`,
  );
  return `M${x(low)},${y(0)}H${x(start)}${drawn.join("")}H${x(high)}`;
}
