import { shellWord } from "../../app/command";
import type { Joint } from "../../app/question";
import { active } from "./ask";

/** The command that prints the same answer. */
export function shellOf(ensemble: string, joint: Joint): string {
  const flags = [
    ...(joint.entity ? [`--entity ${shellWord(joint.entity)}`] : []),
    ...active(joint.legs).map((leg) => `--condition ${shellWord(leg)}`),
    ...active(joint.given).map((given) => `--given ${shellWord(given)}`),
    ...(joint.least > 0 ? [`--min-worlds ${joint.least}`] : []),
  ];
  return ["manyworlds probability", shellWord(ensemble), ...flags].join(" ");
}
