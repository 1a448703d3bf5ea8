import type { TargetedPointerEvent } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Result, ResultColumn } from "../api/arrow";
import { count } from "../app/format";
import { copy } from "./copy";
import { Dialog } from "./dialog";
import { type Range, type View, cellsOf, moved, widths } from "./grid_layout";

interface Props {
  label: string;
  result: Result;
  /** Places of rows in the order to show; as they came without one. */
  order?: Uint32Array | undefined;
  sort?: { column: number; down: boolean } | undefined;
  onSort?: (column: number) => void;
  selected: Range | undefined;
  onSelect: (range: Range | undefined) => void;
}

export const ROW = 26;
const HEAD = 44;
/** The tallest box that all browsers draw; longer results scroll by share. */
const TALLEST = 8_000_000;
const AROUND = 4;

/** A result of any size: only visible cells exist. Cells are chosen by pointer or keys, and copied. */
export function Grid({ label, result, order, sort, onSort, selected, onSelect }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<View>({ top: 0, left: 0, width: 800, height: 400 });
  const [opened, setOpened] = useState<{ row: number; column: number }>();
  const { rows, columns } = result;
  const layout = useMemo(() => widths(result), [result]);
  const number = layout.number;
  const whole = rows * ROW;
  const drawn = Math.min(whole, TALLEST);
  const room = Math.max(0, view.height - HEAD);
  const at = (place: number) => (order ? (order[place] as number) : place);
  // The first visible pixel of the whole table. The bar of a tall one is too coarse for it.
  const exact = useRef(0);
  const reach = Math.max(1, drawn - room);
  const far = Math.max(0, whole - room);

  const look = () => {
    const element = box.current;
    if (!element) return;
    if (whole === drawn) exact.current = element.scrollTop;
    else if (Math.abs((exact.current / far) * reach - element.scrollTop) > 1.5) exact.current = (element.scrollTop / reach) * far;
    setView({ top: exact.current, left: element.scrollLeft, width: element.clientWidth, height: element.clientHeight });
  };
  const scrollTo = (top: number) => {
    const element = box.current;
    if (!element) return;
    exact.current = Math.min(far, Math.max(0, top));
    element.scrollTop = whole === drawn ? exact.current : (exact.current / far) * reach;
    look();
  };
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const watch = new ResizeObserver(look);
    watch.observe(element);
    look();
    return () => watch.disconnect();
  }, [result, whole]);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || whole === drawn) return;
    // A turn of the wheel moves by rows, not by shares of a million of them.
    const turn = (event: WheelEvent) => {
      if (event.ctrlKey || event.deltaY === 0 || event.shiftKey) return;
      event.preventDefault();
      scrollTo(exact.current + event.deltaY * [1, ROW, room][event.deltaMode]!);
    };
    element.addEventListener("wheel", turn, { passive: false });
    return () => element.removeEventListener("wheel", turn);
  }, [whole, far, reach]);
  useEffect(() => onSelect(undefined), [result]);

  const reveal = ({ row, column }: { row: number; column: number }) => {
    const element = box.current;
    if (!element) return;
    if (row * ROW < exact.current) scrollTo(row * ROW);
    else if ((row + 1) * ROW > exact.current + room) scrollTo((row + 1) * ROW - room);
    const [from, to] = [layout.lefts[column] as number, (layout.lefts[column] as number) + (layout.widths[column] as number)];
    if (from < element.scrollLeft) element.scrollLeft = from;
    else if (to + number > element.scrollLeft + view.width) element.scrollLeft = to + number - view.width;
  };
  const choose = (row: number, column: number, extend: boolean) => {
    const anchor = extend && selected ? selected.anchor : { row, column };
    onSelect({ anchor, focus: { row, column } });
    reveal({ row, column });
  };
  const press = (event: KeyboardEvent) => {
    const focus = selected?.focus ?? { row: Math.floor(exact.current / ROW), column: 0 };
    const command = event.ctrlKey || event.metaKey;
    if (command && event.key === "a") onSelect({ anchor: { row: 0, column: 0 }, focus: { row: rows - 1, column: columns.length - 1 } });
    else if (event.key === "Enter" && selected) setOpened(focus);
    else if (event.key === "Escape" && selected) onSelect(undefined);
    else {
      const to = moved(focus, event.key, command, { rows, columns: columns.length, page: Math.max(1, Math.floor(room / ROW) - 1) });
      if (to === undefined || rows === 0) return;
      // Nothing is chosen yet: an arrow chooses what is in view.
      if (selected === undefined && event.key.startsWith("Arrow") && !command) choose(focus.row, focus.column, false);
      else choose(to.row, to.column, event.shiftKey);
    }
    event.preventDefault();
  };
  const under = (event: Event): { row: number; column: number } | undefined => {
    const cell = (event.target as HTMLElement).closest<HTMLElement>("[data-row]");
    if (!cell) return undefined;
    return { row: Number(cell.dataset.row), column: Number(cell.dataset.column) };
  };
  const down = (event: TargetedPointerEvent<HTMLDivElement>) => {
    const cell = under(event);
    if (!cell || event.button !== 0 || event.pointerType === "touch") return;
    if (cell.column < 0) onSelect({ anchor: { row: cell.row, column: 0 }, focus: { row: cell.row, column: columns.length - 1 } });
    else onSelect({ anchor: event.shiftKey && selected ? selected.anchor : cell, focus: cell });
  };
  const drag = (event: TargetedPointerEvent<HTMLDivElement>) => {
    if ((event.buttons & 1) === 0 || !selected || event.pointerType === "touch") return;
    const cell = under(event);
    if (!cell) return;
    const column = cell.column < 0 ? columns.length - 1 : cell.column;
    if (cell.row !== selected.focus.row || column !== selected.focus.column) onSelect({ ...selected, focus: { row: cell.row, column } });
  };

  const first = Math.max(0, Math.floor(view.top / ROW) - AROUND);
  const last = Math.min(rows, Math.ceil((view.top + room) / ROW) + AROUND);
  const shift = (box.current?.scrollTop ?? 0) - view.top;
  const [fromColumn, toColumn] = layout.visible(view.left, view.width);
  const shown = columns.slice(fromColumn, toColumn);
  const chosen = selected && cellsOf(selected);
  const size = { width: `${layout.whole}px` };
  return (
    <>
      <div
        class="grid"
        ref={box}
        role="grid"
        tabIndex={0}
        aria-label={label}
        aria-rowcount={rows + 1}
        aria-colcount={columns.length + 1}
        aria-multiselectable="true"
        aria-activedescendant={selected ? cellId(selected.focus.row, selected.focus.column) : undefined}
        onScroll={look}
        onKeyDown={press}
        onPointerDown={down}
        onPointerMove={drag}
        onDblClick={(event) => {
          const cell = under(event);
          if (cell && cell.column >= 0) setOpened(cell);
        }}
        onCopy={(event) => {
          if (!selected) return;
          event.preventDefault();
          event.clipboardData?.setData("text/plain", tabbed(result, selected, at, false));
        }}
      >
        <div class="grid-head" role="row" aria-rowindex={1} style={size}>
          <div class="grid-number" role="columnheader" aria-colindex={1} style={{ width: `${number}px` }}>
            <span class="hidden">Row</span>
          </div>
          {shown.map((column, i) => (
            <Title
              key={fromColumn + i}
              column={column}
              place={fromColumn + i}
              left={number + (layout.lefts[fromColumn + i] as number)}
              width={layout.widths[fromColumn + i] as number}
              sort={sort}
              onSort={onSort}
            />
          ))}
        </div>
        <div class="grid-body" role="rowgroup" style={{ ...size, height: `${drawn}px` }}>
          {Array.from({ length: Math.max(0, last - first) }, (_, i) => first + i).map((place) => {
            const row = at(place);
            return (
              <div
                key={place % 128}
                class="grid-row"
                role="row"
                aria-rowindex={place + 2}
                style={{ ...size, transform: `translateY(${place * ROW + shift}px)` }}
              >
                <div class="grid-number" role="rowheader" aria-colindex={1} data-row={place} data-column={-1} style={{ width: `${number}px` }}>
                  {count(place + 1)}
                </div>
                {shown.map((column, i) => {
                  const c = fromColumn + i;
                  const text = column.text(row);
                  const isChosen = chosen !== undefined && place >= chosen.top && place <= chosen.bottom && c >= chosen.left && c <= chosen.right;
                  const isFocus = selected?.focus.row === place && selected.focus.column === c;
                  return (
                    <div
                      key={c}
                      id={cellId(place, c)}
                      role="gridcell"
                      class={`cell ${column.kind}`}
                      aria-colindex={c + 2}
                      aria-selected={isChosen}
                      data-focus={isFocus}
                      data-row={place}
                      data-column={c}
                      style={{ left: `${number + (layout.lefts[c] as number)}px`, width: `${layout.widths[c] as number}px` }}
                    >
                      {text === undefined ? <i class="null">NULL</i> : oneLine(text)}
                    </div>
                  );
                })}
              </div>
            );
          })}
        </div>
      </div>
      {opened && columns[opened.column] && (
        <Cell column={columns[opened.column] as ResultColumn} row={at(opened.row)} onClose={() => setOpened(undefined)} />
      )}
    </>
  );
}

