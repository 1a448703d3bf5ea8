import { useState } from "preact/hooks";
import { ago, plural } from "../../app/format";
import { Icon } from "../../parts/icon";
import { Search, matches } from "../../parts/search";
import { Segmented } from "../../parts/segmented";
import { lasted } from "./elapsed";
import { drop, forgetPast, past, saved } from "./store";

/** Saved queries and the history, both kept by this browser only. */
export function Kept({ onOpen }: { onOpen: (sql: string, name?: string) => void }) {
  const [which, setWhich] = useState<"past" | "saved">(saved.value.length > 0 && past.value.length === 0 ? "saved" : "past");
  const [search, setSearch] = useState("");
  const foundPast = past.value.filter((one) => matches(search, one.sql));
  const foundSaved = saved.value.filter((one) => matches(search, one.name, one.sql));
  return (
    <aside class="sql-side" aria-label="History and saved queries">
      <Segmented label="List" hideLabel value={which} options={[["past", "History"], ["saved", "Saved"]]} onChange={setWhich} />
      <Search label="Search queries" value={search} onChange={setSearch} />
      <ul class="kept" aria-label={which === "past" ? "History" : "Saved queries"}>
        {which === "past"
          ? foundPast.map((one) => (
              <li key={`${one.at}${one.sql}`}>
                <button class="quiet" title={one.sql} onClick={() => onOpen(one.sql)}>
                  <code>{one.sql}</code>
                  <small class={one.error ? "bad" : "muted"}>
                    {ago(one.at)} · {one.error ? one.error.split("\n")[0] : `${plural(one.rows ?? 0, "row")} in ${lasted(one.ms)}`}
                  </small>
                </button>
              </li>
            ))
          : foundSaved.map((one) => (
              <li key={one.name}>
                <button class="quiet" title={one.sql} onClick={() => onOpen(one.sql, one.name)}>
                  <span class="strong">{one.name}</span>
                  <code>{one.sql}</code>
                </button>
                <button class="quiet" aria-label={`Remove ${one.name}`} onClick={() => drop(one.name)}>
                  <Icon name="close" />
                </button>
              </li>
            ))}
      </ul>
      {which === "past" && foundPast.length === 0 && <p class="muted">Statements that you run are listed here.</p>}
      {which === "saved" && foundSaved.length === 0 && <p class="muted">"Save" keeps the text of a tab under the tab's name.</p>}
      {which === "past" && past.value.length > 0 && (
        <button class="small" onClick={forgetPast}>
          Clear the history
        </button>
      )}
    </aside>
  );
}
