import { type DataType, Type } from "@uwdata/flechette";
import { time } from "../app/format";

/** What a column is good for: sorting, alignment and axes of charts. */
export type Kind = "number" | "time" | "flag" | "text" | "other";

/** A unit of time by its code in Arrow, as powers of a thousand: s, ms, µs, ns. */
const UNITS = ["s", "ms", "µs", "ns"] as const;

export function kindOf(type: DataType): Kind {
  switch (type.typeId) {
    case Type.Dictionary: return kindOf(type.dictionary);
    case Type.RunEndEncoded: return kindOf((type.children[1] as { type: DataType }).type);
    case Type.Int:
    case Type.Float:
    case Type.Decimal: return "number";
    case Type.Timestamp:
    case Type.Date: return "time";
    case Type.Bool: return "flag";
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Utf8View: return "text";
    default: return "other";
  }
}

/** A type in few words, under the name of its column. */
export function said(type: DataType): string {
  const of = (child: { name?: string; type: DataType } | undefined) => (child ? said(child.type) : "?");
  switch (type.typeId) {
    case Type.Null: return "null";
    case Type.Int: return `${type.signed ? "" : "u"}int${type.bitWidth}`;
    case Type.Float: return `float${[16, 32, 64][type.precision]}`;
    case Type.Decimal: return `decimal(${type.precision}, ${type.scale})`;
    case Type.Bool: return "boolean";
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Utf8View: return "text";
    case Type.Binary:
    case Type.LargeBinary:
    case Type.BinaryView:
    case Type.FixedSizeBinary: return "binary";
    case Type.Date: return "date";
    case Type.Time: return "time";
    case Type.Timestamp: return type.timezone ? "timestamp" : "timestamp without zone";
    case Type.Duration: return "duration";
    case Type.Interval: return "interval";
    case Type.Dictionary: return said(type.dictionary);
    case Type.RunEndEncoded: return of(type.children[1]);
    case Type.List:
    case Type.LargeList:
    case Type.ListView:
    case Type.LargeListView:
    case Type.FixedSizeList: return `list of ${of(type.children[0])}`;
    case Type.Struct: return "struct";
    case Type.Map: return "map";
    default: return "other";
  }
}

/** A value as text; nothing is rounded. With `exact`, times are of RFC 3339 in UTC, as in JSON and CSV. */
export function text(value: unknown, type: DataType, exact: boolean): string {
  switch (type.typeId) {
    case Type.Dictionary: return text(value, type.dictionary, exact);
    case Type.RunEndEncoded: return text(value, (type.children[1] as { type: DataType }).type, exact);
    case Type.Timestamp: return moment(value as bigint, type.unit, Boolean(type.timezone), exact);
    // The server writes dates in milliseconds with their time.
    case Type.Date: return type.unit === 0 ? day(Number(value)) : moment(value as bigint, 1, false, exact);
    case Type.Time: return clock(BigInt(value as number | bigint), type.unit);
    case Type.Duration: return `${scaled(BigInt(value as number | bigint), 3 * type.unit)} s`;
    case Type.Decimal: return scaled(BigInt(value as number | bigint), type.scale);
    case Type.Float: return type.precision === 1 ? short(value as number) : String(value);
    case Type.Interval: return interval(value);
    case Type.Binary:
    case Type.LargeBinary:
    case Type.BinaryView:
    case Type.FixedSizeBinary: return hex(value as Uint8Array);
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Utf8View:
    case Type.Int:
    case Type.Bool: return String(value);
    default: return json(value, type, exact);
  }
}

