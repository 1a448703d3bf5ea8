import type { ComponentType } from "preact";

/** A part of an ensemble's page. `rest` has the segments of the address after its own. */
export interface Tab {
  /** Its segment: `/ui/ensemble/NAME/AT`; "" for the first. */
  at: string;
  name: string;
  /** Whether it has something to show before the first world. */
  needsNoWorlds?: true;
  load: () => Promise<{ default: ComponentType<{ rest: string[] }> }>;
}

export const TABS: readonly Tab[] = [
  { at: "", name: "Outcomes", needsNoWorlds: true, load: () => import("./entities") },
  { at: "joint", name: "Joint", load: () => import("../joint/index") },
  { at: "leverage", name: "Leverage", load: () => import("../leverage/index") },
  { at: "correlations", name: "Correlations", load: () => import("../correlations/index") },
  { at: "compare", name: "Compare", load: () => import("../compare/index") },
  { at: "book", name: "Book", load: () => import("../book/index") },
  { at: "world", name: "World", load: () => import("../world/index") },
  { at: "about", name: "About", needsNoWorlds: true, load: () => import("../about/index") },
];
