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
  const places = Uint32Array.from({ length: rows }, (_, row) => row);
  const values = Array.from({ length: rows }, (_, row) => column.at(row));
  const keys = column.kind === "text" || column.kind === "other" ? ranks(values, column) : numbers(values);
  const sign = down ? -1 : 1;
  return places.sort((a, b) => {
    const [x, y] = [keys[a], keys[b]] as [number | bigint | null, number | bigint | null];
    if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1;
    if (x < y) return -sign;
    if (x > y) return sign;
    if (x === y) return 0;
    return sign * (Number(Number.isNaN(x)) - Number(Number.isNaN(y)));
  });
}

/** Doubles where they are exact: they compare faster. */
function numbers(values: unknown[]): (number | bigint | null)[] {
  return values.map((value) => {
    if (value === null) return null;
    if (typeof value !== "bigint") return Number(value);
    const near = Number(value);
    return Number.isSafeInteger(near) ? near : value;
  });
}

/** The rank of each text among all different ones, by code point as on the server. */
function ranks(values: unknown[], column: ResultColumn): (number | null)[] {
  const texts = values.map((value, row) => (value === null ? null : typeof value === "string" ? value : (column.exact(row) ?? null)));
  const different = [...new Set(texts)].filter((one) => one !== null).sort();
  const rank = new Map(different.map((one, i) => [one, i]));
  return texts.map((one) => (one === null ? null : (rank.get(one) as number)));
}
