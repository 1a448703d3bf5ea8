const PATHS = {
  worlds: "M3 13V11h2v2zm4 0V7h2v6zm4 0V3h2v10z",
  settings: "M2 4h7M13 4h1M2 8h1M7 8h7M2 12h6M12 12h2M11 2.5v3M5 6.5v3M10 10.5v3",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zm3.6-1.4L14 14",
  close: "M4 4l8 8M12 4l-8 8",
  pause: "M5 3v10M11 3v10",
  play: "M4.5 3v10l8-5z",
  stop: "M4 4h8v8H4z",
  retry: "M13 8a5 5 0 1 1-1.6-3.7M13 2v3h-3",
  download: "M8 2v8m-3.5-3L8 10.5 11.5 7M3 13.5h10",
  plus: "M8 3v10M3 8h10",
  right: "M6 3l5 5-5 5",
  copy: "M6 6h7v7H6zM10 6V3H3v7h3",
} as const;

export type IconName = keyof typeof PATHS;

/** A picture beside a word; alone in a button, the button needs a label. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg
      class="icon"
      viewBox="0 0 16 16"
      aria-hidden="true"
      data-filled={name === "worlds" || name === "stop" || name === "play"}
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
