import { useState } from "preact/hooks";
import type { ApiError } from "../../api/client";
import type { TableAbout, TableColumn } from "../../api/types";
import { written } from "../../app/expression";
import { query, setQuery } from "../../app/router";
import { Choose } from "../../parts/choose";
import { Combobox } from "../../parts/combobox";
import { ErrorNote } from "../../parts/error_note";
import { Icon } from "../../parts/icon";
import { Segmented } from "../../parts/segmented";
import { typeName } from "../../sql/names";
import { type Asking, AGGREGATES, BUCKETS, RANGES, isNumber, timeColumns } from "./question";

interface Props {
  about: TableAbout;
  asking: Asking;
  /** What is wrong with a filter. */
  error: ApiError | undefined;
}

/** Measure, groups, span, buckets and filters of a chart. */
export function ChartControls({ about, asking, error }: Props) {
  const { measure, group, bucket } = asking;
  const numbers = about.columns.filter(isNumber);
  const fitting = measure.of === "distinct" ? about.columns : numbers;
  const first = (of: string) => (of === "distinct" ? about.columns : numbers)[0]?.name;
  const aggregates = AGGREGATES.filter(([of]) => of === "count" || first(of) !== undefined);
  const times = timeColumns(about);
  const range = query.value.get("since") ?? "24h";
  const isOwn = !RANGES.some(([age]) => age === range) || query.value.has("until");
  return (
    <div class="view card controls">
      <div class="bar-row">
        <Choose
          label="Measure"
          value={measure.of}
          options={aggregates}
          onChange={(of) => {
            const column = fits(of, measure.column, about) ? measure.column : first(of);
            setQuery({ measure: of === "count" ? null : `${of}:${column ?? ""}` });
          }}
        />
        {measure.of !== "count" && (
          <Choose label="of" value={measure.column} options={named(fitting)} onChange={(column) => setQuery({ measure: `${measure.of}:${column}` })} />
        )}
        <Choose
          label="Group by"
          value={group ?? ""}
          options={[["", "nothing"], ...named(about.columns.filter((column) => !times.includes(column.name)))]}
          onChange={(name) => setQuery({ group: name })}
        />
        <Choose
          label="Buckets"
          value={bucket ?? ""}
          options={[["", "fitting"], ...BUCKETS.map(([length]) => [length, length] as const)]}
          onChange={(length) => setQuery({ bucket: length })}
        />
        {times.length > 1 && (
          <Choose
            label="Time"
            value={asking.time ?? ""}
            options={times.map((name) => [name, name] as const)}
            onChange={(name) => setQuery({ time: name === times[0] ? null : name })}
          />
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

const named = (columns: readonly TableColumn[]) => columns.map((column) => [column.name, column.name] as const);

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
    .map((column) => ({ value: written(column.name), detail: typeName(column.type) }));
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
