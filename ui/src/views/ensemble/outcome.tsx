import { useRef, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { send } from "../../api/client";
import type { Bin, Distribution, EntitySpec, OutcomeSpec } from "../../api/types";
import { useAsked } from "../../app/asked";
import { shellWord } from "../../app/command";
import { plural } from "../../app/format";
import { Link, href, query, setQuery } from "../../app/router";
import { attempt } from "../../app/toasts";
import { Cdf } from "../../charts/cdf";
import { QuantileDots } from "../../charts/dots";
import { Histogram, binText } from "../../charts/histogram";
import { savePng, saveSvg } from "../../charts/picture";
import { Combobox } from "../../parts/combobox";
import { Command } from "../../parts/empty";
import { ErrorNote } from "../../parts/error_note";
import { extent } from "../../charts/scale";
import { Icon } from "../../parts/icon";
import { save } from "../../parts/save";
import { matches } from "../../parts/search";
import { outcomesOf, useEnsemble, wordsOf } from "./context";
import { type Question, askBars, askCurve, dots, isFinite, series } from "./distributions";
import { Labels, Numbers } from "./numbers";
import { WAYS } from "./picks";

const BINS = [10, 20, 40, 80];
const OTHERS_MAX = 7;
const SUGGESTED = 40;

/** One outcome or expression in full, of one or several entities. */
export function OutcomeView({ entity, outcome }: { entity: EntitySpec; outcome: string }) {
  const { name, catalogue, edition } = useEnsemble();
  const others = query.value.getAll("with");
  const bins = BINS.find((n) => n === Number(query.value.get("bins"))) ?? 20;
  const question: Question = { ensemble: name, entities: [entity.name, ...others], outcome };
  const key = JSON.stringify(question);
  const found = useAsked(`${key}\n${bins}`, (signal) => askBars(question, bins, signal), {
    edition,
    keep: (before) => before.startsWith(`${key}\n`),
  });
  const curve = useAsked(key, (signal) => askCurve(question, signal), { edition, keep: () => false });
  const all = outcomesOf(catalogue, entity);
  const spec = all.find((one) => one.name === outcome);
  const word = wordsOf(spec);
  const at = all.findIndex((one) => one.name === outcome);
  const go = (to: string) => href(["ensemble", name], { ...kept(), entity: entity.name, outcome: to, with: others });
  const first = found.value?.[0];
  const several = others.length > 0;
  const titleOf = (name: string | null) => catalogue.entities.find((one) => one.name === name)?.title || (name ?? "");
  const domain = extent((found.value ?? []).flatMap(dots));
  const title = `${outcome} of ${entity.title || entity.name}`;
  return (
    <>
      <div class="bar-row">
        <Link to={href(["ensemble", name], { entity: entity.name, kind: query.value.get("kind") })}>
          {plural(all.length, "outcome")}
        </Link>
        <h2>{outcome}</h2>
        <span class="muted">
          {entity.title || entity.name}
          {first && first.unit !== "" && ` · ${first.unit}`}
        </span>
        <span class="end buttons">
          {at > 0 && (
            <Link class="button small" to={go(all[at - 1]?.name ?? "")}>
              Previous
            </Link>
          )}
          {at >= 0 && at < all.length - 1 && (
            <Link class="button small" to={go(all[at + 1]?.name ?? "")}>
              Next
            </Link>
          )}
          <Files question={question} />
        </span>
      </div>
      <Overlay entity={entity} others={others} />
      {found.error && <ErrorNote error={found.error} again={found.again} />}
      {found.value && found.value.some((one) => !isFinite(one)) && (
        <>
          <p class="note">There is no picture: some values are infinite, NaN, or too far apart.</p>
          <section class="card view dense">
            <Numbers found={found.value} isFlag={spec?.kind === "flag"} />
          </section>
        </>
      )}
      {found.value?.every(isFinite) && first && (
        <div class="pictures" aria-busy={found.busy}>
          <Picture title={`Histogram, ${title}`} extra={<Bins bins={bins} />}>
            <Bars title={title} found={found.value} word={word} entity={entity.name} outcome={outcome} spec={spec} />
          </Picture>
          <Picture title={`Cumulative, ${title}`}>
            {curve.value?.every(isFinite) && (
              <Cdf label={`Cumulative distribution, ${title}`} series={curve.value.map(series)} unit={first.unit} />
            )}
          </Picture>
          <Picture title={`100 dots, ${title}`}>
            {found.value.map((one, i) => (
              <QuantileDots
                key={one.entity}
                label={`Quantile dots, ${outcome} of ${one.entity}`}
                quantiles={dots(one)}
                unit={several ? titleOf(one.entity) : one.unit}
                domain={domain}
                height={several ? 120 : 220}
                tone={i}
                {...(word ? { word } : {})}
              />
            ))}
          </Picture>
          <section class="card view dense">
            {(!first.labels || several) && <Numbers found={found.value} isFlag={spec?.kind === "flag"} />}
            {first.labels && <Labels labels={first.labels} />}
          </section>
        </div>
      )}
      <Command text={shell(name, question)} />
    </>
  );
}

/** What stays in the address from one outcome to the next. */
function kept() {
  return { kind: query.value.get("kind"), bins: query.value.get("bins") };
}

function shell(ensemble: string, { entities, outcome }: Question): string {
  return [
    "manyworlds outcome",
    shellWord(ensemble),
    ...entities.map((one) => `--entity ${shellWord(one)}`),
    `--outcome ${shellWord(outcome)}`,
  ].join(" ");
}

interface BarsProps {
  title: string;
  found: readonly Distribution[];
  word: ((code: number) => string | undefined) | undefined;
  entity: string;
  outcome: string;
  spec: OutcomeSpec | undefined;
}

/** The histogram, and what a picked bar leads to. */
function Bars({ title, found, word, entity, outcome, spec }: BarsProps) {
  const { name } = useEnsemble();
  const [bins, setBins] = useState<{ bin: Bin; next: Bin | undefined }>();
  const pick = bins && { ensemble: name, entity, outcome, spec, ...bins };
  return (
    <>
      <Histogram
        label={`Histogram, ${title}`}
        series={found.map(series)}
        unit={found[0]?.unit ?? ""}
        {...(word ? { word } : {})}
        onPick={(bin, next) => setBins({ bin, next })}
      />
      {pick && (
        <div class="bar-row picked" role="status">
          <span>
            {outcome} {binText(pick.bin, word)}:
          </span>
          {WAYS.map((way) => (
            <Link key={way.name} to={way.to(pick)}>
              {way.name}
            </Link>
          ))}
          <button class="quiet" aria-label="Close" onClick={() => setBins(undefined)}>
            <Icon name="close" />
          </button>
        </div>
      )}
    </>
  );
}

/** A chart with its title and its files. */
function Picture({
  title,
  extra,
  children,
}: {
  title: string;
  extra?: ComponentChildren;
  children: ComponentChildren;
}) {
  const box = useRef<HTMLElement>(null);
  const chart = () => box.current?.querySelector<SVGSVGElement>(".chart svg");
  const [name] = title.split(",");
  return (
    <section class="card picture" ref={box}>
      <div class="bar-row">
        <h3>{name}</h3>
        <span class="end buttons">
          {extra}
          <button
            class="quiet small"
            aria-label={`Save ${title} as SVG`}
            onClick={() => {
              const svg = chart();
              if (svg) saveSvg(svg, title);
            }}
          >
            SVG
          </button>
          <button
            class="quiet small"
            aria-label={`Save ${title} as PNG`}
            onClick={() => {
              const svg = chart();
              if (svg) void attempt(() => savePng(svg, title));
            }}
          >
            PNG
          </button>
        </span>
      </div>
      {children}
    </section>
  );
}

function Bins({ bins }: { bins: number }) {
  return (
    <label class="check">
      <span class="muted">Bins</span>
      <select class="narrow" value={bins} onChange={(event) => setQuery({ bins: event.currentTarget.value })}>
        {BINS.map((n) => (
          <option key={n}>{n}</option>
        ))}
      </select>
    </label>
  );
}

/** The entities over each other, and a field that adds one. */
function Overlay({ entity, others }: { entity: EntitySpec; others: string[] }) {
  const { catalogue } = useEnsemble();
  const [text, setText] = useState("");
  const free = catalogue.entities.filter(
    (one) => one.kind === entity.kind && one !== entity && !others.includes(one.name),
  );
  const found = free.filter((one) => matches(text, one.name, one.title)).slice(0, SUGGESTED);
  const title = (name: string) => catalogue.entities.find((one) => one.name === name)?.title || name;
  if (free.length === 0 && others.length === 0) return null;
  return (
    <div class="bar-row overlay">
      {[entity.name, ...others].map((one, i) => (
        <span key={one} class={`pill s${(i % 8) + 1}`}>
          <span class="key" />
          {title(one)}
          {i > 0 && (
            <button
              class="quiet"
              aria-label={`Remove ${title(one)}`}
              onClick={() => setQuery({ with: others.filter((other) => other !== one) })}
            >
              <Icon name="close" />
            </button>
          )}
        </span>
      ))}
      {others.length < OTHERS_MAX && (
        <Combobox
          label="Overlay another entity"
          hideLabel
          placeholder="Overlay another entity"
          value={text}
          onInput={setText}
          options={found.map((one) => ({ value: one.name, detail: one.title }))}
          onChoose={(option) => {
            setText("");
            setQuery({ with: [...others, option.value] });
          }}
        />
      )}
    </div>
  );
}

/** Downloads of the value in every world. */
function Files({ question: { ensemble, entities, outcome } }: { question: Question }) {
  const [busy, setBusy] = useState(false);
  const get = async (format: "csv" | "parquet") => {
    setBusy(true);
    await attempt(async () => {
      const answer = await send("/api/v1/worlds", { ensemble, entities, outcomes: [outcome] }, { format });
      save(await answer.blob(), `${ensemble} ${outcome}.${format}`);
    });
    setBusy(false);
  };
  return (
    <>
      <span class="muted">Values</span>
      <button class="small" disabled={busy} onClick={() => void get("csv")}>
        CSV
      </button>
      <button class="small" disabled={busy} onClick={() => void get("parquet")}>
        Parquet
      </button>
    </>
  );
}
