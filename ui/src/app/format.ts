import type { Integer } from "../api/json";
import type { Real } from "../api/types";
import { oddsFormat, zone } from "./preferences";

const grouped = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const MINUS = "-";

/** A whole number with thousands separators. */
export function count(n: Integer | null | undefined): string {
  return n === null || n === undefined ? "" : grouped.format(n);
}

/** Beyond it, digits are no longer those of a measurement. */
const LARGE = 1e18;

/** A real number with a fixed number of decimals. */
export function decimal(n: Real | null | undefined, places = 2): string {
  if (n === null || n === undefined) return "";
  if (typeof n !== "number") return n;
  if (Math.abs(n) >= LARGE) return n.toExponential(4);
  return n.toLocaleString("en-US", { minimumFractionDigits: places, maximumFractionDigits: places });
}

/** The same; a number that the decimals would round to 0 as 1.2345e-9. */
export function measured(n: Real | null | undefined, places: number): string {
  const isLost = typeof n === "number" && n !== 0 && Math.abs(n) < 0.5 * 10 ** -places;
  return isLost ? n.toExponential(4) : decimal(n, places);
}

/** How many decimals show two digits of the uncertainty `width`, and at least `least`: as in the shell. */
export function decimals(width: Real | null | undefined, least: number): number {
  if (typeof width !== "number" || !(width > 0) || width === Infinity) return least;
  return Math.min(15, Math.max(least, 1 - Math.floor(Math.log10(width))));
}

/** A value as it is, at most six significant decimals: 10, 0.25, 3.14159. Whole numbers keep all their digits. */
export function value(n: Real | Integer | null | undefined): string {
  if (n === null || n === undefined) return "";
  if (typeof n === "bigint") return count(n);
  if (typeof n !== "number") return n;
  const size = Math.abs(n);
  if (size !== 0 && (size < 1e-4 || (size >= 1e15 && !(size <= 2 ** 53 && Number.isInteger(n)))))
    return n.toExponential(4);
  return n.toLocaleString("en-US", {
    maximumFractionDigits: Math.max(0, Math.min(6, 6 - Math.floor(Math.log10(size || 1)))),
  });
}

/** A share as in the shell: 31.40%. */
export function percent(share: Real | null | undefined, places = 2): string {
  if (share === null || share === undefined) return "";
  return typeof share === "number" ? `${(share * 100).toFixed(places)}%` : share;
}

/** The signed change of a share, in percentage points. */
export function points(change: number, places = 2): string {
  return `${change > 0 ? "+" : ""}${(change * 100).toFixed(places)}`;
}

/** Fair odds of a probability in the viewer's format. */
export function odds(probability: number, format = oddsFormat.value): string {
  if (format === "percent") return percent(probability);
  if (probability <= 0) return "none";
  if (format === "decimal") return decimal(1 / probability);
  if (probability >= 1) return "none";
  const american =
    probability > 0.5 ? (-100 * probability) / (1 - probability) : (100 * (1 - probability)) / probability;
  return `${american < 0 ? MINUS : "+"}${grouped.format(Math.abs(Math.round(american)))}`;
}

/** Bytes in decimal units, as in the shell: 141.93 MB. */
export function bytes(n: Integer): string {
  let size = Number(n);
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  let unit = 0;
  for (; size >= 1000 && unit < units.length - 1; unit++) size /= 1000;
  return `${unit === 0 ? count(size) : size.toFixed(2)} ${units[unit]}`;
}

/** A rate: 189.1/s, 0.05/s. */
export function rate(perSecond: number): string {
  const text =
    perSecond >= 1000
      ? count(Math.round(perSecond))
      : perSecond >= 1
        ? perSecond.toFixed(1)
        : String(Number(perSecond.toPrecision(2)));
  return `${text}/s`;
}

/** A time span: 8 s, 4 min 10 s, 3 h 5 min, 2 d 4 h. */
export function duration(seconds: number): string {
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min${s % 60 ? ` ${s % 60} s` : ""}`;
  if (s < 86_400) return `${Math.floor(s / 3600)} h${s % 3600 >= 60 ? ` ${Math.floor((s % 3600) / 60)} min` : ""}`;
  return `${Math.floor(s / 86_400)} d${s % 86_400 >= 3600 ? ` ${Math.floor((s % 86_400) / 3600)} h` : ""}`;
}

/** A moment in the viewer's zone or UTC: 2026-11-24 11:09:30. Takes a text of RFC 3339 or milliseconds. */
export function time(moment: string | number | Date | null | undefined): string {
  if (moment === null || moment === undefined) return "";
  const date = new Date(moment);
  if (Number.isNaN(date.getTime())) return String(moment);
  const two = (n: number) => String(n).padStart(2, "0");
  if (zone.value === "utc") return date.toISOString().slice(0, 19).replace("T", " ");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** How long ago: "3 min ago", or until then: "in 3 min". */
export function ago(moment: string | number | Date, now = Date.now()): string {
  const seconds = (now - new Date(moment).getTime()) / 1000;
  if (Math.abs(seconds) < 5) return "now";
  const span = duration(Math.abs(seconds)).split(" ").slice(0, 2).join(" ");
  return seconds < 0 ? `in ${span}` : `${span} ago`;
}

/** A noun with its number: "1 world", "2,000 worlds". */
export function plural(n: Integer, one: string, many = `${one}s`): string {
  return `${count(n)} ${Number(n) === 1 ? one : many}`;
}
