import { useId, useRef, useState } from "preact/hooks";

export interface Option {
  /** What is put into the field or handed on. */
  value: string;
  /** Said beside it, such as a title or a unit. */
  detail?: string;
}

interface Props {
  label: string;
  /** The text of the field, kept by the view. */
  value: string;
  onInput: (text: string, cursor: number) => void;
  /** What can be chosen for this text. */
  options: readonly Option[];
  /** Called with the option that the viewer chooses. */
  onChoose: (option: Option) => void;
  /** Called on Enter without a chosen option. */
  onEnter?: () => void;
  placeholder?: string;
  isFaulty?: boolean;
  describedBy?: string;
  hideLabel?: boolean;
}

/** A text field with options below it, by pointer and keyboard (the ARIA pattern of a combobox). */
export function Combobox(props: Props) {
  const { label, value, onInput, options, onChoose, onEnter, placeholder, isFaulty, describedBy, hideLabel } = props;
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const list = useRef<HTMLUListElement>(null);
  const id = useId();
  const shown = isOpen && options.length > 0;
  const choose = (option: Option) => {
    setOpen(false);
    setActive(-1);
    onChoose(option);
  };
  const move = (to: number) => {
    setOpen(true);
    setActive(to);
    list.current?.children[to]?.scrollIntoView({ block: "nearest" });
  };
  const press = (event: KeyboardEvent) => {
    const last = options.length - 1;
    if (event.key === "ArrowDown") move(active >= last ? 0 : active + 1);
    else if (event.key === "ArrowUp") move(active <= 0 ? last : active - 1);
    else if (event.key === "Escape" && shown) setOpen(false);
    else if (event.key === "Enter") {
      const option = shown ? options[active] : undefined;
      if (option) choose(option);
      else {
        setOpen(false);
        onEnter?.();
      }
    } else return;
    event.preventDefault();
  };
  return (
    <div class="combobox">
      <label for={id} class={hideLabel ? "hidden" : undefined}>
        {label}
      </label>
      <input
        id={id}
        role="combobox"
        aria-expanded={shown}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={shown && active >= 0 ? `${id}-${active}` : undefined}
        aria-invalid={isFaulty ? true : undefined}
        aria-describedby={describedBy}
        autocomplete="off"
        spellcheck={false}
        placeholder={placeholder}
        value={value}
        onInput={(event) => {
          setOpen(true);
          setActive(-1);
          onInput(event.currentTarget.value, event.currentTarget.selectionStart ?? 0);
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={press}
      />
      <ul id={`${id}-list`} role="listbox" aria-label={label} ref={list} hidden={!shown}>
        {shown &&
          options.map((option, i) => (
            <li
              key={option.value}
              id={`${id}-${i}`}
              role="option"
              aria-selected={i === active}
              // The field keeps the focus.
              onPointerDown={(event) => event.preventDefault()}
              onClick={() => choose(option)}
            >
              <span>{option.value}</span>
              {option.detail && <small>{option.detail}</small>}
            </li>
          ))}
      </ul>
    </div>
  );
}