function cellId(row: number, column: number): string {
  return `cell-${row}-${column}`;
}

const LONGEST = 300;

/** Line breaks would hide the rest of a text. */
function oneLine(text: string): string {
  return (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text).replace(/[\r\n\t]+/g, " ⏎ ");
}

interface TitleProps {
  column: ResultColumn;
  place: number;
  left: number;
  width: number;
  sort: Props["sort"];
  onSort: Props["onSort"];
}

function Title({ column, place, left, width, sort, onSort }: TitleProps) {
  const is = sort?.column === place ? (sort.down ? "descending" : "ascending") : undefined;
  const name = (
    <>
      <span class="name">{column.name}</span>
      <small>
        {column.type}
        <span aria-hidden="true">{is === "descending" ? " ↓" : is === "ascending" ? " ↑" : ""}</span>
      </small>
    </>
  );
  return (
    <div
      class={`title ${column.kind}`}
      role="columnheader"
      aria-colindex={place + 2}
      aria-sort={is}
      title={`${column.name} (${column.type})`}
      style={{ left: `${left}px`, width: `${width}px` }}
    >
      {onSort ? <button class="sort" onClick={() => onSort(place)}>{name}</button> : name}
    </div>
  );
}

/** The chosen cells with tabs between, as spreadsheets take them. NULL is empty. */
export function tabbed(result: Result, range: Range | undefined, at: (place: number) => number, titles: boolean): string {
  const { top, bottom, left, right } = range
    ? cellsOf(range)
    : { top: 0, bottom: result.rows - 1, left: 0, right: result.columns.length - 1 };
  const columns = result.columns.slice(left, right + 1);
  const safe = (text: string) => (/[\t\r\n"]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = titles ? [columns.map((column) => safe(column.name)).join("\t")] : [];
  const isOne = top === bottom && left === right && !titles;
  for (let place = top; place <= bottom; place++) {
    const row = at(place);
    lines.push(columns.map((column) => (isOne ? (column.exact(row) ?? "") : safe(column.exact(row) ?? ""))).join("\t"));
  }
  return lines.join("\n");
}

/** A value in full. */
function Cell({ column, row, onClose }: { column: ResultColumn; row: number; onClose: () => void }) {
  const [text, exact] = [column.text(row), column.exact(row)];
  return (
    <Dialog title={column.name} onClose={onClose}>
      <p class="muted">{column.type}</p>
      {text === undefined ? (
        <p>
          <i class="null">NULL</i>, no value
        </p>
      ) : (
        <pre class="whole" tabIndex={0}>
          {text}
        </pre>
      )}
      <div class="buttons">
        {exact !== undefined && <button onClick={() => void copy(exact)}>Copy</button>}
        <button onClick={onClose}>Close</button>
      </div>
    </Dialog>
  );
}
