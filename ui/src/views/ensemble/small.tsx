import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { ApiError, isCancelled, post } from "../../api/client";
import type { Distribution, OutcomeSpec } from "../../api/types";
import { useOnceFree } from "../../app/asked";
import { decimals, measured, percent, value } from "../../app/format";
import { Link, href, query } from "../../app/router";
import { useWidth } from "../../charts/frame";
import { Spark } from "../../charts/histogram";
import { ErrorNote } from "../../parts/error_note";
import { isFinite, series } from "./distributions";

/** Outcomes of one request: enough for a screen. */
const AT_ONCE = 48;
/** Sizes of a card in pixels, as in the style sheet. */
const WIDTH_MIN = 168;
const HEIGHT = 92;
const GAP = 8;
/** Rows drawn above and below the window. */
const AROUND = 3;

interface Props {
  ensemble: string;
  entity: string;
  outcomes: readonly OutcomeSpec[];
  edition: string;
}

/** A picture of each outcome. Cards outside of the window neither exist nor are asked for. */
export function SmallMultiples({ ensemble, entity, outcomes, edition }: Props) {
  const grid = useRef<HTMLUListElement>(null);
  const columns = Math.max(1, Math.floor((useWidth(grid) + GAP) / (WIDTH_MIN + GAP)));
  const rows = Math.ceil(outcomes.length / columns);
  const [from, to] = useRowsInWindow(grid, rows);
  const visible = outcomes.slice(from * columns, to * columns);
  const { found, error, again } = useDistributions({
    ensemble,
    entity,
    edition,
    names: visible.map((outcome) => outcome.name),
  });
  return (
    <>
      {error && <ErrorNote error={error} again={again} />}
      <ul
        class="multiples"
        ref={grid}
        style={{
          gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))`,
          paddingTop: `${from * (HEIGHT + GAP)}px`,
          height: `${Math.max(0, rows * (HEIGHT + GAP) - GAP)}px`,
        }}
      >
        {visible.map((outcome, i) => (
          <li
            key={outcome.name}
            data-outcome={outcome.name}
            aria-setsize={outcomes.length}
            aria-posinset={from * columns + i + 1}
          >
            <Card ensemble={ensemble} entity={entity} outcome={outcome} found={found.get(outcome.name)} />
          </li>
        ))}
      </ul>
    </>
  );
}

/** The rows of a grid that are in the window, with some around them. */
function useRowsInWindow(grid: { current: HTMLElement | null }, rows: number): [number, number] {
  const [[from, to], setRows] = useState<[number, number]>([0, 0]);
  useLayoutEffect(() => {
    const look = () => {
      const top = grid.current?.getBoundingClientRect().top ?? 0;
      const first = Math.max(0, Math.floor(-top / (HEIGHT + GAP)) - AROUND);
      const last = Math.min(rows, Math.ceil((window.innerHeight - top) / (HEIGHT + GAP)) + AROUND);
      setRows((old) => (old[0] === first && old[1] === last ? old : [Math.min(first, rows), last]));
    };
    look();
    window.addEventListener("scroll", look, { passive: true });
    window.addEventListener("resize", look);
    return () => {
      window.removeEventListener("scroll", look);
      window.removeEventListener("resize", look);
    };
  }, [rows]);
  return [from, to];
}

interface Found {
  found: ReadonlyMap<string, Distribution>;
  /** Why the last ones could not be asked. */
  error: ApiError | undefined;
  again: () => void;
}

interface Wanted {
  ensemble: string;
  entity: string;
  edition: string;
  names: string[];
}

/** Distributions of outcomes: asked once an edition, which waits for the end of the one before, and kept meanwhile. */
function useDistributions({ ensemble, entity, edition, names }: Wanted): Found {
  const [found, setFound] = useState<ReadonlyMap<string, Distribution>>(new Map());
  const [error, setError] = useState<ApiError>();
  const [turn, setTurn] = useState(0);
  const [pending, setPending] = useState(0);
  const due = useOnceFree(`${turn} ${edition}`, pending > 0);
  const leave = useMemo(() => new AbortController(), []);
  useEffect(() => () => leave.abort(), []);
  const asked = useRef({ due: "", names: new Set<string>() });
  useEffect(() => {
    if (asked.current.due !== due) {
      setError(undefined);
      asked.current = { due, names: new Set() };
    }
    const { names: known } = asked.current;
    const wanted = names.filter((name) => !known.has(name));
    wanted.forEach((name) => known.add(name));
    for (let i = 0; i < wanted.length; i += AT_ONCE) {
      const body = { ensemble, entities: [entity], outcomes: wanted.slice(i, i + AT_ONCE) };
      setPending((n) => n + 1);
      post<Distribution[]>("/api/v1/outcome", body, leave.signal)
        .then(
          (answers) => setFound((old) => new Map([...old, ...answers.map((one) => [one.outcome, one] as const)])),
          (failed: unknown) =>
            isCancelled(failed) || setError(failed instanceof ApiError ? failed : new ApiError(0, String(failed))),
        )
        .finally(() => setPending((n) => n - 1));
    }
  }, [due, names.join("\n")]);
  return { found, error, again: () => setTurn((n) => n + 1) };
}

interface CardProps {
  ensemble: string;
  entity: string;
  outcome: OutcomeSpec;
  found: Distribution | undefined;
}

function Card({ ensemble, entity, outcome, found }: CardProps) {
  const others = query.value.getAll("with");
  return (
    <Link class="multiple" to={href(["ensemble", ensemble], { entity, outcome: outcome.name, with: others })}>
      <span class="multiple-name" title={`${outcome.name}, ${outcome.unit}`}>
        {outcome.name}
      </span>
      {found && isFinite(found) ? <Spark series={series(found)} /> : <span class="spark" />}
      <span class="multiple-numbers">{found && summary(outcome, found)}</span>
    </Link>
  );
}

/** The numbers that matter most: the share of a flag, the likeliest word of a code, mean and range of others. */
function summary(outcome: OutcomeSpec, found: Distribution) {
  if (outcome.kind === "flag") return <b>{percent(found.mean)}</b>;
  const most = found.labels?.reduce((a, b) => (b.worlds > a.worlds ? b : a));
  if (most) {
    return (
      <>
        <b>{most.label || value(most.code)}</b> {percent(most.share)}
      </>
    );
  }
  return (
    <>
      <b>{measured(found.mean, decimals(found.standard_deviation, 2))}</b>
      <span class="muted">
        {" "}
        {value(found.quantiles["0.05"])} to {value(found.quantiles["0.95"])}
      </span>
    </>
  );
}
