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

/**
 * Asks the server, again whenever `key` changes; an unneeded request is cancelled. `undefined` as key asks nothing.
 * `keep` says whether an answer of the key before is still worth showing.
 */
export function useAsked<T>(
  key: string | undefined,
  ask: (signal: AbortSignal) => Promise<T>,
  keep: (before: string) => boolean = () => true,
): Asked<T> {
  const [turn, setTurn] = useState(0);
  const [held, setHeld] = useState<{ key?: string; value?: T; error?: ApiError; busy: boolean }>({
    busy: key !== undefined,
  });
  const latest = useRef(ask);
  latest.current = ask;
  // Before the picture of this turn is drawn: the answer comes a frame earlier.
  useLayoutEffect(() => {
    if (key === undefined) {
      setHeld({ busy: false });
      return;
    }
    const control = new AbortController();
    setHeld((old) => (old.key !== undefined && keep(old.key) ? { ...old, busy: true } : { busy: true }));
    latest.current(control.signal).then(
      (value) => control.signal.aborted || setHeld({ key, value, busy: false }),
      (error: unknown) => {
        if (control.signal.aborted || isCancelled(error)) return;
        const told = error instanceof ApiError ? error : new ApiError(0, String(error));
        setHeld({ key, error: told, busy: false });
      },
    );
    return () => control.abort();
  }, [key, turn]);
  const shown =
    held.key === key || (key !== undefined && held.key !== undefined && keep(held.key)) ? held : { busy: true };
  const again = () => setTurn((n) => n + 1);
  return { value: shown.value, error: shown.error, busy: held.busy || held.key !== key, again };
}
