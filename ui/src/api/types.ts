// The forms of answers, until the OpenAPI document describes them (see api.gen.ts).
import type { Integer } from "./json";

export interface Session {
  tokens: boolean;
  name: string | null;
  read: boolean;
  write: boolean;
  admin: boolean;
  databases: string[] | null;
  version: string;
  fleet: boolean;
}

/** A parameter's value. */
export type Value = number | string | (number | string)[];

export interface Ensemble {
  ensemble: string;
  state: string;
  /** Why it cannot be read. */
  error?: string;
  enough: boolean | null;
  version: number;
  model: string;
  worlds: number;
  planned: number;
  seed: Integer;
  events: string;
  outcome_bytes: number;
  event_bytes: number;
  created: string | number;
  parameters?: Record<string, Value>;
}

export interface OutcomeSpec {
  name: string;
  unit: string;
  kind: "number" | "flag" | "code" | "real";
  scale: number;
  labels?: string[];
}

export interface EntitySpec {
  name: string;
  kind: number;
  title: string;
  members: string[];
}

export interface Catalogue {
  kinds: { name: string; outcomes: OutcomeSpec[] }[];
  entities: EntitySpec[];
  events: { name: string; doc: string; kind: unknown; nullable: boolean }[];
}

export interface Description {
  ensemble: string;
  parameters: Record<string, unknown>;
  catalogue: Catalogue;
}

/** Numbers that JSON has no word for come as texts. */
export type Real = number | "NaN" | "Infinity" | "-Infinity";

export interface Bin {
  from: number;
  to: number;
  worlds: number;
}

export interface Distribution {
  entity: string | null;
  outcome: string;
  unit: string;
  worlds: number;
  mean: Real;
  ci: [Real, Real] | null;
  standard_deviation: Real;
  min: Real;
  max: Real;
  quantiles: Record<string, Real>;
  histogram: Bin[];
  labels?: { label: string; code: number; worlds: number; share: number }[];
  cdf?: { value: Real; probability: number }[];
}

export type RunState =
  | "starting"
  | "queued"
  | "running"
  | "pausing"
  | "paused"
  | "failed"
  | "cancelled"
  | "complete"
  | "enough";

export type RunAction = "pause" | "resume" | "cancel" | "retry";

export interface Worker {
  id: string;
  host: string;
  pid: number;
  threads: number;
  is_there: boolean;
  worlds_done: number;
  worlds_per_s: number;
  trouble: string | null;
}

export interface Run {
  ensemble: string;
  version: number | null;
  by: "process" | "fleet" | "elsewhere";
  state: RunState;
  worlds: number;
  worlds_done: number;
  /** Worlds that questions see. */
  worlds_stored: number;
  worlds_per_s: number;
  left_s: number | null;
  started: string | number | null;
  model: string;
  error: string | null;
  can: RunAction[];
  workers?: Worker[];
}

export interface Status {
  runs: Run[];
  workers: Worker[];
  fleet_error: string | null;
}

export interface ParameterSpec {
  name: string;
  kind: "number" | "text" | "numbers" | "texts";
  doc: string;
  default: Value;
  /** Nothing where there is no bound. */
  min?: number | null;
  max?: number | null;
  words?: string[];
  items_max?: number;
}

export interface Model {
  model: string;
  summary: string;
  parameters: ParameterSpec[];
  definition: { name: string; doc: string; required: boolean; parts?: string[] } | null;
}

export interface Fault {
  place: string;
  reason: string;
  line?: number;
  column?: number;
  /** The part that has the place. */
  part?: string;
}

export interface Checked {
  valid: boolean;
  faults: Fault[];
  advice: Fault[];
  canonical: string | null;
  is_part?: boolean;
  uses?: { name: string; version: number }[];
}

export interface ListedDefinition {
  name: string;
  model: string;
  versions: number;
  latest: number;
  changed: string;
}

export interface KeptDefinition {
  name: string;
  model: string;
  version: number;
  text: string;
  created: string;
}

export interface ListedTable {
  table: string;
  database: string;
  name: string;
  rows: Integer;
  bytes: Integer;
  newest: string | null;
  /** Rows since the server's start. */
  acknowledged: Integer;
  /** Why it cannot be read. */
  trouble?: string | null;
}

export interface TableColumn {
  name: string;
  type: string;
  nullable: boolean;
}

export interface TableAbout {
  table: string;
  columns: TableColumn[];
  rows: Integer;
  rows_in_log: Integer;
  bytes: Integer;
  segments: number;
  layout: string;
  newest: string | null;
  acknowledged: Integer;
}

export interface Grant {
  name: string;
  /** Empty: all. */
  databases: string[];
  read: boolean;
  write: boolean;
  admin: boolean;
}

/** The last hour: measurements every `step_s` seconds. */
export interface History {
  step_s: number;
  /** Milliseconds since 1970. */
  at: number[];
  series: Record<string, (number | null)[]>;
}

export interface LogPosition {
  table: string;
  bytes: Integer;
  rows: Integer;
  first: Integer;
  next: Integer;
}

export interface Verification {
  ok: boolean;
  hash: string;
  event_hash: string | null;
  /** Nothing for a check that does not apply. */
  checks: { name: string; ok: boolean | null; detail: string }[];
}
