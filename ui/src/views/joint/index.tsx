import { useEffect, useRef, useState } from "preact/hooks";
import { count, plural } from "../../app/format";
import { allOf, isExpression, qualified } from "../../app/expression";
import { ODDS, oddsFormat } from "../../app/preferences";
import { type Joint, jointHref, jointOf, leverageHref, remember, remembered, withBet, worldHref } from "../../app/question";
import { Link, open, query } from "../../app/router";
import { copy } from "../../parts/copy";
import { Command, Empty } from "../../parts/empty";
import { ErrorNote } from "../../parts/error_note";
import { Segmented } from "../../parts/segmented";
import { EntityPicker } from "../ensemble/entity_picker";
import { useEnsemble } from "../ensemble/context";
import { Numbers } from "./answer";
import { active, useJoint } from "./ask";
import { exampleOf } from "./example";
import { Legs } from "./legs";
import { shellOf } from "./shell";

const NAMES = { decimal: "Decimal", american: "American", percent: "Percent" } as const;

/** A joint question: legs, givens, and the worlds in which they hold. */
export default function JointQuestion() {
  const { name, stored, edition, catalogue } = useEnsemble();
  const joint = jointOf(query.value);
  const isBare = joint.legs.length === 0 && joint.given.length === 0;
  // The tab leads back to the question that the viewer had.
  const [before] = useState(() => remembered(name));
  const restores = useRef(isBare && (before.legs.length > 0 || before.given.length > 0));
  useEffect(() => {
    if (restores.current) open(jointHref(name, before), { replace: true });
    restores.current = false;
  }, []);
  const address = JSON.stringify(joint);
  useEffect(() => {
    if (!restores.current) remember(name, joint);
  }, [name, address]);
  const asked = useJoint(joint);
  const shares = useShares(asked.value, edition);
  const change = (values: Partial<Joint>) => open(jointHref(name, { ...joint, ...values }), { replace: true });
  const [legs, given] = [active(joint.legs), active(joint.given)];
  const all = [...legs, ...given];
  const refused = asked.error?.kind === "too_few_worlds" ? asked.error.body : undefined;
  // An ensemble without worlds is refused without counts.
  const tooFew = typeof refused?.matched === "number" ? refused : undefined;
  const inLeg = asked.error?.text !== undefined && [...joint.legs, ...joint.given].some(({ text }) => asked.error?.text?.includes(text));
  return (
    <div class="joint">
      <div class="view">
        <div class="bar-row">
          <EntityPicker
            label="Default entity"
            value={joint.entity}
            optional
            onChange={(entity) => change({ entity })}
          />
          <span class="end">
            <Segmented
              label="Odds"
              value={oddsFormat.value}
              options={ODDS.map((word) => [word, NAMES[word]] as const)}
              onChange={(word) => (oddsFormat.value = word)}
            />
          </span>
        </div>
        <Legs
          title="Legs"
          one="leg"
          hint="conditions that must all hold in the same world"
          placeholder={exampleOf(catalogue, joint.entity)}
          legs={joint.legs}
          entity={joint.entity}
          probability={shares}
          error={asked.error}
          onChange={(legs) => change({ legs })}
        />
        <Legs
          title="Given"
          one="given"
          hint="count only the worlds that meet these"
          placeholder="a condition, or a moment in the model's words"
          legs={joint.given}
          entity={joint.entity}
          error={asked.error}
          isGiven
          onChange={(given) => change({ given })}
        />
      </div>
      <div class="view joint-answer">
        {tooFew && <TooFew body={tooFew} onLower={(least) => change({ least })} />}
        {asked.error && !tooFew && !inLeg && <ErrorNote error={asked.error} again={asked.again} />}
        {asked.error && inLeg && <p class="note">Change or switch off the marked condition for an answer.</p>}
        {asked.value && all.length > 0 && <Numbers answer={asked.value} joint={joint} worlds={stored.worlds} busy={asked.busy} />}
        {all.length === 0 && (
          <Empty title="No leg counts yet">
            Add a leg: type a condition, or click a bar of an outcome and choose "Add as a leg".
          </Empty>
        )}
        {all.length > 0 && (
          <div class="buttons">
            {legs.length > 0 && (
              <Link class="button small" to={leverageHref(name, allOf(legs), given, joint.entity)}>
                What moves it
              </Link>
            )}
            {legs.length > 0 && (
              <Link class="button small" to={withBet(name, legs.map((leg) => (joint.entity ? qualified(leg, joint.entity) : leg)), fair(asked.value?.price.fair_odds))}>
                Put into the book
              </Link>
            )}
            {given.every((text) => isExpression(text, catalogue, joint.entity)) && (
              <Link class="button small" to={worldHref(name, joint.entity, all)}>
                Open a world with all of it
              </Link>
            )}
            <button class="small" onClick={() => void copy(window.location.href, "Link copied")}>
              Copy link
            </button>
            <button class="small" onClick={() => change({ legs: [], given: [], least: 0 })}>
              Clear
            </button>
          </div>
        )}
        {legs.length > 0 && <Command text={shellOf(name, joint)} />}
      </div>
    </div>
  );
}

/** Probabilities of single legs as the server said them: what is switched off and on again needs no question. */
function useShares(answer: ReturnType<typeof useJoint>["value"], edition: string): (text: string) => number | undefined {
  const known = useRef({ about: "", shares: new Map<string, number>() });
  const about = JSON.stringify([edition, answer?.question.entity, answer?.question.given]);
  if (known.current.about !== about) known.current = { about, shares: new Map() };
  for (const { leg, probability } of answer?.price.legs ?? []) known.current.shares.set(leg, probability);
  return (text) => known.current.shares.get(text);
}

function TooFew({ body, onLower }: { body: Record<string, unknown>; onLower: (least: number) => void }) {
  const [matched, worlds, needed] = [Number(body.matched), Number(body.worlds), body.needed];
  return (
    <div class="error-note" role="alert">
      <p>
        Only {count(matched)} of {plural(worlds, "world")} match the givens; an answer needs {count(Number(body.minimum))}.
        {typeof needed === "number" && ` About ${count(needed)} worlds would suffice.`}
      </p>
      {matched > 0 && (
        <button class="small" onClick={() => onLower(matched)}>
          Answer with {plural(matched, "world")}
        </button>
      )}
    </div>
  );
}

/** The fair odds as a bet's first odds: the viewer enters those that are offered. */
function fair(odds: number | null | undefined): string {
  return odds && odds > 1 ? odds.toFixed(2) : "2";
}
