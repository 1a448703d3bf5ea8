import { signal } from "@preact/signals";
import { parse, print } from "./json";

/** Why a request failed, as the server says it. */
export class ApiError extends Error {
  constructor(
    /** The HTTP status; 0 if no answer came. */
    readonly status: number,
    message: string,
    /** For programs: `unknown_name`, `too_few_worlds`, `limit`... */
    readonly kind?: string,
    /** The expression that is wrong, and the byte where. */
    readonly text?: string,
    readonly position?: number,
    /** Everything else in the answer. */
    readonly body: Record<string, unknown> = {},
  ) {
    super(message);
  }

  /** Where the fault is in `text`, as an index into the string. */
  get place(): number | undefined {
    if (this.text === undefined || this.position === undefined) return undefined;
    return new TextDecoder().decode(new TextEncoder().encode(this.text).slice(0, this.position)).length;
  }
}

export type Query = Record<string, string | number | undefined>;

/** Requests without an answer yet. */
export const pending = signal(0);

/** Called when the server no longer accepts the session. */
let loggedOut: () => void = () => {};
export function onLoggedOut(call: () => void): void {
  loggedOut = call;
}

function address(path: string, query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  if (given.length === 0) return path;
  return `${path}?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}

/** Sends a request; the answer is a success or an `ApiError`. A cancelled request throws the signal's `AbortError`. */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  let response: Response;
  // Peeks, so that an effect that asks does not follow the number.
  pending.value = pending.peek() + 1;
  try {
    response = await fetch(path, { credentials: "same-origin", cache: "no-store", ...init });
  } catch (error) {
    if (isCancelled(error)) throw error;
    throw new ApiError(0, "cannot reach the server; check that it runs");
  } finally {
    pending.value = pending.peek() - 1;
  }
  if (response.ok) return response;
  const error = await failure(response);
  if (response.status === 401) loggedOut();
  throw error;
}

async function failure(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => "");
  let body: Record<string, unknown> = {};
  try {
    body = (parse(text) ?? {}) as Record<string, unknown>;
  } catch {
    // A proxy's page, say: the status has to do.
  }
  const said =
    typeof body.error === "string" ? body.error : `the server replied ${response.status} ${response.statusText}`;
  const word = (name: string) => (typeof body[name] === "string" ? (body[name] as string) : undefined);
  const position = typeof body.position === "number" ? body.position : undefined;
  return new ApiError(response.status, said, word("kind"), word("text"), position, body);
}

export function isCancelled(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

async function answer<T>(response: Response): Promise<T> {
  if (response.status === 204) return undefined as T;
  const text = await response.text();
  return (text === "" ? undefined : parse(text)) as T;
}

/** Asks with GET. */
export async function get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  return answer<T>(await request(address(path, query), { signal: signal ?? null }));
}

/** Asks with POST and a JSON body. */
export async function post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  return answer<T>(await send(path, body, {}, signal));
}

/** As `post`, for answers that are no JSON. */
export async function send(path: string, body: unknown, query: Query = {}, signal?: AbortSignal): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return request(address(path, query), { method: "POST", headers, body: print(body), signal: signal ?? null });
}

export async function remove<T>(path: string, query: Query = {}): Promise<T> {
  return answer<T>(await request(address(path, query), { method: "DELETE" }));
}
