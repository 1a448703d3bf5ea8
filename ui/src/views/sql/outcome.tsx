import { useState } from "preact/hooks";
import { bytes, plural } from "../../app/format";
import { zone } from "../../app/preferences";
import { Empty } from "../../parts/empty";
import { Segmented } from "../../parts/segmented";
import { lasted } from "./elapsed";
import { ResultChart } from "./result_chart";
import { ResultTable } from "./result_table";
import { type Run, placeOf, runs } from "./run";

/** What the statements of a tab returned. */
export function Outcome({ tab }: { tab: string }) {
  const list = runs.value.get(tab) ?? [];
  const [chosen, setChosen] = useState<{ list: number; place: number }>();
  const ended = list.filter((run) => run.state !== "waiting" && run.state !== "running");
  const failed = ended.findIndex((run) => run.state === "failed");
  const place = chosen?.list === list.length && chosen.place < ended.length ? chosen.place : failed >= 0 ? failed : ended.length - 1;
  const run = ended[place];
  if (list.length === 0) {
    return (
      <Empty title="No result yet">
        Ctrl+Enter runs the selection or the statement at the cursor, Ctrl+Shift+Enter all statements, Ctrl+Space completes names.
      </Empty>
    );
  }
  if (run === undefined) return null;
  return (
    <section class="sql-outcome" aria-label="Result">
      {ended.length > 1 && (
        <Segmented
          label="Results"
          hideLabel
          value={String(place)}
          options={ended.map((one, i) => [String(i), `${i + 1} ${one.state === "failed" ? "failed" : oneLine(one.statement.text)}`] as const)}
          onChange={(to) => setChosen({ list: list.length, place: Number(to) })}
        />
      )}
      <One key={run.began} run={run} />
    </section>
  );
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, " ");
  return line.length > 24 ? `${line.slice(0, 24)}…` : line;
}

function One({ run }: { run: Run }) {
  const [show, setShow] = useState<"table" | "chart">("table");
  // Times are texts in the viewer's zone.
  void zone.value;
  if (run.state === "cancelled") return <p class="note">Cancelled after {lasted(run.ms)}; the server has stopped the query.</p>;
  if (run.error) return <Failed run={run} />;
  const { result, bytes: answer } = run;
  if (!result || !answer) return null;
  const summary = (
    <span class="muted" role="status">
      {plural(result.rows, "row")} in {lasted(run.ms)}, {bytes(answer.byteLength)}
    </span>
  );
  return (
    <>
      {run.notes && <p class="note">{run.notes}</p>}
      {result.columns.length === 0 ? (
        summary
      ) : show === "table" ? (
        <ResultTable run={run} result={result} answer={answer} summary={summary} switcher={<Switch value={show} onChange={setShow} />} />
      ) : (
        <ResultChart result={result} summary={summary} switcher={<Switch value={show} onChange={setShow} />} />
      )}
    </>
  );
}

function Switch({ value, onChange }: { value: "table" | "chart"; onChange: (to: "table" | "chart") => void }) {
  return <Segmented label="Show as" hideLabel value={value} options={[["table", "Table"], ["chart", "Chart"]]} onChange={onChange} />;
}

function Failed({ run }: { run: Run }) {
  const error = run.error;
  if (!error) return null;
  const at = placeOf(error, run.statement.text);
  const text = run.statement.text;
  return (
    <div class="error-note" role="alert">
      <p>{error.message}</p>
      {at !== undefined && (
        <pre class="fault-line" tabIndex={0}>
          <code>{pointed(text, at)}</code>
        </pre>
      )}
      <p class="muted">after {lasted(run.ms)}</p>
    </div>
  );
}

/** The line of the fault, with a pointer below it. */
function pointed(text: string, at: number): string {
  const from = text.lastIndexOf("\n", at - 1) + 1;
  const end = text.indexOf("\n", at);
  const line = text.slice(from, end < 0 ? undefined : end);
  return `${line}\n${line.slice(0, at - from).replace(/[^\t]/g, " ")}^`;
}
