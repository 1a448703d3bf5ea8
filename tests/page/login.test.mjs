// Tokens: logging in, what a token may not do is not offered, and a revoked one ends the session.
import assert from "node:assert/strict";
import { join } from "node:path";
import { before, test } from "node:test";
import { browse, data, empty, everywhere, serve, shell, token } from "./harness.mjs";

let server;
let file;
let tokens;
before(async () => {
  file = join(empty(), "tokens.toml");
  tokens = { all: token(file, "all", "--read", "--write"), reader: token(file, "reader", "--read") };
  server = await serve(data(), { args: ["--token-file", file] });
});

const REFUSED = { expect: [/status of 401/] };

async function logIn(page, secret) {
  await page.getByLabel("Token").fill(secret);
  await page.getByRole("button", { name: "Log in" }).click();
}

test("login_returns_to_the_address_and_keeps_no_token", async (t) => {
  const page = await browse(t, `${server.url}/ui/ensemble/season?entity=team-01&outcome=wins`, REFUSED);
  await page.getByRole("heading", { name: "Log in" }).waitFor();
  await everywhere(page);
  await logIn(page, tokens.reader);
  await page.getByRole("heading", { name: "wins" }).waitFor();
  const kept = await page.evaluate(() =>
    [document.cookie, JSON.stringify(localStorage), JSON.stringify(sessionStorage), location.href].join("\n"),
  );
  assert.ok(!kept.includes("mw_"), kept);
  const [cookie] = await page.context().cookies();
  assert.ok(cookie.httpOnly);
  assert.equal(cookie.sameSite, "Strict");
  await page.reload();
  await page.getByRole("heading", { name: "wins" }).waitFor();
});

test("wrong_token_is_refused", async (t) => {
  const page = await browse(t, server.url, REFUSED);
  await logIn(page, "mw_wrong");
  await page.getByText("unknown token").waitFor();
});

test("reader_sees_no_button_that_writes", async (t) => {
  const page = await browse(t, server.url, REFUSED);
  await logIn(page, tokens.reader);
  await page.getByRole("row", { name: /season/ }).waitFor();
  assert.equal(await page.getByRole("link", { name: "Start a run" }).count(), 0);
  await page.goto(`${server.url}/ui/run`);
  await page.getByText("Your token does not permit this view").waitFor();
});

test("writer_may_start_a_run", async (t) => {
  const page = await browse(t, server.url, REFUSED);
  await logIn(page, tokens.all);
  await page.getByRole("link", { name: "Start a run" }).click();
  await page.getByRole("heading", { name: "Start a run" }).waitFor();
});

test("logout_asks_for_a_token_again", async (t) => {
  const page = await browse(t, server.url, REFUSED);
  await logIn(page, tokens.all);
  await page.getByRole("button", { name: "Display and session" }).click();
  await page.getByRole("button", { name: "Log out" }).click();
  await page.getByRole("heading", { name: "Log in" }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "Log in" }).waitFor();
});

test("revoked_token_ends_the_session", async (t) => {
  const page = await browse(t, server.url, REFUSED);
  await logIn(page, token(file, "brief", "--read"));
  await page.getByRole("row", { name: /season/ }).waitFor();
  shell("token", "revoke", "brief", "--token-file", file);
  await page.getByRole("link", { name: "season", exact: true }).click();
  await page.getByText(/Your session ended/).waitFor();
});

test("token_of_another_database_loses_no_connection", async (t) => {
  const page = await browse(t, server.url, { expect: [/status of 40[13]/] });
  await logIn(page, token(file, "elsewhere", "--read", "--database", "metrics"));
  await page.getByText('the token "elsewhere" is not for database "sim"').waitFor();
  await page.locator('.connection[data-is="none"]').waitFor({ state: "attached" });
  assert.equal(await page.getByText("connection lost").count(), 0);
  await page.getByRole("link", { name: "Tables", exact: true }).click();
  await page.getByRole("heading", { name: "Tables", exact: true }).waitFor();
});
