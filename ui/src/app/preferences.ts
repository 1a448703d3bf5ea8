import { effect, signal, type Signal } from "@preact/signals";

/** A choice of the viewer, kept in the browser. */
function choice<T extends string>(name: string, words: readonly [T, ...T[]]): Signal<T> {
  const key = `manyworlds.${name}`;
  const chosen = signal<T>(words.find((word) => word === stored(key)) ?? words[0]);
  effect(() => store(key, chosen.value));
  return chosen;
}

/** What the browser keeps under `key`; nothing where storage is off. */
export function stored(key: string): string | null {
  try {
    return window.localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function store(key: string, value: string): void {
  try {
    window.localStorage.setItem(key, value);
  } catch {
    // A viewer who allows no storage chooses again next time.
  }
}

export const THEMES = ["system", "light", "dark"] as const;
export const ZONES = ["local", "utc"] as const;
export const ODDS = ["decimal", "american", "percent"] as const;

export const theme = choice("theme", THEMES);
export const zone = choice("zone", ZONES);
export const oddsFormat = choice("odds", ODDS);

effect(() => {
  document.documentElement.dataset.theme = theme.value;
});
