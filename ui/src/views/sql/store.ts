// Texts, saved queries and the history, which the browser keeps.
import { batch, effect, signal } from "@preact/signals";
import { store, stored } from "../../app/preferences";

export interface Tab {
  id: string;
  name: string;
  text: string;
}

export interface Saved {
  name: string;
  sql: string;
}

export interface Past {
  sql: string;
  /** When it began, in milliseconds since 1970. */
  at: number;
  ms: number;
  rows?: number;
  error?: string;
}

const [TABS, SAVED, HISTORY] = ["manyworlds.sql.tabs", "manyworlds.sql.saved", "manyworlds.sql.history"];
const REMEMBERED = 300;
/** Texts past this are not remembered: the browser keeps a few megabytes in all. */
const LONGEST = 20_000;
const WRITE_MS = 300;

/** What the browser kept, if it is what this page writes. */
function kept<T>(key: string, isRight: (value: unknown) => value is T, otherwise: T): T {
  try {
    const value: unknown = JSON.parse(stored(key) ?? "null");
    return isRight(value) ? value : otherwise;
  } catch {
    return otherwise;
  }
}

const has = (value: unknown, ...texts: string[]) =>
  typeof value === "object" && value !== null && texts.every((name) => typeof (value as Record<string, unknown>)[name] === "string");
const listOf =
  <T>(...texts: string[]) =>
  (value: unknown): value is T[] => Array.isArray(value) && value.every((item) => has(item, ...texts));

const begun = kept<Tab[]>(TABS, listOf("id", "name", "text"), []);
export const tabs = signal<Tab[]>(begun.length > 0 ? begun : [fresh([])]);
export const saved = signal<Saved[]>(kept<Saved[]>(SAVED, listOf("name", "sql"), []));
export const past = signal<Past[]>(kept<Past[]>(HISTORY, listOf("sql"), []));

const write = { [TABS]: tabs, [SAVED]: saved, [HISTORY]: past } as Record<string, { value: unknown }>;
for (const [key, source] of Object.entries(write)) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isFirst = true;
  const flush = () => {
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    store(key, JSON.stringify(source.value));
  };
  effect(() => {
    void source.value;
    if (!isFirst) timer ??= setTimeout(flush, WRITE_MS);
    isFirst = false;
  });
  window.addEventListener("pagehide", flush);
}

function fresh(others: readonly Tab[], text = "", name?: string): Tab {
  const taken = new Set(others.map((tab) => tab.name));
  let n = 1;
  while (taken.has(`Query ${n}`)) n++;
  return { id: Math.random().toString(36).slice(2), name: name ?? `Query ${n}`, text };
}

/** Adds a tab; returns its place in the address. */
export function addTab(text = "", name?: string): Tab {
  const tab = fresh(tabs.value, text, name);
  tabs.value = [...tabs.value, tab];
  return tab;
}

/** Closes a tab; the last one becomes empty instead. */
export function closeTab(id: string): void {
  const rest = tabs.value.filter((tab) => tab.id !== id);
  tabs.value = rest.length > 0 ? rest : [fresh([])];
}

export function changeTab(id: string, change: Partial<Tab>): void {
  tabs.value = tabs.value.map((tab) => (tab.id === id ? { ...tab, ...change } : tab));
}

export function keep(name: string, sql: string): void {
  saved.value = [...saved.value.filter((one) => one.name !== name), { name, sql }].sort((a, b) => a.name.localeCompare(b.name));
}

export function drop(name: string): void {
  saved.value = saved.value.filter((one) => one.name !== name);
}

export function remember(one: Past): void {
  if (one.sql.length > LONGEST) return;
  batch(() => {
    past.value = [one, ...past.value.filter((other) => other.sql !== one.sql)].slice(0, REMEMBERED);
  });
}
