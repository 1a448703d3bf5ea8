import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { sql } from "@codemirror/lang-sql";
import { HighlightStyle, bracketMatching, syntaxHighlighting } from "@codemirror/language";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState, Prec, StateEffect, StateField, type Extension } from "@codemirror/state";
import { Decoration, EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { effect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { complete } from "./completion";
import { DIALECT } from "./dialect";
import { textOf } from "./store";

/** What the view does with the editor. */
export interface Editing {
  text: () => string;
  /** The chosen text, or the place of the cursor. */
  selection: () => { from: number; to: number };
  insert: (text: string) => void;
  /** Marks a fault; `undefined` removes the mark. */
  mark: (place: { from: number; to: number } | undefined) => void;
  focus: () => void;
}

const markFault = StateEffect.define<{ from: number; to: number } | undefined>();
const fault = StateField.define({
  create: () => Decoration.none,
  update(marks, change) {
    for (const effect of change.effects) {
      if (!effect.is(markFault)) continue;
      const at = effect.value;
      return at ? Decoration.set([Decoration.mark({ class: "fault" }).range(at.from, at.to)]) : Decoration.none;
    }
    return change.docChanged ? Decoration.none : marks;
  },
  provide: (field) => EditorView.decorations.from(field),
});

const COLOURS = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword], color: "var(--series-1)", fontWeight: "560" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--series-3)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--series-2)" },
  { tag: [tags.lineComment, tags.blockComment], color: "var(--muted)", fontStyle: "italic" },
  { tag: [tags.typeName, tags.standard(tags.name)], color: "var(--series-6)" },
]);

const LOOK = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--surface)", fontSize: "13px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--text)", padding: "6px 0" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--raised)", color: "var(--muted)", border: "0" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "transparent" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--accent-soft)" },
  ".cm-selectionMatch": { backgroundColor: "var(--raised)" },
  ".cm-placeholder": { color: "var(--muted)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--accent-soft)", outline: "1px solid var(--accent)" },
  ".fault": { textDecoration: "underline wavy var(--bad)", textUnderlineOffset: "3px" },
  ".cm-tooltip": { backgroundColor: "var(--surface)", border: "1px solid var(--strong-line)", borderRadius: "6px", color: "var(--text)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxHeight: "16em" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "2px 8px" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent-soft)", color: "var(--text)" },
  ".cm-completionDetail": { color: "var(--muted)", fontStyle: "normal", marginLeft: "1em" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "700" },
  ".cm-panels": { backgroundColor: "var(--raised)", color: "var(--text)", borderColor: "var(--line)" },
  ".cm-textfield": { backgroundColor: "var(--surface)", border: "1px solid var(--strong-line)", color: "var(--text)" },
  ".cm-button": { backgroundImage: "none", backgroundColor: "var(--surface)", border: "1px solid var(--strong-line)", color: "var(--text)" },
});

/**
 * Types over a selection. Left to itself, Chromium writes the look of the replaced text into a style attribute, which the
 * page's policy forbids and the console reports.
 */
const typeOver = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { from, to, empty } = view.state.selection.main;
    const text = event.data;
    if (event.inputType !== "insertText" || text === null || empty || view.composing) return false;
    event.preventDefault();
    const typed = () => view.state.update({ ...view.state.replaceSelection(text), userEvent: "input.type", scrollIntoView: true });
    const handlers = view.state.facet(EditorView.inputHandler);
    if (!handlers.some((handle) => handle(view, from, to, text, typed))) view.dispatch(typed());
    return true;
  },
});

interface Props {
  /** Which text is shown: each has its own history of changes. */
  id: string;
  onChange: (id: string, text: string) => void;
  onRun: (all: boolean) => void;
  onReady: (editing: Editing) => void;
}

/** States of texts that are not shown now. */
const states = new Map<string, EditorState>();

/** Forgets a closed text. */
export function forget(id: string): void {
  states.delete(id);
}

/**
 * The editor. It is in a shadow tree, where CodeMirror uses constructed style sheets: the page's policy forbids the style
 * elements that it makes elsewhere.
 */
export function Editor({ id, onChange, onRun, onReady }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const calls = useRef({ id, onChange, onRun });
  calls.current = { id, onChange, onRun };
  useEffect(() => {
    const element = host.current;
    if (!element) return;
    const root = element.shadowRoot ?? element.attachShadow({ mode: "open" });
    const editor = new EditorView({ root, parent: root as unknown as Element, state: stateOf(id, calls) });
    view.current = editor;
    onReady(editing(editor));
    editor.focus();
    return () => {
      states.set(calls.current.id, editor.state);
      editor.destroy();
    };
  }, []);
  const before = useRef(id);
  useEffect(() => {
    const editor = view.current;
    if (!editor || before.current === id) return;
    states.set(before.current, editor.state);
    before.current = id;
    editor.setState(stateOf(id, calls));
    editor.focus();
  }, [id]);
  useEffect(
    () =>
      // Another window may change the text.
      effect(() => {
        const [editor, text] = [view.current, textOf(before.current)];
        if (!editor || text === undefined || calls.current.id !== before.current) return;
        if (text !== editor.state.doc.toString()) replace(editor, text);
      }),
    [],
  );
  return <div class="editor" ref={host} />;
}

type Calls = { current: Pick<Props, "id" | "onChange" | "onRun"> };

function stateOf(id: string, calls: Calls): EditorState {
  const text = textOf(id) ?? "";
  const known = states.get(id);
  if (known && known.doc.toString() === text) return known.update({ effects: markFault.of(undefined) }).state;
  return EditorState.create({ doc: text, selection: { anchor: text.length }, extensions: extensions(calls) });
}

function extensions(calls: Calls): Extension {
  const run = (all: boolean) => () => {
    calls.current.onRun(all);
    return true;
  };
  return [
    lineNumbers(),
    history(),
    drawSelection(),
    EditorState.allowMultipleSelections.of(true),
    bracketMatching(),
    closeBrackets(),
    highlightActiveLine(),
    highlightSelectionMatches(),
    sql({ dialect: DIALECT }),
    autocompletion({ override: [complete], maxRenderedOptions: 60, icons: false }),
    syntaxHighlighting(COLOURS),
    fault,
    typeOver,
    LOOK,
    EditorView.lineWrapping,
    placeholder("SELECT ..."),
    EditorView.contentAttributes.of({ "aria-label": "SQL", spellcheck: "false" }),
    EditorView.updateListener.of((update) => {
      if (!update.docChanged) return;
      const [{ id, onChange }, text] = [calls.current, update.state.doc.toString()];
      if (text !== textOf(id)) onChange(id, text);
    }),
    Prec.highest(
      keymap.of([
        { key: "Mod-Enter", run: run(false) },
        { key: "Mod-Shift-Enter", run: run(true) },
      ]),
    ),
    keymap.of([...closeBracketsKeymap, ...completionKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, indentWithTab]),
  ];
}

function replace(editor: EditorView, text: string): void {
  editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text }, selection: { anchor: text.length } });
}

function editing(editor: EditorView): Editing {
  return {
    text: () => editor.state.doc.toString(),
    selection: () => editor.state.selection.main,
    insert: (text) => {
      editor.dispatch(editor.state.replaceSelection(text));
      editor.focus();
    },
    mark: (place) => {
      editor.dispatch({ effects: markFault.of(place) });
      if (place) editor.dispatch({ selection: { anchor: place.from }, scrollIntoView: true });
    },
    focus: () => editor.focus(),
  };
}
