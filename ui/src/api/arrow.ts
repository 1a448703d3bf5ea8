// Answers as Arrow streams: columns whose every value keeps all its digits.
import { type DataType, type Column as Stored, Type } from "@uwdata/flechette";
import { decodeIPC } from "@uwdata/flechette/src/decode/decode-ipc.js";
import { createTable } from "@uwdata/flechette/src/decode/table-from-ipc.js";
import { type Kind, kindOf, milliseconds, said, text } from "./arrow_types";

/** A column of an answer. */
export interface ResultColumn {
  name: string;
  /** Its type in few words. */
  type: string;
  kind: Kind;
  /** The value, `null`, or a `bigint`: 64-bit integers, scaled decimals, times in their unit. */
  at: (row: number) => unknown;
  /** As people read it; times in their zone. `undefined` for NULL. */
  text: (row: number) => string | undefined;
  /** As in JSON and CSV. */
  exact: (row: number) => string | undefined;
  /** For charts: times in milliseconds since 1970; NaN for NULL. */
  number: (row: number) => number;
}

export interface Result {
  columns: ResultColumn[];
  rows: number;
}

const OPTIONS = { useBigInt: true, useDecimalInt: true, useMap: false, useDate: false } as const;

export function readArrow(bytes: ArrayBuffer): Result {
  const decoded = decodeIPC(new Uint8Array(bytes));
  const fields = decoded.schema?.fields ?? [];
  const types = fields.map((field) => field.type);
  // Flechette makes doubles of times, which round nanoseconds. The same bits as integers stay exact.
  if (decoded.schema) decoded.schema.fields = fields.map((field) => ({ ...field, type: integral(field.type) }));
  const table = createTable(decoded, OPTIONS);
  const columns = fields.map((field, i) => column(field.name, types[i] as DataType, table.getChildAt(i) as Stored<unknown>));
  return { columns, rows: table.numRows };
}

/** The type with times as integers of their width. */
function integral(type: DataType): DataType {
  if (type.typeId === Type.Timestamp || (type.typeId === Type.Date && type.unit === 1)) {
    return { typeId: Type.Int, bitWidth: 64, signed: true, values: BigInt64Array } as DataType;
  }
  if (type.typeId === Type.Date) return { typeId: Type.Int, bitWidth: 32, signed: true, values: Int32Array } as DataType;
  const inner = type as { children?: { type: DataType }[]; dictionary?: DataType };
  return {
    ...type,
    ...(inner.children && { children: inner.children.map((child) => ({ ...child, type: integral(child.type) })) }),
    ...(inner.dictionary && { dictionary: integral(inner.dictionary) }),
  } as DataType;
}

function column(name: string, type: DataType, stored: Stored<unknown>): ResultColumn {
  const at = (row: number) => stored.at(row) ?? null;
  const show = (row: number, exact: boolean) => {
    const value = at(row);
    return value === null ? undefined : text(value, type, exact);
  };
  const kind = kindOf(type);
  return {
    name,
    type: said(type),
    kind,
    at,
    text: (row) => show(row, false),
    exact: (row) => show(row, true),
    number: (row) => {
      const value = at(row);
      if (value === null) return NaN;
      if (kind === "time") return milliseconds(value, type);
      return type.typeId === Type.Decimal ? Number(text(value, type, true)) : Number(value);
    },
  };
}

/** The places of rows in the order of a column; NULL is last, NaN greater than all numbers, equal ones keep their order. */
export function order(column: ResultColumn, rows: number, down: boolean): Uint32Array {
  const isText = column.kind === "text" || column.kind === "other";
  const values = Array.from({ length: rows }, (_, row) => (isText ? (column.exact(row) ?? null) : column.at(row)));
  const compare = isText ? byText(values as (string | null)[]) : byNumber(values as (number | bigint | boolean | null)[]);
  const places = Uint32Array.from({ length: rows }, (_, row) => row);
  const [present, missing] = [places.filter((row) => values[row] !== null), places.filter((row) => values[row] === null)];
  places.set(present.sort(down ? (a, b) => compare(b, a) || a - b : (a, b) => compare(a, b) || a - b));
  places.set(missing, present.length);
  return places;
}

type Compare = (a: number, b: number) => number;

/** Doubles decide; where they round, the integers themselves. */
function byNumber(values: readonly (number | bigint | boolean | null)[]): Compare {
  const near = Float64Array.from(values, (value) => (value === null ? 0 : Number(value)));
  return (a, b) => {
    const [x, y] = [near[a] as number, near[b] as number];
    if (x < y) return -1;
    if (x > y) return 1;
    if (x !== x || y !== y) return Number(x !== x) - Number(y !== y);
    const [p, q] = [values[a], values[b]];
    return typeof p === "bigint" && typeof q === "bigint" ? Number(p > q) - Number(p < q) : 0;
  };
}

/** Three characters behind what all texts begin with, as one number, decide nearly always, and much faster than texts do. */
function byText(values: readonly (string | null)[]): Compare {
  const texts = values as readonly string[];
  let common: string | undefined;
  for (const text of values) {
    if (text === null) continue;
    common ??= text;
    let same = 0;
    while (same < common.length && common.charCodeAt(same) === text.charCodeAt(same)) same++;
    common = common.slice(0, same);
    if (same === 0) break;
  }
  const skip = common?.length ?? 0;
  const unit = (text: string, place: number) => (place < text.length ? text.charCodeAt(place) + 1 : 0);
  const keys = Float64Array.from(values, (text) =>
    text === null ? 0 : (unit(text, skip) * 65_537 + unit(text, skip + 1)) * 65_537 + unit(text, skip + 2),
  );
  return (a, b) => (keys[a] as number) - (keys[b] as number) || ((texts[a] as string) < (texts[b] as string) ? -1 : texts[a] === texts[b] ? 0 : 1);
}
