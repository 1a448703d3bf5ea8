import { useState } from "preact/hooks";
import { ApiError, get, post } from "../../api/client";
import type { Checked, Ensemble, KeptDefinition, ListedDefinition, Model, Run } from "../../api/types";
import { useAsked } from "../../app/asked";
import { listChanges, put } from "../../app/live";
import { Link, href, open, query, setQuery } from "../../app/router";
import { session } from "../../app/session";
import { useTitle } from "../../app/title";
import { say } from "../../app/toasts";
import { Command, Empty } from "../../parts/empty";
import { ErrorNote } from "../../parts/error_note";
import { Segmented } from "../../parts/segmented";
import { ParameterField } from "./parameters";
import { type Form, article, body, command, faults, formOf } from "./form";

/** Starts a run. */
export default function Start() {
  useTitle("Start a run");
  const models = useAsked("models", (signal) => get<Model[]>("/api/v1/models", {}, signal));
  const kept = useAsked("definitions", (signal) => get<ListedDefinition[]>("/api/v1/definitions", {}, signal));
  const taken = useAsked("taken", (signal) => get<Ensemble[]>("/api/v1/ensembles", {}, signal), { edition: listChanges.value });
  const error = models.error ?? kept.error ?? taken.error;
  if (error)
    return <ErrorNote error={error} again={() => [models, kept, taken].forEach((one) => one.error && one.again())} />;
  if (!models.value || !kept.value || !taken.value) return null;
  const model = models.value.find((one) => one.model === query.value.get("model")) ?? models.value[0];
  if (model === undefined) return <Empty title="This server has no models" />;
  return (
    <div class="view run">
      <h1>Start a run</h1>
      <ul class="models">
        {models.value.map((one) => (
          <li key={one.model}>
            <Link
              class="multiple"
              to={href(["run"], { model: one.model })}
              aria-current={one === model ? "true" : undefined}
            >
              <b>{one.model}</b>
              <small class="muted">{one.summary}</small>
            </Link>
          </li>
        ))}
      </ul>
      <RunForm
        key={model.model}
        model={model}
        definitions={kept.value.filter((one) => one.model === model.model)}
        taken={taken.value}
      />
    </div>
  );
}

interface Props {
  model: Model;
  definitions: readonly ListedDefinition[];
  taken: readonly Ensemble[];
}

function RunForm({ model, definitions, taken }: Props) {
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const form = formOf(model, query.value);
  const name = form.name === "" ? model.model : form.name;
  const old = taken.find((one) => one.ensemble === name);
  const latest = definitions.find((one) => one.name === form.definition)?.latest;
  const checked = useAsked(
    latest === undefined ? undefined : `${form.definition}@${form.version || latest}`,
    (signal) => check(model, form, signal),
    { keep: () => false },
  );
  const wrong = faults(model, form, definitions, old, checked.value);
  const start = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      const run = await post<Run>(form.where === "fleet" ? "/api/v1/submit" : "/api/v1/run", body(model, form));
      put(run);
      say(`Started ${run.ensemble}`);
      open(href(["ensemble", run.ensemble]));
    } catch (failed) {
      if (!(failed instanceof ApiError)) throw failed;
      setError(failed);
      setBusy(false);
    }
  };
  return (
    <form class="view" onSubmit={start}>
      {model.definition && <DefinitionField model={model} definitions={definitions} form={form} />}
      <section class="card view">
        <div class="fields">
          <Field
            name="name"
            label="Name"
            value={form.name}
            placeholder={model.model}
            about="of the ensemble: lower-case letters, digits, - _ and ."
          />
          <Field
            name="worlds"
            label="Worlds"
            value={form.worlds}
            fault={wrong.worlds}
            about="how many times to play"
            numeric
          />
          <Field
            name="seed"
            label="Seed"
            value={form.seed}
            fault={wrong.seed}
            about="the same seed gives the same worlds"
            numeric
          />
        </div>
        {old && (
          <Segmented
            label={`${name} exists:`}
            value={form.existing}
            options={[
              ["", "Choose"],
              ["replace", "Replace it"],
              ["extend", "Add worlds to it"],
            ]}
            onChange={(existing) => setQuery({ existing })}
          />
        )}
        <Segmented
          label="Events"
          value={form.events}
          options={[
            ["store", "Store"],
            ["replay", "Replay when asked"],
          ]}
          onChange={(events) => setQuery({ events: events === "store" ? null : events })}
        />
        {session.value?.fleet && (
          <Segmented
            label="Play"
            value={form.where}
            options={[
              ["server", "On this server"],
              ["fleet", "On the fleet"],
            ]}
            onChange={(where) => setQuery({ where: where === "server" ? null : where })}
          />
        )}
        <details open={form.untilOutcome !== ""}>
          <summary>Stop once an estimate is precise enough</summary>
          <div class="fields">
            <Field
              name="until"
              label="Outcome"
              value={form.untilOutcome}
              placeholder="team-01:wins"
              about="written as ENTITY:OUTCOME"
            />
            <Field
              name="goal"
              label="Half width of the 95% interval"
              value={form.untilGoal}
              placeholder="0.5%"
              fault={wrong.goal}
              about="in percent of the mean, or in the unit of the outcome"
            />
          </div>
        </details>
      </section>
      {model.parameters.length > 0 && (
        <section class="card view">
          <div class="bar-row">
            <h2>Parameters</h2>
            <span class="muted">{form.typed.size > 0 && `${form.typed.size} changed`}</span>
            {form.typed.size > 0 && (
              <button type="button" class="small" onClick={() => setQuery({ set: [] })}>
                Reset all
              </button>
            )}
          </div>
          <div class="fields">
            {model.parameters.map((spec) => (
              <ParameterField
                key={spec.name}
                spec={spec}
                typed={form.typed.get(spec.name)}
                onInput={(text) => {
                  const typed = new Map(form.typed);
                  if (text === undefined) typed.delete(spec.name);
                  else typed.set(spec.name, text);
                  setQuery({ set: [...typed].map(([name, value]) => `${name}=${value}`) });
                }}
              />
            ))}
          </div>
        </section>
      )}
      {error && <ErrorNote error={error} />}
      {checked.error && <ErrorNote error={checked.error} again={checked.again} />}
      {wrong.existing && <p class="note">{wrong.existing}</p>}
      {wrong.definition && <p class="note">{wrong.definition}</p>}
      <div class="bar-row">
        <button class="primary" disabled={busy || Object.keys(wrong).length > 0}>
          {form.existing === "extend" ? "Add worlds" : "Start"}
        </button>
        {form.definition === "" && Object.keys(wrong).length === 0 && <Command text={command(model, form)} />}
      </div>
    </form>
  );
}

