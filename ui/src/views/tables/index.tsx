import { List } from "./list";
import { TablePage } from "./table";

/** The list of tables, or the table that the address names. */
export default function Tables({ rest: [database, name, part = ""] }: { rest: string[] }) {
  if (database === undefined || name === undefined) return <List />;
  return <TablePage key={`${database}\n${name}`} database={database} name={name} part={part} />;
}
