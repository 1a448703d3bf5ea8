// Statements in a text: where each one is, and which tables it names.

/** Comments, texts, quoted names, dollar quotes, words, and single characters. */
const TOKEN = /--[^\n]*|\/\*[^]*?(?:\*\/|$)|'(?:[^']|'')*'?|"(?:[^"]|"")*"?|\$(\w*)\$[^]*?(?:\$\1\$|$)|[\p{L}_][\p{L}\p{N}_]*|\s+|[^]/gu;

export interface Statement {
  /** Where its first and after its last character are, without the `;`. */
  from: number;
  to: number;
  text: string;
}

/** The statements of a text, divided by `;` outside of quotes and comments. */
export function statements(text: string): Statement[] {
  const found: Statement[] = [];
  let [from, to] = [-1, 0];
  const end = () => {
    if (from >= 0) found.push({ from, to, text: text.slice(from, to) });
    from = -1;
  };
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (token === ";") end();
    else if (!isBlank(token)) {
      if (from < 0) from = index;
      to = index + token.length;
    }
  }
  end();
  return found;
}

function isBlank(token: string): boolean {
  return /^(?:\s|--|\/\*)/.test(token);
}

/** The statement at a place: around it, right behind it, or the last one before it. */
export function statementAt(text: string, place: number): Statement | undefined {
  const all = statements(text);
  const isBefore = (from: number) => text[place - 1] !== ";" && /^[ \t]*$/.test(text.slice(place, from));
  const reached = all.filter((one) => one.from <= place || isBefore(one.from));
  return reached.at(-1) ?? all[0];
}

export interface NamedTable {
  database: string | undefined;
  name: string;
  alias: string | undefined;
}

/** The tables that a statement names after FROM and JOIN, with their aliases. */
export function tablesOf(statement: string): NamedTable[] {
  const tokens = [...statement.matchAll(TOKEN)].map(([token]) => token).filter((token) => !isBlank(token));
  const found: NamedTable[] = [];
  let isList = false;
  for (let i = 0; i < tokens.length; i++) {
    const word = (tokens[i] as string).toLowerCase();
    if (word === "from" || word === "join") isList = true;
    else if (!(word === "," && isList)) {
      if (!AMONG.has(word)) continue;
      isList = false;
      continue;
    }
    const first = nameOf(tokens[i + 1]);
    if (first === undefined) continue;
    i++;
    let [database, name]: [string | undefined, string] = [undefined, first];
    const second = tokens[i + 1] === "." ? nameOf(tokens[i + 2]) : undefined;
    if (second !== undefined) {
      [database, name] = [first, second];
      i += 2;
    }
    if (tokens[i + 1]?.toLowerCase() === "as") i++;
    const alias = ENDS.has(tokens[i + 1]?.toLowerCase() ?? "") ? undefined : nameOf(tokens[i + 1]);
    if (alias !== undefined) i++;
    found.push({ database, name, alias });
  }
  return found;
}

/** Words that end a list of tables. */
const AMONG = new Set(["where", "group", "order", "having", "limit", "select", "union", "(", ")", "window", "qualify"]);
/** Words after a table that are no alias. */
const ENDS = new Set([...AMONG, "join", "inner", "left", "right", "full", "cross", "natural", "on", "using", "from", "offset", "intersect", "except"]);

function nameOf(token: string | undefined): string | undefined {
  if (token === undefined) return undefined;
  if (token.startsWith('"')) return token.replace(/^"|"$/g, "").replaceAll('""', '"');
  return /^[\p{L}_]/u.test(token) ? token.toLowerCase() : undefined;
}