/** Whether the model can play the chosen definition. */
async function check(model: Model, { definition, version }: Form, signal: AbortSignal): Promise<Checked> {
  const name = { name: definition, version: version === "" ? undefined : version };
  const { text } = await get<KeptDefinition>("/api/v1/definition", name, signal);
  return post<Checked>("/api/v1/check", { model: model.model, definition: text }, signal);
}

interface FieldProps {
  name: string;
  label: string;
  value: string;
  about: string;
  placeholder?: string;
  fault?: string | undefined;
  numeric?: boolean;
}

function Field({ name, label, value, about, placeholder, fault, numeric }: FieldProps) {
  const id = `run-${name}`;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        value={value}
        placeholder={placeholder}
        spellcheck={false}
        autocomplete="off"
        inputMode={numeric ? "numeric" : "text"}
        aria-describedby={`${id}-about`}
        aria-invalid={fault ? true : undefined}
        onInput={(event) => setQuery({ [name]: event.currentTarget.value })}
      />
      <small id={`${id}-about`}>
        {about}
        {fault && <span class="bad"> {fault}</span>}
      </small>
    </div>
  );
}

/** Which kept definition to play. */
function DefinitionField({
  model,
  definitions,
  form,
}: {
  model: Model;
  definitions: readonly ListedDefinition[];
  form: Form;
}) {
  const word = model.definition?.name ?? "definition";
  const chosen = definitions.find((one) => one.name === form.definition);
  if (definitions.length === 0) {
    const isNeeded = model.definition?.required;
    return (
      <section class="card bar-row">
        <span>
          {isNeeded
            ? `${model.model} plays ${article(word)} that you write.`
            : `Optional: play ${article(word)} of your own.`}
        </span>
        <Link
          class={isNeeded ? "button primary" : "button small"}
          to={href(["definitions"], { model: model.model, new: true })}
        >
          Write one
        </Link>
      </section>
    );
  }
  return (
    <section class="card view">
      <div class="fields">
        <div class="field">
          <label for="run-definition">{word}</label>
          <select
            id="run-definition"
            value={form.definition}
            onChange={(event) => setQuery({ definition: event.currentTarget.value, version: null })}
          >
            <option value="">{model.definition?.required ? "choose one" : "none"}</option>
            {definitions.map((one) => (
              <option key={one.name}>{one.name}</option>
            ))}
          </select>
          <small>{model.definition?.doc}</small>
        </div>
        {chosen && (
          <div class="field">
            <label for="run-version">Version</label>
            <select
              id="run-version"
              value={form.version}
              onChange={(event) => setQuery({ version: event.currentTarget.value })}
            >
              <option value="">latest ({chosen.latest})</option>
              {Array.from({ length: chosen.latest }, (_, i) => String(chosen.latest - i)).map((version) => (
                <option key={version}>{version}</option>
              ))}
            </select>
            <small>
              <Link to={href(["definitions", chosen.name], { version: form.version })}>Show or edit it</Link>
            </small>
          </div>
        )}
      </div>
    </section>
  );
}
