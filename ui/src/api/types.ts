// Names for the forms of answers, which the OpenAPI document defines (see api.gen.ts); narrower where a document cannot say
// it: integers of 64 bits may be `bigint`.
import type { components } from "../api.gen";
import type { Integer } from "./json";

type Schemas = components["schemas"];
type Narrowed<Whole, Part> = Omit<Whole, keyof Part> & Part;

export type Session = Schemas["Session"];

/** A number, or a text for what JSON has no number. */
export type Real = Schemas["Outcome"]["mean"];

/** A parameter's value. */
export type Value = ParameterSpec["default"];
export type Model = Schemas["Model"];
export type ParameterSpec = Model["parameters"][number];

/** An ensemble; one that cannot be read has its name, state and error only. */
export type Ensemble = Narrowed<
  Required<Schemas["Ensemble"]>,
  { error?: string; seed: Integer; parameters: Record<string, Value> }
>;

export type Description = Schemas["Description"];
export type Catalogue = Description["catalogue"];
export type EntitySpec = Catalogue["entities"][number];
export type OutcomeSpec = Catalogue["kinds"][number]["outcomes"][number];

/** A bin of a distribution whose values are finite. */
export interface Bin {
  from: number;
  to: number;
  worlds: number;
}

export type Distribution = Narrowed<Schemas["Outcome"], { ci: [Real, Real] | null; histogram: Bin[] }>;

export type Run = Schemas["Run"];
export type RunState = Run["state"];
export type RunAction = Run["can"][number];
export type Worker = Schemas["Worker"];
export type Status = Schemas["Status"];

export type Checked = Schemas["Checked"];
export type Fault = Schemas["DefinitionFault"];
export type ListedDefinition = Schemas["KeptDefinition"];
export type KeptDefinition = Schemas["Definition"];
export type Verification = Schemas["Verification"];

export type ListedTable = Narrowed<Schemas["Table"], { rows: Integer; bytes: Integer; acknowledged: Integer }>;
export type TableAbout = Narrowed<
  Schemas["TableDetails"],
  { rows: Integer; rows_in_log: Integer; bytes: Integer; acknowledged: Integer }
>;
export type TableColumn = TableAbout["columns"][number];
/** What a token permits; no databases: all. */
export type Grant = Schemas["Grant"];
/** The last hour: measurements every `step_s` seconds. */
export type History = Schemas["History"];
export type LogPosition = Narrowed<Schemas["Log"], { bytes: Integer; rows: Integer; first: Integer; next: Integer }>;

/** A setting of the server; passwords in it are left out. */
export interface Setting {
  name: string;
  value: string | null;
  source: string;
  secret: boolean;
}
