import type { TargetedPointerEvent } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Result, ResultColumn } from "../api/arrow";
import { count } from "../app/format";
import { copy } from "./copy";
import { Dialog } from "./dialog";
import { type Place, type Range, cellsOf, moved, widths } from "./grid_layout";
import { ROW, type Scroll, useScroll } from "./grid_scroll";

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

const AROUND = 4;

/** A result of any size: only visible cells exist. Cells are chosen by pointer or keys, and copied. */
export function Grid(props: Props) {
  const { label, result, order, sort, onSort, selected, onSelect } = props;
  const box = useRef<HTMLDivElement>(null);
  const [opened, setOpened] = useState<Place>();
  const scroll = useScroll(box, result.rows);
  const layout = useMemo(() => widths(result), [result]);
  const at = (place: number) => (order ? (order[place] as number) : place);
  useEffect(() => onSelect(undefined), [result]);
  const [fromColumn, toColumn] = layout.visible(scroll.view.left, scroll.view.width);
  const shown = result.columns.slice(fromColumn, toColumn);
  const size = { width: `${layout.whole}px` };
  const column = opened && result.columns[opened.column];
  return (
    <>
      <div
        class="grid"
        ref={box}
        role="grid"
        tabIndex={0}
        aria-label={label}
        aria-rowcount={result.rows + 1}
        aria-colcount={result.columns.length + 1}
        aria-multiselectable="true"
        aria-activedescendant={selected ? cellId(selected.focus.row, selected.focus.column) : undefined}
        onScroll={scroll.look}
        onKeyDown={keys(props, box, scroll, layout, setOpened)}
        {...pointer(props, setOpened)}
        onCopy={(event) => {
          if (!selected) return;
          event.preventDefault();
          event.clipboardData?.setData("text/plain", tabbed(result, selected, at, false));
        }}
      >
        <div class="grid-head" role="row" aria-rowindex={1} style={size}>
          <div class="grid-number" role="columnheader" aria-colindex={1} style={{ width: `${layout.number}px` }}>
            <span class="hidden">Row</span>
          </div>
          {shown.map((one, i) => (
            <Title
              key={fromColumn + i}
              column={one}
              place={fromColumn + i}
              left={layout.number + (layout.lefts[fromColumn + i] as number)}
              width={layout.widths[fromColumn + i] as number}
              sort={sort}
              onSort={onSort}
            />
          ))}
        </div>
        <Body columns={shown} fromColumn={fromColumn} rows={result.rows} at={at} selected={selected} scroll={scroll} layout={layout} />
      </div>
      {opened && column && <Cell column={column} row={at(opened.row)} onClose={() => setOpened(undefined)} />}
    </>
  );
}

type Layout = ReturnType<typeof widths>;

/** What keys do: move and extend the choice, choose all, open a cell. */
function keys(props: Props, box: { current: HTMLDivElement | null }, scroll: Scroll, layout: Layout, open: (cell: Place) => void) {
  const { selected, onSelect, result } = props;
  const { rows, columns } = result;
  const reveal = ({ row, column }: Place) => {
    const element = box.current;
    if (!element) return;
    if (row * ROW < scroll.top()) scroll.to(row * ROW);
    else if ((row + 1) * ROW > scroll.top() + scroll.room) scroll.to((row + 1) * ROW - scroll.room);
    const left = layout.lefts[column] as number;
    const right = left + (layout.widths[column] as number) + layout.number;
    if (left < element.scrollLeft) element.scrollLeft = left;
    else if (right > element.scrollLeft + scroll.view.width) element.scrollLeft = right - scroll.view.width;
  };
  const choose = (focus: Place, extend: boolean) => {
    onSelect({ anchor: extend && selected ? selected.anchor : focus, focus });
    reveal(focus);
  };
  return (event: KeyboardEvent) => {
    const focus = selected?.focus ?? { row: Math.floor(scroll.top() / ROW), column: 0 };
    const command = event.ctrlKey || event.metaKey;
    const page = Math.max(1, Math.floor(scroll.room / ROW) - 1);
    const to = moved(focus, event.key, command, { rows, columns: columns.length, page });
    if (rows === 0 || (event.target as HTMLElement).closest("button")) return;
    if (command && event.key === "a") onSelect({ anchor: { row: 0, column: 0 }, focus: { row: rows - 1, column: columns.length - 1 } });
    else if (event.key === "Enter" && selected) open(focus);
    else if (event.key === "Escape" && selected) onSelect(undefined);
    // Nothing is chosen yet: an arrow chooses what is in view.
    else if (to && selected === undefined && event.key.startsWith("Arrow") && !command) choose(focus, false);
    else if (to) choose(to, event.shiftKey);
    else return;
    event.preventDefault();
  };
}

