// Names and conditions in the expression language, as the server reads it.
import type { Bin, Catalogue, EntitySpec, OutcomeSpec } from "../api/types";

const KEYWORDS = new Set(["and", "or", "not", "in", "is", "null", "has", "true", "false"]);
const FUNCTIONS = new Set(["abs", "min", "max"]);
const PLAIN = /^[\p{Alphabetic}_](?:[\p{Alphabetic}\p{N}_.-]*:[\p{Alphabetic}\p{N}_.]+|[\p{Alphabetic}\p{N}_.]*)$/u;
const TOKEN =
  /'(?:[^']|'')*'?|"(?:[^"]|"")*"?|[\p{Alphabetic}_](?:[\p{Alphabetic}\p{N}_.-]*:[\p{Alphabetic}\p{N}_.]+|[\p{Alphabetic}\p{N}_.]*)|\d[\w.]*|\s+|./gsu;

/** A name as an expression writes it: in double quotes if it needs them. */
export function written(name: string): string {
  return PLAIN.test(name) && !KEYWORDS.has(name.toLowerCase()) ? name : `"${name.replaceAll('"', '""')}"`;
}

/** A text as an expression writes it. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Replaces each name of an expression; `change` gets it without its quotes, and as it is written. */
function withNames(text: string, change: (name: string, token: string) => string): string {
  const tokens = text.match(TOKEN) ?? [];
  const isCall = (place: number) => tokens.slice(place + 1).find((token) => token.trim() !== "") === "(";
  return tokens
    .map((token, place) => {
      const isQuoted = token.startsWith('"');
      if (!isQuoted && !/^[\p{Alphabetic}_]/u.test(token)) return token;
      const lower = token.toLowerCase();
      if (!isQuoted && (KEYWORDS.has(lower) || (FUNCTIONS.has(lower) && isCall(place)))) return token;
      const name = isQuoted ? token.slice(1, token.endsWith('"') ? -1 : undefined).replaceAll('""', '"') : token;
      return change(name, token);
    })
    .join("");
}

/** The expression with the entity of every plain name, so that it means the same anywhere. */
export function qualified(text: string, entity: string): string {
  return withNames(text, (name, token) => (name.includes(":") ? token : written(`${entity}:${name}`)));
}

/** Whether a condition that the server accepts is an expression, not the model's own words: all its names are outcomes. */
export function isExpression(text: string, catalogue: Catalogue, entity: string): boolean {
  const only = catalogue.entities.length === 1 ? catalogue.entities[0] : undefined;
  const owner = catalogue.entities.find((one) => one.name === entity) ?? only;
  let isKnown = true;
  withNames(text, (name, token) => {
    isKnown &&= outcomeOf(name, catalogue, owner) !== undefined;
    return token;
  });
  return isKnown;
}

