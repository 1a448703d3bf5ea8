import type { Worker } from "../../api/types";
import { count, plural, rate } from "../../app/format";
import { type Column, Table } from "../../parts/virtual_table";

const COLUMNS: Column<Worker>[] = [
  { key: "host", title: "Host", cell: (worker) => worker.host },
  { key: "state", title: "State", cell: (worker) => <State worker={worker} /> },
  { key: "done", title: "Worlds", align: "right", cell: (worker) => count(worker.worlds_done) },
  { key: "rate", title: "Rate", align: "right", cell: (worker) => rate(worker.worlds_per_s) },
  { key: "threads", title: "Threads", align: "right", cell: (worker) => worker.threads },
  { key: "pid", title: "Process", align: "right", cell: (worker) => worker.pid },
  { key: "id", title: "Worker", cell: (worker) => <span class="mono">{worker.id}</span> },
];

/** The workers of a fleet. */
export function Workers({ workers }: { workers: readonly Worker[] }) {
  return (
    <section class="view">
      <h2>{plural(workers.length, "worker")}</h2>
      <Table label="Workers" rows={workers} rowKey={(worker) => worker.id} columns={COLUMNS} />
    </section>
  );
}

function State({ worker }: { worker: Worker }) {
  if (worker.trouble)
    return (
      <span class="state" data-tone="bad">
        {worker.trouble}
      </span>
    );
  return (
    <span class="state" data-tone={worker.is_there ? "good" : "warn"}>
      {worker.is_there ? "online" : "silent"}
    </span>
  );
}
