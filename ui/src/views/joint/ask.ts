import { type Price, type PriceQuestion, askPrice } from "../../api/questions";
import { useAsked, type Asked } from "../../app/asked";
import type { Joint, Leg } from "../../app/question";
import { useEnsemble } from "../ensemble/context";

/** A leg as it counts. */
export function counted({ text, is }: Leg): string {
  return is === "not" ? `not (${text})` : text;
}

/** The conditions that count. */
export function active(all: readonly Leg[]): string[] {
  return all.filter((leg) => leg.is !== "off").map(counted);
}

/** The question in the server's words. */
export function questionOf(ensemble: string, { entity, legs, given, least }: Joint): PriceQuestion {
  const [asked, conditions] = [active(legs), active(given)];
  return {
    ensemble,
    ...(entity ? { entity } : {}),
    // A condition that always holds: how many worlds meet the givens is worth knowing before there is a leg.
    legs: asked.length > 0 ? asked : ["true"],
    ...(conditions.length > 0 ? { given: conditions } : {}),
    ...(least > 0 ? { min_worlds: least } : {}),
  };
}

/** The answer of a question, and the question that it answers: the last answer stays until the next one is there. */
export interface Answer {
  question: PriceQuestion;
  price: Price;
}

/** Asks about a question; once for each change, and again as the ensemble grows. */
export function useJoint(joint: Joint): Asked<Answer> {
  const { name, edition } = useEnsemble();
  const question = questionOf(name, joint);
  const isEmpty = active(joint.legs).length === 0 && active(joint.given).length === 0;
  const key = isEmpty ? undefined : JSON.stringify(question);
  return useAsked(key, async (signal) => ({ question, price: await askPrice(question, signal) }), { edition });
}

/** A question about one condition alone: a leg, or a given, which may be in the model's own words. */
export function alone(ensemble: string, entity: string, text: string, isGiven: boolean): PriceQuestion {
  const about = { ensemble, ...(entity ? { entity } : {}) };
  return isGiven ? { ...about, legs: ["true"], given: [text], min_worlds: 0 } : { ...about, legs: [text] };
}
