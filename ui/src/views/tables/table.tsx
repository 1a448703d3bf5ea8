import { useMemo } from "preact/hooks";
import { get } from "../../api/client";
import type { ListedTable, TableAbout } from "../../api/types";
import { ago, bytes, count, plural, rate, time } from "../../app/format";
import { usePolled } from "../../app/poll";
import { Link, href } from "../../app/router";
import { useTitle } from "../../app/title";
import { Empty } from "../../parts/empty";
import { ErrorNote } from "../../parts/error_note";
import { Table } from "../../parts/virtual_table";
import { identifier, tableName, typeName } from "../../sql/names";
import { ChartView } from "./chart";
import { useRates } from "./rates";
import { Rows } from "./rows";
import { SendRows } from "./send";
import { timeColumns } from "./question";

const PARTS = [
  ["", "Chart"],
  ["rows", "Rows"],
  ["columns", "Columns"],
  ["send", "Send rows"],
] as const;

const [ABOUT_MS, ROWS_MS] = [2000, 1000];

/** One table: its numbers, and the part that the address names. */
export function TablePage({ database, name, part }: { database: string; name: string; part: string }) {
  useTitle(name);
  const table = `${database}.${name}`;
  const asked = usePolled(table, (signal) => get<TableAbout>("/api/v1/table", { table }, signal), part === "rows" ? ROWS_MS : ABOUT_MS);
  // The same list for the same answer: each new one is a sample.
  const one = useMemo(() => asked.value && [{ ...asked.value, table } as unknown as ListedTable], [asked.value, table]);
  const rates = useRates(one);
  const about = asked.value;
  if (asked.error?.status === 404) {
    return (
      <Empty isWhole title={`There is no table "${table}"`}>
        It may have been dropped. <Link to={href(["tables"])}>Go to the list of tables</Link>
      </Empty>
    );
  }
  if (about === undefined) return asked.error ? <ErrorNote error={asked.error} again={asked.again} /> : null;
  const coming = rates.get(table) ?? 0;
  const to = (at: string) => href(at === "" ? ["tables", database, name] : ["tables", database, name, at]);
  const by = timeColumns(about)[0];
  const newest = by === undefined ? "" : ` ORDER BY ${identifier(by)} DESC`;
  return (
    <div class="view">
      <header class="bar-row">
        <h1>
          <Link to={href(["tables"], { q: database })} class="muted">
            {database}
          </Link>
          .<bdi>{name}</bdi>
        </h1>
        <span class="muted">
          {plural(about.rows, "row")}
          {coming > 0 && ` · ${rate(coming)} coming in`} · {bytes(about.bytes)}
          {about.newest && ` · newest ${ago(about.newest)}`}
        </span>
        {asked.error && <span class="bad">{asked.error.message}</span>}
        <Link class="button end" to={href(["sql"], { sql: `SELECT * FROM ${tableName(database, name)}${newest} LIMIT 100` })}>
          Query in SQL
        </Link>
      </header>
      <nav class="tabs" aria-label="Parts of the table">
        {PARTS.map(([at, title]) => (
          <Link key={at} to={to(at)} aria-current={at === part ? "page" : undefined}>
            {title}
          </Link>
        ))}
      </nav>
      {part === "" && <ChartView table={table} about={about} />}
      {part === "rows" && <Rows database={database} name={name} about={about} />}
      {part === "columns" && <Columns about={about} />}
      {part === "send" && (
        <section class="card">
          <SendRows database={database} name={name} />
        </section>
      )}
    </div>
  );
}

function Columns({ about }: { about: TableAbout }) {
  const facts: [string, string][] = [
    ["Rows", count(about.rows)],
    ["Not flushed yet", count(about.rows_in_log)],
    ["Segments", count(about.segments)],
    ["Size of segments", bytes(about.bytes)],
    ["Layout", about.layout || "none yet"],
    ["Newest row", time(about.newest) || "none"],
  ];
  return (
    <>
      <dl class="facts card">
        {facts.map(([term, text]) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <Table
        label="Columns"
        rows={about.columns}
        rowKey={(column) => column.name}
        columns={[
          { key: "name", title: `${plural(about.columns.length, "column")}`, cell: (column) => <bdi class="strong">{column.name}</bdi> },
          { key: "type", title: "Type", cell: (column) => <code>{typeName(column.type)}</code> },
          { key: "nullable", title: "May be NULL", cell: (column) => (column.nullable ? "yes" : "no") },
        ]}
      />
    </>
  );
}
