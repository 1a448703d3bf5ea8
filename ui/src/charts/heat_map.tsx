import { useEffect, useRef, useState } from "preact/hooks";
import { theme } from "../app/preferences";
import { type Rgb, colour, mix, rgb } from "./colour";
import { useWidth } from "./frame";

interface Props {
  label: string;
  names: readonly string[];
  /** Values from -1 to 1 by row; nothing where there is none. */
  matrix: readonly (readonly (number | null)[])[];
  /** Names a pair and its value. */
  say: (row: number, column: number) => string;
  onPick?: (row: number, column: number) => void;
}

const LABELS = 96;
const CELL_MIN_FOR_LABELS = 11;
/** Cells from this size on have a gap between them. */
const GAP_FROM = 6;

/** A square matrix as colours, drawn on a canvas so that hundreds of rows stay fast. */
export function HeatMap({ label, names, matrix, say, onPick }: Props) {
  const box = useRef<HTMLElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [held, setHeld] = useState<[number, number]>();
  const width = useWidth(box);
  const n = names.length;
  const labels = width > 0 && (width - LABELS) / n >= CELL_MIN_FOR_LABELS ? LABELS : 0;
  const side = Math.max(0, Math.min(width - labels, 720));
  useEffect(() => {
    if (canvas.current && side > 0) draw(canvas.current, names, matrix, side, labels);
  }, [side, labels, matrix, names, theme.value]);
  const under = (event: PointerEvent | MouseEvent): [number, number] | undefined => {
    const at = (canvas.current as HTMLCanvasElement).getBoundingClientRect();
    const column = Math.floor(((event.clientX - at.left - labels) / side) * n);
    const row = Math.floor(((event.clientY - at.top) / side) * n);
    return column >= 0 && row >= 0 && column < n && row < n ? [row, column] : undefined;
  };
  const press = (event: KeyboardEvent) => {
    const [row, column] = held ?? [0, 0];
    const moves: Record<string, [number, number]> = {
      ArrowDown: [row + 1, column],
      ArrowUp: [row - 1, column],
      ArrowRight: [row, column + 1],
      ArrowLeft: [row, column - 1],
      Home: [row, 0],
      End: [row, n - 1],
    };
    const to = moves[event.key];
    if (event.key === "Enter" && held) onPick?.(...held);
    if (!to) return;
    event.preventDefault();
    const clamp = (place: number) => Math.min(n - 1, Math.max(0, place));
    setHeld(held ? [clamp(to[0]), clamp(to[1])] : [0, 0]);
  };
  return (
    <figure class="chart heat" ref={box} aria-label={label}>
      <div class="readout" aria-live="polite">
        {held && say(...held)}
      </div>
      <div
        class="plot"
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, n * n - 1)}
        aria-valuenow={held ? held[0] * n + held[1] : 0}
        aria-valuetext={held ? say(...held) : "no pair chosen; use arrow keys"}
        onKeyDown={press}
        onBlur={() => setHeld(undefined)}
        onPointerMove={(event) => setHeld(under(event))}
        onPointerLeave={() => setHeld(undefined)}
        onClick={(event) => {
          const at = under(event);
          if (at) onPick?.(...at);
        }}
      >
        <canvas ref={canvas} aria-hidden="true" />
        {held && side > 0 && <Held row={held[0]} column={held[1]} cell={side / n} side={side} labels={labels} />}
      </div>
    </figure>
  );
}

interface HeldProps {
  row: number;
  column: number;
  cell: number;
  side: number;
  labels: number;
}

/** Lines through the held cell, so that small cells are found. */
function Held({ row, column, cell, side, labels }: HeldProps) {
  const box = (left: number, top: number, width: number, height: number) => ({
    left: `${left}px`,
    top: `${top}px`,
    width: `${width}px`,
    height: `${height}px`,
  });
  return (
    <div aria-hidden="true">
      <div class="heat-line" style={box(labels, row * cell, side, cell)} />
      <div class="heat-line" style={box(labels + column * cell, 0, cell, side)} />
    </div>
  );
}

function draw(
  canvas: HTMLCanvasElement,
  names: readonly string[],
  matrix: Props["matrix"],
  side: number,
  labels: number,
): void {
  const ratio = window.devicePixelRatio || 1;
  const whole = side + labels;
  canvas.width = whole * ratio;
  canvas.height = whole * ratio;
  canvas.style.width = `${whole}px`;
  canvas.style.height = `${whole}px`;
  const context = canvas.getContext("2d");
  if (!context) return;
  context.scale(ratio, ratio);
  const cell = side / names.length;
  if (cell >= GAP_FROM) drawCells(context, canvas, matrix, cell, labels);
  else drawPixels(context, canvas, matrix, side, labels);
  if (labels > 0) drawNames(context, canvas, names, side, cell, labels);
}

/** The colours of -1, 0 and 1. */
function ends(canvas: HTMLElement): [Rgb, Rgb, Rgb] {
  return ["--below", "--surface", "--above"].map((name) => rgb(colour(canvas, name))) as [Rgb, Rgb, Rgb];
}

type Context = CanvasRenderingContext2D;

function drawCells(context: Context, canvas: HTMLElement, matrix: Props["matrix"], cell: number, labels: number): void {
  const [low, middle, high] = ends(canvas);
  matrix.forEach((row, r) =>
    row.forEach((value, c) => {
      context.fillStyle = value === null ? "transparent" : mix(middle, value < 0 ? low : high, Math.abs(value));
      context.fillRect(labels + c * cell, r * cell, cell - 1, cell - 1);
    }),
  );
}

/** One pixel a cell, scaled: hundreds of thousands of cells in some milliseconds. */
function drawPixels(
  context: Context,
  canvas: HTMLElement,
  matrix: Props["matrix"],
  side: number,
  labels: number,
): void {
  const [low, middle, high] = ends(canvas);
  const n = matrix.length;
  const image = new ImageData(n, n);
  let at = 0;
  for (const row of matrix) {
    for (const value of row) {
      const share = Math.min(1, Math.abs(value ?? 0));
      const end = (value ?? 0) < 0 ? low : high;
      image.data[at++] = middle[0] + (end[0] - middle[0]) * share;
      image.data[at++] = middle[1] + (end[1] - middle[1]) * share;
      image.data[at++] = middle[2] + (end[2] - middle[2]) * share;
      image.data[at++] = value === null ? 0 : 255;
    }
  }
  const small = new OffscreenCanvas(n, n);
  small.getContext("2d")?.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = side < n;
  context.imageSmoothingQuality = "high";
  context.drawImage(small, labels, 0, side, side);
}

function drawNames(
  context: Context,
  canvas: HTMLElement,
  names: readonly string[],
  side: number,
  cell: number,
  labels: number,
): void {
  context.fillStyle = colour(canvas, "--text");
  context.font = `11px ${getComputedStyle(canvas).fontFamily}`;
  context.textBaseline = "middle";
  context.textAlign = "right";
  names.forEach((name, i) => {
    const text = fitting(context, name, labels - 8);
    context.fillText(text, labels - 6, (i + 0.5) * cell);
    context.save();
    context.translate(labels + (i + 0.5) * cell, side + 6);
    context.rotate(-Math.PI / 2);
    context.fillText(text, 0, 0);
    context.restore();
  });
}

/** The text, or its beginning if it is wider than `room`. */
function fitting(context: Context, text: string, room: number): string {
  const fits = (text: string) => context.measureText(text).width <= room;
  if (fits(text)) return text;
  let end = text.length - 1;
  while (end > 1 && !fits(`${text.slice(0, end)}…`)) end--;
  return `${text.slice(0, end)}…`;
}
