import { useState } from "preact/hooks";
import { useAsked } from "../../app/asked";
import { count, plural } from "../../app/format";
import { Icon } from "../../parts/icon";
import { Search, matches } from "../../parts/search";
import { VirtualTable } from "../../parts/virtual_table";
import { identifier, tableName } from "../../sql/names";
import { type KnownTable, columnsOf, tables } from "../../sql/schema";

/** The tables at the side; of the opened one its columns. A click writes a name into the editor. */
export function Schema({ onInsert }: { onInsert: (text: string) => void }) {
  const [search, setSearch] = useState("");
  const [opened, setOpened] = useState<KnownTable>();
  const all = tables.value ?? [];
  const found = all.filter((one) => matches(search, `${one.database}.${one.name}`));
  const isOpened = (one: KnownTable) => opened?.database === one.database && opened.name === one.name;
  return (
    <aside class="sql-side" aria-label="Tables">
      <Search label={`Search ${plural(all.length, "table")}`} value={search} onChange={setSearch} />
      <VirtualTable
        label="Tables"
        columns={[
          {
            key: "table",
            title: <span>{count(found.length)} shown</span>,
            cell: (one: KnownTable) => (
              <button class="quiet name" aria-expanded={isOpened(one)} title={`${one.database}.${one.name}`} onClick={() => setOpened(isOpened(one) ? undefined : one)}>
                <span class="muted">{one.database}.</span>
                <bdi>{one.name}</bdi>
              </button>
            ),
          },
          {
            key: "insert",
            title: <span class="hidden">Insert</span>,
            width: 44,
            cell: (one: KnownTable) => (
              <button class="quiet" aria-label={`Write ${one.database}.${one.name}`} title="Write the name into the editor" onClick={() => onInsert(tableName(one.database, one.name))}>
                <Icon name="right" />
              </button>
            ),
          },
        ]}
        rows={found}
        rowKey={(one) => `${one.database}.${one.name}`}
        rowClass={(one) => (isOpened(one) ? "chosen" : undefined)}
      />
      {opened && <Columns table={opened} onInsert={onInsert} />}
    </aside>
  );
}

function Columns({ table, onInsert }: { table: KnownTable; onInsert: (text: string) => void }) {
  const asked = useAsked(tableName(table.database, table.name), () => columnsOf(table), { keep: () => false });
  if (asked.error) return <p class="bad">{asked.error.message}</p>;
  if (!asked.value) return null;
  return (
    <section class="sql-columns" aria-label={`Columns of ${table.database}.${table.name}`}>
      <h2>
        <bdi>{table.name}</bdi> <span class="muted">{plural(asked.value.length, "column")}</span>
      </h2>
      <ul tabIndex={0} role="list">
        {asked.value.map((column) => (
          <li key={column.name}>
            <button class="quiet name" title={`${column.name}: write the name into the editor`} onClick={() => onInsert(identifier(column.name))}>
              <bdi>{column.name}</bdi>
              <small class="muted">{column.type}</small>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
