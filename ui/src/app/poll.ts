import { useEffect, useRef } from "preact/hooks";
import type { ApiError } from "../api/client";
import { useAsked } from "./asked";

/** As `useAsked`, and asks again `ms` after each answer while the page is in view. The last good answer stays through failures. */
export function usePolled<T>(key: string | undefined, ask: (signal: AbortSignal) => Promise<T>, ms: number | undefined) {
  const asked = useAsked(key, ask);
  const good = useRef<{ key: string | undefined; value: T }>(undefined);
  if (asked.value !== undefined) good.current = { key, value: asked.value };
  useEffect(() => {
    if (asked.busy || ms === undefined || key === undefined) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const wait = () => {
      clearTimeout(timer);
      if (!document.hidden) timer = setTimeout(asked.again, ms);
    };
    wait();
    document.addEventListener("visibilitychange", wait);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", wait);
    };
  }, [asked.busy, asked.value, asked.error, ms, key]);
  const value = asked.value ?? (asked.error && good.current?.key === key ? good.current?.value : undefined);
  return { value, error: asked.error as ApiError | undefined, busy: asked.busy, again: asked.again };
}
