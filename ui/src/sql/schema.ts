// What can be named in SQL: tables at once, columns when a statement names their table.
import { signal } from "@preact/signals";
import { get, post } from "../api/client";
import type { Ensemble } from "../api/types";
import { tableName, typeName } from "./names";
import type { NamedTable } from "./statements";

export interface KnownTable {
  database: string;
  name: string;
}

export interface KnownColumn {
  name: string;
  type: string;
}

interface Rows {
  columns: string[];
  data: (string | null)[][];
}

/** All tables, those of ensembles included; `undefined` until they are known. */
export const tables = signal<KnownTable[] | undefined>(undefined);

const LIST =
  "SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema <> 'information_schema' ORDER BY table_schema, table_name";

let listing = Promise.resolve();

export function loadTables(): Promise<void> {
  listing = post<Rows>("/api/v1/query", { sql: LIST }).then(({ data }) => {
    tables.value = data.map(([database, name]) => ({ database: database ?? "", name: name ?? "" }));
  });
  return listing;
}

/** Waits for the first list of tables, or until it has failed. */
export async function firstTables(): Promise<void> {
  if (tables.value === undefined) await listing.catch(() => {});
}

const columns = new Map<string, Promise<KnownColumn[]>>();

/** The columns of a table; asked once until `forgetColumns`. */
export function columnsOf(table: KnownTable): Promise<KnownColumn[]> {
  const key = tableName(table.database, table.name);
  const known = columns.get(key);
  if (known) return known;
  const asked = post<Rows>("/api/v1/query", { sql: `DESCRIBE ${key}` }).then(({ data }) =>
    data.map(([name, type]) => ({ name: name ?? "", type: typeName(type ?? "") })),
  );
  columns.set(key, asked);
  // The next one asks again.
  asked.catch(() => columns.delete(key));
  return asked;
}

export function forgetColumns(): void {
  columns.clear();
}

/** The table that a statement means. */
export function meant({ database, name }: NamedTable): KnownTable | undefined {
  const all = tables.value ?? [];
  if (database !== undefined) return all.find((one) => one.database === database && one.name === name);
  return ["sim", "default"].map((schema) => all.find((one) => one.database === schema && one.name === name)).find((one) => one !== undefined);
}

let ensembles: Promise<string[]> | undefined;

export function ensembleNames(): Promise<string[]> {
  ensembles ??= get<Ensemble[]>("/api/v1/ensembles").then((all) => all.map((one) => one.ensemble));
  ensembles.catch(() => (ensembles = undefined));
  return ensembles;
}
