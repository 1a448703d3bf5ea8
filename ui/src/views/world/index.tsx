import { useEffect, useState } from "preact/hooks";
import { post } from "../../api/client";
import { type Cell, type Summary, askWorlds } from "../../api/questions";
import { useAsked } from "../../app/asked";
import { shellWord } from "../../app/command";
import { count, plural, value } from "../../app/format";
import { jointHref, worldHref } from "../../app/question";
import { Link, open, query } from "../../app/router";
import { Command, Empty } from "../../parts/empty";
import { ErrorNote } from "../../parts/error_note";
import { Table } from "../../parts/virtual_table";
import { useEnsemble } from "../ensemble/context";
import { EntityPicker } from "../ensemble/entity_picker";
import { Events } from "./events";

/** One world of an entity: the model's own tables, and its events. */
export default function WorldView({ rest: [segment] }: { rest: string[] }) {
  const { name, catalogue, edition } = useEnsemble();
  const conditions = query.value.getAll("in");
  const entity = query.value.get("entity") || conditions.flatMap(entityOf).find(isKnown) || catalogue.entities[0]?.name || "";
  function isKnown(text: string): boolean {
    return catalogue.entities.some((one) => one.name === text);
  }
  const asked = query.value.get("entity") ?? "";
  const key = JSON.stringify([name, asked, conditions]);
  const worlds = useAsked(key, (signal) => askWorlds(name, asked, conditions, signal), { edition });
  const all = worlds.value;
  const world = segment !== undefined && /^\d+$/.test(segment) ? Number(segment) : undefined;
  const to = (at: number | undefined, of = entity) => (at === undefined ? "" : worldHref(name, of, conditions, at));
  // Without a number, the first of them.
  const first = world === undefined && !worlds.busy ? all?.[0] : undefined;
  useEffect(() => {
    if (first !== undefined) open(to(first), { replace: true });
  }, [first]);
  if (worlds.error && all === undefined) return <ErrorNote error={worlds.error} again={worlds.again} />;
  if (all && all.length === 0) {
    return (
      <Empty title="No world meets all of it">
        <Link to={jointHref(name, { entity: asked, legs: conditions.map((text) => ({ text, is: "on" })), given: [], least: 0 })}>
          See which conditions exclude each other
        </Link>
      </Empty>
    );
  }
  return (
    <div class="view">
      <div class="bar-row bottom world-bar">
        <EntityPicker label="Entity" value={entity} onChange={(of) => open(world === undefined ? worldHref(name, of, conditions) : to(world, of))} />
        {all && <Steps all={all} world={world} to={to} />}
        {conditions.length > 0 && all && (
          <p class="world-in">
            {conditions.map((text) => (
              <code key={text}>{text}</code>
            ))}
            <span class="muted">
              in {plural(all.length, "world")}
            </span>{" "}
            <Link to={worldHref(name, entity, [], world)}>show all worlds</Link>
          </p>
        )}
      </div>
      {world !== undefined && <World world={world} entity={entity} />}
    </div>
  );
}

/** The entity before the first colon of a condition. */
function entityOf(condition: string): string[] {
  const found = /([\p{Alphabetic}_][\p{Alphabetic}\p{N}_.-]*):/u.exec(condition);
  return found?.[1] === undefined ? [] : [found[1]];
}

interface StepsProps {
  all: Uint32Array;
  world: number | undefined;
  to: (world: number | undefined) => string;
}

/** The world's number, and the ones before and after it that meet the conditions. */
function Steps({ all, world, to }: StepsProps) {
  const [text, setText] = useState(String(world ?? ""));
  useEffect(() => setText(String(world ?? "")), [world]);
  const place = world === undefined ? 0 : position(all, world);
  const isIn = world !== undefined && all[place] === world;
  const [before, after] = [all[place - 1], all[isIn ? place + 1 : place]];
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if ((event.target as HTMLElement).closest("input, textarea, select, [role=slider], [role=region]") || event.altKey || event.ctrlKey || event.metaKey) return;
      const next = event.key === "ArrowLeft" ? before : event.key === "ArrowRight" ? after : undefined;
      if (next === undefined) return;
      event.preventDefault();
      open(to(next));
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  });
  const random = () => open(to(all[Math.floor(Math.random() * all.length)]));
  return (
    <form
      class="world-steps"
      onSubmit={(event) => {
        event.preventDefault();
        if (/^\d+$/.test(text.trim())) open(to(Number(text)));
      }}
    >
      <button type="button" disabled={before === undefined} aria-label="Previous world" title="Previous world (key ←)" onClick={() => open(to(before))}>
        ‹
      </button>
      <label>
        World
        <input inputMode="numeric" value={text} onInput={(event) => setText(event.currentTarget.value)} aria-invalid={/^\s*\d*\s*$/.test(text) ? undefined : true} />
      </label>
      <button type="button" disabled={after === undefined} aria-label="Next world" title="Next world (key →)" onClick={() => open(to(after))}>
        ›
      </button>
      <button type="button" onClick={random}>
        Random
      </button>
      <span class="muted">
        {isIn ? `${count(place + 1)} of ${count(all.length)}` : world === undefined ? "" : "not among them"}
      </span>
    </form>
  );
}

/** The first place whose world is `world` or later. */
function position(all: Uint32Array, world: number): number {
  let [low, high] = [0, all.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((all[middle] as number) < world) low = middle + 1;
    else high = middle;
  }
  return low;
}

function World({ world, entity }: { world: number; entity: string }) {
  const { name, stored } = useEnsemble();
  const body = { ensemble: name, entity, world };
  const found = useAsked(JSON.stringify([body, stored.version]), async (signal) => ({ world, ...(await post<Summary>("/api/v1/summary", body, signal)) }));
  return (
    <>
      {found.error && <ErrorNote error={found.error} again={found.again} />}
      {found.value && (
        <div class="world" aria-busy={found.busy}>
          <h2>
            {found.value.title || found.value.entity}
            <span class="muted">, world {count(found.value.world)}</span>
          </h2>
          {found.value.note && <p class="note">{found.value.note}</p>}
          <div class="world-tables">
            {found.value.tables.map((table, i) => (
              <Own key={`${i} ${table.name}`} {...table} />
            ))}
          </div>
        </div>
      )}
      <Events world={world} entity={entity} />
      <Command text={`manyworlds events ${shellWord(name)} --entity ${shellWord(entity)} --world ${world} --summary`} />
    </>
  );
}

/** One of the model's own tables. */
function Own({ name, columns, rows }: Summary["tables"][number]) {
  const isNumber = columns.map((_, c) => rows.some((row) => typeof row[c] === "number"));
  return (
    <div class="world-table">
      <h3>{name}</h3>
      <Table
        label={name}
        rows={rows}
        columns={columns.map((title, c) => ({
          key: String(c),
          title: title.replaceAll("_", " "),
          ...(isNumber[c] ? { align: "right" as const } : {}),
          cell: (row: Cell[]) => cellText(row[c]),
        }))}
      />
    </div>
  );
}

function cellText(cell: Cell | undefined): string {
  return typeof cell === "number" ? value(cell) : (cell ?? "");
}
