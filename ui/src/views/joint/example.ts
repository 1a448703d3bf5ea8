import type { Catalogue } from "../../api/types";
import { written } from "../../app/expression";
import { outcomesOf } from "../ensemble/context";

/** A condition that a viewer could type, with names of this ensemble. */
export function exampleOf(catalogue: Catalogue, entity: string): string {
  const owner = catalogue.entities.find((one) => one.name === entity) ?? catalogue.entities[0];
  const outcome = owner && outcomesOf(catalogue, owner).find((one) => one.kind === "number");
  if (!outcome) return "a condition";
  return `such as ${written(owner.name === entity ? outcome.name : `${owner.name}:${outcome.name}`)} > 3`;
}
