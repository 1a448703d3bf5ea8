import type { Bin } from "../../api/types";

/** What a viewer picked in a picture: worlds in which an outcome has some values. */
export interface Pick {
  ensemble: string;
  entity: string;
  outcome: string;
  bin: Bin;
}

/** Where a picked bar can lead: a name, and the address. */
export interface Way {
  name: string;
  to: (pick: Pick) => string;
}

/** Other parts of the page add theirs. */
export const WAYS: readonly Way[] = [];

/** The picked worlds as a condition of the expression language. */
export function condition({ outcome, bin }: Pick): string {
  const name = /^[A-Za-z_][A-Za-z0-9_]*$/.test(outcome) ? outcome : `(${outcome})`;
  return bin.from === bin.to ? `${name} = ${bin.from}` : `${name} between ${bin.from} and ${bin.to}`;
}
