import type { Ensemble, Value } from "../../api/types";
import { Table } from "../../parts/virtual_table";

interface Row {
  name: string;
  first: string;
  second: string;
}

/** What two ensembles were played with; what differs comes first, what is the same on demand. */
export function Parameters({ first, second }: { first: Ensemble; second: Ensemble }) {
  const rows = rowsOf(first, second);
  const differing = rows.filter((row) => row.first !== row.second);
  const same = rows.filter((row) => row.first === row.second);
  const columns = [
    { key: "name", title: "Parameter", cell: (row: Row) => row.name },
    { key: "first", title: first.ensemble, cell: (row: Row) => row.first },
    { key: "second", title: second.ensemble, cell: (row: Row) => row.second },
  ];
  return (
    <section class="view" aria-label="Parameters">
      {differing.length === 0 ? (
        <p>Both were played with the same parameters.</p>
      ) : (
        <Table label="Parameters that differ" rows={differing} rowKey={(row) => row.name} columns={columns} />
      )}
      {same.length > 0 && (
        <details>
          <summary>{same.length} parameters are the same</summary>
          <Table label="Parameters that are the same" rows={same} rowKey={(row) => row.name} columns={columns.slice(0, 2)} />
        </details>
      )}
    </section>
  );
}

function rowsOf(first: Ensemble, second: Ensemble): Row[] {
  const [one, two] = [all(first), all(second)];
  const names = [...new Set([...one.keys(), ...two.keys()])];
  return names.map((name) => ({ name, first: one.get(name) ?? "none", second: two.get(name) ?? "none" }));
}

function all(ensemble: Ensemble): Map<string, string> {
  const text = (value: Value) => (Array.isArray(value) ? value.join(", ") : String(value));
  const own: [string, string][] = [
    ["model", ensemble.model],
    ["seed", String(ensemble.seed)],
    ["worlds", String(ensemble.worlds)],
  ];
  const definition = (ensemble as { definition?: Record<string, unknown> | null }).definition;
  if (definition) own.push(["definition", Object.values(definition).join(" ")]);
  return new Map([...own, ...Object.entries(ensemble.parameters ?? {}).map(([name, value]) => [name, text(value)] as [string, string])]);
}
