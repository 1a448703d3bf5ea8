import { useEffect, useState } from "preact/hooks";
import { runs } from "./run";

/** Milliseconds as people read them: 12 ms, 3.41 s, 2 min 5 s. */
export function lasted(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(2)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.floor((ms % 60_000) / 1000)} s`;
}

const TICK_MS = 100;

/** How long the running statement has taken. */
export function Elapsed({ tab }: { tab: string }) {
  const list = runs.value.get(tab) ?? [];
  const running = list.find((run) => run.state === "running");
  const [, tick] = useState(0);
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(() => tick((n) => n + 1), TICK_MS);
    return () => clearInterval(timer);
  }, [running !== undefined]);
  if (!running) return null;
  const which = list.length > 1 ? `statement ${list.indexOf(running) + 1} of ${list.length}, ` : "";
  return (
    <span class="muted" role="timer" aria-label="Elapsed">
      <span class="working" aria-hidden="true" /> {which}
      {((performance.now() - running.began) / 1000).toFixed(1)} s
    </span>
  );
}
