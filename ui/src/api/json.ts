/** A JSON integer: a `bigint` where a double would round it. */
export type Integer = number | bigint;

const LONG_INTEGER = /(?<![\d.])\d{16,}(?![\d.eE])/;

/** Parses JSON; integers of 64 bits keep every digit. */
export function parse(text: string): unknown {
  if (!LONG_INTEGER.test(text)) return JSON.parse(text);
  return JSON.parse(text, exactly as (key: string, value: unknown) => unknown);
}

function exactly(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  return source !== undefined && /^-?\d+$/.test(source) ? BigInt(source) : value;
}

/** Writes JSON; a `bigint` becomes a plain integer. */
export function print(value: unknown): string {
  const raw = (JSON as unknown as { rawJSON?: (text: string) => unknown }).rawJSON;
  return JSON.stringify(value, (_key, item) => {
    if (typeof item !== "bigint") return item;
    return raw === undefined ? item.toString() : raw(item.toString());
  });
}
