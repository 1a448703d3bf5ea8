import { ApiError, get } from "../../api/client";
import type { History } from "../../api/types";
import { bytes, count, duration, percent, rate, value } from "../../app/format";
import { usePolled } from "../../app/poll";
import { TimeSeries } from "../../charts/time_series";
import { ErrorNote } from "../../parts/error_note";

interface Ready {
  status: string;
  tables?: { table: string; reason: string; rows_in_log: number | null; since_seconds: number; way_out: string }[];
  failing_tables?: number;
}

const READY_MS = 5000;

/** Measurements in the order shown; the server may have more. */
const CHARTS: Record<string, [string, (n: number) => string]> = {
  rows_per_s: ["Rows coming in", rate],
  write_requests_per_s: ["Write requests", rate],
  queries_per_s: ["Queries", rate],
  queries_running: ["Queries in progress", value],
  cpu: ["Processor, share of one core", (n) => percent(n, n > 0 && n < 0.1 ? 1 : 0)],
  memory_bytes: ["Memory of the server", bytes],
  waiting_rows: ["Rows not flushed yet", (n) => count(Math.round(n))],
  log_bytes: ["Logs on disk", bytes],
};

/** Whether the server is well, and its last hour. */
export function Health() {
  const ready = usePolled("ready", readiness, READY_MS);
  const history = usePolled("history", (signal) => get<History>("/api/v1/history", {}, signal), 10_000);
  return (
    <>
      {ready.value && <Readiness ready={ready.value} />}
      {ready.error && <ErrorNote error={ready.error} again={ready.again} />}
      {history.error && !history.value && <ErrorNote error={history.error} again={history.again} />}
      {history.value && <LastHour history={history.value} />}
    </>
  );
}

/** A server that is not ready says so with 503. */
async function readiness(signal: AbortSignal): Promise<Ready> {
  try {
    return await get<Ready>("/ready", {}, signal);
  } catch (error) {
    if (error instanceof ApiError && error.status === 503) return { status: error.message };
    throw error;
  }
}

function Readiness({ ready }: { ready: Ready }) {
  const failing = ready.tables ?? [];
  const [tone, text] =
    ready.status === "ready"
      ? ["good", "ready: accepts rows and answers queries"]
      : ready.status === "degraded"
        ? ["warn", `${count(ready.failing_tables ?? failing.length)} tables cannot be written; all others work`]
        : ["bad", ready.status];
  return (
    <div class="card view" role="status">
      <p class="state" data-tone={tone}>
        {text}
      </p>
      {failing.map((one) => (
        <p key={one.table} class="note">
          <bdi class="strong">{one.table}</bdi>: {one.reason}. {one.rows_in_log !== null && `${count(one.rows_in_log)} rows wait. `}
          Since {duration(one.since_seconds)}; {one.way_out}.
        </p>
      ))}
    </div>
  );
}

function LastHour({ history }: { history: History }) {
  const at = history.at.map((ms) => ms / 1000);
  const names = [...Object.keys(CHARTS).filter((name) => name in history.series), ...Object.keys(history.series).filter((name) => !(name in CHARTS))];
  if (at.length < 2) return <p class="muted">Measurements begin {history.step_s} seconds after the server's start.</p>;
  return (
    <div class="metrics">
      {names.map((name) => {
        const [title, text] = CHARTS[name] ?? [name.replaceAll("_", " "), value];
        const values = history.series[name] ?? [];
        const last = values.findLast((one) => one !== null);
        return (
          <figure key={name} class="card" aria-label={title}>
            <div class="bar-row">
              <h2>{title}</h2>
              <span class="end strong">{last === undefined || last === null ? "" : text(last)}</span>
            </div>
            <TimeSeries label={`${title} in the last hour`} at={at} lines={[{ name: title, values }]} height={160} text={text} fromZero />
          </figure>
        );
      })}
    </div>
  );
}
