import type { Comparison } from "../../api/questions";
import type { OutcomeSpec } from "../../api/types";
import { count, percent, value } from "../../app/format";
import { type Column, VirtualTable } from "../../parts/virtual_table";

export interface Row {
  spec: OutcomeSpec;
  found: Comparison;
}

interface Props {
  rows: readonly Row[];
  names: [string, string];
  chosen: string;
  busy: boolean;
  onChoose: (outcome: string) => void;
}

/** How far a difference is from none, in half widths of its interval. */
export function evidence({ found }: Row): number {
  if (typeof found.difference !== "number" || found.difference === 0) return 0;
  return found.ci_half_width ? Math.abs(found.difference) / found.ci_half_width : Infinity;
}

/** The difference of each outcome with its interval; bars of one unit share a scale. */
export function Differences({ rows, names, chosen, busy, onChoose }: Props) {
  const reach = new Map<string, number>();
  for (const { spec, found } of rows) {
    const far = Math.max(...(found.ci ?? [0, 0]).map(Math.abs), Math.abs(Number(found.difference)));
    if (Number.isFinite(far)) reach.set(unitOf(spec), Math.max(reach.get(unitOf(spec)) ?? 0, far));
  }
  const columns: Column<Row>[] = [
    {
      key: "outcome",
      title: "Outcome",
      width: 210,
      cell: ({ spec }) => (
        <button class="quiet entity link" aria-pressed={spec.name === chosen} title={spec.name} onClick={() => onChoose(spec.name)}>
          <span class="mono">{spec.name}</span>
          {spec.unit !== "" && <small>{spec.unit}</small>}
        </button>
      ),
    },
    { key: "first", title: names[0], width: 112, align: "right", cell: ({ spec, found }) => number(spec, found.means[0]) },
    { key: "second", title: names[1], width: 112, align: "right", cell: ({ spec, found }) => number(spec, found.means[1]) },
    {
      key: "difference",
      title: "Difference",
      width: 100,
      align: "right",
      cell: (row) => <span class={evidence(row) > 1 ? "strong" : "muted"}>{signed(row.spec, row.found.difference)}</span>,
    },
    {
      key: "chart",
      title: "95% interval, 0 in the middle",
      width: 220,
      hint: "Outcomes of the same unit share a scale",
      cell: ({ spec, found }) => <Whisker found={found} reach={reach.get(unitOf(spec)) ?? 0} />,
    },
    {
      key: "ci",
      title: "Interval",
      width: 190,
      align: "right",
      cell: ({ spec, found }) => typeof found.ci?.[0] === "number" && `${signed(spec, found.ci[0])} to ${signed(spec, found.ci[1])}`,
    },
    {
      key: "correlation",
      title: "Paired r",
      width: 78,
      align: "right",
      hint: "Correlation of both ensembles over the same worlds",
      cell: ({ found }) => (found.correlation === null ? "" : found.correlation.toFixed(3)),
    },
    {
      key: "shares",
      title: "Less / same / more",
      width: 150,
      align: "right",
      hint: "Worlds in which the second is less, equal, or greater",
      cell: ({ found }) => found.shares?.map((share) => percent(share, 0)).join(" / "),
    },
  ];
  return (
    <VirtualTable
      label="Differences"
      busy={busy}
      columns={columns}
      rows={rows}
      around={330}
      rowKey={({ spec }) => spec.name}
      rowClass={({ spec }) => (spec.name === chosen ? "chosen" : undefined)}
      rowHeight={40}
    />
  );
}

/** Flags are shares: percent; everything else in its unit. */
function unitOf(spec: OutcomeSpec): string {
  return spec.kind === "flag" ? "%" : spec.unit;
}

function number(spec: OutcomeSpec, n: Comparison["difference"]): string {
  if (typeof n !== "number") return n ?? "";
  if (spec.kind === "flag") return percent(n);
  return n !== 0 && Math.abs(n) < 1e-4 ? n.toExponential(3) : value(round(n));
}

function signed(spec: OutcomeSpec, n: Comparison["difference"]): string {
  const text = number(spec, n);
  return typeof n === "number" && n > 0 ? `+${text}` : text;
}

/** Four significant digits: more is noise beside an interval. */
function round(n: number): number {
  return Number(n.toPrecision(Math.abs(n) >= 1000 ? 6 : 4));
}

function Whisker({ found, reach }: { found: Comparison; reach: number }) {
  if (found.ci === null || typeof found.difference !== "number" || reach === 0) return null;
  const at = (n: number) => `${(50 + (n / reach) * 48).toFixed(2)}%`;
  const [low, high] = found.ci;
  const side = low > 0 ? "above" : high < 0 ? "below" : "none";
  return (
    <svg class="whisker" width="100%" height="22" aria-hidden="true" data-side={side}>
      <line class="whisker-zero" x1="50%" x2="50%" y1="0" y2="22" />
      <line class="whisker-ci" x1={at(low)} x2={at(high)} y1="11" y2="11" />
      <circle cx={at(found.difference)} cy="11" r="4" />
    </svg>
  );
}

/** The worlds that were compared, in words. */
export function pairing(rows: readonly Row[]): string {
  const first = rows[0]?.found;
  if (!first) return "";
  return first.is_paired
    ? `${count(first.worlds)} worlds in both, paired: the same seed`
    : `${count(first.worlds)} worlds in both, not paired: the seeds differ`;
}
