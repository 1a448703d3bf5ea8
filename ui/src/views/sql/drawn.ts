import type { Result, ResultColumn } from "../../api/arrow";
import { value } from "../../app/format";
import type { Ranked } from "../../charts/bar_rank";
import type { Line } from "../../charts/time_series";

/** Which columns of a result a chart shows. */
export interface Picture {
  x: number;
  y: number;
  by: number | undefined;
}

const LINES = 8;
const BARS = 200;

/** A line for each value of the column `by`, over ascending times in seconds, or numbers. */
export function lines(result: Result, picture: Picture): { at: number[]; lines: Line[]; left: number; isNumber: boolean } {
  const [x, y] = [result.columns[picture.x], result.columns[picture.y]] as [ResultColumn, ResultColumn];
  const by = picture.by === undefined ? undefined : result.columns[picture.by];
  const groups = new Map<string, Map<number, number>>();
  const left = new Set<string>();
  const xs = new Set<number>();
  for (let row = 0; row < result.rows; row++) {
    const place = x.number(row) / (x.kind === "time" ? 1000 : 1);
    if (Number.isNaN(place)) continue;
    const name = by ? (by.text(row) ?? "NULL") : y.name;
    let group = groups.get(name);
    if (!group) {
      if (groups.size >= LINES) {
        left.add(name);
        continue;
      }
      groups.set(name, (group = new Map()));
    }
    xs.add(place);
    group.set(place, y.number(row));
  }
  const at = Float64Array.from(xs).sort();
  const values = (group: Map<number, number>) =>
    Array.from(at, (place) => {
      const found = group.get(place);
      // Other lines have rows here; NULL is a gap.
      return found === undefined ? undefined : Number.isNaN(found) ? null : found;
    });
  return { at: Array.from(at), lines: [...groups].map(([name, group]) => ({ name, values: values(group) })), left: left.size, isNumber: x.kind !== "time" };
}

/** A bar for each of the first rows. */
export function ranked(result: Result, picture: Picture): { bars: Ranked[]; left: number } {
  const [x, y] = [result.columns[picture.x], result.columns[picture.y]] as [ResultColumn, ResultColumn];
  const shown = Math.min(BARS, result.rows);
  const bars = Array.from({ length: shown }, (_, row) => {
    const length = y.number(row);
    return { key: String(row), name: x.text(row) ?? "NULL", value: Number.isFinite(length) ? length : 0, text: Number.isNaN(length) ? "NULL" : value(length) };
  });
  return { bars, left: result.rows - shown };
}
