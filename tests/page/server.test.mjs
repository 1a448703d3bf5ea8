// The server's view: health, settings, logs and tokens; and what sessions may do with their token.
import assert from "node:assert/strict";
import { join } from "node:path";
import { before, test } from "node:test";
import { LINES, browse, data, empty, eventually, everywhere, picture, serve, shell } from "./harness.mjs";

let open, guarded;
const tokens = {};
before(async () => {
  open = await serve(empty(), { args: ["--question-memory", "311", "--max-tables", "77"] });
  const write = await fetch(`${open.api}/write?db=metrics&precision=s`, { method: "POST", body: LINES });
  assert.equal(write.status, 204);
  const folder = data();
  const file = join(folder, "tokens.toml");
  const create = (name, ...scopes) => (tokens[name] = shell("token", "create", name, ...scopes, "--token-file", file).trim().match(/mw_\w+/)[0]);
  create("admin", "--read", "--write", "--admin");
  create("reader", "--read");
  create("leaving", "--read");
  guarded = await serve(folder, { args: ["--token-file", file] });
});

const bearer = (token) => ({ authorization: `Bearer ${token}` });
const get = (server, path, token) => fetch(`${server.api}${path}`, { headers: token ? bearer(token) : {} });

/** A page of the guarded server, logged in. */
async function logged(t, token, path, options = {}) {
  const page = await browse(t, `${guarded.url}${path}`, { expect: [/401/], ...options });
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("navigation", { name: "Views" }).waitFor();
  return page;
}

test("settings_are_those_given", async (t) => {
  const page = await browse(t, `${open.url}/ui/settings/limits`);
  const rows = page.getByRole("region", { name: "Settings" }).getByRole("row");
  const value = (name) => rows.filter({ has: page.getByText(name, { exact: true }) }).getByRole("cell").nth(1).innerText();
  await rows.nth(1).waitFor();
  assert.equal(await value("question-memory"), "311");
  assert.equal(await value("max-tables"), "77");
  assert.equal(await value("token-file"), "not set");
  await page.getByRole("searchbox", { name: "Search settings" }).fill("max-t");
  await eventually(async () => assert.equal(await rows.count(), 2));
});

test("logs_show_rows_that_are_not_flushed", async (t) => {
  const page = await browse(t, `${open.url}/ui/settings/logs`);
  const row = page.getByRole("row", { name: /metrics\.cpu/ });
  await row.waitFor();
  await eventually(async () => {
    const log = (await (await get(open, "/api/v1/logs")).json()).find((one) => one.table === "metrics.cpu");
    const cells = (await row.getByRole("cell").allInnerTexts()).map((text) => text.replaceAll(",", ""));
    assert.deepEqual([cells[0], cells[1], cells[3], cells[4]], ["metrics.cpu", String(log.rows), String(log.first), String(log.next)]);
  });
});

test("token_is_created_shown_once_and_revoked", async (t) => {
  const page = await logged(t, tokens.admin, "/ui/settings/tokens", { permissions: ["clipboard-read", "clipboard-write"], expect: [/401/, /409/] });
  const name = `<b>o'br"ien</b> 😀`;
  const create = async (called) => {
    await page.getByLabel("Name", { exact: true }).fill(called);
    await page.getByLabel("Databases").fill("metrics, other");
    await page.getByRole("button", { name: "Create token" }).click();
  };
  await create(name);
  await page.getByText("Copy it now").waitFor();
  await page.getByRole("button", { name: "Copy token" }).click();
  await page.getByText("Token copied").waitFor();
  const token = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(token, /^mw_[0-9a-f]{64}$/);
  const session = await (await get(guarded, "/api/v1/session", token)).json();
  assert.deepEqual([session.name, session.read, session.write, session.admin, session.databases], [name, true, false, false, ["metrics", "other"]]);
  await create(name);
  await page.getByRole("alert").getByText(/exists already/).waitFor();
  await page.getByRole("button", { name: "Done" }).click();
  await page.reload();
  const row = page.getByRole("row", { name });
  await row.waitFor();
  assert.deepEqual((await row.getByRole("cell").allInnerTexts()).slice(0, 3), [name, "read", "metrics, other"]);
  assert.ok(!(await page.content()).includes(token), "the token is shown once");
  await page.getByRole("button", { name: `Revoke ${name}` }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke", exact: true }).click();
  await eventually(async () => assert.equal(await row.count(), 0));
  assert.equal((await get(guarded, "/api/v1/session", token)).status, 401);
});

test("read_only_token_sees_nothing_that_writes", async (t) => {
  const page = await logged(t, tokens.reader, "/");
  await page.getByRole("link", { name: "season", exact: true }).waitFor();
  assert.equal(await page.getByRole("link", { name: /Start a run/ }).count(), 0);
  await page.getByRole("link", { name: "Server", exact: true }).click();
  await page.getByRole("link", { name: "Logs" }).waitFor();
  assert.equal(await page.getByRole("link", { name: "Tokens" }).count(), 0);
  await page.goto(`${guarded.url}/ui/settings/tokens`);
  await page.getByRole("heading", { name: "Server" }).waitFor();
  assert.equal(await page.getByRole("button", { name: /Create|Revoke/ }).count(), 0);
  await page.getByRole("link", { name: "Tables", exact: true }).click();
  await page.getByText(/may not; ask an administrator/).waitFor();
  // The cookie is out of reach of scripts, and no address has the token.
  assert.equal(await page.evaluate(() => document.cookie), "");
  assert.ok(!page.url().includes(tokens.reader));
});

test("revoked_token_leads_to_the_login", async (t) => {
  const page = await logged(t, tokens.leaving, "/ui/sql?sql=SELECT%201", { expect: [/401/, /Failed to load resource/] });
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByText(/^1 row in /).waitFor();
  const revoked = await fetch(`${guarded.api}/api/v1/tokens?name=leaving`, { method: "DELETE", headers: bearer(tokens.admin) });
  assert.equal(revoked.status, 204);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByText(/Your session ended/).waitFor();
  // The text is still there for whoever logs in again.
  await page.getByLabel("Token").fill(tokens.reader);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByText("SELECT 1", { exact: true }).waitFor();
});

test("server_without_tokens_says_how_to_require_them", async (t) => {
  const page = await browse(t, `${open.url}/ui/settings/tokens`, { expect: [/409/] });
  await page.getByRole("heading", { name: "This server needs no tokens" }).waitFor();
  await everywhere(page);
});

test("last_hour_is_drawn", async (t) => {
  const page = await browse(t, `${open.url}/ui/settings`);
  await page.getByText("ready: accepts rows and answers queries").waitFor();
  const figure = page.getByRole("figure", { name: "Memory of the server", exact: true });
  await figure.locator("canvas").waitFor({ timeout: 40_000 });
  await eventually(async () => {
    const { series } = await (await get(open, "/api/v1/history")).json();
    assert.equal(await figure.locator(".end").innerText(), `${(series.memory_bytes.at(-1) / 1e6).toFixed(2)} MB`);
  });
  await picture(page, "server");
  await everywhere(page);
});

test("views_of_the_server_are_clean_everywhere", async (t) => {
  const page = await logged(t, tokens.admin, "/ui/settings/tokens");
  await page.getByRole("button", { name: "Revoke reader" }).waitFor();
  await everywhere(page);
  for (const path of ["limits", "logs"]) {
    await page.goto(`${guarded.url}/ui/settings/${path}`);
    await page.getByText(/Search settings|No logs/).or(page.getByRole("searchbox")).first().waitFor();
    await everywhere(page);
  }
});
