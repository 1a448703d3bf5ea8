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
      ArrowDown: [row + 1, column], ArrowUp: [row - 1, column], ArrowRight: [row, column + 1], ArrowLeft: [row, column - 1],
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
      </div>
    </figure>
  );
}

function draw(canvas: HTMLCanvasElement, names: readonly string[], matrix: Props["matrix"], side: number, labels: number): void {
  const ratio = window.devicePixelRatio || 1;
  const [wide, tall] = [side + labels, side + labels];
  canvas.width = wide * ratio;
  canvas.height = tall * ratio;
  canvas.style.width = `${wide}px`;
  canvas.style.height = `${tall}px`;
  const context = canvas.getContext("2d");
  if (!context) return;
  context.scale(ratio, ratio);
  const [low, middle, high] = ["--below", "--surface", "--above"].map((name) => rgb(colour(canvas, name))) as [Rgb, Rgb, Rgb];
  const cell = side / names.length;
  const gap = cell > 6 ? 1 : 0;
  matrix.forEach((row, r) =>
    row.forEach((value, c) => {
      context.fillStyle = value === null ? "transparent" : mix(middle, value < 0 ? low : high, Math.abs(value));
      context.fillRect(labels + c * cell, r * cell, Math.max(0.5, cell - gap), Math.max(0.5, cell - gap));
    }),
  );
  if (labels === 0) return;
  context.fillStyle = colour(canvas, "--text");
  context.font = `11px ${getComputedStyle(canvas).fontFamily}`;
  context.textBaseline = "middle";
  names.forEach((name, i) => {
    const text = name.length > 15 ? `${name.slice(0, 14)}…` : name;
    context.textAlign = "right";
    context.fillText(text, labels - 6, (i + 0.5) * cell);
    context.save();
    context.translate(labels + (i + 0.5) * cell, side + 6);
    context.rotate(-Math.PI / 2);
    context.fillText(text, 0, 0);
    context.restore();
  });
}
