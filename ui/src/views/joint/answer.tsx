import type { ComponentChildren } from "preact";
import { count, decimal, odds, percent, plural } from "../../app/format";
import { type Answer, active } from "./ask";
import type { Joint } from "../../app/question";

/** What the viewer sees first: the joint probability, and beside it the product of the legs' probabilities. */
export function Numbers({ answer, joint, worlds, busy }: { answer: Answer; joint: Joint; worlds: number; busy: boolean }) {
  const { price, question } = answer;
  const hasLegs = active(joint.legs).length > 0;
  const isGiven = (question.given ?? []).length > 0;
  return (
    <section class="card answer" aria-label="Answer" aria-busy={busy}>
      {hasLegs && (
        <>
          <dl class="answer-head" aria-live="polite">
            <Fact name="Probability">
              <output class="big" id="joint-probability">
                {percent(price.probability)}
              </output>
            </Fact>
            <Fact name="Odds">
              <span class="big" id="joint-odds">
                {odds(price.probability)}
              </span>
            </Fact>
          </dl>
          <Scale price={price} />
          <dl class="facts">
            <Fact name="95% interval">
              <span id="joint-interval">
                {percent(price.ci[0])} to {percent(price.ci[1])}
              </span>
            </Fact>
            <Fact name="If independent">
              <span id="joint-independent">{percent(price.independent)}</span>
              <span class="muted"> odds {odds(price.independent)}</span>
            </Fact>
            {price.legs.length > 1 && price.independent > 0 && (
              <Fact name="Against independence">
                {decimal(price.probability / price.independent)}× <span class="muted">as likely</span>
              </Fact>
            )}
            <Fact name="Worlds with all legs">
              {count(price.hits)} <span class="muted">of {count(price.worlds)}</span>
            </Fact>
            <Fact name="Standard error">{percent(price.standard_error)}</Fact>
          </dl>
          <Hundred share={price.probability} />
        </>
      )}
      {isGiven && (
        <p class="given-match">
          <b id="given-worlds">{count(price.worlds)}</b> of {plural(worlds, "world")} match the givens
          <span class="muted"> ({percent(price.worlds / worlds)})</span>
        </p>
      )}
    </section>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** The interval and the product on one scale. */
function Scale({ price }: { price: Answer["price"] }) {
  const [low, high] = price.ci;
  const most = Math.min(1, Math.max(high, price.independent, price.probability) * 1.15) || 1;
  const at = (share: number) => `${Math.min(100, (share / most) * 100)}%`;
  return (
    <figure class="scale" aria-label="Joint probability with its interval, and the product under independence">
      <svg width="100%" height="46" aria-hidden="true">
        <line class="scale-axis" x1="0" x2="100%" y1="23" y2="23" />
        <rect class="scale-bar" x="0" y="15" width={at(price.probability)} height="16" rx="2" />
        <line class="scale-ci" x1={at(low)} x2={at(high)} y1="23" y2="23" />
        <line class="scale-ci" x1={at(low)} x2={at(low)} y1="17" y2="29" />
        <line class="scale-ci" x1={at(high)} x2={at(high)} y1="17" y2="29" />
        <line class="scale-product" x1={at(price.independent)} x2={at(price.independent)} y1="6" y2="40" />
      </svg>
      <figcaption class="bar-row muted">
        <span class="key-joint">joint, with 95% interval</span>
        <span class="key-product">if independent</span>
        <span class="end">0 to {percent(most, most < 0.1 ? 1 : 0)}</span>
      </figcaption>
    </figure>
  );
}

/** The share as worlds of 100, or of as many as one of them needs. */
function Hundred({ share }: { share: number }) {
  const words = ofHundred(share);
  const filled = Math.round(share * 100);
  return (
    <div class="hundred">
      <svg viewBox="0 0 25 4" aria-hidden="true">
        {Array.from({ length: 100 }, (_, i) => (
          <rect key={i} class={i < filled ? "world met" : "world"} x={(i % 25) + 0.08} y={Math.floor(i / 25) + 0.08} width="0.84" height="0.84" rx="0.15" />
        ))}
      </svg>
      <span class="muted">{words}</span>
    </div>
  );
}

function ofHundred(share: number): string {
  if (share === 0) return "in none of the worlds";
  if (share === 1) return "in every world";
  if (share < 0.005) return `about 1 of ${count(Math.round(1 / share))} worlds`;
  return `about ${Math.round(share * 100)} of 100 worlds`;
}