/** A list, struct or map as JSON. */
function json(value: unknown, type: DataType, exact: boolean): string {
  if (value === null || value === undefined) return "null";
  switch (type.typeId) {
    case Type.List:
    case Type.LargeList:
    case Type.ListView:
    case Type.LargeListView:
    case Type.FixedSizeList: {
      const item = (type.children[0] as { type: DataType }).type;
      return `[${Array.from(value as Iterable<unknown>, (one) => json(one, item, exact)).join(", ")}]`;
    }
    case Type.Struct: {
      const fields = type.children as { name: string; type: DataType }[];
      const of = value as Record<string, unknown>;
      return `{${fields.map((field) => `${JSON.stringify(field.name)}: ${json(of[field.name], field.type, exact)}`).join(", ")}}`;
    }
    case Type.Map: {
      const [key, item] = (type.children[0] as { type: { children: { type: DataType }[] } }).type.children as [{ type: DataType }, { type: DataType }];
      const entries = Array.from(value as Iterable<[unknown, unknown]>);
      return `{${entries.map(([k, v]) => `${JSON.stringify(text(k, key.type, exact))}: ${json(v, item.type, exact)}`).join(", ")}}`;
    }
    case Type.Dictionary: return json(value, type.dictionary, exact);
    case Type.Int:
    case Type.Bool:
    case Type.Decimal: return text(value, type, exact);
    case Type.Float: return Number.isFinite(value) ? text(value, type, exact) : `"${String(value)}"`;
    case Type.Union: return JSON.stringify(value, (_key, item: unknown) => (typeof item === "bigint" ? String(item) : item));
    default: return JSON.stringify(text(value, type, exact));
  }
}

/** Milliseconds since 1970, for axes of charts. */
export function milliseconds(value: unknown, type: DataType): number {
  if (type.typeId === Type.Timestamp) return Number(value) / 1000 ** (type.unit - 1);
  return type.typeId === Type.Date && type.unit === 0 ? Number(value) * 86_400_000 : Number(value);
}

/** An integer with a decimal point before its last `places` digits. */
export function scaled(value: bigint, places: number): string {
  if (places <= 0) return String(value * 10n ** BigInt(-places));
  const digits = String(value < 0n ? -value : value).padStart(places + 1, "0");
  return `${value < 0n ? "-" : ""}${digits.slice(0, -places)}.${digits.slice(-places)}`;
}

function split(value: bigint, unit: number): [bigint, string] {
  const per = 10n ** BigInt(3 * unit);
  const rest = ((value % per) + per) % per;
  const fraction = String(rest).padStart(3 * unit, "0").replace(/(000)+$/, "");
  return [(value - rest) / per, rest === 0n ? "" : `.${fraction}`];
}

function moment(value: bigint, unit: number, hasZone: boolean, exact: boolean): string {
  const [seconds, fraction] = split(BigInt(value), unit);
  const date = new Date(Number(seconds) * 1000);
  // Beyond what the browser's calendar knows.
  if (Number.isNaN(date.getTime())) return `${value} ${UNITS[unit]}`;
  if (!exact && hasZone) return `${time(date)}${fraction}`;
  const iso = date.toISOString().replace(/\.000Z$/, "");
  return exact ? `${iso}${fraction}${hasZone ? "Z" : ""}` : `${iso.replace("T", " ")}${fraction}`;
}

function day(days: number): string {
  const date = new Date(days * 86_400_000);
  return Number.isNaN(date.getTime()) ? `${days} d` : date.toISOString().replace(/T.*/, "");
}

function clock(value: bigint, unit: number): string {
  const [seconds, fraction] = split(value, unit);
  return `${new Date(Number(seconds) * 1000).toISOString().slice(11, 19)}${fraction}`;
}

/** The shortest decimal that is this 32-bit number. */
function short(value: number): string {
  for (let digits = 6; digits < 9; digits++) {
    const found = Number(value.toPrecision(digits));
    if (Math.fround(found) === value) return String(found);
  }
  return String(value);
}

function interval(value: unknown): string {
  const [months = 0, days = 0, nanos = 0] = Array.from(typeof value === "number" ? [value] : (value as Iterable<number>), Number);
  const parts: [number, string][] = [[months, "months"], [days, "days"]];
  const said = parts.filter(([n]) => n !== 0).map(([n, word]) => `${n} ${word}`);
  if (nanos !== 0) said.push(`${nanos / 1e9} s`);
  return said.join(" ") || "0 s";
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
