import { signal } from "@preact/signals";

const narrow = window.matchMedia("(max-width: 640px)");
const isNarrow = signal(narrow.matches);
narrow.addEventListener("change", () => (isNarrow.value = narrow.matches));

/** Whether the window is as narrow as a phone's. */
export function useNarrow(): boolean {
  return isNarrow.value;
}
