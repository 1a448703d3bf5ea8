// Addresses of joint questions, of leverage, and of single worlds: other views lead there.
import { signal } from "@preact/signals";
import { href } from "./router";

/** A condition that the viewer can switch: it counts, counts negated, or is left out. */
export interface Leg {
  text: string;
  is: "on" | "not" | "off";
}

/** A joint question, as the address of its view has it. */
export interface Joint {
  /** The entity of plain names. */
  entity: string;
  legs: readonly Leg[];
  given: readonly Leg[];
  /** Fewest worlds that must meet `given`; 0 for the server's default. */
  least: number;
}

export const NO_QUESTION: Joint = { entity: "", legs: [], given: [], least: 0 };

/** The question that the viewer looked at last, by ensemble: legs from other views are added to it. */
const last = signal<ReadonlyMap<string, Joint>>(new Map());

export function remember(ensemble: string, joint: Joint): void {
  last.value = new Map([...last.value, [ensemble, joint]]);
}

export function remembered(ensemble: string): Joint {
  return last.value.get(ensemble) ?? NO_QUESTION;
}

/** Reads a question from an address. `off` and `not` have the places of legs that are switched. */
export function jointOf(query: URLSearchParams): Joint {
  const legs = (name: string): Leg[] => {
    const places = (word: string) => new Set((query.get(word) ?? "").split(",").filter(Boolean).map(Number));
    const [off, not] = [places(`${name}-off`), places(`${name}-not`)];
    return query.getAll(name).map((text, i) => ({ text, is: off.has(i) ? "off" : not.has(i) ? "not" : "on" }));
  };
  const least = Number(query.get("least"));
  return {
    entity: query.get("entity") ?? "",
    legs: legs("leg"),
    given: legs("given"),
    least: Number.isSafeInteger(least) && least > 0 ? least : 0,
  };
}

/** The values of an address that hold a question. */
export function jointQuery({ entity, legs, given, least }: Joint): Record<string, string | string[] | number> {
  const places = (all: readonly Leg[], is: Leg["is"]) => all.flatMap((leg, i) => (leg.is === is ? [i] : [])).join(",");
  const of = (name: string, all: readonly Leg[]) => ({
    [name]: all.map((leg) => leg.text),
    [`${name}-off`]: places(all, "off"),
    [`${name}-not`]: places(all, "not"),
  });
  return { entity, ...of("leg", legs), ...of("given", given), least: least || "" };
}

/** The address of a question. */
export function jointHref(ensemble: string, joint: Joint): string {
  return href(["ensemble", ensemble, "joint"], jointQuery(joint));
}

function added(all: readonly Leg[], text: string): Leg[] {
  return all.some((leg) => leg.text === text)
    ? all.map((leg) => (leg.text === text ? { text, is: "on" } : leg))
    : [...all, { text, is: "on" }];
}

/** The address of the viewer's question with one more leg, which must name its entities. */
export function withLeg(ensemble: string, text: string, joint = remembered(ensemble)): string {
  return jointHref(ensemble, { ...joint, legs: added(joint.legs, text) });
}

/** The address of the viewer's question with one more condition. */
export function withGiven(ensemble: string, text: string, joint = remembered(ensemble)): string {
  return jointHref(ensemble, { ...joint, given: added(joint.given, text) });
}

/** The address of what moves a condition most. */
export function leverageHref(ensemble: string, condition: string, given: readonly string[] = [], entity = ""): string {
  return href(["ensemble", ensemble, "leverage"], { entity, condition, given: [...given] });
}

/** The address of a world: of the first one that meets all `conditions`, or of a known one. */
export function worldHref(ensemble: string, entity: string, conditions: readonly string[], world?: number): string {
  const path = ["ensemble", ensemble, "world", ...(world === undefined ? [] : [String(world)])];
  return href(path, { entity, in: [...conditions] });
}

/** A bet of a book. Stake and odds are decimals as typed. */
export interface Bet {
  legs: string[];
  stake: string;
  odds: string;
  side: "back" | "lay";
}

/** The book that the viewer looked at last, by ensemble. */
const lastBook = signal<ReadonlyMap<string, readonly Bet[]>>(new Map());

export function rememberBook(ensemble: string, bets: readonly Bet[]): void {
  lastBook.value = new Map([...lastBook.value, [ensemble, bets]]);
}

export function rememberedBook(ensemble: string): readonly Bet[] {
  return lastBook.value.get(ensemble) ?? [];
}

/** Reads the bets of an address: each is a list in JSON of side, stake, odds and legs. What is no bet is left out. */
export function betsOf(query: URLSearchParams): Bet[] {
  return query.getAll("bet").flatMap((text) => {
    try {
      const [side, stake, odds, ...legs] = JSON.parse(text) as string[];
      if (![stake, odds, ...legs].every((one) => typeof one === "string")) return [];
      return [{ side: side === "lay" ? "lay" : "back", stake: stake ?? "", odds: odds ?? "", legs } as Bet];
    } catch {
      return [];
    }
  });
}

/** The address of a book. */
export function bookHref(ensemble: string, bets: readonly Bet[]): string {
  const texts = bets.map(({ side, stake, odds, legs }) => JSON.stringify([side, stake, odds, ...legs]));
  return href(["ensemble", ensemble, "book"], { bet: texts });
}

/** The address of the viewer's book with one more bet. Legs must name their entities. */
export function withBet(ensemble: string, legs: readonly string[], odds: string): string {
  return bookHref(ensemble, [...rememberedBook(ensemble), { legs: [...legs], stake: "10", odds, side: "back" }]);
}
