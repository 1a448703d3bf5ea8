import type { Result } from "../api/arrow";

export interface View {
  top: number;
  left: number;
  width: number;
  height: number;
}

export interface Place {
  row: number;
  column: number;
}

/** Chosen cells: from where the choice began to where it is. */
export interface Range {
  anchor: Place;
  focus: Place;
}

export function cellsOf({ anchor, focus }: Range): { top: number; bottom: number; left: number; right: number } {
  return {
    top: Math.min(anchor.row, focus.row),
    bottom: Math.max(anchor.row, focus.row),
    left: Math.min(anchor.column, focus.column),
    right: Math.max(anchor.column, focus.column),
  };
}

/** Where a key leads; `undefined` for keys that lead nowhere. */
export function moved(from: Place, key: string, far: boolean, size: { rows: number; columns: number; page: number }): Place | undefined {
  const [lastRow, lastColumn] = [size.rows - 1, size.columns - 1];
  const to = { ...from };
  if (key === "ArrowDown") to.row = far ? lastRow : from.row + 1;
  else if (key === "ArrowUp") to.row = far ? 0 : from.row - 1;
  else if (key === "ArrowRight") to.column = far ? lastColumn : from.column + 1;
  else if (key === "ArrowLeft") to.column = far ? 0 : from.column - 1;
  else if (key === "PageDown") to.row = from.row + size.page;
  else if (key === "PageUp") to.row = from.row - size.page;
  else if (key === "Home") Object.assign(to, far ? { row: 0, column: 0 } : { column: 0 });
  else if (key === "End") Object.assign(to, far ? { row: lastRow, column: lastColumn } : { column: lastColumn });
  else return undefined;
  return { row: Math.max(0, Math.min(lastRow, to.row)), column: Math.max(0, Math.min(lastColumn, to.column)) };
}

const SAMPLED = 100;
const [LEAST, MOST, PADDING] = [64, 360, 22];
/** The width of a character as a share of the size of the font, for the fonts of `--mono`. */
const CHARACTER = 0.602;

/** The widths of columns by their names and rows from all parts of the result. */
export function widths(result: Result) {
  const size = Number.parseFloat(getComputedStyle(document.body).fontSize) * 0.92;
  const width = (characters: number) => Math.ceil(characters * size * CHARACTER) + PADDING;
  const sampled = Math.min(SAMPLED, result.rows);
  const found = result.columns.map((column) => {
    let longest = Math.max(column.name.length + 2, (column.type.length + 2) * 0.9);
    for (let i = 0; i < sampled; i++) {
      const row = Math.round((i * (result.rows - 1)) / Math.max(1, sampled - 1));
      longest = Math.max(longest, column.text(row)?.length ?? 4);
    }
    return Math.min(MOST, Math.max(LEAST, width(longest)));
  });
  const number = width(String(result.rows).length + Math.floor(String(result.rows).length / 3));
  const lefts: number[] = [];
  let whole = 0;
  for (const one of found) {
    lefts.push(whole);
    whole += one;
  }
  const visible = (left: number, room: number): [number, number] => {
    let from = 0;
    while (from < found.length - 1 && (lefts[from + 1] as number) <= left) from++;
    let to = from;
    while (to < found.length && (lefts[to] as number) < left + room) to++;
    return [from, to];
  };
  return { widths: found, lefts, number, whole: whole + number, visible };
}
