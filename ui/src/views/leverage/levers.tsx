import type { Lever } from "../../api/questions";
import { count, percent, points } from "../../app/format";
import { leverageHref, withGiven, withLeg, type Joint } from "../../app/question";
import { Link } from "../../app/router";
import { type Column, VirtualTable } from "../../parts/virtual_table";
import { useEnsemble } from "../ensemble/context";

interface Props {
  events: readonly Lever[];
  probability: number;
  /** Movements up to this may be chance. */
  chance: number;
  worlds: number;
  condition: string;
  given: readonly string[];
  entity: string;
  busy: boolean;
}

/** Pixels below which the chart is in sight without scrolling only if names are cut. */
const NARROW = 600;

/** The server answers with fewer worlds only on request. */
const LEAST_WORLDS = 100;

/** Events in rank order: for each, the condition's probability without and with it, on one scale. */
export function Levers({ events, probability, chance, worlds, condition, given, entity, busy }: Props) {
  const { name } = useEnsemble();
  const all = events.flatMap((one) => [one.with, one.without]);
  const [least, most] = [Math.min(probability, ...all), Math.max(probability, ...all)];
  const margin = Math.max(0.005, (most - least) * 0.06);
  const [low, high] = [Math.max(0, least - margin), Math.min(1, most + margin)];
  const at = (share: number) => `${(((share - low) / (high - low || 1)) * 100).toFixed(2)}%`;
  // The question that a click extends: the condition itself, under the same givens.
  const joint: Joint = {
    entity,
    legs: [{ text: condition, is: "on" }],
    given: given.map((text) => ({ text, is: "on" })),
    least: 0,
  };
  const isNarrow = window.innerWidth < NARROW;
  const columns: Column<Lever>[] = [
    { key: "event", title: "Event", width: isNarrow ? 150 : 250, cell: (one) => <Event one={one} /> },
    {
      key: "chart",
      title: (
        <span class="lever-head">
          <span>{percent(low, 0)}</span>
          <span>
            <i class="lever-key" /> {!isNarrow && "without"} <i class="lever-key with" /> with
          </span>
          <span>{percent(high, 0)}</span>
        </span>
      ),
      width: isNarrow ? 170 : 300,
      cell: (one) => <Dumbbell one={one} at={at} probability={probability} />,
    },
    { key: "with", title: "With", width: 82, align: "right", cell: (one) => percent(one.with) },
    { key: "without", title: "Without", width: 82, align: "right", cell: (one) => percent(one.without) },
    {
      key: "movement",
      title: "Movement",
      width: 92,
      align: "right",
      hint: "Expected change of the probability, in percentage points, once the event is decided",
      cell: (one) => <span title={`swing ${points(one.swing)} points`}>{(one.movement * 100).toFixed(2)}</span>,
    },
    {
      key: "worlds",
      title: "Worlds",
      width: 120,
      align: "right",
      hint: "Worlds with the event",
      cell: (one) => (
        <>
          {count(one.worlds)} <span class="muted">{percent(one.worlds / worlds, 0)}</span>
        </>
      ),
    },
    {
      key: "ways",
      title: <span class="hidden">Actions</span>,
      width: 156,
      align: "right",
      cell: (one) => one.leg !== null && <Ways leg={one.leg} worlds={one.worlds} joint={joint} ensemble={name} />,
    },
  ];
  return (
    <VirtualTable
      label="Events by movement"
      class="levers"
      busy={busy}
      columns={columns}
      rows={events}
      around={330}
      rowKey={(one) => `${one.entity} ${one.event}`}
      rowClass={(one) => (one.movement <= chance ? "weak" : undefined)}
      rowHeight={42}
    />
  );
}

function Event({ one }: { one: Lever }) {
  const owner = one.title || one.entity;
  return (
    <span class="entity" title={`${owner ?? ""} ${one.event}`}>
      <span class="mono">{one.event}</span>
      {owner && <small>{owner}</small>}
    </span>
  );
}

/** Where the probability goes: the hollow end without the event, the full one with it. */
function Dumbbell({ one, at, probability }: { one: Lever; at: (share: number) => string; probability: number }) {
  return (
    <svg class="dumbbell" width="100%" height="26" aria-hidden="true" data-up={one.swing > 0}>
      <line class="dumbbell-now" x1={at(probability)} x2={at(probability)} y1="0" y2="26" />
      <line class="dumbbell-bar" x1={at(one.without)} x2={at(one.with)} y1="13" y2="13" />
      <circle class="dumbbell-without" cx={at(one.without)} cy="13" r="4.5" />
      <circle class="dumbbell-with" cx={at(one.with)} cy="13" r="5" />
    </svg>
  );
}

function Ways({ leg, worlds, joint, ensemble }: { leg: string; worlds: number; joint: Joint; ensemble: string }) {
  // The viewer sees how few worlds have the event, and asks all the same.
  const least = worlds < LEAST_WORLDS ? worlds : 0;
  return (
    <span class="ways">
      <Link to={withGiven(ensemble, leg, { ...joint, least })} aria-label={`Add ${leg} as a given`}>
        given
      </Link>
      <Link to={withLeg(ensemble, leg, joint)} aria-label={`Add ${leg} as a leg`}>
        leg
      </Link>
      <Link to={leverageHref(ensemble, leg)} aria-label={`Rank what moves ${leg}`}>
        rank
      </Link>
    </span>
  );
}
