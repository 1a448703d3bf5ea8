import { useState } from "preact/hooks";
import { get } from "../../api/client";
import type { Setting } from "../../api/types";
import { useAsked } from "../../app/asked";
import { ErrorNote } from "../../parts/error_note";
import { Search, matches } from "../../parts/search";
import { Table } from "../../parts/virtual_table";

/** The settings that the server runs with. */
export function Limits() {
  const [search, setSearch] = useState("");
  const asked = useAsked("settings", (signal) => get<Setting[]>("/api/v1/settings", {}, signal));
  if (asked.value === undefined) return asked.error ? <ErrorNote error={asked.error} again={asked.again} /> : null;
  const rows = asked.value.filter((one) => matches(search, one.name, one.value ?? ""));
  return (
    <>
      <div class="bar-row">
        <Search label="Search settings" value={search} onChange={setSearch} shortcut />
        <span class="muted">
          Each is a flag of <code>manyworlds serve</code>, a line of its settings file, or an environment variable.
        </span>
      </div>
      <div class="settings-table">
        <Table
          label="Settings"
          rows={rows}
          rowKey={(one) => one.name}
          columns={[
            { key: "name", title: "Setting", cell: (one) => <code>{one.name}</code> },
            { key: "value", title: "Value", cell: (one) => one.value ?? <span class="muted">not set</span> },
            { key: "source", title: "From", cell: (one) => <span class={one.source === "default" ? "muted" : undefined}>{one.source}</span> },
          ]}
        />
      </div>
    </>
  );
}
