import type { Book } from "../../api/questions";
import { decimal, percent } from "../../app/format";
import type { Bet } from "../../app/question";
import { Icon } from "../../parts/icon";
import { Table } from "../../parts/virtual_table";
import { isDecimal } from "./index";

interface Props {
  bets: readonly Bet[];
  answer: Book | undefined;
  onChange: (bets: Bet[]) => void;
}

/** The bets, with stake and odds to change, and what each is worth. */
export function Bets({ bets, answer, onChange }: Props) {
  const put = (place: number, values: Partial<Bet>) => onChange(bets.map((bet, i) => (i === place ? { ...bet, ...values } : bet)));
  const right = "right" as const;
  const worth = (place: number) => answer?.bets[place];
  const number = (bet: Bet, place: number, field: "stake" | "odds") => (
    <input
      class="bet-number"
      inputMode="decimal"
      aria-label={`${field === "stake" ? "Stake" : "Odds"} of bet ${place + 1}`}
      aria-invalid={isDecimal(bet[field]) ? undefined : true}
      value={bet[field]}
      onInput={(event) => put(place, { [field]: event.currentTarget.value })}
    />
  );
  return (
    <Table
      label="Bets of the book"
      rows={bets}
      columns={[
        { key: "place", title: "#", align: right, cell: (_, i) => i + 1 },
        {
          key: "legs",
          title: "On",
          cell: (bet) => (
            <span class="bet-legs mono">
              {bet.legs.map((leg) => (
                <span key={leg}>{leg}</span>
              ))}
            </span>
          ),
        },
        {
          key: "side",
          title: "Side",
          cell: (bet, i) => (
            <select class="narrow" aria-label={`Side of bet ${i + 1}`} value={bet.side} onChange={(event) => put(i, { side: event.currentTarget.value as Bet["side"] })}>
              <option value="back">back</option>
              <option value="lay">lay</option>
            </select>
          ),
        },
        { key: "stake", title: "Stake", align: right, cell: (bet, i) => number(bet, i, "stake") },
        { key: "odds", title: "Decimal odds", align: right, cell: (bet, i) => number(bet, i, "odds") },
        { key: "probability", title: "Probability", align: right, cell: (_, i) => percent(worth(i)?.probability) },
        { key: "profit", title: "Expected profit", align: right, cell: (_, i) => signed(worth(i)?.expected_profit) },
        { key: "edge", title: "Edge", align: right, cell: (_, i) => percent(worth(i)?.edge) },
        {
          key: "remove",
          title: <span class="hidden">Actions</span>,
          align: right,
          cell: (_, i) => (
            <button class="quiet small" aria-label={`Remove bet ${i + 1}`} onClick={() => onChange(bets.filter((_, place) => place !== i))}>
              <Icon name="close" />
            </button>
          ),
        },
      ]}
    />
  );
}

export function signed(amount: number | undefined): string {
  return amount === undefined ? "" : `${amount > 0 ? "+" : ""}${decimal(amount)}`;
}
