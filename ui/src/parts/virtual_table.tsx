import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Sort } from "../app/sort";

export interface Column<Row> {
  key: string;
  title: ComponentChildren;
  cell: (row: Row, index: number) => ComponentChildren;
  /** Pixels; columns without one share the rest. */
  width?: number;
  align?: "right";
  /** Whether the viewer can sort by it. */
  sorts?: boolean;
  /** Says more about the title, under the pointer. */
  hint?: string;
}

/** Rows of a table: a list, or rows that are made when they are seen. */
export interface Rows<Row> {
  length: number;
  at: (index: number) => Row | undefined;
}

interface Props<Row> {
  /** What the table shows, for screen readers. */
  label: string;
  columns: Column<Row>[];
  rows: Rows<Row>;
  /** Pixels above and below it: it is as high as the rest of the window. */
  around?: number;
  class?: string;
  busy?: boolean;
  rowKey?: (row: Row, index: number) => string | number;
  rowClass?: (row: Row) => string | undefined;
  rowHeight?: number;
  sort?: Sort;
  onSort?: (sort: Sort) => void;
  /** Called with the visible places whenever they change. */
  onView?: (from: number, to: number) => void;
  /** A place to scroll to. */
  reveal?: number;
}

/** The tallest box that all browsers draw; longer tables scroll by share. */
const TALLEST = 8_000_000;
const AROUND = 6;

/** A table of any number of rows, of which only the visible ones exist. The header stays; its box scrolls. */
export function VirtualTable<Row>(props: Props<Row>) {
  const { label, columns, rows, around, busy, rowKey, rowClass, rowHeight = 32, sort, onSort, onView, reveal } = props;
  const box = useRef<HTMLDivElement>(null);
  const [{ top, height }, setView] = useState({ top: 0, height: 600 });
  const whole = rows.length * rowHeight;
  const drawn = Math.min(whole, TALLEST);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const look = () => setView({ top: element.scrollTop, height: element.clientHeight });
    const watch = new ResizeObserver(look);
    watch.observe(element);
    look();
    return () => watch.disconnect();
  }, []);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || reveal === undefined || reveal < 0 || whole > TALLEST) return;
    const [start, end] = [reveal * rowHeight, (reveal + 1) * rowHeight];
    const room = element.clientHeight - rowHeight;
    if (start < element.scrollTop || end > element.scrollTop + room) element.scrollTop = start - room / 2;
  }, [reveal]);
  const reach = Math.max(0, drawn - height);
  const share = reach === 0 ? 0 : Math.min(1, top / reach);
  const first =
    drawn === whole ? Math.floor(top / rowHeight) : Math.floor(share * Math.max(0, rows.length - height / rowHeight));
  const from = Math.max(0, first - AROUND);
  const to = Math.min(rows.length, first + Math.ceil(height / rowHeight) + AROUND);
  useEffect(() => onView?.(from, to), [from, to]);
  const before = drawn === whole ? from * rowHeight : Math.max(0, top - (first - from) * rowHeight);
  const visible = Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
  const fixed = columns.reduce((sum, column) => sum + (column.width ?? 120), 0);
  return (
    <div
      class={`table-box ${props.class ?? ""}`}
      style={around === undefined ? {} : { maxHeight: `max(20rem, calc(100dvh - ${around}px))` }}
      aria-busy={busy}
      ref={box}
      tabIndex={0}
      role="region"
      aria-label={label}
      onScroll={(event) => setView({ top: event.currentTarget.scrollTop, height: event.currentTarget.clientHeight })}
    >
      <table class="virtual" aria-rowcount={rows.length + 1} style={{ minWidth: `${fixed}px` }}>
        <colgroup>
          {columns.map((column) => (
            <col key={column.key} style={column.width ? { width: `${column.width}px` } : {}} />
          ))}
        </colgroup>
        <Head columns={columns} sort={sort} onSort={onSort} />
        <tbody>
          <tr aria-hidden="true" style={{ height: `${before}px` }} />
          {visible.map((index) => {
            const item = rows.at(index) as Row;
            return (
              <tr
                key={rowKey?.(item, index) ?? index}
                class={rowClass?.(item)}
                aria-rowindex={index + 2}
                style={{ height: `${rowHeight}px` }}
              >
                {columns.map((column) => (
                  <td key={column.key} class={column.align}>
                    {column.cell(item, index)}
                  </td>
                ))}
              </tr>
            );
          })}
          <tr aria-hidden="true" style={{ height: `${Math.max(0, drawn - before - (to - from) * rowHeight)}px` }} />
        </tbody>
      </table>
    </div>
  );
}

interface HeadProps<Row> {
  columns: Column<Row>[];
  sort: Sort | undefined;
  onSort: ((sort: Sort) => void) | undefined;
}

export function Head<Row>({ columns, sort, onSort }: HeadProps<Row>) {
  return (
    <thead>
      <tr>
        {columns.map((column) => {
          // A column that needs no title has no header for screen readers.
          if (column.title === "") return <td key={column.key} />;
          const is = sort?.key === column.key ? (sort.down ? "descending" : "ascending") : undefined;
          return (
            <th key={column.key} scope="col" class={column.align} aria-sort={is} title={column.hint}>
              {column.sorts && onSort ? (
                <button class="sort" onClick={() => onSort({ key: column.key, down: is === "ascending" })}>
                  {column.title}
                  <span aria-hidden="true">{is === "descending" ? " ↓" : is === "ascending" ? " ↑" : ""}</span>
                </button>
              ) : (
                column.title
              )}
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

/** A table of few rows. */
export function Table<Row>(props: {
  label: string;
  columns: Column<Row>[];
  rows: readonly Row[];
  rowKey?: (row: Row, index: number) => string | number;
  sort?: Sort;
  onSort?: (sort: Sort) => void;
}) {
  return (
    <div class="table-box" tabIndex={0} role="region" aria-label={props.label}>
      <table>
        <Head columns={props.columns} sort={props.sort} onSort={props.onSort} />
        <tbody>
          {props.rows.map((row, index) => (
            <tr key={props.rowKey?.(row, index) ?? index}>
              {props.columns.map((column) => (
                <td key={column.key} class={column.align}>
                  {column.cell(row, index)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
