import type { Bin, OutcomeSpec } from "../../api/types";
import { conditionOf } from "../../app/expression";
import { leverageHref, withGiven, withLeg, worldHref } from "../../app/question";

/** What a viewer picked in a picture: worlds in which an outcome has some values. */
export interface Pick {
  ensemble: string;
  entity: string;
  /** A name or an expression; of a name, what the catalogue says. */
  outcome: string;
  spec: OutcomeSpec | undefined;
  bin: Bin;
  /** The bin after it; none after the last one. */
  next: Bin | undefined;
}

/** Where a picked bar can lead: a name, and the address. */
export interface Way {
  name: string;
  to: (pick: Pick) => string;
}

export const WAYS: readonly Way[] = [
  { name: "Add as a leg", to: (pick) => withLeg(pick.ensemble, condition(pick)) },
  { name: "Add as a given", to: (pick) => withGiven(pick.ensemble, condition(pick)) },
  { name: "What moves it", to: (pick) => leverageHref(pick.ensemble, condition(pick)) },
  { name: "Open a world", to: (pick) => worldHref(pick.ensemble, pick.entity, [condition(pick)]) },
];

/** The picked worlds as a condition of the expression language. */
export function condition({ entity, outcome, spec, bin, next }: Pick): string {
  return conditionOf(entity, outcome, spec, bin, next);
}