/** What the pointer does: choose a cell, a row, or all cells that it is drawn over; open a cell. A finger scrolls. */
function pointer({ result, selected, onSelect }: Props, open: (cell: Place) => void) {
  const lastColumn = result.columns.length - 1;
  const under = (event: Event): Place | undefined => {
    const cell = (event.target as HTMLElement).closest<HTMLElement>("[data-row]");
    return cell ? { row: Number(cell.dataset.row), column: Number(cell.dataset.column) } : undefined;
  };
  return {
    onPointerDown: (event: TargetedPointerEvent<HTMLDivElement>) => {
      const cell = under(event);
      if (!cell || event.button !== 0 || event.pointerType === "touch") return;
      if (cell.column < 0) onSelect({ anchor: { row: cell.row, column: 0 }, focus: { row: cell.row, column: lastColumn } });
      else onSelect({ anchor: event.shiftKey && selected ? selected.anchor : cell, focus: cell });
    },
    onPointerMove: (event: TargetedPointerEvent<HTMLDivElement>) => {
      if ((event.buttons & 1) === 0 || !selected || event.pointerType === "touch") return;
      const cell = under(event);
      if (!cell) return;
      const focus = { row: cell.row, column: cell.column < 0 ? lastColumn : cell.column };
      if (focus.row !== selected.focus.row || focus.column !== selected.focus.column) onSelect({ ...selected, focus });
    },
    onDblClick: (event: MouseEvent) => {
      const cell = under(event);
      if (cell && cell.column >= 0) open(cell);
    },
  };
}

interface BodyProps {
  /** The visible columns, and the place of the first. */
  columns: ResultColumn[];
  fromColumn: number;
  rows: number;
  at: (place: number) => number;
  selected: Range | undefined;
  scroll: Scroll;
  layout: Layout;
}

function Body({ columns, fromColumn, rows, at, selected, scroll, layout }: BodyProps) {
  const first = Math.max(0, Math.floor(scroll.view.top / ROW) - AROUND);
  const last = Math.min(rows, Math.ceil((scroll.view.top + scroll.room) / ROW) + AROUND);
  const chosen = selected && cellsOf(selected);
  const size = { width: `${layout.whole}px` };
  const isChosen = (row: number, c: number) =>
    chosen !== undefined && row >= chosen.top && row <= chosen.bottom && c >= chosen.left && c <= chosen.right;
  return (
    <div class="grid-body" role="rowgroup" style={{ ...size, height: `${scroll.drawn}px` }}>
      {Array.from({ length: Math.max(0, last - first) }, (_, i) => first + i).map((place) => (
        // The elements of rows that leave are used for rows that come.
        <div
          key={place % 256}
          class="grid-row"
          role="row"
          aria-rowindex={place + 2}
          style={{ ...size, transform: `translateY(${place * ROW + scroll.shift}px)` }}
        >
          <div class="grid-number" role="rowheader" aria-colindex={1} data-row={place} data-column={-1} style={{ width: `${layout.number}px` }}>
            {count(place + 1)}
          </div>
          {columns.map((column, i) => {
            const c = fromColumn + i;
            const text = column.text(at(place));
            return (
              <div
                key={c}
                id={cellId(place, c)}
                role="gridcell"
                class={`cell ${column.kind}`}
                aria-colindex={c + 2}
                aria-selected={isChosen(place, c)}
                data-focus={selected?.focus.row === place && selected.focus.column === c}
                data-row={place}
                data-column={c}
                style={{ left: `${layout.number + (layout.lefts[c] as number)}px`, width: `${layout.widths[c] as number}px` }}
              >
                {text === undefined ? <i class="null">NULL</i> : oneLine(text)}
              </div>
            );
          })}
        </div>
      ))}
    </div>
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
      <span class="name">{oneLine(column.name)}</span>
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
