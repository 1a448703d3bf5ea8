import type { ComponentChildren } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
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
  const [places, sorting] = useOrder(result, sort);
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
        {sorting && <span class="muted">Sorting...</span>}
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

/** Rows that are sorted without a pause that anybody notices. */
const AT_ONCE = 20_000;

/** The order of the rows, and whether it is being found. */
function useOrder(result: Result, sort: { column: number; down: boolean } | undefined): [Uint32Array | undefined, boolean] {
  const [found, setFound] = useState<{ result: Result; sort: typeof sort; places: Uint32Array | undefined }>();
  useLayoutEffect(() => {
    const column = sort && result.columns[sort.column];
    const find = () => setFound({ result, sort, places: column && order(column, result.rows, sort.down) });
    if (column === undefined || result.rows <= AT_ONCE) return find();
    // The page says that it sorts before it does.
    const timer = setTimeout(find, 30);
    return () => clearTimeout(timer);
  }, [result, sort]);
  return [found?.result === result ? found.places : undefined, sort !== undefined && found?.sort !== sort];
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
