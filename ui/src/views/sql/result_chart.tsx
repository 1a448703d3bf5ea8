import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Result, ResultColumn } from "../../api/arrow";
import { count } from "../../app/format";
import { BarRank } from "../../charts/bar_rank";
import { TimeSeries } from "../../charts/time_series";
import { Choose } from "../../parts/choose";
import { Empty } from "../../parts/empty";
import { type Picture, lines, ranked } from "./drawn";

interface Props {
  result: Result;
  summary: ComponentChildren;
  switcher: ComponentChildren;
}

/** A chart of a result: lines over a time or a number, or ranked bars over anything else. */
export function ResultChart({ result, summary, switcher }: Props) {
  const numbers = result.columns.filter((column) => column.kind === "number");
  const [picture, setPicture] = useState<Picture>(() => begin(result));
  const set = (change: Partial<Picture>) => setPicture({ ...picture, ...change });
  const x = result.columns[picture.x];
  const isLine = x !== undefined && (x.kind === "time" || x.kind === "number");
  const choices = (columns: readonly ResultColumn[]) => columns.map((column) => [String(result.columns.indexOf(column)), column.name] as const);
  const bar = (
    <div class="bar-row">
      {switcher}
      <Choose label="X" value={String(picture.x)} options={choices(result.columns)} onChange={(to) => set({ x: Number(to) })} />
      <Choose label="Y" value={String(picture.y)} options={choices(numbers)} onChange={(to) => set({ y: Number(to) })} />
      {isLine && (
        <Choose
          label="Line per"
          value={picture.by === undefined ? "" : String(picture.by)}
          options={[["", "none"], ...choices(result.columns.filter((column) => column.kind !== "time"))]}
          onChange={(to) => set({ by: to === "" ? undefined : Number(to) })}
        />
      )}
      <span class="end">{summary}</span>
    </div>
  );
  if (x === undefined || numbers.length === 0 || result.rows === 0) {
    return (
      <>
        {bar}
        <Empty title={result.rows === 0 ? "No rows to draw" : "No column of numbers to draw"} />
      </>
    );
  }
  return (
    <>
      {bar}
      <div class="card" tabIndex={0} role="region" aria-label="Chart of the result">{isLine ? <Lines result={result} picture={picture} /> : <Bars result={result} picture={picture} />}</div>
    </>
  );
}

/** The first time or text across, the first other number up. */
function begin({ columns }: Result): Picture {
  const at = (is: (column: ResultColumn, place: number) => boolean) => columns.findIndex(is);
  const x = [at(({ kind }) => kind === "time"), at(({ kind }) => kind === "text" || kind === "flag"), 0].find((place) => place >= 0) ?? 0;
  const y = at(({ kind }, place) => kind === "number" && place !== x);
  const by = columns[x]?.kind === "time" ? at(({ kind }) => kind === "text") : -1;
  return { x, y: y >= 0 ? y : at(({ kind }) => kind === "number"), by: by >= 0 ? by : undefined };
}

function Lines({ result, picture }: { result: Result; picture: Picture }) {
  const drawn = useMemo(() => lines(result, picture), [result, picture]);
  const name = `${result.columns[picture.y]?.name} over ${result.columns[picture.x]?.name}`;
  return (
    <>
      {drawn.left > 0 && <p class="note">{count(drawn.lines.length)} lines are drawn; {count(drawn.left)} more are left out.</p>}
      <TimeSeries label={name} at={drawn.at} lines={drawn.lines} height={360} isNumber={drawn.isNumber} />
    </>
  );
}

function Bars({ result, picture }: { result: Result; picture: Picture }) {
  const drawn = useMemo(() => ranked(result, picture), [result, picture]);
  return (
    <>
      {drawn.left > 0 && <p class="note">The first {count(drawn.bars.length)} rows are drawn; {count(drawn.left)} more are left out.</p>}
      <BarRank label={`${result.columns[picture.y]?.name} by ${result.columns[picture.x]?.name}`} items={drawn.bars} />
    </>
  );
}
