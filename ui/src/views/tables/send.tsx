import { Link, href, query, setQuery } from "../../app/router";
import { isAdmin, mayWrite, session } from "../../app/session";
import { Command } from "../../parts/empty";
import { Segmented } from "../../parts/segmented";
import { snippets } from "./snippets";

/** How programs send rows to a table. */
export function SendRows({ database, name }: { database: string; name: string }) {
  const tokens = session.value?.tokens ?? false;
  const all = snippets(window.location.origin, database, name, tokens);
  const shown = all.find((one) => one.id === query.value.get("send")) ?? all[0];
  if (shown === undefined) return null;
  return (
    <div class="view send">
      <Segmented label="With" hideLabel value={shown.id} options={all.map((one) => [one.id, one.name] as const)} onChange={(send) => setQuery({ send })} />
      <p class="muted">{shown.about}</p>
      <Command text={shown.text} />
      {tokens && (
        <p class="note">
          This server needs a token that may write to <bdi class="strong">{database}</bdi>, here in the environment variable <code>MANYWORLDS_TOKEN</code>.{" "}
          {isAdmin.value ? (
            <Link to={href(["settings", "tokens"])}>Create one</Link>
          ) : mayWrite(database) ? (
            "The token of this session may."
          ) : (
            "The token of this session may not; ask an administrator for one."
          )}
        </p>
      )}
    </div>
  );
}
