import type { Distribution } from "../../api/types";
import { count, decimals, measured, percent, value } from "../../app/format";
import { Table } from "../../parts/virtual_table";
import { QUANTILES } from "./distributions";

/** Mean, interval, spread and quantiles, as the shell prints them. */
export function Numbers({ found, isFlag }: { found: readonly Distribution[]; isFlag: boolean }) {
  const several = found.length > 1;
  return (
    <>
      {several ? (
        <Table
          label="Summary"
          rows={found}
          rowKey={(one) => one.entity ?? ""}
          columns={[entity(), ...SUMMARY(isFlag)]}
        />
      ) : (
        <dl class="facts">
          {SUMMARY(isFlag).map((column) => (
            <div key={column.key}>
              <dt>{column.title}</dt>
              <dd>{column.cell(found[0] as Distribution)}</dd>
            </div>
          ))}
        </dl>
      )}
      {!isFlag && (
        <Table
          label="Quantiles"
          rows={found}
          rowKey={(one) => one.entity ?? ""}
          columns={[
            ...(several ? [entity()] : []),
            ...QUANTILES.map((q) => ({
              key: String(q),
              title: `${q * 100}%`,
              align: "right" as const,
              cell: (one: Distribution) => value(one.quantiles[String(q)]),
            })),
          ]}
        />
      )}
    </>
  );
}

function entity() {
  return { key: "entity", title: "Entity", cell: (one: Distribution) => <span class="nowrap">{one.entity}</span> };
}

const SUMMARY = (isFlag: boolean) => {
  const text = (n: Distribution["mean"], { ci }: Distribution) =>
    isFlag ? percent(n) : measured(n, decimals(ci && Number(ci[1]) - Number(ci[0]), 4));
  const right = "right" as const;
  return [
    { key: "mean", title: isFlag ? "Probability" : "Mean", align: right, cell: (one: Distribution) => text(one.mean, one) },
    {
      key: "ci",
      title: "95% interval",
      align: right,
      cell: (one: Distribution) => one.ci && `${text(one.ci[0], one)} to ${text(one.ci[1], one)}`,
    },
    { key: "sd", title: "Std deviation", align: right, cell: (one: Distribution) => measured(one.standard_deviation, decimals(one.standard_deviation, 2)) },
    { key: "min", title: "Least", align: right, cell: (one: Distribution) => value(one.min) },
    { key: "max", title: "Greatest", align: right, cell: (one: Distribution) => value(one.max) },
    { key: "worlds", title: "Worlds", align: right, cell: (one: Distribution) => count(one.worlds) },
  ];
};

/** How often each word occurs. */
export function Labels({ labels }: { labels: NonNullable<Distribution["labels"]> }) {
  return (
    <Table
      label="Labels"
      rows={labels}
      rowKey={(one) => one.code}
      columns={[
        { key: "label", title: "Label", cell: (one) => one.label },
        { key: "code", title: "Code", align: "right", cell: (one) => value(one.code) },
        { key: "worlds", title: "Worlds", align: "right", cell: (one) => count(one.worlds) },
        { key: "share", title: "Share", align: "right", cell: (one) => percent(one.share) },
      ]}
    />
  );
}
