import { createContext } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import type { Catalogue, EntitySpec, Ensemble, OutcomeSpec, Run } from "../../api/types";

/** Numbers of a run that is under way are asked again this often. */
export const EDITION_MS = 1000;

/** What every part of an ensemble's page needs. */
export interface Current {
  name: string;
  catalogue: Catalogue;
  parameters: Record<string, unknown>;
  stored: Ensemble;
  run: Run | undefined;
  /** Changes when new worlds can be asked about, at most once a second: part of the key of every question. */
  edition: string;
}

export const CurrentEnsemble = createContext<Current | undefined>(undefined);

/** The ensemble whose page this is. */
export function useEnsemble(): Current {
  const current = useContext(CurrentEnsemble);
  if (current === undefined) throw new Error("outside of an ensemble's page");
  return current;
}

export function outcomesOf(catalogue: Catalogue, entity: EntitySpec): OutcomeSpec[] {
  return catalogue.kinds[entity.kind]?.outcomes ?? [];
}

/** The word of a code of an outcome; `undefined` if its codes have none. */
export function wordsOf(outcome: OutcomeSpec | undefined): ((code: number) => string | undefined) | undefined {
  const labels = outcome?.labels;
  if (outcome?.kind === "flag") return (code) => (code === 1 ? "yes" : code === 0 ? "no" : undefined);
  return labels === undefined ? undefined : (code) => labels[code] || undefined;
}

/** A value that changes at most once in `ms`; the last one always arrives. */
export function useThrottled<T>(value: T, ms: number): T {
  const [shown, setShown] = useState(value);
  const last = useRef(0);
  useEffect(() => {
    const wait = Math.max(0, last.current + ms - Date.now());
    const timer = setTimeout(() => {
      last.current = Date.now();
      setShown(value);
    }, wait);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return shown;
}
