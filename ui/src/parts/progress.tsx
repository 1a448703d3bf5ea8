import { count } from "../app/format";

/** A bar that fills as worlds are played. */
export function Progress({ done, of, label, moving }: { done: number; of: number; label: string; moving?: boolean }) {
  const share = of > 0 ? Math.min(1, done / of) : 0;
  return (
    <div
      class="progress"
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={of}
      aria-valuenow={done}
      aria-valuetext={`${count(done)} of ${count(of)}`}
      data-moving={moving}
    >
      <div style={{ transform: `scaleX(${share})` }} />
    </div>
  );
}
