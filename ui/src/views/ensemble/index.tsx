import { useEffect, useState } from "preact/hooks";
import type { ComponentType } from "preact";
import { ApiError, get } from "../../api/client";
import type { Description, Ensemble } from "../../api/types";
import { useAsked } from "../../app/asked";
import { shellWord } from "../../app/command";
import { count, duration, percent, plural, rate } from "../../app/format";
import { listChanges, runs } from "../../app/live";
import { Link, href, query } from "../../app/router";
import { useTitle } from "../../app/title";
import { Command, Empty } from "../../parts/empty";
import { ErrorNote } from "../../parts/error_note";
import { Progress } from "../../parts/progress";
import { Actions } from "../ensembles/actions";
import { tone } from "../ensembles/rows";
import { type Current, CurrentEnsemble, EDITION_MS, useThrottled } from "./context";
import { NoWorlds } from "./no_worlds";
import { TABS, type Tab } from "./tabs";

/** The page of one ensemble: its head, and the part that the address names. */
export default function EnsemblePage({ rest: [name = "", at = "", ...rest] }: { rest: string[] }) {
  useTitle(name);
  const run = runs.value.get(name);
  const done = useThrottled(run?.worlds_stored ?? 0, EDITION_MS);
  const list = useAsked(name, (signal) => get<Ensemble[]>("/api/v1/ensembles", {}, signal), { edition: listChanges.value });
  const stored = list.value?.find((one) => one.ensemble === name);
  const about = useAsked(
    stored && name,
    (signal) => get<Description>("/api/v1/catalogue", { ensemble: name }, signal),
    { edition: stored?.version, keep: () => false },
  );
  const error = list.error ?? about.error;
  if (error) return <ErrorNote error={error} again={list.error ? list.again : about.again} />;
  if (list.value && stored === undefined) return <Missing name={name} starts={run !== undefined} />;
  if (stored === undefined || about.value === undefined) return null;
  const { catalogue, parameters } = about.value;
  // The list is older than the run's news.
  const worlds = Math.max(done, stored.worlds);
  const edition = `${name} ${stored.version} ${worlds}`;
  const current: Current = { name, catalogue, parameters, stored: { ...stored, worlds }, run, edition };
  const tab = TABS.find((tab) => tab.at === at) ?? TABS[0];
  return (
    <CurrentEnsemble.Provider value={current}>
      <div class="view">
        <Top current={current} />
        {TABS.length > 1 && (
          <nav class="tabs" aria-label={`Parts of ${name}`}>
            {TABS.map((one) => (
              <Link
                key={one.at}
                to={href(["ensemble", name, one.at].filter(Boolean), { entity: query.value.get("entity") })}
                aria-current={one === tab ? "page" : undefined}
              >
                {one.name}
              </Link>
            ))}
          </nav>
        )}
        {tab && (worlds > 0 || tab.needsNoWorlds ? <Part key={tab.at} tab={tab} rest={rest} /> : <NoWorlds />)}
      </div>
    </CurrentEnsemble.Provider>
  );
}

function Part({ tab, rest }: { tab: Tab; rest: string[] }) {
  const [code, setCode] = useState<{ part: ComponentType<{ rest: string[] }> } | ApiError>();
  const load = () =>
    void tab.load().then(
      (module) => setCode({ part: module.default }),
      () => setCode(new ApiError(0, "cannot load this view; the server may have been updated or be away")),
    );
  useEffect(load, [tab]);
  if (code === undefined) return null;
  if (code instanceof ApiError) return <ErrorNote error={code} again={load} />;
  const Code = code.part;
  return <Code rest={rest} />;
}

function Top({ current: { name, stored, run } }: { current: Current }) {
  const state = run?.state ?? stored.state;
  const worlds = Math.max(stored.worlds, run?.worlds_done ?? 0);
  const planned = run?.worlds ?? stored.planned;
  return (
    <header class="bar-row">
      <h1>{name}</h1>
      <span class="state" data-tone={tone(state)}>
        {state}
      </span>
      <span class="muted">
        {worlds < planned ? `${count(worlds)} of ${plural(planned, "world")}` : plural(worlds, "world")} · {stored.model} · seed {String(stored.seed)} · version{" "}
        {stored.version}
      </span>
      {run && worlds < planned && (
        <span class="running">
          <Progress done={worlds} of={planned} label={`Progress of ${name}`} />
          <span>
            {percent(worlds / planned, 0)}
            {run.worlds_per_s != null && run.state === "running" && ` · ${rate(run.worlds_per_s)}`}
            {run.left_s != null && run.state === "running" && ` · ${duration(run.left_s)} left`}
          </span>
        </span>
      )}
      {run && <Actions run={run} wide />}
      {run?.error && <p class="bad">{run.error}</p>}
    </header>
  );
}

function Missing({ name, starts }: { name: string; starts: boolean }) {
  if (starts)
    return (
      <Empty isWhole title={`${name} has no worlds yet`}>
        Its first worlds are being played; this page follows.
      </Empty>
    );
  return (
    <Empty isWhole title={`There is no ensemble "${name}"`}>
      It may have been dropped or renamed. <Link to={href([])}>Go to the list</Link>, or play it:
      <Command text={`manyworlds run MODEL --worlds 1000 --name ${shellWord(name)}`} />
    </Empty>
  );
}