/** Whether the whole text is one name. */
export function isName(text: string): boolean {
  return (text.match(TOKEN) ?? []).length === 1 && /^[\p{Alphabetic}_"]/u.test(text);
}

/** The worlds of a bar as a condition; `outcome` is a name or an expression, `next` the bin after it. */
export function conditionOf(entity: string, outcome: string, spec: OutcomeSpec | undefined, bin: Bin, next: Bin | undefined): string {
  const subject = spec ? written(`${entity}:${spec.name}`) : `(${qualified(outcome, entity)})`;
  // Bins of whole numbers have gaps between them; those of real numbers touch, and the end belongs to the next one.
  const upTo = next === undefined || next.from > bin.to ? "<=" : "<";
  if (bin.from !== bin.to) return `${subject} >= ${bin.from} and ${subject} ${upTo} ${bin.to}`;
  if (spec?.kind === "flag") return bin.from === 1 ? subject : `not ${subject}`;
  const label = spec?.labels?.[bin.from];
  return `${subject} = ${label ? quoted(label) : bin.from}`;
}

/** Joins conditions into one. */
export function allOf(conditions: readonly string[]): string {
  return conditions.length === 1 ? (conditions[0] ?? "") : conditions.map((one) => `(${one})`).join(" and ");
}

/** What can stand at the cursor, and where the text begins that it replaces. */
export interface Completion {
  from: number;
  options: { value: string; detail?: string; insert: string }[];
}

const SHOWN = 40;
const NONE: Completion = { from: 0, options: [] };

/** Completes outcomes, entities and labels before `cursor`. Plain names belong to `entity`. */
export function completeOutcome(text: string, cursor: number, catalogue: Catalogue, entity: EntitySpec | undefined): Completion {
  const before = text.slice(0, cursor);
  const label = /("(?:[^"]|"")*"|[^\s'"()=!<>,]+)\s*(?:=|!=|<>|(?:not\s+)?in\s*\((?:[^()']|'(?:[^']|'')*')*)\s*'([^']*)$/iu.exec(before);
  if (label) {
    const name = (label[1] ?? "").replace(/^"|"$/g, "");
    const typed = label[2] ?? "";
    const spec = outcomeOf(name, catalogue, entity);
    const options = found(spec?.labels ?? [], typed).map((word) => ({ value: word, insert: `${word.replaceAll("'", "''")}' ` }));
    return { from: cursor - typed.length, options };
  }
  if ((before.match(/'/g)?.length ?? 0) % 2 === 1) return NONE;
  let typed = /"[^"]*$|[\p{Alphabetic}\p{N}_.:-]*$/u.exec(before)?.[0] ?? "";
  const known = (part: string) => catalogue.entities.some((one) => one.name.toLowerCase().includes(part.toLowerCase()));
  // A hyphen may be part of an entity's name, or a minus.
  if (typed.includes("-") && !typed.includes(":") && !known(typed)) typed = typed.slice(typed.lastIndexOf("-") + 1);
  if (/^\d/.test(typed) && !known(typed)) return NONE;
  const bare = typed.replace(/^"/, "");
  const from = cursor - typed.length;
  const colon = bare.indexOf(":");
  if (colon >= 0) {
    const one = catalogue.entities.find((one) => one.name === bare.slice(0, colon));
    return { from, options: one ? outcomes(catalogue, one, bare.slice(colon + 1), true) : [] };
  }
  const own = entity ? outcomes(catalogue, entity, bare, false) : [];
  const entities = found(catalogue.entities, bare, (one) => `${one.name}\n${one.title}`).map((one) => ({
    value: `${one.name}:`,
    detail: one.title,
    insert: PLAIN.test(`${one.name}:x`) ? `${one.name}:` : `"${one.name}:`,
  }));
  // Entities stay in sight below many outcomes.
  const room = entities.length > 0 ? SHOWN - Math.min(10, entities.length) : SHOWN;
  return { from, options: [...own.slice(0, room), ...entities].slice(0, SHOWN) };
}

function outcomes(catalogue: Catalogue, entity: EntitySpec, typed: string, named: boolean): Completion["options"] {
  const all = catalogue.kinds[entity.kind]?.outcomes ?? [];
  return found(all, typed, (one) => one.name).map((one) => {
    const name = named ? `${entity.name}:${one.name}` : one.name;
    return { value: name, detail: one.kind === "flag" ? "yes or no" : one.unit, insert: `${written(name)} ` };
  });
}

/** Those that contain what is typed; those that start with it come first. */
function found<T>(all: readonly T[], typed: string, of: (one: T) => string = String): T[] {
  const wanted = typed.toLowerCase();
  const starts: T[] = [];
  const contains: T[] = [];
  for (const one of all) {
    const at = of(one).toLowerCase().indexOf(wanted);
    if (at === 0) starts.push(one);
    else if (at > 0) contains.push(one);
    if (starts.length >= SHOWN) break;
  }
  return [...starts, ...contains].slice(0, SHOWN);
}

function outcomeOf(name: string, catalogue: Catalogue, entity: EntitySpec | undefined): OutcomeSpec | undefined {
  const colon = name.indexOf(":");
  const owner = colon < 0 ? entity : catalogue.entities.find((one) => one.name === name.slice(0, colon));
  return owner && catalogue.kinds[owner.kind]?.outcomes.find((one) => one.name === name.slice(colon + 1));
}

/** Completes columns of events, and their words. */
export function completeEvent(text: string, cursor: number, catalogue: Catalogue): Completion {
  const before = text.slice(0, cursor);
  const word = /([\p{Alphabetic}_][\p{Alphabetic}\p{N}_.]*)\s*(?:=|!=|<>|~|!~|(?:not\s+)?in\s*\([^()]*)\s*('?)([^'\s]*)$/iu.exec(before);
  const labels = word && labelsOf(catalogue, word[1] ?? "");
  if (word && labels) {
    const typed = word[3] ?? "";
    const from = cursor - typed.length - (word[2] ?? "").length;
    return { from, options: found(labels, typed).map((one) => ({ value: one, insert: `${quoted(one)} ` })) };
  }
  if ((before.match(/'/g)?.length ?? 0) % 2 === 1) return NONE;
  const typed = /[\p{Alphabetic}_][\p{Alphabetic}\p{N}_.]*$/u.exec(before)?.[0] ?? "";
  if (typed === "" && before.trim() !== "" && !/\b(and|or|not)\s*$|\($/i.test(before)) return NONE;
  const options = found(catalogue.events, typed, (one) => one.name);
  return { from: cursor - typed.length, options: options.map((one) => ({ value: one.name, detail: one.doc, insert: `${written(one.name)} ` })) };
}

function labelsOf(catalogue: Catalogue, name: string): string[] | undefined {
  const kind = catalogue.events.find((one) => one.name === name)?.kind;
  return kind !== null && typeof kind === "object" && "label" in kind ? (kind as { label: string[] }).label : undefined;
}
