import { useRef } from "preact/hooks";
import { get } from "../../api/client";
import type { ListedTable } from "../../api/types";
import { ago, bytes, count, rate, time } from "../../app/format";
import { usePolled } from "../../app/poll";
import { Link, href, query, setQuery } from "../../app/router";
import { type Sort, byName, compared, sorting } from "../../app/sort";
import { useTitle } from "../../app/title";
import { Empty } from "../../parts/empty";
import { ErrorNote } from "../../parts/error_note";
import { Icon } from "../../parts/icon";
import { Search, matches } from "../../parts/search";
import { type Column, VirtualTable } from "../../parts/virtual_table";
import { useRates } from "./rates";
import { SendRows } from "./send";

interface Row {
  table: ListedTable;
  rate: number | undefined;
}

const COLUMNS: Column<Row>[] = [
  { key: "name", title: "Table", sorts: true, cell: ({ table }) => <Name table={table} /> },
  { key: "rows", title: "Rows", width: 150, align: "right", sorts: true, cell: ({ table }) => count(table.rows) },
  { key: "rate", title: "Coming in", width: 120, align: "right", sorts: true, hint: "Rows acknowledged in the last 10 seconds, per second", cell: (row) => (row.rate ? rate(row.rate) : "") },
  { key: "bytes", title: "Size", width: 120, align: "right", sorts: true, cell: ({ table }) => bytes(table.bytes) },
  { key: "newest", title: "Newest row", width: 280, sorts: true, cell: ({ table }) => <Newest table={table} /> },
];

/** Answers of this many tables are large, so they are asked for less often. */
const MANY = 1000;
const [OFTEN_MS, SELDOM_MS] = [2000, 10_000];

/** All tables of rows. */
export function List() {
  useTitle("Tables");
  const size = useRef(0);
  const pace = size.current > MANY ? SELDOM_MS : OFTEN_MS;
  const asked = usePolled("tables", (signal) => get<ListedTable[]>("/api/v1/tables", {}, signal), pace);
  const rates = useRates(asked.value);
  size.current = asked.value?.length ?? 0;
  const search = query.value.get("q") ?? "";
  const order = sorting({ key: "name", down: false });
  if (asked.value === undefined) return asked.error ? <ErrorNote error={asked.error} again={asked.again} /> : null;
  const all = asked.value;
  const found = all.filter((table) => matches(search, `${table.database}.${table.name}`));
  const rows = sorted(found.map((table) => ({ table, rate: rates.get(table.table) })), order.sort);
  const sends = query.value.has("send");
  return (
    <div class="view">
      <div class="bar-row">
        <h1>Tables</h1>
        <span class="muted">{search === "" ? count(all.length) : `${count(found.length)} of ${count(all.length)}`}</span>
        {all.length > 0 && <Search label="Search tables" value={search} onChange={(q) => setQuery({ q })} shortcut />}
        {asked.error && <span class="bad">{asked.error.message}</span>}
        {all.length > 0 && (
          <button class="end" aria-expanded={sends} onClick={() => setQuery({ send: sends ? null : "curl" })}>
            <Icon name="plus" /> How to send rows here
          </button>
        )}
      </div>
      {(sends || all.length === 0) && (
        <section class="card view" aria-label="How to send rows here">
          {all.length === 0 && <h2>No tables yet</h2>}
          <p>The first row creates its table. A row counts as stored once the server has written it to disk.</p>
          <SendRows database="metrics" name="cpu" />
        </section>
      )}
      {all.length > 0 && rows.length === 0 && (
        <Empty title={`No table matches "${search}"`}>
          <button onClick={() => setQuery({ q: "" })}>Show all</button>
        </Empty>
      )}
      {rows.length > 0 && (
        <VirtualTable
          label="Tables"
          columns={COLUMNS}
          rows={rows}
          around={130}
          rowKey={({ table }) => `${table.database}\n${table.name}`}
          rowHeight={34}
          {...order}
        />
      )}
    </div>
  );
}

function Name({ table }: { table: ListedTable }) {
  return (
    <Link class="table-name" to={href(["tables", table.database, table.name])} title={`${table.database}.${table.name}`}>
      <span class="muted">{table.database}.</span>
      <bdi class="strong">{table.name}</bdi>
    </Link>
  );
}

function Newest({ table }: { table: ListedTable }) {
  if (table.trouble) return <span class="bad" title={table.trouble}>{table.trouble}</span>;
  if (table.newest === null) return null;
  return (
    <>
      {time(table.newest)} <span class="muted">{ago(table.newest)}</span>
    </>
  );
}

function sorted(rows: Row[], { key, down }: Sort): Row[] {
  const of = ({ table, rate }: Row) => {
    if (key === "rows") return table.rows;
    if (key === "bytes") return table.bytes;
    if (key === "rate") return rate ?? 0;
    return table.newest === null ? -Infinity : Date.parse(table.newest);
  };
  return rows.sort((a, b) => {
    const named = byName(a.table.database, b.table.database) || byName(a.table.name, b.table.name);
    const by = key === "name" ? named : compared(of(a), of(b));
    return (down ? -by : by) || named;
  });
}
