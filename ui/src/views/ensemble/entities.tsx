import { useState } from "preact/hooks";
import type { EntitySpec } from "../../api/types";
import { count, plural } from "../../app/format";
import { Link, href, query, setQuery } from "../../app/router";
import { Empty } from "../../parts/empty";
import { Search, matches } from "../../parts/search";
import { VirtualTable } from "../../parts/virtual_table";
import { outcomesOf, useEnsemble } from "./context";
import { NoWorlds } from "./no_worlds";
import { OutcomeView } from "./outcome";
import { SmallMultiples } from "./small";

/** Entities at the side; of the chosen one its outcomes, or one outcome in full. */
export default function Entities() {
  const { name, catalogue, stored } = useEnsemble();
  const entity = catalogue.entities.find((one) => one.name === query.value.get("entity")) ?? catalogue.entities[0];
  const wanted = query.value.get("entity");
  if (entity === undefined) return <Empty title="This ensemble has no entities" />;
  const outcome = query.value.get("outcome");
  const unknown = wanted !== null && entity.name !== wanted;
  return (
    <div class="sided">
      <Side current={entity} />
      <section class="view">
        {unknown ? (
          <Empty title={`No entity "${wanted}"`}>Choose one from the list.</Empty>
        ) : stored.worlds === 0 ? (
          <NoWorlds />
        ) : outcome !== null ? (
          <OutcomeView entity={entity} outcome={outcome} />
        ) : (
          <Outcomes key={`${name}\n${entity.name}`} entity={entity} />
        )}
      </section>
    </div>
  );
}

/** The list of entities. */
function Side({ current }: { current: EntitySpec }) {
  const { name, catalogue } = useEnsemble();
  const [search, setSearch] = useState("");
  const kinds = catalogue.kinds.length > 1 ? catalogue.kinds : [];
  const kind = query.value.get("kind") ?? "";
  const found = catalogue.entities.filter(
    (one) => matches(search, one.name, one.title) && (kind === "" || catalogue.kinds[one.kind]?.name === kind),
  );
  const [outcome, others] = [query.value.get("outcome"), query.value.getAll("with")];
  const to = (one: EntitySpec) => {
    // Another entity of the same kind has the same outcomes: the viewer stays at the one in view.
    const same = one.kind === current.kind;
    return href(["ensemble", name], {
      entity: one.name,
      kind,
      outcome: same ? outcome : null,
      with: same ? others : [],
    });
  };
  return (
    <aside class="side" aria-label="Entities">
      <Search
        label={`Search ${plural(catalogue.entities.length, "entity", "entities")}`}
        value={search}
        onChange={setSearch}
        shortcut
      />
      {kinds.length > 0 && (
        <select
          aria-label="Kind of entity"
          value={kind}
          onChange={(event) => setQuery({ kind: event.currentTarget.value })}
        >
          <option value="">all kinds</option>
          {kinds.map((one) => (
            <option key={one.name} value={one.name}>
              {one.name.replaceAll("_", " ")}
            </option>
          ))}
        </select>
      )}
      {found.length === 0 ? (
        <p class="muted">No entity matches.</p>
      ) : (
        <VirtualTable
          label="Entities"
          columns={[
            {
              key: "entity",
              title: <span>{count(found.length)} shown</span>,
              cell: (one: EntitySpec) => <Entity to={to(one)} entity={one} current={one === current} />,
            },
          ]}
          rows={found}
          rowKey={(one) => one.name}
          rowClass={(one) => (one === current ? "chosen" : undefined)}
          rowHeight={44}
          reveal={found.indexOf(current)}
        />
      )}
    </aside>
  );
}

function Entity({ to, entity, current }: { to: string; entity: EntitySpec; current: boolean }) {
  const titled = entity.title !== "" && entity.title !== entity.name;
  return (
    <Link class="entity" to={to} aria-current={current ? "true" : undefined} title={entity.title}>
      <span>{titled ? entity.title : entity.name}</span>
      {titled && <small>{entity.name}</small>}
    </Link>
  );
}

/** All outcomes of an entity as small pictures. */
function Outcomes({ entity }: { entity: EntitySpec }) {
  const { name, catalogue, edition } = useEnsemble();
  const all = outcomesOf(catalogue, entity);
  const search = query.value.get("q") ?? "";
  const shown = all.filter((one) => matches(search, one.name, one.unit));
  const members = entity.members.filter((member) => catalogue.entities.some((one) => one.name === member));
  return (
    <>
      <div class="bar-row">
        <h2>{entity.title || entity.name}</h2>
        <span class="muted mono">{entity.name}</span>
        {members.length > 0 && (
          <span class="bar-row muted">
            {members.map((member) => (
              <Link key={member} to={href(["ensemble", name], { entity: member })}>
                {catalogue.entities.find((one) => one.name === member)?.title ?? member}
              </Link>
            ))}
          </span>
        )}
        <span class="end muted">
          {shown.length === all.length
            ? plural(all.length, "outcome")
            : `${count(shown.length)} of ${count(all.length)}`}
        </span>
        <Search label="Search outcomes" value={search} onChange={(q) => setQuery({ q })} />
      </div>
      {shown.length === 0 ? (
        <Empty title={`No outcome matches "${search}"`}>
          <Link class="button" to={href(["ensemble", name], { entity: entity.name, outcome: search })}>
            Show it as an expression
          </Link>
        </Empty>
      ) : (
        <SmallMultiples ensemble={name} entity={entity.name} outcomes={shown} edition={edition} />
      )}
    </>
  );
}
