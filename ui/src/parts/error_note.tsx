import type { ApiError } from "../api/client";

/** An error where its answer would be; of an expression, with the place of the fault. */
export function ErrorNote({ error, again }: { error: ApiError; again?: () => void }) {
  const place = error.place;
  return (
    <div class="error-note" role="alert">
      <p>{error.message.split("\n")[0]}</p>
      {place !== undefined && error.text !== undefined && <Marked text={error.text} place={place} />}
      {again && (error.status === 0 || error.status >= 500 || error.status === 429) && (
        <button class="small" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

/** An expression with the fault marked from `place` on. */
export function Marked({ text, place }: { text: string; place: number }) {
  const end = text.slice(place).match(/^\s*("[^"]*"?|'[^']*'?|\S+)/)?.[0].length ?? 0;
  return (
    <code class="marked">
      {text.slice(0, place)}
      <mark>{text.slice(place, place + end).trim() === "" ? "\u00a0" : text.slice(place, place + end)}</mark>
      {text.slice(place + end)}
    </code>
  );
}
