import type { Worker } from "../../api/types";
import { Table } from "../../parts/virtual_table";
import { plural, value } from "../../app/format";

/** The workers of a fleet. */
export function Workers({ workers }: { workers: readonly Worker[] }) {
  const names = [...new Set(workers.flatMap((worker) => Object.keys(worker)))];
  return (
    <section class="view">
      <h2>{plural(workers.length, "worker")}</h2>
      <Table
        label="Workers"
        rows={workers}
        rowKey={(worker, index) => String(worker.name ?? index)}
        columns={names.map((name) => ({
          key: name,
          title: name.replaceAll("_", " "),
          cell: (worker: Worker) => shown(worker[name]),
        }))}
      />
    </section>
  );
}

function shown(item: unknown): string {
  if (item === null || item === undefined) return "";
  return typeof item === "number" ? value(item) : typeof item === "string" ? item : JSON.stringify(item);
}
