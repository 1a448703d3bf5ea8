import { Empty } from "../../parts/empty";

/** Stands for the answers of an ensemble that has nothing stored. */
export function NoWorlds() {
  return <Empty title="No worlds yet">Answers appear as soon as the first worlds are stored.</Empty>;
}
