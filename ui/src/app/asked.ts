import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { ApiError, isCancelled } from "../api/client";

/** An answer that may still be on its way; the one before stays visible meanwhile. */
export interface Asked<T> {
  value: T | undefined;
  error: ApiError | undefined;
  /** Whether a newer answer is on its way. */
  busy: boolean;
  again: () => void;
}

interface How {
  /** Changes when the same question has a newer answer. */
  edition?: string | number | undefined;
  /** Whether the answer of the question before, which has this key, is still worth showing. */
  keep?: (before: string) => boolean;
}

interface Held<T> {
  key?: string;
  value?: T;
  error?: ApiError;
  /** The key of the question under way. */
  asking: string | undefined;
}

/**
 * Asks the server, again whenever `key` or the edition changes. `undefined` as key asks nothing. Another key cancels the
 * question under way. Another edition lets it finish first: in a run, a slow question would otherwise never get its answer.
 */
export function useAsked<T>(
  key: string | undefined,
  ask: (signal: AbortSignal) => Promise<T>,
  { edition = "", keep = () => true }: How = {},
): Asked<T> {
  const [turn, setTurn] = useState(0);
  const [held, setHeld] = useState<Held<T>>({ asking: key });
  const latest = useRef(ask);
  latest.current = ask;
  const due = useOnceFree(`${turn} ${edition}`, key !== undefined && held.asking === key);
  const isShown = (before: string | undefined) =>
    before === key || (before !== undefined && key !== undefined && keep(before));
  // Before the picture of this turn is drawn: the answer comes a frame earlier.
  useLayoutEffect(() => {
    if (key === undefined) {
      setHeld({ asking: undefined });
      return;
    }
    const control = new AbortController();
    setHeld((old) => ({ ...(isShown(old.key) ? old : {}), asking: key }));
    latest.current(control.signal).then(
      (value) => control.signal.aborted || setHeld({ key, value, asking: undefined }),
      (error: unknown) => {
        if (control.signal.aborted || isCancelled(error)) return;
        const told = error instanceof ApiError ? error : new ApiError(0, String(error));
        setHeld({ key, error: told, asking: undefined });
      },
    );
    return () => control.abort();
  }, [key, due]);
  const { value, error } = isShown(held.key) ? held : {};
  const again = () => setTurn((n) => n + 1);
  return { value, error, busy: held.asking !== undefined || held.key !== key, again };
}

/** `now`; while something is under way, what it was when that began. */
export function useOnceFree<T>(now: T, isBusy: boolean): T {
  const held = useRef(now);
  if (!isBusy) held.current = now;
  return held.current;
}
