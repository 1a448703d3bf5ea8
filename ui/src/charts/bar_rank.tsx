import type { ComponentChildren } from "preact";

export interface Ranked {
  key: string;
  name: ComponentChildren;
  /** The length of the bar; negative ones go left. */
  value: number;
  /** The number in words. */
  text: string;
  /** Further columns. */
  more?: ComponentChildren[];
}

interface Props {
  label: string;
  head?: ComponentChildren[];
  items: readonly Ranked[];
  /** The value at which a bar is full; by default the greatest. */
  full?: number;
}

/** Values in rank order, each as a bar beside its name and number. */
export function BarRank({ label, head, items, full }: Props) {
  const most = full ?? Math.max(1e-12, ...items.map((item) => Math.abs(item.value)));
  const negative = items.some((item) => item.value < 0);
  return (
    <div class="table-box" tabIndex={0} role="region" aria-label={label}>
      <table class="rank">
        {head && (
          <thead>
            <tr>
              {head.map((title, i) => (
                <th key={i} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
        )}
        <tbody>
          {items.map((item) => (
            <tr key={item.key}>
              <th scope="row">{item.name}</th>
              <td class="rank-bar" data-both={negative}>
                <div
                  data-below={item.value < 0}
                  style={{ width: `${(Math.abs(item.value) / most) * (negative ? 50 : 100)}%` }}
                />
              </td>
              <td class="right">{item.text}</td>
              {item.more?.map((more, i) => (
                <td key={i} class="right">
                  {more}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
