import { useState } from "preact/hooks";
import { get, post, remove } from "../../api/client";
import type { Grant } from "../../api/types";
import { useAsked } from "../../app/asked";
import { session } from "../../app/session";
import { attempt } from "../../app/toasts";
import { copy } from "../../parts/copy";
import { Confirm } from "../../parts/dialog";
import { Command, Empty } from "../../parts/empty";
import { ErrorNote } from "../../parts/error_note";
import { Icon } from "../../parts/icon";
import { Table } from "../../parts/virtual_table";
import { ApiError } from "../../api/client";

/** Tokens: created, listed, revoked. */
export function Tokens() {
  const asked = useAsked("tokens", (signal) => get<Grant[]>("/api/v1/tokens", {}, signal));
  const [made, setMade] = useState<{ name: string; token: string }>();
  const [leaving, setLeaving] = useState<Grant>();
  if (asked.error?.status === 409) {
    return (
      <Empty title="This server needs no tokens">
        Everybody on this machine may do everything. To require tokens, create one that manages tokens, then start the server with the file:
        <Command text={"manyworlds token create admin --read --write --admin --token-file tokens.toml\nmanyworlds serve --token-file tokens.toml"} />
      </Empty>
    );
  }
  if (asked.value === undefined) return asked.error ? <ErrorNote error={asked.error} again={asked.again} /> : null;
  const own = session.value?.name;
  return (
    <>
      {made && <Once name={made.name} token={made.token} onClose={() => setMade(undefined)} />}
      <Create
        onCreate={(name, token) => {
          setMade({ name, token });
          asked.again();
        }}
      />
      <Table
        label="Tokens"
        rows={asked.value}
        rowKey={(grant) => grant.name}
        columns={[
          { key: "name", title: "Token", cell: (grant) => <><bdi class="strong">{grant.name}</bdi>{grant.name === own && <span class="muted"> (this session)</span>}</> },
          { key: "may", title: "May", cell: permissions },
          { key: "databases", title: "Databases", cell: (grant) => (grant.databases.length === 0 ? "all" : grant.databases.join(", ")) },
          {
            key: "revoke",
            title: <span class="hidden">Revoke</span>,
            align: "right",
            cell: (grant) => (
              <button class="small danger" aria-label={`Revoke ${grant.name}`} onClick={() => setLeaving(grant)}>
                Revoke
              </button>
            ),
          },
        ]}
      />
      {leaving && (
        <Confirm
          title={`Revoke "${leaving.name}"?`}
          verb="Revoke"
          onClose={() => setLeaving(undefined)}
          onConfirm={async () => {
            const went = await attempt(() => remove("/api/v1/tokens", { name: leaving.name }), `Revoked "${leaving.name}"`);
            // If the viewer revoked the session's own token, this request leads to the login.
            if (went) asked.again();
          }}
        >
          Programs with this token are refused from their next request on.
          {leaving.name === own && " It is the token of this session: you will be logged out."}
        </Confirm>
      )}
    </>
  );
}

function permissions({ read, write, admin }: Grant): string {
  const may = [read && "read", write && "write", admin && "manage tokens"].filter(Boolean);
  return may.length === 0 ? "nothing" : may.join(", ");
}

/** A new token: shown this once. */
function Once({ name, token, onClose }: { name: string; token: string; onClose: () => void }) {
  return (
    <div class="token-once" role="status">
      <p>
        Token <bdi class="strong">{name}</bdi> is created. Copy it now: the server keeps only its hash and cannot show it again.
      </p>
      <div class="command">
        <pre tabIndex={0}>
          <code>{token}</code>
        </pre>
      </div>
      <div class="buttons">
        <button class="primary" onClick={() => void copy(token, "Token copied")}>
          <Icon name="copy" /> Copy token
        </button>
        <button onClick={onClose}>Done</button>
      </div>
    </div>
  );
}

function Create({ onCreate }: { onCreate: (name: string, token: string) => void }) {
  const [name, setName] = useState("");
  const [databases, setDatabases] = useState("");
  const [may, setMay] = useState({ read: true, write: false, admin: false });
  const [error, setError] = useState<string>();
  const [busy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (name.trim() === "") return setError("enter a name: the owner or purpose of the token");
    setBusy(true);
    setError(undefined);
    try {
      const grant: Grant = { name: name.trim(), databases: databases.split(",").map((one) => one.trim()).filter((one) => one !== ""), ...may };
      const { token } = await post<{ token: string }>("/api/v1/tokens", grant);
      onCreate(grant.name, token);
      setName("");
    } catch (failed) {
      if (!(failed instanceof ApiError)) throw failed;
      setError(failed.message);
    }
    setBusy(false);
  };
  const scope = (word: keyof typeof may, label: string) => (
    <label class="check">
      <input type="checkbox" checked={may[word]} onChange={(event) => setMay({ ...may, [word]: event.currentTarget.checked })} />
      {label}
    </label>
  );
  return (
    <form class="card view" onSubmit={(event) => void submit(event)} aria-label="Create a token">
      <h2>Create a token</h2>
      <div class="fields">
        <div class="field">
          <label for="token-name">Name</label>
          <input id="token-name" value={name} aria-invalid={error !== undefined} aria-describedby="token-error" autocomplete="off" spellcheck={false} onInput={(event) => setName(event.currentTarget.value)} />
          <small>Its owner or purpose, such as "telegraf on web-1"</small>
        </div>
        <div class="field">
          <label for="token-databases">Databases</label>
          <input id="token-databases" value={databases} placeholder="all" autocomplete="off" spellcheck={false} onInput={(event) => setDatabases(event.currentTarget.value)} />
          <small>
            Separated by commas; ensembles are in <code>sim</code>
          </small>
        </div>
        <fieldset class="field plain">
          <legend class="label">May</legend>
          <div class="scopes">
            {scope("read", "read")}
            {scope("write", "write")}
            {scope("admin", "manage tokens")}
          </div>
        </fieldset>
      </div>
      <p id="token-error" class="bad" role="alert">
        {error}
      </p>
      <div class="buttons">
        <button class="primary" disabled={busy}>
          Create token
        </button>
      </div>
    </form>
  );
}
