import { useState } from "preact/hooks";
import type { ApiError } from "../../api/client";
import type { TableAbout } from "../../api/types";
import { written } from "../../app/expression";
import { query, setQuery } from "../../app/router";
import { Combobox } from "../../parts/combobox";
import { ErrorNote } from "../../parts/error_note";
import { Icon } from "../../parts/icon";
import { Segmented } from "../../parts/segmented";
import { type Asking, AGGREGATES, BUCKETS, RANGES, isNumber, timeColumns } from "./question";

interface Props {
  about: TableAbout;
  asking: Asking;
  /** What is wrong with a filter. */
  error: ApiError | undefined;
}

/** Aggregates that texts and times have, too. */
const OF_ANY = new Set(["min", "max", "distinct"]);

/** Measure, groups, span, buckets and filters of a chart. */
export function ChartControls({ about, asking, error }: Props) {
  const { measure, group, bucket } = asking;
  const numbers = about.columns.filter(isNumber);
  const fitting = OF_ANY.has(measure.of) && measure.of !== "distinct" ? numbers : measure.of === "distinct" ? about.columns : numbers;
  const first = (of: string) => (of === "distinct" ? about.columns : numbers)[0]?.name;
  const aggregates = AGGREGATES.filter(([of]) => of === "count" || first(of) !== undefined);
  const times = timeColumns(about);
  const range = query.value.get("since") ?? "24h";
  const isOwn = !RANGES.some(([age]) => age === range) || query.value.has("until");
  return (
    <div class="view card controls">
      <div class="bar-row">
        <label class="choice">
          <span>Measure</span>
          <select
            value={measure.of}
            onChange={(event) => {
              const of = event.currentTarget.value;
              const column = fits(of, measure.column, about) ? measure.column : first(of);
              setQuery({ measure: of === "count" ? null : `${of}:${column ?? ""}` });
            }}
          >
            {aggregates.map(([of, name]) => (
              <option key={of} value={of}>
                {name}
              </option>
            ))}
          </select>
        </label>
        {measure.of !== "count" && (
          <label class="choice">
            <span>of</span>
            <select value={measure.column} onChange={(event) => setQuery({ measure: `${measure.of}:${event.currentTarget.value}` })}>
              {fitting.map((column) => (
                <option key={column.name}>{column.name}</option>
              ))}
            </select>
          </label>
        )}
        <label class="choice">
          <span>Group by</span>
          <select value={group ?? ""} onChange={(event) => setQuery({ group: event.currentTarget.value })}>
            <option value="">nothing</option>
            {about.columns
              .filter((column) => !times.includes(column.name))
              .map((column) => (
                <option key={column.name}>{column.name}</option>
              ))}
          </select>
        </label>
        <label class="choice">
          <span>Buckets</span>
          <select value={bucket ?? ""} onChange={(event) => setQuery({ bucket: event.currentTarget.value })}>
            <option value="">fitting</option>
            {BUCKETS.map(([length]) => (
              <option key={length}>{length}</option>
            ))}
          </select>
        </label>
        {times.length > 1 && (
          <label class="choice">
            <span>Time</span>
            <select value={asking.time} onChange={(event) => setQuery({ time: event.currentTarget.value === times[0] ? null : event.currentTarget.value })}>
              {times.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
        )}
        <Segmented
          label="Span"
          hideLabel
          value={isOwn ? "own" : range}
          options={[...RANGES.map(([age, name]) => [age, name] as const), ["own", "From ... to"] as const]}
          onChange={(since) => setQuery(since === "own" ? { since: new Date(Date.now() - 86_400_000).toISOString().slice(0, 10), until: null } : { since, until: null })}
        />
      </div>
      {isOwn && <OwnSpan since={range === "all" ? "" : range} until={query.value.get("until") ?? ""} />}
      <Filters about={about} where={asking.where} error={error} />
    </div>
  );
}

function fits(of: string, name: string, about: TableAbout): boolean {
  const column = about.columns.find((one) => one.name === name);
  return column !== undefined && (of === "distinct" || isNumber(column));
}

/** A span between two moments, as `since` and `until` take them. */
function OwnSpan({ since, until }: { since: string; until: string }) {
  return (
    <form
      class="bar-row"
      onSubmit={(event) => {
        event.preventDefault();
        const said = new FormData(event.currentTarget);
        setQuery({ since: String(said.get("since")).trim() || "all", until: String(said.get("until")).trim() });
      }}
    >
      <label class="choice">
        <span>From</span>
        <input name="since" defaultValue={since} placeholder="2026-11-01T12:00:00Z or 36h" />
      </label>
      <label class="choice">
        <span>to</span>
        <input name="until" defaultValue={until} placeholder="now" />
      </label>
      <button class="small">Apply</button>
    </form>
  );
}

/** Conditions that rows must meet. */
function Filters({ about, where, error }: { about: TableAbout; where: readonly string[]; error: ApiError | undefined }) {
  const [text, setText] = useState("");
  const [cursor, setCursor] = useState(0);
  const add = () => {
    if (text.trim() === "") return;
    setQuery({ where: [...where, text.trim()] }, { push: true });
    setText("");
  };
  const typed = /[\p{L}_"][\p{L}\p{N}_."]*$/u.exec(text.slice(0, cursor))?.[0] ?? "";
  const prefix = typed.replace(/^"/, "").toLowerCase();
  const options = about.columns
    .filter((column) => prefix !== "" && column.name.toLowerCase().startsWith(prefix) && column.name.toLowerCase() !== prefix)
    .slice(0, 12)
    .map((column) => ({ value: written(column.name), detail: column.type }));
  return (
    <div class="bar-row filters">
      {where.map((condition, i) => (
        <span key={`${i}${condition}`} class="pill" title={condition}>
          <code>{condition}</code>
          <button class="quiet" aria-label={`Remove ${condition}`} onClick={() => setQuery({ where: where.filter((_, at) => at !== i) }, { push: true })}>
            <Icon name="close" />
          </button>
        </span>
      ))}
      <Combobox
        label="Filter"
        hideLabel
        value={text}
        placeholder="Filter, such as  host = 'web-1' AND load > 0.5"
        options={options}
        isFaulty={error !== undefined}
        onInput={(now, at) => {
          setText(now);
          setCursor(at);
        }}
        onChoose={(option) => {
          const before = text.slice(0, cursor - typed.length) + option.value;
          setText(`${before}${text.slice(cursor)} `);
          setCursor(before.length);
        }}
        onEnter={add}
      />
      <button class="small" disabled={text.trim() === ""} onClick={add}>
        Add filter
      </button>
      {error && <ErrorNote error={error} />}
    </div>
  );
}
