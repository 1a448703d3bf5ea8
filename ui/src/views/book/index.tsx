import { useEffect, useRef, useState } from "preact/hooks";
import { post } from "../../api/client";
import type { Book } from "../../api/questions";
import { useAsked } from "../../app/asked";
import { type Bet, betsOf, bookHref, rememberBook, rememberedBook } from "../../app/question";
import { open, query } from "../../app/router";
import { Empty } from "../../parts/empty";
import { ErrorNote } from "../../parts/error_note";
import { useEnsemble } from "../ensemble/context";
import { Adder } from "../joint/adder";
import { exampleOf } from "../joint/example";
import { Bets } from "./bets";
import { Risk } from "./risk";

/** Whether the server can read a stake or odds. */
export function isDecimal(text: string): boolean {
  return /^\d*\.?\d*$/.test(text) && /\d/.test(text);
}

/** A book of bets: its profit over all worlds. */
export default function BookView() {
  const { name, edition, catalogue } = useEnsemble();
  const bets = betsOf(query.value);
  const [before] = useState(() => rememberedBook(name));
  const restores = useRef(bets.length === 0 && before.length > 0);
  useEffect(() => {
    if (restores.current) open(bookHref(name, before), { replace: true });
    restores.current = false;
  }, []);
  const address = JSON.stringify(bets);
  useEffect(() => {
    if (!restores.current) rememberBook(name, bets);
  }, [name, address]);
  const isWhole = bets.length > 0 && bets.every((bet) => isDecimal(bet.stake) && isDecimal(bet.odds));
  const question = { ensemble: name, bets, worst: 20 };
  const key = isWhole ? JSON.stringify(question) : undefined;
  const found = useAsked(key, (signal) => post<Book>("/api/v1/book", question, signal), { edition });
  const change = (next: readonly Bet[]) => open(bookHref(name, next), { replace: true });
  const answer = isWhole && found.value?.bets.length === bets.length ? found.value : undefined;
  return (
    <div class="view">
      <section class="card view" aria-label="Bets">
        <div class="bar-row">
          <h2>Bets</h2>
          <span class="muted">conditions that name their entities</span>
          {bets.length > 0 && (
            <button class="small end" onClick={() => change([])}>
              Clear
            </button>
          )}
        </div>
        {bets.length > 0 && <Bets bets={bets} answer={answer} onChange={change} />}
        <Adder
          label="Add a bet on"
          placeholder={exampleOf(catalogue, "")}
          entity=""
          verb="Add"
          onAdd={(text) => change([...bets, { legs: [text], stake: "10", odds: "2", side: "back" }])}
        />
      </section>
      {found.error && <ErrorNote error={found.error} again={found.again} />}
      {bets.length === 0 && <Empty title="No bets yet">Add one here, or ask a joint question and choose "Put into the book".</Empty>}
      {answer && <Risk book={answer} busy={found.busy} />}
    </div>
  );
}
