import { useEffect, useRef } from "preact/hooks";
import type uPlot from "uplot";
import type { Integer } from "../api/json";
import { theme, zone } from "../app/preferences";
import { value } from "../app/format";
import { colour } from "./colour";
import { useWidth } from "./frame";

export interface Line {
  name: string;
  /** A gap where it is `null`; lines pass over places that are `undefined`. */
  values: (Integer | null | undefined)[];
}

interface Props {
  label: string;
  /** Unix seconds, ascending. */
  at: number[];
  lines: Line[];
  /** Whether `at` has plain numbers instead of times. */
  isNumber?: boolean;
  /** Whether the vertical scale begins at 0: for sizes and rates, which are never negative. */
  fromZero?: boolean;
  height?: number;
  text?: (value: number) => string;
}

/** Numbers over time, drawn by uPlot, which the browser loads when the first one is shown. */
export function TimeSeries({
  label,
  at,
  lines,
  isNumber = false,
  fromZero = false,
  height = 220,
  text = value,
}: Props) {
  const box = useRef<HTMLElement>(null);
  const place = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const names = lines.map((line) => line.name).join("\n");
  const plot = useRef<uPlot>(undefined);
  const data = useRef<uPlot.AlignedData>([at]);
  data.current = [at, ...lines.map((line) => line.values.map((n) => (typeof n === "bigint" ? Number(n) : n)))];
  useEffect(() => {
    if (width === 0) return;
    let gone = false;
    void import("uplot").then(({ default: UPlot }) => {
      if (gone || !place.current) return;
      plot.current = new UPlot(
        options(UPlot, place.current, names.split("\n"), { isNumber, fromZero }, width, height, text),
        data.current,
        place.current,
      );
    });
    return () => {
      gone = true;
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [width > 0, names, isNumber, height, theme.value, zone.value]);
  useEffect(() => plot.current?.setData(data.current), [at, lines]);
  useEffect(() => plot.current?.setSize({ width, height }), [width]);
  return (
    <figure class="chart" ref={box} aria-label={label}>
      <div ref={place} role="img" aria-label={label} />
    </figure>
  );
}

/** Labels of times by the distance of two, in seconds: [from, label, the label's second line when the day or year turns]. */
const CLOCK: uPlot.Axis.Values = [
  [31_536_000, "{YYYY}", null, null, null, null, null, null, 1],
  [2_419_200, "{YYYY}-{MM}", null, null, null, null, null, null, 1],
  [86_400, "{MM}-{DD}", "\n{YYYY}", null, null, null, null, null, 1],
  [60, "{HH}:{mm}", "\n{YYYY}-{MM}-{DD}", null, "\n{MM}-{DD}", null, null, null, 1],
  [1, "{HH}:{mm}:{ss}", "\n{YYYY}-{MM}-{DD}", null, "\n{MM}-{DD}", null, null, null, 1],
  [0.001, ":{ss}.{fff}", "\n{YYYY}-{MM}-{DD} {HH}:{mm}", null, "\n{MM}-{DD} {HH}:{mm}", null, "\n{HH}:{mm}", null, 1],
];

/** Around a lone moment, in seconds. */
const AROUND_S = 60;

/** The places of points whose neighbours are gaps: no line shows them. */
function lone(plot: uPlot, series: number, isShown: boolean): number[] | null {
  if (isShown) return null;
  const values = plot.data[series] ?? [];
  const near = (place: number, step: number) => {
    let at = place + step;
    while (values[at] === undefined && at >= 0 && at < values.length) at += step;
    return values[at] ?? null;
  };
  return [...values.keys()].filter(
    (place) => values[place] != null && near(place, -1) === null && near(place, 1) === null,
  );
}

const FROM_ZERO: uPlot.Range.Config = { min: { pad: 0, soft: 0, mode: 2 }, max: { pad: 0.1, soft: 0, mode: 2 } };

function options(
  UPlot: typeof uPlot,
  element: HTMLElement,
  names: string[],
  how: { isNumber: boolean; fromZero: boolean },
  width: number,
  height: number,
  text: (value: number) => string,
): uPlot.Options {
  const probe = (name: string) => colour(element, name);
  const [ink, grid] = [probe("--muted"), probe("--line")];
  const axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { show: false } };
  return {
    width,
    height,
    tzDate: (seconds) =>
      zone.value === "utc" ? UPlot.tzDate(new Date(seconds * 1000), "Etc/UTC") : new Date(seconds * 1000),
    scales: {
      x: {
        time: !how.isNumber,
        range: ({ data: [at] }, from, to) => {
          const [only] = at.length === 1 ? at : [];
          if (only === undefined) return [from, to];
          const around = how.isNumber ? Math.abs(only) * 0.1 || 1 : AROUND_S;
          return [only - around, only + around];
        },
      },
      // Zeros alone would be drawn on a scale up to 100.
      ...(how.fromZero && { y: { range: (_, _min, max) => UPlot.rangeNum(0, max || 1, FROM_ZERO) } }),
    },
    cursor: { points: { size: 6 } },
    series: [
      how.isNumber ? { label: "at" } : { label: "time", value: "{YYYY}-{MM}-{DD} {HH}:{mm}:{ss}" },
      ...names.map((name, i) => ({
        label: name,
        stroke: probe(`--series-${(i % 8) + 1}`),
        width: 1.5,
        points: { filter: lone },
        value: (_: uPlot, n: number | null) => (n === null || n === undefined ? "" : text(n)),
      })),
    ],
    axes: [
      how.isNumber ? { ...axis, values: (_, ticks) => ticks.map(text) } : { ...axis, space: 64, values: CLOCK },
      {
        ...axis,
        size: (_, labels) => 16 + 7 * Math.max(4, ...(labels ?? []).map((label) => label.length)),
        values: (_, ticks) => ticks.map(text),
      },
    ],
  };
}
