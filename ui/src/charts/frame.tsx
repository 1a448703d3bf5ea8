import type { ComponentChildren, HTMLAttributes, RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Scale, linear, ticks } from "./scale";

export interface Plot {
  x: Scale;
  y: Scale;
  width: number;
  height: number;
}

interface Props {
  /** What the picture shows, for screen readers and as the title of saved pictures. */
  label: string;
  height?: number;
  x: readonly [number, number];
  /** Nothing for a chart without a vertical scale. */
  y?: readonly [number, number];
  xLabel?: string;
  yText?: (value: number) => string;
  xText?: (value: number) => string;
  /** Ticks of the horizontal axis that are not computed: labels of codes. */
  xTicks?: number[];
  wholeX?: boolean;
  /** The line that says what is under the cursor. */
  readout?: ComponentChildren;
  cursor?: Cursor;
  children: (plot: Plot) => ComponentChildren;
}

const MARGIN = { top: 8, right: 12, bottom: 24, left: 48 };
const BARE_LEFT = 12;

/** About the width of a character of an axis, in pixels. */
const CHARACTER = 7;
const TEXT_MAX = 24;

/** A text below the horizontal axis. */
interface Mark {
  at: number;
  x: number;
  text: string;
}

/** Texts below the axis that do not touch: labels are cut to their room, and numbers that have none are left out. */
function marks(places: readonly number[], plot: Plot, xText: (value: number) => string, isWord: boolean): Mark[] {
  const room = places.length > 1 ? plot.x.at(places[1] as number) - plot.x.at(places[0] as number) : plot.width;
  const most = isWord ? Math.max(2, Math.floor(room / CHARACTER) - 1) : TEXT_MAX;
  let end = -Infinity;
  return places.flatMap((at) => {
    const text = cut(xText(at), most);
    const half = (text.length * CHARACTER) / 2;
    const x = Math.max(half, Math.min(plot.width - half, plot.x.at(at)));
    if (!isWord && x - half < end) return [];
    end = x + half + CHARACTER;
    return [{ at, text, x }];
  });
}

function cut(text: string, most: number): string {
  const characters = [...text.replace(/\s+/g, " ")];
  return characters.length > most ? `${characters.slice(0, most - 1).join("")}…` : characters.join("");
}

/** The width of an element as it changes. */
export function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const box = element.current;
    if (!box) return;
    const watch = new ResizeObserver(([entry]) => entry && setWidth(Math.round(entry.contentRect.width)));
    watch.observe(box);
    setWidth(Math.round(box.clientWidth));
    return () => watch.disconnect();
  }, []);
  return width;
}

/** Axes, grid, and the line about the cursor. */
export function Frame(props: Props) {
  const { label, height = 220, xLabel, yText = String, xText = String, wholeX, readout, cursor, children } = props;
  const box = useRef<HTMLElement>(null);
  const width = useWidth(box);
  const edge = props.y ? MARGIN.left : BARE_LEFT;
  const plot: Plot = {
    x: linear(props.x, [edge, Math.max(edge + 1, width - MARGIN.right)]),
    y: linear(props.y ?? [0, 1], [height - MARGIN.bottom, MARGIN.top]),
    width,
    height,
  };
  const horizontal = props.xTicks ?? ticks(props.x, Math.max(2, width / 70), wholeX);
  return (
    <figure class="chart" ref={box} aria-label={label}>
      <div class="readout" aria-live="polite">
        {readout}
      </div>
      {width > 0 && (
        <div class="plot" role={cursor ? "slider" : "img"} aria-label={label} {...cursor?.props(plot)}>
          <svg width={width} height={height} aria-hidden="true">
            <g class="grid">
              {(props.y ? ticks(props.y, height / 40) : []).map((tick) => (
                <g key={tick}>
                  <line x1={MARGIN.left} x2={width - MARGIN.right} y1={plot.y.at(tick)} y2={plot.y.at(tick)} />
                  <text class="y" x={MARGIN.left - 8} y={plot.y.at(tick)}>
                    {yText(tick)}
                  </text>
                </g>
              ))}
            </g>
            {children(plot)}
            <g class="axis">
              <line x1={edge} x2={width - MARGIN.right} y1={height - MARGIN.bottom} y2={height - MARGIN.bottom} />
              {marks(horizontal, plot, xText, props.xTicks !== undefined).map(({ at, x, text }) => (
                <text key={at} x={x} y={height - 8}>
                  {text}
                </text>
              ))}
            </g>
          </svg>
        </div>
      )}
      {xLabel && <div class="x-label">{xLabel}</div>}
    </figure>
  );
}

/** A place in a chart that pointer and keys move. */
export interface Cursor {
  index: number | undefined;
  props: (plot: Plot) => HTMLAttributes<HTMLDivElement>;
}

/**
 * A cursor over `xs`, ascending: the pointer finds the nearest, arrow keys, Home and End move it, Enter or a click picks.
 * `say` names the value at a place for screen readers.
 */
export function useCursor(
  xs: readonly number[],
  say: (index: number) => string,
  onPick?: (index: number) => void,
): Cursor {
  const [index, setIndex] = useState<number>();
  const held = index !== undefined && index < xs.length ? index : undefined;
  const props = (plot: Plot): HTMLAttributes<HTMLDivElement> => {
    const under = (event: PointerEvent | MouseEvent) => {
      const left = (event.currentTarget as Element).getBoundingClientRect().left;
      return nearest(xs, plot.x.invert(event.clientX - left));
    };
    return {
      tabIndex: 0,
      "aria-valuemin": 0,
      "aria-valuemax": Math.max(0, xs.length - 1),
      "aria-valuenow": held ?? 0,
      "aria-valuetext": held === undefined ? "no value chosen; use arrow keys" : say(held),
      onPointerMove: (event) => setIndex(under(event)),
      onPointerLeave: () => setIndex(undefined),
      onBlur: () => setIndex(undefined),
      onClick: (event) => {
        const at = under(event);
        if (at !== undefined) onPick?.(at);
      },
      onKeyDown: (event) => {
        const last = xs.length - 1;
        const step = event.shiftKey ? 10 : 1;
        let to: number;
        if (event.key === "ArrowRight" || event.key === "ArrowUp") to = held === undefined ? 0 : held + step;
        else if (event.key === "ArrowLeft" || event.key === "ArrowDown") to = held === undefined ? last : held - step;
        else if (event.key === "Home") to = 0;
        else if (event.key === "End") to = last;
        else if ((event.key === "Enter" || event.key === " ") && held !== undefined && onPick) {
          event.preventDefault();
          return onPick(held);
        } else return;
        event.preventDefault();
        setIndex(Math.min(last, Math.max(0, to)));
      },
    };
  };
  return { index: held, props };
}

/** The index of the value nearest to `x`, by bisection. */
export function nearest(xs: readonly number[], x: number): number | undefined {
  if (xs.length === 0) return undefined;
  let [low, high] = [0, xs.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((xs[middle] as number) < x) low = middle + 1;
    else high = middle;
  }
  const before = low > 0 ? (xs[low - 1] as number) : -Infinity;
  return x - before < (xs[low] as number) - x ? low - 1 : low;
}
