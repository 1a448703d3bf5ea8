import { get } from "../../api/client";
import type { LogPosition } from "../../api/types";
import { bytes, count, plural } from "../../app/format";
import { usePolled } from "../../app/poll";
import { query, setQuery } from "../../app/router";
import { Empty } from "../../parts/empty";
import { ErrorNote } from "../../parts/error_note";
import { Search, matches } from "../../parts/search";
import { type Column, VirtualTable } from "../../parts/virtual_table";

const COLUMNS: Column<LogPosition>[] = [
  { key: "table", title: "Table", cell: (log) => <bdi class="strong">{log.table}</bdi> },
  { key: "rows", title: "Rows", width: 130, align: "right", hint: "Rows that are in the log only", cell: (log) => count(log.rows) },
  { key: "bytes", title: "Size", width: 130, align: "right", cell: (log) => bytes(log.bytes) },
  { key: "first", title: "First position", width: 160, align: "right", cell: (log) => count(log.first) },
  { key: "next", title: "Next position", width: 160, align: "right", cell: (log) => count(log.next) },
];

const MS = 2000;

/** Where the logs of tables stand: rows that are safe on disk and not in segments yet. */
export function Logs() {
  const asked = usePolled("logs", (signal) => get<LogPosition[]>("/api/v1/logs", {}, signal), MS);
  const search = query.value.get("q") ?? "";
  if (asked.value === undefined) return asked.error ? <ErrorNote error={asked.error} again={asked.again} /> : null;
  const rows = asked.value.filter((log) => matches(search, log.table));
  if (asked.value.length === 0) return <Empty title="No logs">A table's first row begins its log.</Empty>;
  return (
    <>
      <div class="bar-row">
        <Search label="Search logs" value={search} onChange={(q) => setQuery({ q })} shortcut />
        <span class="muted">{plural(rows.length, "log")}</span>
      </div>
      {rows.length === 0 ? (
        <Empty title={`No log matches "${search}"`} />
      ) : (
        <VirtualTable label="Logs" columns={COLUMNS} rows={rows} around={130} rowKey={(log) => log.table} />
      )}
    </>
  );
}
