import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { type Result, order } from "../../api/arrow";
import { send } from "../../api/client";
import { plural } from "../../app/format";
import { attempt, say } from "../../app/toasts";
import { copy } from "../../parts/copy";
import { Grid, tabbed } from "../../parts/grid";
import { type Range, cellsOf } from "../../parts/grid_layout";
import { Icon } from "../../parts/icon";
import { save } from "../../parts/save";
import type { Run } from "./run";

interface Props {
  run: Run;
  result: Result;
  answer: ArrayBuffer;
  summary: ComponentChildren;
  switcher: ComponentChildren;
}

/** The rows of a result: sorted, copied, downloaded. */
export function ResultTable({ run, result, answer, summary, switcher }: Props) {
  const [sort, setSort] = useState<{ column: number; down: boolean }>();
  const [selected, setSelected] = useState<Range>();
  const places = useMemo(() => {
    const column = sort && result.columns[sort.column];
    return column ? order(column, result.rows, sort.down) : undefined;
  }, [result, sort]);
  const at = (place: number) => (places ? (places[place] as number) : place);
  const turn = (column: number) =>
    setSort(sort?.column !== column ? { column, down: false } : sort.down ? undefined : { column, down: true });
  const chosen = selected && cellsOf(selected);
  const cells = chosen ? (chosen.bottom - chosen.top + 1) * (chosen.right - chosen.left + 1) : 0;
  return (
    <>
      <div class="bar-row">
        {switcher}
        {summary}
        {cells > 1 && <span class="muted">{plural(cells, "cell")} chosen</span>}
        <span class="end buttons">
          <button class="small" title="Copy the chosen cells, or all, with their titles" onClick={() => void copy(tabbed(result, selected, at, true))}>
            <Icon name="copy" /> Copy
          </button>
          <Download run={run} answer={answer} />
        </span>
      </div>
      <Grid label="Rows of the result" result={result} order={places} sort={sort} onSort={turn} selected={selected} onSelect={setSelected} />
    </>
  );
}

const FILES = [
  ["csv", "CSV"],
  ["parquet", "Parquet"],
  ["arrow", "Arrow"],
] as const;

/** Files of the result. The server writes CSV and Parquet, so it runs the statement again for them. */
function Download({ run, answer }: { run: Run; answer: ArrayBuffer }) {
  const [busy, setBusy] = useState<string>();
  const fetched = async (format: string) => {
    if (format === "arrow") return save(new Blob([answer]), "result.arrow");
    setBusy(format);
    const went = await attempt(async () => {
      const file = await send("/api/v1/sql", { sql: run.statement.text }, { format });
      save(await file.blob(), `result.${format}`);
    });
    setBusy(undefined);
    if (went) say(`Downloaded result.${format}`);
  };
  return (
    <>
      {FILES.map(([format, name]) => (
        <button key={format} class="small" disabled={busy !== undefined} aria-label={`Download ${name}`} onClick={() => void fetched(format)}>
          <Icon name="download" /> {busy === format ? "Writing..." : name}
        </button>
      ))}
    </>
  );
}
