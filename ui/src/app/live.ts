import { computed, effect, signal, untracked } from "@preact/signals";
import { ApiError, isCancelled, request } from "../api/client";
import { events } from "../api/events";
import { parse } from "../api/json";
import type { Run, Status } from "../api/types";
import { session } from "./session";

/** What runs now; `undefined` until the server has said it. */
export const status = signal<Status | undefined>(undefined);
/** Grows when the list of ensembles changed. */
export const listChanges = signal(0);
/**
 * Whether the server's news reach this page; views show old numbers while they do not. A hidden page does without, and a
 * token without the database of ensembles gets none.
 */
export const connection = signal<"connecting" | "live" | "lost" | "away" | "none">("connecting");

/** Runs by ensemble. */
export const runs = computed(
  () => new Map((status.value?.runs ?? []).map((run) => [run.ensemble, run] as [string, Run])),
);

/** Silence after which the connection counts as lost; the server sends a heartbeat every 15 s. */
const SILENCE_MS = 40_000;
const RETRY_MS = [250, 500, 1000, 2000, 4000];

/** Puts the answer of an action into the list, before the server's news say the same. */
export function put(run: Run): void {
  const now = status.value ?? { runs: [], workers: [], fleet_error: null };
  status.value = { ...now, runs: [...now.runs.filter((one) => one.ensemble !== run.ensemble), run] };
}

let wake: () => void = () => {};

function take(event: string, data: string): void {
  if (event === "status") status.value = parse(data) as Status;
  else if (event === "ensembles") listChanges.value++;
}

async function listen(leave: AbortSignal): Promise<void> {
  for (let failures = 0; !leave.aborted; failures++) {
    const cut = new AbortController();
    const give = () => cut.abort();
    leave.addEventListener("abort", give);
    try {
      const response = await request("/api/v1/status/stream", { signal: cut.signal });
      // What changed while nobody listened.
      if (connection.value !== "connecting") listChanges.value++;
      connection.value = "live";
      failures = 0;
      await events(response, SILENCE_MS, cut, take);
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return;
      if (error instanceof ApiError && error.status === 403) {
        connection.value = "none";
        return;
      }
      // A connection that is cut is a TypeError.
      if (!(error instanceof ApiError || error instanceof TypeError || isCancelled(error))) console.warn(error);
    } finally {
      leave.removeEventListener("abort", give);
    }
    if (leave.aborted) return;
    connection.value = "lost";
    await pause(RETRY_MS[Math.min(failures, RETRY_MS.length - 1)] ?? 4000);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => {
    const timer = setTimeout(done, ms);
    wake = () => {
      clearTimeout(timer);
      done();
    };
  });
}

/** Tries again at once. */
export function reconnect(): void {
  wake();
}

/** Follows the server's news as long as the viewer is logged in and looks at the page. */
export function follow(): void {
  let leave = new AbortController();
  const start = () => {
    leave.abort();
    if (session.value === undefined || connection.value === "none") return;
    // Browsers open six connections to a host over HTTP/1.1: without this, hidden pages would hold them all.
    if (document.hidden) {
      connection.value = "away";
      return;
    }
    leave = new AbortController();
    void listen(leave.signal);
  };
  effect(() => {
    void session.value;
    connection.value = "connecting";
    status.value = undefined;
    untracked(start);
  });
  window.addEventListener("online", reconnect);
  document.addEventListener("visibilitychange", start);
}
