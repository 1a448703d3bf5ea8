// Runs of a fleet: a real ledger, a real broker and real workers, looked at and controlled by clicks.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import {
  FLEET,
  WITHOUT_FLEET,
  browse,
  data,
  empty,
  eventually,
  everywhere,
  gate,
  picture,
  serve,
  shell,
  shellJson,
  work,
} from "./harness.mjs";

/** So many that a run does not end between two clicks. */
const WORLDS = 1500;
/** A debug build takes seconds to log in to the ledger on a busy machine. */
const PATIENCE = 120_000;

/** A name that no other test has: they share the ledger. */
const fresh = () => `fleet-${randomUUID().slice(0, 8)}`;

/** Fills in the form for the fleet and starts. */
async function submit(page, server, name) {
  await page.goto(`${server.url}/ui/run?model=football`);
  await page.getByRole("radio", { name: "On the fleet" }).check({ force: true });
  await page.getByRole("textbox", { name: "Name", exact: true }).fill(name);
  await page.getByRole("textbox", { name: "Worlds", exact: true }).fill(String(WORLDS));
  await page.getByRole("radio", { name: "Replay when asked" }).check({ force: true });
  await page
    .getByText(`manyworlds submit football --worlds ${WORLDS} --seed 1 --name ${name} --events replay`)
    .waitFor();
  await page.getByRole("button", { name: "Start" }).click();
}

test("fleet_is_submitted_watched_and_controlled", { skip: WITHOUT_FLEET }, async (t) => {
  const server = await serve(empty(), { env: FLEET });
  const name = fresh();
  const page = await browse(t, server.url);
  page.setDefaultTimeout(PATIENCE);
  await submit(page, server, name);
  await page.getByText(`Started ${name}`).waitFor();
  await page.getByRole("link", { name: "Ensembles", exact: true }).click();
  const row = page.getByRole("region", { name: "Ensembles" }).getByRole("row", { name: new RegExp(name) });
  const state = (word) => row.locator(".state", { hasText: word }).waitFor();
  const act = (action) => row.getByRole("button", { name: `${action} ${name}` }).click();
  const played = async () => Number(await row.getByRole("progressbar").getAttribute("aria-valuenow"));
  await state("running");
  assert.equal(await played(), 0, "nobody plays it yet");
  await row.getByRole("link", { name }).click();
  await page.getByRole("button", { name: `Pause ${name}` }).click();
  await page.getByRole("button", { name: `Resume ${name}` }).click();
  await page.getByRole("button", { name: `Pause ${name}` }).waitFor();
  await page.getByRole("link", { name: "Ensembles", exact: true }).click();
  const workers = page.getByRole("region", { name: "Workers" });
  const seen = (worker) => workers.getByRole("row", { name: new RegExp(`online.*\\b${worker.pid}\\b`) });
  const [first, second] = [await work(server.folder), await work(server.folder)];
  await seen(first).waitFor();
  await seen(second).waitFor();
  await eventually(async () => assert.ok((await played()) > 0), PATIENCE);
  await row.getByText(/\/s$/).waitFor();
  await picture(page, "fleet");
  await act("Pause");
  await state("paused");
  await second.stop();
  await seen(second).waitFor({ state: "detached" });
  await act("Resume");
  await state("running");
  await act("Cancel");
  await page.getByRole("dialog").getByRole("button", { name: "Cancel the run" }).click();
  await state("cancelled");
  await act("Retry");
  await state("running");
  const before = await played();
  await eventually(async () => assert.ok((await played()) > before), PATIENCE);
  await row.getByRole("link", { name }).click();
  await page.locator("header .state", { hasText: "complete" }).waitFor();
  await page.getByText(`${WORLDS.toLocaleString("en-US")} worlds`).first().waitFor();
  const folder = empty();
  shell("run", "football", "--worlds", String(WORLDS), "--events", "replay", "--name", name, "--data", folder);
  const ask = (data) => shellJson("outcome", name, "--entity", "team-01", "--outcome", "wins", "--data", data);
  assert.deepEqual(ask(server.folder), ask(folder));
  await page.getByRole("link", { name: "Ensembles", exact: true }).click();
  await seen(first).waitFor();
  await everywhere(page);
});

test("ledger_that_goes_away_hides_nothing_else", { skip: WITHOUT_FLEET }, async (t) => {
  const ledger = await gate(FLEET.MANYWORLDS_LEDGER);
  const server = await serve(data(), { env: { ...FLEET, MANYWORLDS_LEDGER: ledger.address } });
  const page = await browse(t, server.url, { expect: [/503/] });
  page.setDefaultTimeout(PATIENCE);
  const away = page.getByText(/Runs of the fleet may be out of date: the ledger at 127\.0\.0\.1/);
  await page.getByRole("row", { name: /^season/ }).waitFor();
  const said = async () => (await (await fetch(`${server.api}/api/v1/status`)).json()).fleet_error;
  await eventually(async () => assert.equal(await said(), null), PATIENCE);
  await away.waitFor({ state: "detached" });
  ledger.shut();
  await away.waitFor();
  const secret = new URL(FLEET.MANYWORLDS_LEDGER).password;
  assert.ok(secret !== "" && !(await page.content()).includes(secret));
  await everywhere(page);
  await submit(page, server, fresh());
  await page
    .getByRole("alert")
    .getByText(/ledger/)
    .waitFor();
  await page.getByRole("radio", { name: "On this server" }).check({ force: true });
  await page.getByRole("textbox", { name: "Name", exact: true }).fill("local");
  await page.getByRole("textbox", { name: "Worlds", exact: true }).fill("20");
  await page.getByRole("button", { name: "Start" }).click();
  await page.locator(".state", { hasText: "complete" }).waitFor();
  await page.goto(`${server.url}/ui/ensemble/season?entity=team-01&outcome=wins`);
  await page.getByRole("slider", { name: /^Histogram/ }).waitFor();
  await page.getByRole("link", { name: "Ensembles", exact: true }).click();
  await away.waitFor();
  ledger.open();
  await away.waitFor({ state: "detached" });
});
