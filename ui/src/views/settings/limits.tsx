import { useState } from "preact/hooks";
import { get } from "../../api/client";
import { useAsked } from "../../app/asked";
import { ErrorNote } from "../../parts/error_note";
import { Search, matches } from "../../parts/search";
import { Table } from "../../parts/virtual_table";

/** The settings that the server runs with. */
export function Limits() {
  const [search, setSearch] = useState("");
  const asked = useAsked("settings", (signal) => get<Record<string, unknown>>("/api/v1/settings", {}, signal));
  if (asked.value === undefined) return asked.error ? <ErrorNote error={asked.error} again={asked.again} /> : null;
  const rows = flat(asked.value).filter(([name, text]) => matches(search, name, text));
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
          rowKey={([name]) => name}
          columns={[
            { key: "name", title: "Setting", cell: ([name]) => <code>{name}</code> },
            { key: "value", title: "Value", cell: ([, text]) => (text === "" ? <span class="muted">not set</span> : text) },
          ]}
        />
      </div>
    </>
  );
}

/** Names and texts of a tree of settings. */
function flat(tree: Record<string, unknown>, before = ""): [string, string][] {
  return Object.entries(tree).flatMap(([name, value]): [string, string][] => {
    if (value !== null && typeof value === "object" && !Array.isArray(value)) return flat(value as Record<string, unknown>, `${before}${name}.`);
    const text = value === null || value === undefined ? "" : Array.isArray(value) ? value.map(String).join(", ") : String(value);
    return [[before + name, text]];
  });
}
