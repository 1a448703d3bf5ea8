import type { Book, BookTail } from "../../api/questions";
import { count, decimal, percent } from "../../app/format";
import { worldHref } from "../../app/question";
import { Link } from "../../app/router";
import { Histogram } from "../../charts/histogram";
import { Table } from "../../parts/virtual_table";
import { useEnsemble } from "../ensemble/context";
import { signed } from "./bets";

/** The profit of a book over all worlds: how it is spread, and how bad it can be. */
export function Risk({ book, busy }: { book: Book; busy: boolean }) {
  const { name } = useEnsemble();
  const right = "right" as const;
  return (
    <div class="pictures" aria-busy={busy}>
      <section class="card view" aria-label="Profit">
        <h3>Profit</h3>
        <Histogram label="Histogram of the profit" series={[{ name: "profit", bins: book.histogram, worlds: book.worlds }]} unit="profit" />
        <dl class="facts">
          <Fact name="Expected profit" id="book-mean">{signed(book.mean)}</Fact>
          <Fact name="95% interval">{book.ci && `${signed(book.ci[0])} to ${signed(book.ci[1])}`}</Fact>
          <Fact name="Probability of a loss" id="book-loss">{percent(book.loss.probability)}</Fact>
          <Fact name="Std deviation">{decimal(book.standard_deviation)}</Fact>
          <Fact name="Least">{signed(book.min)}</Fact>
          <Fact name="Greatest">{signed(book.max)}</Fact>
          <Fact name="Stakes">{decimal(book.stake)}</Fact>
          <Fact name="Worlds">{count(book.worlds)}</Fact>
        </dl>
      </section>
      <section class="card view" aria-label="Risk">
        <h3>Risk</h3>
        <Table
          label="Value at risk"
          rows={book.tails}
          columns={[
            { key: "level", title: "Level", cell: (tail: BookTail) => percent(tail.level, 0) },
            { key: "var", title: "Value at risk", align: right, cell: (tail: BookTail) => decimal(tail.value_at_risk) },
            { key: "es", title: "Expected shortfall", align: right, cell: (tail: BookTail) => decimal(tail.expected_shortfall) },
          ]}
        />
        <h3>Worst worlds</h3>
        <div class="worst">
          <Table
            label="Worst worlds"
            rows={book.worst}
            columns={[
              { key: "world", title: "World", cell: ({ world }) => <Link to={worldHref(name, "", [], world)}>{count(world)}</Link> },
              { key: "profit", title: "Profit", align: right, cell: ({ profit }) => signed(profit) },
              { key: "lost", title: "Lost bets", cell: ({ lost }) => lost.join(", ") },
            ]}
          />
        </div>
      </section>
    </div>
  );
}

function Fact({ name, id, children }: { name: string; id?: string; children: string | null }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd id={id}>{children}</dd>
    </div>
  );
}
