import { useMemo, useState } from "preact/hooks";
import { type Result, readArrow } from "../../api/arrow";
import { send } from "../../api/client";
import type { TableAbout } from "../../api/types";
import { useAsked } from "../../app/asked";
import { count, time } from "../../app/format";
import { zone } from "../../app/preferences";
import { Empty } from "../../parts/empty";
import { ErrorNote } from "../../parts/error_note";
import { Grid } from "../../parts/grid";
import type { Range } from "../../parts/grid_layout";
import { Icon } from "../../parts/icon";
import { identifier, literal, tableName } from "../../sql/names";
import { timeColumns } from "./question";

const SHOWN = 200;
/** The newest rows are sought in the last hour of the table first: its older segments need not be read. */
const NEAR_MS = 3_600_000;

interface Props {
  database: string;
  name: string;
  about: TableAbout;
}

/** The newest rows, as they come: asked for again whenever the table's numbers change. */
export function Rows({ database, name, about }: Props) {
  const [paused, setPaused] = useState<string>();
  const [selected, setSelected] = useState<Range>();
  const by = timeColumns(about)[0];
  const now = [about.rows, about.acknowledged, about.newest].join("\n");
  const asked = useAsked(tableName(database, name), (signal) => newest(database, name, by, about.newest, signal), { edition: paused ?? now });
  const changed = useMemo(() => Date.now(), [asked.value]);
  // Times are texts in the viewer's zone.
  void zone.value;
  if (!asked.value) return asked.error ? <ErrorNote error={asked.error} again={asked.again} /> : null;
  const isPaused = paused !== undefined;
  return (
    <section class="rows" aria-label="Newest rows">
      <div class="bar-row">
        <button onClick={() => setPaused(isPaused ? undefined : now)}>
          <Icon name={isPaused ? "play" : "pause"} /> {isPaused ? "Resume" : "Pause"}
        </button>
        <span class="muted">
          {by === undefined ? `${count(asked.value.rows)} rows` : `The newest ${count(asked.value.rows)} rows, newest first`}; {isPaused ? "paused" : "changed"} {time(changed)}
        </span>
      </div>
      {asked.value.rows === 0 ? (
        <Empty title="No rows yet">They appear here as they come.</Empty>
      ) : (
        <Grid label="Newest rows" result={asked.value} selected={selected} onSelect={setSelected} />
      )}
    </section>
  );
}

async function newest(database: string, name: string, by: string | undefined, last: string | null, signal: AbortSignal) {
  const all = `SELECT * FROM ${tableName(database, name)}`;
  if (by === undefined) return read(`${all} LIMIT ${SHOWN}`, signal);
  const ordered = ` ORDER BY ${identifier(by)} DESC NULLS LAST LIMIT ${SHOWN}`;
  if (by === "time" && last !== null) {
    const near = new Date(Date.parse(last) - NEAR_MS).toISOString();
    const found = await read(`${all} WHERE ${identifier(by)} >= ${literal(near)}${ordered}`, signal);
    if (found.rows === SHOWN) return found;
  }
  return read(`${all}${ordered}`, signal);
}

async function read(sql: string, signal: AbortSignal): Promise<Result> {
  const answer = await send("/api/v1/sql", { sql }, { format: "arrow" }, signal);
  return readArrow(await answer.arrayBuffer());
}
