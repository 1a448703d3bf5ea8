import type { Joint } from "../../app/question";
import { active } from "./ask";

/** A word as a shell takes it. */
export function word(text: string): string {
  return /^[\w.:=,/-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The command that prints the same answer. */
export function shellOf(ensemble: string, joint: Joint): string {
  const flags = [
    ...(joint.entity ? [`--entity ${word(joint.entity)}`] : []),
    ...active(joint.legs).map((leg) => `--condition ${word(leg)}`),
    ...active(joint.given).map((given) => `--given ${word(given)}`),
    ...(joint.least > 0 ? [`--min-worlds ${joint.least}`] : []),
  ];
  return ["manyworlds probability", word(ensemble), ...flags].join(" ");
}
