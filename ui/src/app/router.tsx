import { batch, computed, signal } from "@preact/signals";
import type { ComponentChildren, TargetedMouseEvent } from "preact";

/** Values in an address: one, several, or none. */
export type Query = Record<string, string | string[] | number | boolean | undefined | null>;

const here = () => ({ path: window.location.pathname, search: window.location.search });
const place = signal(here());

/** The path of the address, decoded by segment: `/ui/ensemble/a%2Fb` is `["ensemble", "a/b"]`. */
export const segments = computed(() => decoded(place.value.path));
/** The query of the address. A view keeps its whole state here, so that a link reproduces it. */
export const query = computed(() => new URLSearchParams(place.value.search));

function decoded(path: string): string[] {
  const parts = path.split("/").filter((part) => part !== "");
  try {
    return (parts[0] === "ui" ? parts.slice(1) : parts).map(decodeURIComponent);
  } catch {
    return ["?"];
  }
}

/** The address of a view: `href(["ensemble", name], {q: "wins"})`. */
export function href(path: readonly string[], values: Query = {}): string {
  const base = path.length === 0 ? "/" : `/ui/${path.map(encodeURIComponent).join("/")}`;
  const search = searchOf(new URLSearchParams(), values);
  return search === "" ? base : `${base}?${search}`;
}

function searchOf(params: URLSearchParams, values: Query): string {
  for (const [name, value] of Object.entries(values)) {
    params.delete(name);
    if (value === undefined || value === null || value === "" || value === false) continue;
    for (const item of Array.isArray(value) ? value : [value === true ? "1" : String(value)]) params.append(name, item);
  }
  return params.toString();
}

/** Opens a view. */
export function open(address: string, how: { replace?: boolean } = {}): void {
  const before = place.value.path;
  if (how.replace) window.history.replaceState(null, "", address);
  else window.history.pushState(null, "", address);
  batch(() => (place.value = here()));
  if (place.value.path !== before) {
    window.scrollTo(0, 0);
    document.getElementById("main")?.focus({ preventScroll: true });
  }
}

/** Changes values of the address; by default without an entry in the history. */
export function setQuery(values: Query, how: { push?: boolean } = {}): void {
  const search = searchOf(new URLSearchParams(place.value.search), values);
  open(`${place.value.path}${search === "" ? "" : `?${search}`}`, { replace: !how.push });
}

window.addEventListener("popstate", () => (place.value = here()));

interface LinkProps {
  /** The address of the view, from `href`. */
  to: string;
  class?: string;
  title?: string;
  "aria-label"?: string;
  "aria-current"?: "page" | "true" | undefined;
  children?: ComponentChildren;
}

/** A link to a view; modifier keys and other buttons work as on every link. */
export function Link({ to, ...rest }: LinkProps) {
  const click = (event: TargetedMouseEvent<HTMLAnchorElement>) => {
    const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (event.defaultPrevented || !plain) return;
    event.preventDefault();
    open(to);
  };
  return <a {...rest} href={to} onClick={click} />;
}
