import type { ComponentChildren } from "preact";
import { copy } from "./copy";
import { Icon } from "./icon";

interface Props {
  title: string;
  /** Whether the page has nothing else. */
  isWhole?: boolean;
  children?: ComponentChildren;
}

/** Says why a place is empty and what to do. */
export function Empty({ title, isWhole = false, children }: Props) {
  return (
    <div class="empty">
      {isWhole ? <h1>{title}</h1> : <h2>{title}</h2>}
      {children && <div>{children}</div>}
    </div>
  );
}

/** A command to run in a shell, with a button that copies it. */
export function Command({ text }: { text: string }) {
  return (
    <div class="command">
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
      <button class="quiet" aria-label="Copy command" onClick={() => void copy(text)}>
        <Icon name="copy" />
      </button>
    </div>
  );
}
