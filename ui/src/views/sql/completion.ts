import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { keywordCompletionSource } from "@codemirror/lang-sql";
import { type KnownColumn, type KnownTable, columnsOf, ensembleNames, firstTables, meant, tables } from "../../sql/schema";
import { identifier, tableName } from "../../sql/names";
import { statementAt, tablesOf } from "../../sql/statements";
import { DIALECT } from "./dialect";

const keywords = keywordCompletionSource(DIALECT, true);

/** The name before the cursor: `"quo`, `ta`, and what is before a dot. */
const BEFORE = /(?:("(?:[^"]|"")*"|[\p{L}_][\p{L}\p{N}_]*)\.)?("(?:[^"]|"")*|[\p{L}_][\p{L}\p{N}_]*)?$/u;
const TABLE_NEXT = /(?:\b(?:from|join|describe|table)\s+|,\s*)(?:"[^"]*|[\p{L}_][\p{L}\p{N}_]*)?$/iu;
const ENSEMBLE_NEXT = /\b(?:worlds|events)\s*\(\s*'[^']*$/i;
/** More than anybody reads; filtering thousands would make typing slow. */
const OFFERED = 300;

/** Offers tables, the columns of the tables that the statement names, ensembles, and keywords. */
export async function complete(context: CompletionContext): Promise<CompletionResult | null> {
  const text = context.state.doc.toString();
  const before = text.slice(0, context.pos);
  if (ENSEMBLE_NEXT.test(before)) return ensembles(context);
  const found = BEFORE.exec(before);
  const [, qualifier, typed = ""] = found ?? [];
  if (!context.explicit && typed === "" && qualifier === undefined) return null;
  await firstTables();
  const from = context.pos - typed.length;
  const statement = statementAt(text, context.pos)?.text ?? "";
  const named = tablesOf(statement).map((one) => ({ ...one, table: meant(one) }));
  const prefix = typed.replace(/^"/, "").replaceAll('""', '"').toLowerCase();
  // The editor has written the closing quote already.
  const to = context.pos + (typed.startsWith('"') && text[context.pos] === '"' ? 1 : 0);
  const answer = (options: Completion[]): CompletionResult => ({ from, to, options, filter: false });
  if (qualifier !== undefined) {
    const name = qualifier.startsWith('"') ? qualifier.slice(1, -1).replaceAll('""', '"') : qualifier.toLowerCase();
    const owner = named.find((one) => one.alias === name) ?? named.find((one) => one.name === name);
    if (owner?.table) return answer(matching(await columnOptions(owner.table), prefix));
    return answer(tableOptions(prefix, name));
  }
  if (TABLE_NEXT.test(before) && /\b(?:from|join|describe)\b/i.test(before.slice(statementAt(text, context.pos)?.from ?? 0))) {
    const isList = /,\s*\S*$/.test(before);
    const list = tableOptions(prefix, undefined);
    if (!isList) return answer(list);
  }
  const owners = [...new Set(named.flatMap((one) => one.table ?? []))];
  const columns = (await Promise.all(owners.map((table) => columnOptions(table).catch(() => [])))).flat();
  const words = typed.startsWith('"') ? [] : await keywordOptions(context, prefix);
  return answer([...matching(columns, prefix), ...tableOptions(prefix, undefined).slice(0, 50), ...words].slice(0, OFFERED));
}

async function columnOptions(table: KnownTable): Promise<Completion[]> {
  return (await columnsOf(table)).map((column: KnownColumn) => ({
    label: column.name,
    apply: identifier(column.name),
    detail: column.type,
    type: "property",
  }));
}

function tableOptions(prefix: string, database: string | undefined): Completion[] {
  const all = (tables.value ?? []).filter((one) => database === undefined || one.database === database);
  const functions = ["worlds", "events"].map((name) => ({ label: `${name}('ensemble', 'entity')`, apply: `${name}('`, type: "function" }));
  const options = all.map((one) => ({
    label: database === undefined ? `${one.database}.${one.name}` : one.name,
    apply: database === undefined ? tableName(one.database, one.name) : identifier(one.name),
    type: "class",
    name: one.name,
  }));
  const begins = options.filter((one) => one.name.toLowerCase().startsWith(prefix));
  const within = options.filter((one) => !one.name.toLowerCase().startsWith(prefix) && one.label.toLowerCase().includes(prefix));
  return [...begins, ...within, ...(database === undefined ? matching(functions, prefix) : [])].slice(0, OFFERED);
}

/** Those that begin with the prefix, then those that have it elsewhere. */
function matching(options: Completion[], prefix: string): Completion[] {
  const begins = options.filter((one) => one.label.toLowerCase().startsWith(prefix));
  const within = options.filter((one) => !one.label.toLowerCase().startsWith(prefix) && one.label.toLowerCase().includes(prefix));
  return [...begins, ...within];
}

async function keywordOptions(context: CompletionContext, prefix: string): Promise<Completion[]> {
  const all = await keywords(context);
  return prefix === "" ? [] : (all?.options ?? []).filter((one) => one.label.toLowerCase().startsWith(prefix)).slice(0, 20);
}

async function ensembles(context: CompletionContext): Promise<CompletionResult | null> {
  const typed = context.matchBefore(/'[^']*/);
  if (!typed) return null;
  const names = await ensembleNames().catch(() => []);
  const prefix = typed.text.slice(1).toLowerCase();
  const options = names.map((name) => ({ label: name, apply: name.replaceAll("'", "''"), type: "text" }));
  return { from: typed.from + 1, options: matching(options, prefix).slice(0, OFFERED), filter: false };
}
