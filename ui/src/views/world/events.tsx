import { useRef, useState } from "preact/hooks";
import { ApiError, post } from "../../api/client";
import type { Cell, Events as Answer } from "../../api/questions";
import { useAsked } from "../../app/asked";
import { completeEvent } from "../../app/expression";
import { count, plural, value } from "../../app/format";
import { query, setQuery } from "../../app/router";
import { attempt } from "../../app/toasts";
import { Empty } from "../../parts/empty";
import { ErrorNote } from "../../parts/error_note";
import { ExpressionField } from "../../parts/expression_field";
import { Icon } from "../../parts/icon";
import { save } from "../../parts/save";
import { type Column, VirtualTable } from "../../parts/virtual_table";
import { useEnsemble } from "../ensemble/context";

/** Events of one request: some screens. */
const PAGE = 200;

interface Question {
  ensemble: string;
  entity: string;
  world: number;
  where?: string;
}

/** Entities that have no events in any world: nobody asks for them again. */
const withoutEvents = new Set<string>();

function ofEntity({ ensemble, entity }: Question): string {
  return JSON.stringify([ensemble, entity]);
}

/** The events of a world, filtered by a condition; pages are asked for as they come into sight. */
export function Events({ world, entity }: { world: number; entity: string }) {
  const { name, stored, catalogue } = useEnsemble();
  const where = query.value.get("where") ?? "";
  const question: Question = { ensemble: name, entity, world, ...(where ? { where } : {}) };
  const key = JSON.stringify([question, stored.version]);
  const isWithout = catalogue.events.length === 0 || withoutEvents.has(ofEntity(question));
  // The answer has its question: it stays in sight while that of another world or filter is on its way.
  const first = useAsked(
    isWithout ? undefined : key,
    async (signal) => ({ key, question, ...(await page(question, 0, signal)) }),
    { keep: (before) => sameShape(before, key) },
  );
  const found = first.value;
  const isRefused = /has no events/.test(first.error?.message ?? "");
  if (isRefused) withoutEvents.add(ofEntity(question));
  if (isWithout || isRefused) return <p class="muted">This entity has no events.</p>;
  return (
    <section class="view" aria-label="Events">
      <div class="events-head">
        <h3>Events</h3>
        <Where where={where} error={first.error} />
        <span class="muted" id="events-total" role="status">
          {found && `${plural(found.total, "event")}${found.question.where ? " match" : ""}`}
        </span>
        <button
          class="small"
          disabled={!found || found.total === 0}
          onClick={() => found && void attempt(async () => saveCsv(await page(found.question, 0, undefined, found.total), found.question))}
        >
          <Icon name="download" /> CSV
        </button>
      </div>
      {first.error && first.error.text === undefined && <ErrorNote error={first.error} again={first.again} />}
      {found && found.total === 0 && <Empty title={found.question.where ? "No event matches" : "Nothing happened in this world"} />}
      {found && found.total > 0 && <Rows key={found.key} question={found.question} first={found} busy={first.busy} />}
    </section>
  );
}

/** Whether both are about the same entity: the events of others have other columns. */
function sameShape(before: string, now: string): boolean {
  return JSON.parse(before)[0].entity === JSON.parse(now)[0].entity;
}

function page(question: Question, offset: number, signal?: AbortSignal, limit = PAGE): Promise<Answer> {
  return post("/api/v1/events", { ...question, offset, limit }, signal);
}

function Where({ where, error }: { where: string; error: ApiError | undefined }) {
  const { catalogue } = useEnsemble();
  const [text, setText] = useState(where);
  const [from, setFrom] = useState(where);
  if (from !== where) {
    setFrom(where);
    setText(where);
  }
  const enter = () => setQuery({ where: text.trim() });
  return (
    <form
      class="events-where"
      onSubmit={(event) => {
        event.preventDefault();
        enter();
      }}
    >
      <ExpressionField
        label="Filter events"
        hideLabel
        placeholder={`filter, such as ${catalogue.events[0]?.name ?? "number"} = ...`}
        value={text}
        onInput={setText}
        onEnter={enter}
        complete={(typed, cursor) => completeEvent(typed, cursor, catalogue)}
        error={error?.text !== undefined && text.trim() === where ? error : undefined}
      />
      <button>Filter</button>
      {where !== "" && (
        <button type="button" class="quiet" aria-label="Show all events" onClick={() => setQuery({ where: "" })}>
          <Icon name="close" />
        </button>
      )}
    </form>
  );
}

function Rows({ question, first, busy }: { question: Question; first: Answer; busy: boolean }) {
  const { catalogue } = useEnsemble();
  const pages = useRef(new Map<number, Cell[][] | "asked">([[0, first.rows]]));
  const [, draw] = useState(0);
  const need = (from: number, to: number) => {
    for (let at = Math.floor(from / PAGE); at * PAGE < to; at++) {
      if (pages.current.has(at)) continue;
      pages.current.set(at, "asked");
      const done = attempt(async () => {
        pages.current.set(at, (await page(question, at * PAGE)).rows);
        draw((n) => n + 1);
      });
      void done.then((went) => went || pages.current.delete(at));
    }
  };
  const row = (index: number): Cell[] => {
    const found = pages.current.get(Math.floor(index / PAGE));
    return found === undefined || found === "asked" ? [] : (found[index % PAGE] ?? []);
  };
  const columns = first.columns.map((name, c): Column<Cell[]> => {
    const spec = catalogue.events.find((one) => one.name === name);
    const sample = first.rows.slice(0, 60).map((cells) => text(cells[c]));
    const width = Math.min(260, Math.max(64, 24 + 8 * Math.max(name.length, ...sample.map((word) => word.length))));
    const isNumber = first.rows.some((cells) => typeof cells[c] === "number");
    return {
      key: name,
      title: name,
      width,
      ...(isNumber ? { align: "right" as const } : {}),
      ...(spec?.doc ? { hint: spec.doc } : {}),
      cell: (cells) => text(cells[c]),
    };
  });
  return (
    <VirtualTable
      label="List of events"
      busy={busy}
      columns={columns}
      rows={{ length: first.total, at: row }}
      around={220}
      rowHeight={28}
      onView={need}
    />
  );
}

function text(cell: Cell | undefined): string {
  return typeof cell === "number" ? (Number.isInteger(cell) ? count(cell) : value(cell)) : (cell ?? "");
}

function saveCsv({ columns, rows }: Answer, { ensemble, entity, world }: Question): void {
  const field = (cell: Cell) => {
    const text = String(cell ?? "");
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = [columns, ...rows].map((row) => row.map(field).join(","));
  save(new Blob([`${lines.join("\n")}\n`], { type: "text/csv" }), `${ensemble} ${entity} world ${world}.csv`);
}
