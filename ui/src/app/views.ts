import type { ComponentType } from "preact";
import List from "../views/ensembles/list";

/** A view: its first segments, and its code, which the browser loads when it is opened. */
export interface View {
  /** The first segment of its address, "" for `/`. */
  at: string;
  /** Its name in the navigation; none for views that others lead to. */
  name?: string;
  /** Needs an admin, or a token that writes. */
  needs?: "admin" | "play";
  load: () => Promise<{ default: ComponentType<{ rest: string[] }> }>;
}

/** All views, in the order of the navigation. `rest` has the further segments of the address. */
export const VIEWS: readonly View[] = [
  { at: "", name: "Ensembles", load: async () => ({ default: List }) },
  { at: "ensemble", load: () => import("../views/ensemble/index") },
  { at: "run", needs: "play", load: () => import("../views/run/index") },
  { at: "definitions", name: "Definitions", load: () => import("../views/definitions/index") },
  { at: "tables", name: "Tables", load: () => import("../views/tables/index") },
  { at: "sql", name: "SQL", load: () => import("../views/sql/index") },
  { at: "settings", name: "Server", load: () => import("../views/settings/index") },
];
