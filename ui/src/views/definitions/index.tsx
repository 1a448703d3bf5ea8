import { get } from "../../api/client";
import type { KeptDefinition, ListedDefinition, Model } from "../../api/types";
import { useAsked } from "../../app/asked";
import { time } from "../../app/format";
import { Link, href, query, setQuery } from "../../app/router";
import { mayPlay } from "../../app/session";
import { useTitle } from "../../app/title";
import { Command, Empty } from "../../parts/empty";
import { ErrorNote } from "../../parts/error_note";
import { Search, matches } from "../../parts/search";
import { VirtualTable } from "../../parts/virtual_table";
import { Editor } from "./editor";

/** What users wrote for models to play: the list, or one of them. */
export default function Definitions({ rest: [name] }: { rest: string[] }) {
  useTitle(name ?? "Definitions");
  const models = useAsked("models", (signal) => get<Model[]>("/api/v1/models", {}, signal));
  const listed = useAsked("definitions", (signal) => get<ListedDefinition[]>("/api/v1/definitions", {}, signal));
  const error = models.error ?? listed.error;
  if (error)
    return <ErrorNote error={error} again={() => [models, listed].forEach((one) => one.error && one.again())} />;
  if (!models.value || !listed.value) return null;
  const defining = models.value.filter((model) => model.definition !== null);
  if (name !== undefined)
    return <One key={name} name={name} models={defining} listed={listed.value} onKept={listed.again} />;
  if (query.value.get("new") !== null) {
    const model = defining.find((one) => one.model === query.value.get("model")) ?? defining[0];
    if (model) return <Editor model={model} kept={undefined} listed={listed.value} onKept={listed.again} />;
  }
  return <List models={defining} listed={listed.value} />;
}

function List({ models, listed }: { models: readonly Model[]; listed: readonly ListedDefinition[] }) {
  const search = query.value.get("q") ?? "";
  const found = listed.filter((one) => matches(search, one.name, one.model));
  return (
    <div class="view">
      <div class="bar-row">
        <h1>Definitions</h1>
        {listed.length > 0 && (
          <Search label="Search definitions" value={search} onChange={(q) => setQuery({ q })} shortcut />
        )}
        <span class="end buttons">
          {mayPlay.value &&
            models.map((model) => (
              <Link key={model.model} class="button" to={href(["definitions"], { model: model.model, new: true })}>
                New {model.model} {model.definition?.name}
              </Link>
            ))}
        </span>
      </div>
      {listed.length === 0 ? (
        <Empty title="No definitions yet">
          A definition is what you write for a model to play, such as a bingo event. The server keeps every version. An
          example:
          <Command text="manyworlds bingo example" />
        </Empty>
      ) : (
        <VirtualTable
          label="Definitions"
          rows={found}
          around={130}
          rowKey={(one) => one.name}
          columns={[
            {
              key: "name",
              title: "Name",
              cell: (one: ListedDefinition) => (
                <Link class="strong" to={href(["definitions", one.name])}>
                  {one.name}
                </Link>
              ),
            },
            { key: "model", title: "Model", width: 140, cell: (one) => one.model },
            { key: "latest", title: "Latest version", width: 140, align: "right", cell: (one) => one.latest },
            { key: "changed", title: "Changed", width: 180, cell: (one) => time(one.changed) },
          ]}
        />
      )}
    </div>
  );
}

interface OneProps {
  name: string;
  models: readonly Model[];
  listed: readonly ListedDefinition[];
  onKept: () => void;
}

function One({ name, models, listed, onKept }: OneProps) {
  const version = query.value.get("version") ?? undefined;
  const latest = listed.find((one) => one.name === name)?.latest;
  const kept = useAsked(
    `${name}\n${version ?? latest}`,
    (signal) => get<KeptDefinition>("/api/v1/definition", { name, version }, signal),
    { keep: () => false },
  );
  if (kept.error) return <ErrorNote error={kept.error} again={kept.again} />;
  if (!kept.value) return null;
  const model = models.find((one) => one.model === kept.value?.model);
  if (model === undefined) return <Empty title={`This server has no model ${kept.value.model}`} />;
  return (
    <Editor key={`${name} ${kept.value.version}`} model={model} kept={kept.value} listed={listed} onKept={onKept} />
  );
}
