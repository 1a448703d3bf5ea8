// Texts, saved queries and the history, which the browser keeps.
import { signal } from "@preact/signals";
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

/**
 * A list that the browser keeps for all its windows, and a function that changes it. Changes apply to the latest stored
 * list, so that windows do not overwrite each other's.
 */
function list<T>(key: string, isRight: (value: unknown) => value is T[], first: T[] = []) {
  const read = () => {
    const found = kept(key, isRight, first);
    return found.length > 0 ? found : first;
  };
  const items = signal(read());
  let unwritten: ((now: T[]) => T[])[] = [];
  const merged = () => unwritten.reduce((now, change) => change(now), read());
  const flush = () => {
    if (unwritten.length > 0) store(key, JSON.stringify(merged()));
    unwritten = [];
  };
  const apply = (change: (now: T[]) => T[]) => {
    items.value = change(items.value);
    if (unwritten.push(change) === 1) setTimeout(flush, WRITE_MS);
  };
  window.addEventListener("pagehide", flush);
  window.addEventListener("storage", (event) => {
    if (event.key === key || event.key === null) items.value = merged();
  });
  return [items, apply] as const;
}

export const [tabs, changeTabs] = list<Tab>(TABS, listOf("id", "name", "text"), [fresh([])]);
export const [saved, changeSaved] = list<Saved>(SAVED, listOf("name", "sql"));
export const [past, changePast] = list<Past>(HISTORY, listOf("sql"));

function fresh(others: readonly Tab[], text = "", name?: string): Tab {
  const taken = new Set(others.map((tab) => tab.name));
  let n = 1;
  while (taken.has(`Query ${n}`)) n++;
  return { id: Math.random().toString(36).slice(2), name: name ?? `Query ${n}`, text };
}

/** The text of a tab; none if it is closed. */
export function textOf(id: string): string | undefined {
  return tabs.value.find((tab) => tab.id === id)?.text;
}

/** Adds a tab; returns its place in the address. */
export function addTab(text = "", name?: string): Tab {
  const tab = fresh(tabs.value, text, name);
  changeTabs((now) => [...now, tab]);
  return tab;
}

/** Closes a tab; the last one becomes empty instead. */
export function closeTab(id: string): void {
  const empty = fresh([]);
  changeTabs((now) => {
    const rest = now.filter((tab) => tab.id !== id);
    return rest.length > 0 ? rest : [empty];
  });
}

/** Changes a tab, which comes back if another window has closed it. */
export function changeTab(id: string, change: Partial<Tab>): void {
  const old = tabs.value.find((tab) => tab.id === id);
  if (old === undefined) return;
  changeTabs((now) => {
    const all = now.some((tab) => tab.id === id) ? now : [...now, old];
    return all.map((tab) => (tab.id === id ? { ...tab, ...change } : tab));
  });
}

export function keep(name: string, sql: string): void {
  changeSaved((now) => [...now.filter((one) => one.name !== name), { name, sql }].sort((a, b) => a.name.localeCompare(b.name)));
}

export function drop(name: string): void {
  changeSaved((now) => now.filter((one) => one.name !== name));
}

export function remember(one: Past): void {
  if (one.sql.length > LONGEST) return;
  changePast((now) => [one, ...now.filter((other) => other.sql !== one.sql)].slice(0, REMEMBERED));
}

export function forgetPast(): void {
  changePast(() => []);
}
