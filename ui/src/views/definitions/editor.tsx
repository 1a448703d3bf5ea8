import { useEffect, useState } from "preact/hooks";
import { ApiError, post } from "../../api/client";
import type { Checked, Fault, KeptDefinition, ListedDefinition, Model } from "../../api/types";
import { useAsked } from "../../app/asked";
import { plural, time } from "../../app/format";
import { Link, href, open, setQuery } from "../../app/router";
import { mayPlay } from "../../app/session";
import { say } from "../../app/toasts";
import { CodeArea, type Mark, show } from "../../parts/code_area";
import { ErrorNote } from "../../parts/error_note";
import { Icon } from "../../parts/icon";

const CHECK_MS = 250;
const EDITOR = "definition-text";

interface Props {
  model: Model;
  /** The version in view; nothing for a new definition. */
  kept: KeptDefinition | undefined;
  listed: readonly ListedDefinition[];
  onKept: () => void;
}

/** Edits a definition; the model's faults are marked while the viewer types. */
export function Editor({ model, kept, listed, onKept }: Props) {
  const [text, setText] = useState(kept?.text ?? "");
  const [name, setName] = useState(kept?.name ?? "");
  const [error, setError] = useState<ApiError>();
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), CHECK_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const checked = useAsked(settled.trim() === "" ? undefined : settled, (signal) =>
    post<Checked>("/api/v1/check", { model: model.model, definition: settled }, signal),
  );
  const word = model.definition?.name ?? "definition";
  const isCurrent = !checked.busy && settled === text;
  const keep = async () => {
    setError(undefined);
    try {
      const { version } = await post<{ version: number }>("/api/v1/definition", { name, model: model.model, text });
      say(`Saved ${name}, version ${version}`);
      onKept();
      open(href(["definitions", name]), { replace: kept === undefined });
    } catch (failed) {
      if (!(failed instanceof ApiError)) throw failed;
      setError(failed);
    }
  };
  const found = checked.value;
  const marks: Mark[] = [...(found?.advice ?? []).map(mark("warn")), ...(found?.faults ?? []).map(mark("bad"))].flat();
  const latest = listed.find((one) => one.name === kept?.name)?.latest;
  return (
    <div class="view">
      <div class="bar-row">
        <Link to={href(["definitions"])}>Definitions</Link>
        <h1>{kept ? kept.name : `New ${model.model} ${word}`}</h1>
        {kept && (
          <label class="check">
            <span class="muted">Version</span>
            <select
              class="narrow"
              value={kept.version}
              onChange={(event) => setQuery({ version: event.currentTarget.value }, { push: true })}
            >
              {Array.from({ length: latest ?? kept.version }, (_, i) => (latest ?? kept.version) - i).map((version) => (
                <option key={version}>{version}</option>
              ))}
            </select>
            <span class="muted">of {time(kept.created)}</span>
          </label>
        )}
        {mayPlay.value && (
          <span class="end buttons">
            {!kept && (
              <input
                class="name-input"
                aria-label="Name"
                placeholder="Name"
                spellcheck={false}
                value={name}
                onInput={(event) => setName(event.currentTarget.value)}
              />
            )}
            <button
              class={kept ? "" : "primary"}
              disabled={name === "" || text.trim() === "" || text === kept?.text}
              onClick={() => void keep()}
            >
              {kept ? "Save as a new version" : "Save"}
            </button>
            {kept && text === kept.text && found?.is_part === false && (
              <Link
                class="button primary"
                to={href(["run"], {
                  model: model.model,
                  definition: kept.name,
                  version: kept.version === latest ? null : kept.version,
                })}
              >
                <Icon name="play" /> Play
              </Link>
            )}
          </span>
        )}
      </div>
      {error && <ErrorNote error={error} />}
      <div class="editing">
        <CodeArea
          id={EDITOR}
          label={`Text of the ${word}`}
          value={text}
          onInput={setText}
          marks={marks}
          readOnly={!mayPlay.value}
          describedBy="definition-faults"
        />
        <div id="definition-faults" class="card view" aria-live="polite" data-busy={!isCurrent}>
          {checked.error ? (
            <ErrorNote error={checked.error} again={checked.again} />
          ) : found === undefined ? (
            <p class="muted">{model.definition?.doc}</p>
          ) : (
            <>
              <h2 class={found.valid ? "good" : "bad"}>
                {found.valid ? `Valid ${found.is_part ? "part" : word}` : plural(found.faults.length, "fault")}
              </h2>
              <Faults faults={found.faults} />
              {found.advice.length > 0 && <h3>Advice</h3>}
              <Faults faults={found.advice} />
              {(found.uses?.length ?? 0) > 0 && (
                <p>
                  Uses{" "}
                  {found.uses?.map((one) => (
                    <Link key={one.name} to={href(["definitions", one.name], { version: one.version })}>
                      {one.name}@{one.version}{" "}
                    </Link>
                  ))}
                </p>
              )}
            </>
          )}
        </div>
      </div>
    </div>
  );
}

const mark =
  (tone: Mark["tone"]) =>
  (fault: Fault): Mark[] =>
    fault.line === undefined || fault.part ? [] : [{ line: fault.line, column: fault.column, tone }];

/** Faults with their places; one with a line leads there. */
function Faults({ faults }: { faults: readonly Fault[] }) {
  return (
    <ul class="faults">
      {faults.map((fault, i) => (
        <li key={i}>
          {fault.line !== undefined && !fault.part ? (
            <button class="quiet small" onClick={() => show(EDITOR, { line: fault.line ?? 1, column: fault.column })}>
              line {fault.line}
            </button>
          ) : (
            fault.part && <span class="muted">{fault.part} </span>
          )}
          {fault.place && <code>{fault.place}</code>} {fault.reason}
        </li>
      ))}
    </ul>
  );
}
