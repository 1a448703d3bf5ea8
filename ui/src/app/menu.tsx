import type { Signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "../parts/icon";
import { ODDS, THEMES, ZONES, oddsFormat, theme, zone } from "./preferences";
import { logOut, session } from "./session";
import { attempt } from "./toasts";

/** The viewer's choices and session. */
export function Menu() {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    const leave = (event: Event) => box.current?.contains(event.target as Node) || setOpen(false);
    const escape = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      setOpen(false);
      box.current?.querySelector("button")?.focus();
    };
    document.addEventListener("pointerdown", leave);
    document.addEventListener("keydown", escape);
    return () => {
      document.removeEventListener("pointerdown", leave);
      document.removeEventListener("keydown", escape);
    };
  }, [isOpen]);
  const now = session.value;
  return (
    <div class="menu" ref={box}>
      <button class="quiet" aria-label="Display and session" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name="settings" />
      </button>
      {isOpen && (
        <div class="menu-box card">
          <Choice label="Theme" signal={theme} words={THEMES} names={["System", "Light", "Dark"]} />
          <Choice label="Times" signal={zone} words={ZONES} names={["My zone", "UTC"]} />
          <Choice label="Odds" signal={oddsFormat} words={ODDS} names={["Decimal", "American", "Percent"]} />
          {now && (
            <p class="muted">
              manyworlds {now.version}
              {now.tokens && (
                <>
                  {" "}
                  · token {now.name}
                  {!now.write && ", read only"}
                </>
              )}
            </p>
          )}
          {now?.tokens && <button onClick={() => void attempt(logOut)}>Log out</button>}
        </div>
      )}
    </div>
  );
}

interface ChoiceProps<T extends string> {
  label: string;
  signal: Signal<T>;
  words: readonly T[];
  names: readonly string[];
}

function Choice<T extends string>({ label, signal, words, names }: ChoiceProps<T>) {
  return (
    <fieldset class="segmented">
      <legend>{label}</legend>
      {words.map((word, i) => (
        <label key={word}>
          <input type="radio" name={label} checked={signal.value === word} onChange={() => (signal.value = word)} />
          <span>{names[i]}</span>
        </label>
      ))}
    </fieldset>
  );
}
