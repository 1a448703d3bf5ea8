import { useState } from "preact/hooks";
import { ApiError, get, post } from "../../api/client";
import type { Model, Value, Verification } from "../../api/types";
import { useAsked } from "../../app/asked";
import { bytes, count, time } from "../../app/format";
import { Link, href } from "../../app/router";
import { mayPlay } from "../../app/session";
import { ErrorNote } from "../../parts/error_note";
import { Table } from "../../parts/virtual_table";
import { useEnsemble } from "../ensemble/context";
import { text } from "../run/parameters";

/** Where an ensemble comes from: its parameters, what is stored of it, and whether that is whole. */
export default function About() {
  const { parameters, stored } = useEnsemble();
  const models = useAsked("models", (signal) => get<Model[]>("/api/v1/models", {}, signal));
  const model = models.value?.find((one) => one.model === stored.model);
  const { definition, ...values } = parameters;
  const rows = Object.entries(values).map(([name, value]) => ({
    name,
    value: value as Value,
    spec: model?.parameters.find((spec) => spec.name === name),
  }));
  const changed = rows.filter(({ value, spec }) => spec && text(spec.default) !== text(value));
  const again = href(["run"], {
    model: stored.model,
    set: changed.map(({ name, value }) => `${name}=${text(value)}`),
    seed: String(stored.seed),
    worlds: stored.planned,
  });
  return (
    <div class="pictures">
      <section class="card view">
        <div class="bar-row">
          <h2>Parameters</h2>
          {model && mayPlay.value && definition === undefined && (
            <Link class="button small end" to={again}>
              Run with these
            </Link>
          )}
        </div>
        {models.error && <ErrorNote error={models.error} again={models.again} />}
        {rows.length === 0 ? (
          <p class="muted">It has none.</p>
        ) : (
          <Table
            label="Parameters"
            rows={rows}
            rowKey={(row) => row.name}
            columns={[
              { key: "name", title: "Parameter", cell: ({ name, spec }) => <span title={spec?.doc}>{name}</span> },
              {
                key: "value",
                title: "Value",
                align: "right",
                cell: (row) => (changed.includes(row) ? <b>{text(row.value)}</b> : text(row.value)),
              },
              { key: "default", title: "Default", align: "right", cell: ({ spec }) => spec && text(spec.default) },
            ]}
          />
        )}
        {definition !== undefined && (
          <details>
            <summary>Definition</summary>
            <pre class="definition" tabIndex={0}>
              {JSON.stringify(definition, null, 2)}
            </pre>
          </details>
        )}
      </section>
      <Stored />
    </div>
  );
}

function Stored() {
  const { name, stored, catalogue } = useEnsemble();
  const [found, setFound] = useState<Verification | ApiError>();
  const [busy, setBusy] = useState(false);
  const verify = async () => {
    setBusy(true);
    try {
      setFound(await post<Verification>("/api/v1/verify", { ensemble: name }));
    } catch (failed) {
      if (!(failed instanceof ApiError)) throw failed;
      setFound(failed);
    }
    setBusy(false);
  };
  const values = catalogue.entities.reduce(
    (sum, entity) => sum + (catalogue.kinds[entity.kind]?.outcomes.length ?? 0),
    0,
  );
  const facts: [string, string][] = [
    ["Created", time(stored.created)],
    ["Entities", count(catalogue.entities.length)],
    ["Outcomes of a world", count(values)],
    ["Outcomes on disk", bytes(stored.outcome_bytes)],
    ["Events", stored.events === "replay" ? "replayed when asked" : "stored"],
    ["Events on disk", bytes(stored.event_bytes)],
  ];
  return (
    <section class="card view">
      <div class="bar-row">
        <h2>Stored</h2>
        <button class="small end" disabled={busy} onClick={() => void verify()}>
          {busy ? "Verifying…" : "Verify"}
        </button>
      </div>
      <dl class="facts">
        {facts.map(([term, fact]) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{fact}</dd>
          </div>
        ))}
      </dl>
      <div class="view" aria-live="polite">
        {found instanceof ApiError && <ErrorNote error={found} />}
        {found && !(found instanceof ApiError) && (
          <>
            <p class={found.ok ? "good" : "bad"}>
              {found.ok ? "Everything stored is whole." : "Some of it is damaged."} Hash <code>{found.hash}</code>
            </p>
            <Table
              label="Checks"
              rows={found.checks}
              rowKey={(check) => check.name}
              columns={[
                {
                  key: "ok",
                  title: "Result",
                  cell: ({ ok }) => (
                    <span class="state" data-tone={ok === null ? "none" : ok ? "good" : "bad"}>
                      {ok === null ? "left out" : ok ? "holds" : "fails"}
                    </span>
                  ),
                },
                { key: "name", title: "Check", cell: (check) => check.name },
                { key: "detail", title: "Detail", cell: (check) => check.detail },
              ]}
            />
          </>
        )}
      </div>
    </section>
  );
}
