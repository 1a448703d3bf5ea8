import { useEffect, useRef, useState } from "preact/hooks";
import { href, open, query, setQuery } from "../../app/router";
import { say } from "../../app/toasts";
import { useTitle } from "../../app/title";
import { copy } from "../../parts/copy";
import { Icon } from "../../parts/icon";
import { statementAt, statements } from "../../sql/statements";
import { forgetColumns, loadTables } from "../../sql/schema";
import { complain } from "../../app/toasts";
import { Editor, type Editing, forget } from "./editor";
import { Kept } from "./kept";
import { Outcome } from "./outcome";
import { Elapsed } from "./elapsed";
import { cancel, discard, isRunning, placeOf, runs, start } from "./run";
import { Schema } from "./schema";
import { type Tab, addTab, changeTab, closeTab, keep, tabs } from "./store";

/** An editor with tabs, what its statements return, and the tables at the side. */
export default function SqlView() {
  useTitle("SQL");
  const editing = useRef<Editing>(undefined);
  const [panel, setPanel] = useState<"tables" | "kept" | undefined>(() => (window.innerWidth > 860 ? "tables" : undefined));
  const asked = query.value.get("sql");
  const current = tabs.value.find((tab) => tab.id === query.value.get("tab")) ?? (tabs.value[0] as Tab);
  useEffect(() => {
    forgetColumns();
    loadTables().catch(complain);
  }, []);
  useEffect(() => {
    if (asked === null) return;
    // A link with a statement: its text gets a tab, once.
    const tab = tabs.value.find((one) => one.text === asked) ?? reusable() ?? addTab(asked);
    if (tab.text !== asked) changeTab(tab.id, { text: asked });
    open(href(["sql"], { tab: tab.id }), { replace: true });
  }, [asked]);
  if (asked !== null) return null;
  const run = (all: boolean) => {
    const editor = editing.current;
    if (!editor) return;
    const [text, { from, to }] = [editor.text(), editor.selection()];
    const at = from === to ? statementAt(text, from) : undefined;
    const chosen = all ? statements(text) : from === to ? (at ? [at] : []) : statements(text.slice(from, to)).map((one) => ({ ...one, from: one.from + from, to: one.to + from }));
    if (chosen.length === 0) return say("Write a statement first");
    editor.mark(undefined);
    void start(current.id, chosen).then(() => mark(current.id, editor));
  };
  const running = isRunning(current.id);
  return (
    <div class="sql" data-panel={panel}>
      <h1 class="hidden">SQL</h1>
      <div class="sql-bar">
        <button class="quiet" aria-expanded={panel === "tables"} onClick={() => setPanel(panel === "tables" ? undefined : "tables")}>
          Tables
        </button>
        <button class="quiet" aria-expanded={panel === "kept"} onClick={() => setPanel(panel === "kept" ? undefined : "kept")}>
          History
        </button>
        <Tabs current={current} />
      </div>
      {panel === "tables" && <Schema onInsert={(text) => editing.current?.insert(text)} />}
      {panel === "kept" && (
        <Kept
          onOpen={(sql, name) => {
            const tab = reusable() ?? addTab("", name);
            changeTab(tab.id, { text: sql, ...(name !== undefined && { name }) });
            setQuery({ tab: tab.id });
            editing.current?.focus();
          }}
        />
      )}
      <div class="sql-main">
        <Editor
          id={current.id}
          onChange={(id, text) => changeTab(id, { text })}
          onRun={run}
          onReady={(editor) => (editing.current = editor)}
        />
        <div class="bar-row sql-actions">
          {running ? (
            <button class="danger" onClick={() => cancel(current.id)}>
              <Icon name="stop" /> Cancel
            </button>
          ) : (
            <button class="primary" title="Run the selection or the statement at the cursor (Ctrl+Enter)" onClick={() => run(false)}>
              <Icon name="play" /> Run
            </button>
          )}
          {!running && statements(current.text).length > 1 && (
            <button title="Run all statements, one after another (Ctrl+Shift+Enter)" onClick={() => run(true)}>
              Run all
            </button>
          )}
          <Elapsed tab={current.id} />
          <span class="end buttons">
            <Save tab={current} />
            <button class="quiet" title="Copy a link that opens this text" onClick={() => void copy(`${window.location.origin}${href(["sql"], { sql: current.text })}`, "Link copied")}>
              Copy link
            </button>
          </span>
        </div>
        <Outcome tab={current.id} />
      </div>
    </div>
  );
}

/** An empty tab that a text can take. */
function reusable(): Tab | undefined {
  return tabs.value.find((tab) => tab.text.trim() === "" && !runs.value.has(tab.id));
}

/** Shows in the editor where a statement failed. */
function mark(tab: string, editor: Editing): void {
  const failed = runs.value.get(tab)?.find((run) => run.state === "failed");
  const at = failed?.error && placeOf(failed.error, failed.statement.text);
  if (!failed || at === undefined) return;
  const { from, text } = failed.statement;
  // The text may have changed meanwhile.
  if (editor.text().slice(from, from + text.length) !== text) return;
  const length = /^\s*(?:"[^"]*"|[\p{L}\p{N}_]+|\S)/u.exec(text.slice(at))?.[0].length ?? 0;
  const start = length === 0 ? Math.max(0, at - 1) : at;
  if (text.length > 0) editor.mark({ from: from + start, to: from + Math.max(start + 1, at + length) });
}

function Tabs({ current }: { current: Tab }) {
  const [renaming, setRenaming] = useState<string>();
  return (
    <div class="sql-tabs" role="group" aria-label="Queries">
      {tabs.value.map((tab) => (
        <span key={tab.id} class="sql-tab" data-current={tab === current}>
          {renaming === tab.id ? (
            <input
              aria-label="Name of the query"
              value={tab.name}
              ref={(field) => field?.focus()}
              onBlur={(event) => {
                changeTab(tab.id, { name: event.currentTarget.value.trim() || tab.name });
                setRenaming(undefined);
              }}
              onKeyDown={(event) => {
                if (event.key === "Enter") event.currentTarget.blur();
                if (event.key === "Escape") setRenaming(undefined);
              }}
            />
          ) : (
            <button
              class="quiet"
              aria-pressed={tab === current}
              title={`${tab.name} (double-click or F2 renames)`}
              onClick={() => setQuery({ tab: tab.id })}
              onDblClick={() => setRenaming(tab.id)}
              onKeyDown={(event) => event.key === "F2" && setRenaming(tab.id)}
            >
              {isRunning(tab.id) && <span class="working" aria-label="running" />}
              {tab.name}
            </button>
          )}
          <button
            class="quiet close"
            aria-label={`Close ${tab.name}`}
            onClick={() => {
              discard(tab.id);
              forget(tab.id);
              closeTab(tab.id);
            }}
          >
            <Icon name="close" />
          </button>
        </span>
      ))}
      <button class="quiet" aria-label="New query" title="New query" onClick={() => setQuery({ tab: addTab().id })}>
        <Icon name="plus" />
      </button>
    </div>
  );
}

function Save({ tab }: { tab: Tab }) {
  const save = () => {
    keep(tab.name, tab.text);
    say(`Saved as "${tab.name}"`);
  };
  return (
    <button class="quiet" title="Save this text under its name in this browser" disabled={tab.text.trim() === ""} onClick={save}>
      Save
    </button>
  );
}
