import { useEffect, useRef, useState } from "preact/hooks";
import { isCancelled, post } from "../../api/client";
import type { Distribution, OutcomeSpec } from "../../api/types";
import { decimal, percent, value } from "../../app/format";
import { Link, href, query } from "../../app/router";
import { complain } from "../../app/toasts";
import { Spark } from "../../charts/histogram";
import { isFinite, series } from "./distributions";

/** Outcomes of one request: enough for a screen. */
const AT_ONCE = 48;
const AHEAD = "400px";

interface Props {
  ensemble: string;
  entity: string;
  outcomes: readonly OutcomeSpec[];
  edition: string;
}

/** A picture of each outcome, asked for when it comes into sight. */
export function SmallMultiples({ ensemble, entity, outcomes, edition }: Props) {
  const grid = useRef<HTMLUListElement>(null);
  const [found, setFound] = useState<ReadonlyMap<string, Distribution>>(new Map());
  const seen = useRef(new Set<string>());
  useEffect(() => {
    const list = grid.current;
    if (!list) return;
    const leave = new AbortController();
    const asked = new Set<string>();
    let waiting = false;
    const flush = () => {
      waiting = false;
      const wanted = [...seen.current].filter((name) => !asked.has(name));
      for (let i = 0; i < wanted.length; i += AT_ONCE) {
        const some = wanted.slice(i, i + AT_ONCE);
        some.forEach((name) => asked.add(name));
        const body = { ensemble, entities: [entity], outcomes: some };
        post<Distribution[]>("/api/v1/outcome", body, leave.signal).then(
          (answers) => setFound((old) => new Map([...old, ...answers.map((one) => [one.outcome, one] as const)])),
          (error: unknown) => isCancelled(error) || complain(error),
        );
      }
    };
    const watch = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) {
          const name = (target as HTMLElement).dataset.outcome ?? "";
          if (isIntersecting) seen.current.add(name);
          else seen.current.delete(name);
        }
        if (!waiting) requestAnimationFrame(flush);
        waiting = true;
      },
      { rootMargin: AHEAD },
    );
    for (const child of list.children) watch.observe(child);
    return () => {
      watch.disconnect();
      seen.current.clear();
      leave.abort();
    };
  }, [ensemble, entity, edition, outcomes]);
  return (
    <ul class="multiples" ref={grid}>
      {outcomes.map((outcome) => (
        <li key={outcome.name} data-outcome={outcome.name}>
          <Card ensemble={ensemble} entity={entity} outcome={outcome} found={found.get(outcome.name)} />
        </li>
      ))}
    </ul>
  );
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
      <b>{decimal(found.mean)}</b>
      <span class="muted">
        {" "}
        {value(found.quantiles["0.05"])} to {value(found.quantiles["0.95"])}
      </span>
    </>
  );
}
