import { signal } from "@preact/signals";
import { ApiError, isCancelled } from "../api/client";

interface Toast {
  id: number;
  tone: "done" | "bad";
  text: string;
}

const toasts = signal<Toast[]>([]);
let last = 0;
const SHOWN_MS = 6000;

function add(tone: Toast["tone"], text: string): void {
  const toast = { id: ++last, tone, text };
  toasts.value = [...toasts.value.slice(-3), toast];
  // Errors stay until the viewer closes them.
  if (tone === "done") setTimeout(() => drop(toast.id), SHOWN_MS);
}

function drop(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

/** Says that something is done. */
export function say(text: string): void {
  add("done", text);
}

/** Shows why something failed. */
export function complain(error: unknown): void {
  if (isCancelled(error)) return;
  // The login view says this.
  if (error instanceof ApiError && error.status === 401) return;
  add("bad", error instanceof Error ? error.message : String(error));
}

/** Runs an action of the viewer; its failure becomes a message. Returns whether it went well. */
export async function attempt(action: () => Promise<unknown>, done?: string): Promise<boolean> {
  try {
    await action();
    if (done) say(done);
    return true;
  } catch (error) {
    complain(error);
    return false;
  }
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((toast) => (
        <div key={toast.id} class={`toast ${toast.tone}`}>
          <span>{toast.text}</span>
          <button class="quiet" aria-label="Close message" onClick={() => drop(toast.id)}>
            ✕
          </button>
        </div>
      ))}
    </div>
  );
}
