import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { Empty } from "../parts/empty";
import { ErrorNote } from "../parts/error_note";
import { Icon } from "../parts/icon";
import { ApiError, pending } from "../api/client";
import { connection, reconnect } from "./live";
import { Login } from "./login";
import { Menu } from "./menu";
import { Link, href, segments } from "./router";
import { begin, isAdmin, mayPlay, standing } from "./session";
import { Toasts } from "./toasts";
import { VIEWS, type View } from "./views";

type Loaded = ComponentType<{ rest: string[] }> | ApiError;
const loaded = signal<ReadonlyMap<View, Loaded>>(new Map());

function load(view: View): void {
  const keep = (code: Loaded) => (loaded.value = new Map([...loaded.value, [view, code]]));
  view.load().then(
    (module) => keep(module.default),
    () => keep(new ApiError(0, "cannot load this view; the server may have been updated or be away")),
  );
}

function permitted(view: View): boolean {
  return view.needs === undefined || (view.needs === "admin" ? isAdmin.value : mayPlay.value);
}

export function Shell() {
  const now = standing.value;
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>
        Skip to content
      </a>
      <header class="top">
        <Link class="brand" to={href([])} aria-label="manyworlds, list of ensembles">
          <Icon name="worlds" />
          <span>manyworlds</span>
        </Link>
        {now.is === "in" && <Navigation />}
        <Connection />
        <Menu />
      </header>
      <Loading />
      <main id="main" tabIndex={-1}>
        {now.is === "in" || now.is === "asking" ? (
          <Current />
        ) : now.is === "out" ? (
          <Login expired={now.expired} />
        ) : null}
        {now.is === "away" && <ErrorNote error={now.error} again={() => void begin()} />}
      </main>
      <Toasts />
    </>
  );
}

function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

function Navigation() {
  const [first = ""] = segments.value;
  const current = (view: View) => view.at === first || (view.at === "" && first === "ensemble");
  return (
    <nav aria-label="Views">
      {VIEWS.filter((view) => view.name !== undefined && permitted(view)).map((view) => (
        <Link
          key={view.at}
          to={href(view.at === "" ? [] : [view.at])}
          aria-current={current(view) ? "page" : undefined}
        >
          {view.name}
        </Link>
      ))}
    </nav>
  );
}

function Current() {
  const [first = "", ...rest] = segments.value;
  const view = VIEWS.find((view) => view.at === first);
  const code = view && loaded.value.get(view);
  useEffect(() => {
    if (view && (code === undefined || code instanceof ApiError)) load(view);
  }, [view]);
  if (view === undefined) {
    return (
      <Empty isWhole title="There is no such view">
        <Link to={href([])}>Go to the list of ensembles</Link>
      </Empty>
    );
  }
  // Views that all may see ask for their numbers while the server says who the viewer is.
  if (standing.value.is === "asking" && view.needs !== undefined) return null;
  if (!permitted(view))
    return (
      <Empty isWhole title="Your token does not permit this view">
        Log in with another token.
      </Empty>
    );
  if (code === undefined) return null;
  if (code instanceof ApiError) return <ErrorNote error={code} again={() => load(view)} />;
  const View = code;
  return <View key={view.at} rest={rest} />;
}

/** A moving line while an answer takes its time. */
function Loading() {
  return pending.value > 0 ? <div class="loading" aria-hidden="true" /> : null;
}

function Connection() {
  if (standing.value.is !== "in") return <span class="grow" />;
  const is = connection.value;
  return (
    <div class="connection" role="status" data-is={is}>
      {is === "live" && (
        <span class="live" title="Numbers follow the server as it changes">
          live
        </span>
      )}
      {is === "lost" && (
        <>
          <span class="lost">connection lost</span>
          <button class="small" onClick={reconnect}>
            Reconnect
          </button>
        </>
      )}
    </div>
  );
}
