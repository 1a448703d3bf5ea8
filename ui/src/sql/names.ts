/** Words that no name without quotes may be. */
const RESERVED = new Set(
  ("all and any array as asc between both by case cast check collate column constraint create cross current_date current_time " +
    "current_timestamp default delete desc distinct do else end escape except exists extract false fetch filter for foreign from full " +
    "group having if in inner insert intersect interval into is join lateral leading left like limit natural not null of offset on " +
    "only or order outer over partition position primary qualify range references right row rows select set some substring table " +
    "then time timestamp to trailing trim true union unique unnest update user using values view when where window with within")
    .split(" "),
);

/** A name as SQL writes it. */
export function identifier(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) && !RESERVED.has(name) ? name : `"${name.replaceAll('"', '""')}"`;
}

/** A text as SQL writes it. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** The database whose tables need no prefix. */
const DEFAULT = "default";
/** Tables of ensembles: without a prefix, these names are theirs. */
const OF_ENSEMBLES = new Set(["outcomes", "events", "ensembles"]);

/** A table as a statement writes it. */
export function tableName(database: string, name: string): string {
  const bare = database === DEFAULT && !OF_ENSEMBLES.has(name) && !name.includes(".");
  return bare ? identifier(name) : `${identifier(database)}.${identifier(name)}`;
}

/** A type as DESCRIBE and the description of a table print it, with one word for all kinds of texts. */
export function typeName(type: string): string {
  return type.replace(/\b(?:LargeUtf8|Utf8View|Utf8)\b/g, "Text");
}
