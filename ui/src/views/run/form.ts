import type { Checked, Ensemble, ListedDefinition, Model, Value } from "../../api/types";
import { shellWord } from "../../app/command";
import { plural } from "../../app/format";
import { type Typed, read } from "./parameters";

/** What the address says of a run to start. */
export interface Form {
  name: string;
  worlds: string;
  seed: string;
  events: "store" | "replay";
  where: "server" | "fleet";
  /** What becomes of an ensemble that has the name. */
  existing: "" | "replace" | "extend";
  definition: string;
  version: string;
  untilOutcome: string;
  untilGoal: string;
  typed: Typed;
}

export function formOf(model: Model, query: URLSearchParams): Form {
  const text = (name: string, standard = "") => query.get(name) ?? standard;
  const pairs = query
    .getAll("set")
    .map((pair) => [pair.split("=", 1)[0] ?? "", pair.slice(pair.indexOf("=") + 1)] as const);
  const existing = text("existing");
  return {
    name: text("name"),
    worlds: text("worlds", "1000"),
    seed: text("seed", "1"),
    events: text("events") === "replay" ? "replay" : "store",
    where: text("where") === "fleet" ? "fleet" : "server",
    existing: existing === "replace" || existing === "extend" ? existing : "",
    definition: text("definition"),
    version: text("version"),
    untilOutcome: text("until"),
    untilGoal: text("goal"),
    typed: new Map(pairs.filter(([name]) => model.parameters.some((spec) => spec.name === name))),
  };
}

export type Faults = Partial<Record<"worlds" | "seed" | "goal" | "existing" | "definition" | "parameters", string>>;

const WORLDS_MAX = 4_294_967_295;
const SEED_MAX = 18_446_744_073_709_551_615n;

/** Why the form cannot be sent yet. The server checks all of it again. */
export function faults(
  model: Model,
  form: Form,
  definitions: readonly ListedDefinition[],
  old: Ensemble | undefined,
  checked: Checked | undefined,
): Faults {
  const found: Faults = {};
  if (!(/^\d+$/.test(form.worlds) && Number(form.worlds) >= 1 && Number(form.worlds) <= WORLDS_MAX))
    found.worlds = "give a whole number from 1";
  if (!(/^\d+$/.test(form.seed) && BigInt(form.seed) <= SEED_MAX)) found.seed = "give a whole number from 0";
  if (form.untilOutcome !== "" && form.untilGoal === "") found.goal = "say how precise";
  if (old && form.existing === "")
    found.existing = `An ensemble ${old.ensemble} exists: replace it, add worlds to it, or give another name.`;
  const missing = form.definition === "" || !definitions.some((one) => one.name === form.definition);
  if (model.definition?.required && missing) found.definition = `Choose ${article(model.definition.name)}.`;
  else if (checked?.is_part)
    found.definition = `${form.definition} is a part: choose ${article(model.definition?.name ?? "definition")} that uses it.`;
  else if (checked?.valid === false)
    found.definition = `${form.definition} has ${plural(checked.faults.length, "fault")}: edit it, or choose another version.`;
  const refused = [...form.typed].some(([name, typed]) => {
    const spec = model.parameters.find((one) => one.name === name);
    return spec !== undefined && "fault" in read(spec, typed);
  });
  if (refused) found.parameters = "A parameter is out of its bounds.";
  return found;
}

export function article(noun: string): string {
  return `${/^[aeiou]/i.test(noun) ? "an" : "a"} ${noun}`;
}

/** The request. */
export function body(model: Model, form: Form): Record<string, unknown> {
  const parameters: Record<string, Value> = {};
  for (const [name, typed] of form.typed) {
    const spec = model.parameters.find((one) => one.name === name);
    const found = spec && read(spec, typed);
    if (found && "value" in found) parameters[name] = found.value;
  }
  const definition = form.definition !== "" && {
    definition: { name: form.definition, ...(form.version === "" ? {} : { version: Number(form.version) }) },
  };
  return {
    model: model.model,
    ...(form.name === "" ? {} : { name: form.name }),
    worlds: Number(form.worlds),
    seed: BigInt(form.seed),
    events: form.events,
    parameters,
    ...(definition || {}),
    ...(form.existing === "" ? {} : { [form.existing]: true }),
    ...(form.untilOutcome === "" ? {} : { until: { outcome: form.untilOutcome, goal: form.untilGoal } }),
  };
}

/** The command that does the same. */
export function command(model: Model, form: Form): string {
  return [
    `manyworlds ${form.where === "fleet" ? "submit" : "run"} ${model.model}`,
    form.existing === "extend" ? `--extend ${form.worlds}` : `--worlds ${form.worlds}`,
    `--seed ${form.seed}`,
    form.name === "" ? "" : `--name ${shellWord(form.name)}`,
    form.events === "replay" ? "--events replay" : "",
    form.existing === "replace" ? "--replace" : "",
    ...[...form.typed].map(([name, typed]) => `--param ${shellWord(`${name}=${typed}`)}`),
    form.untilOutcome === "" ? "" : `--outcome ${shellWord(form.untilOutcome)} --until-ci ${shellWord(form.untilGoal)}`,
  ]
    .filter(Boolean)
    .join(" ");
}
