// Runs: started from the page, followed live, paused, resumed, cancelled.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { before, test } from "node:test";
import { browse, data, eventually, everywhere, picture, serve, shell, shellJson } from "./harness.mjs";

let server;
before(async () => {
  server = await serve(data());
});

const WORLDS = 200_000;

/** Starts a run that lasts longer than the test, as another client of the API would. */
async function long(name) {
  const body = JSON.stringify({ model: "football", name, worlds: WORLDS, events: "replay" });
  const reply = await fetch(`${server.api}/api/v1/run`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  assert.equal(reply.status, 202, await reply.text());
}

/** The process that plays the only run of a server. */
const player = () => Number(execFileSync("pgrep", ["-P", server.child.pid, "-f", "run-process"], { encoding: "utf8" }));

const stored = (name) => shellJson("ensembles", "--data", server.folder).find((one) => one.ensemble === name);

test("run_starts_from_the_page_and_equals_the_shell", async (t) => {
  const page = await browse(t, server.url);
  await page.getByRole("link", { name: "Start a run" }).click();
  await page.getByRole("link", { name: /^football/ }).click();
  await page.getByRole("textbox", { name: "Name", exact: true }).fill("fresh");
  await page.getByRole("textbox", { name: "Worlds", exact: true }).fill("60");
  await page.getByRole("textbox", { name: "Seed", exact: true }).fill("7");
  await page.getByRole("radio", { name: "Replay when asked" }).check({ force: true });
  await page.getByRole("textbox", { name: "pace", exact: true }).fill("1.1");
  await page
    .getByText("manyworlds run football --worlds 60 --seed 7 --name fresh --events replay --param pace=1.1")
    .waitFor();
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByRole("heading", { name: "fresh" }).waitFor();
  await page.locator(".state", { hasText: "complete" }).waitFor();
  const there = stored("fresh");
  assert.deepEqual([there.worlds, there.seed, there.events, there.model], [60, 7, "replay", "football"]);
  const other = data();
  shell(
    "run",
    "football",
    "--worlds",
    "60",
    "--seed",
    "7",
    "--name",
    "fresh",
    "--events",
    "replay",
    "--param",
    "pace=1.1",
    "--data",
    other,
  );
  const ask = (folder) => shellJson("outcome", "fresh", "--entity", "team-01", "--outcome", "wins", "--data", folder);
  assert.deepEqual(ask(server.folder), ask(other));
});

test("parameters_outside_their_bounds_cannot_start", async (t) => {
  const page = await browse(t, `${server.url}/ui/run?model=football&name=fast`);
  await page.getByRole("textbox", { name: "pace", exact: true }).fill("1.9");
  await page.getByText("give a number from 0.7 to 1.5").waitFor();
  assert.ok(await page.getByRole("button", { name: "Start" }).isDisabled());
  await page.reload();
  assert.equal(await page.getByRole("textbox", { name: "pace", exact: true }).inputValue(), "1.9");
  await page.getByRole("button", { name: "Reset pace" }).click();
  assert.ok(await page.getByRole("button", { name: "Start" }).isEnabled());
});

test("taken_name_asks_to_replace_or_add", async (t) => {
  const page = await browse(t, `${server.url}/ui/run?model=football&name=season&events=replay&worlds=205`);
  await page.getByText(/An ensemble season exists/).waitFor();
  assert.ok(await page.getByRole("button", { name: "Start" }).isDisabled());
  await page.getByRole("radio", { name: "Add worlds to it" }).check({ force: true });
  await page.getByRole("button", { name: "Add worlds" }).click();
  await eventually(() => assert.equal(stored("season").worlds, 205));
  await page.getByText(/^205 worlds/).waitFor();
});

test("list_follows_a_run_which_pauses_resumes_and_cancels", async (t) => {
  const page = await browse(t, server.url);
  await page.getByRole("row", { name: /season/ }).waitFor();
  await long("marathon");
  const row = page.getByRole("row", { name: /marathon/ });
  await row.locator(".state", { hasText: "running" }).waitFor();
  const bar = row.getByRole("progressbar");
  const done = async () => Number(await bar.getAttribute("aria-valuenow"));
  await eventually(async () => assert.ok((await done()) > 0));
  const before = await done();
  await eventually(async () => assert.ok((await done()) > before));
  await row.getByText(/\/s$/).waitFor();
  await picture(page, "list");
  await row.getByRole("button", { name: "Pause marathon" }).click();
  await row.locator(".state", { hasText: "paused" }).waitFor();
  await row.getByRole("button", { name: "Resume marathon" }).click();
  await row.locator(".state", { hasText: "running" }).waitFor();
  await row.getByRole("button", { name: "Cancel marathon" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel the run" }).click();
  await row.locator(".state", { hasText: "cancelled" }).waitFor();
});

test("outcome_grows_while_it_is_played", async (t) => {
  await long("growing");
  const page = await browse(t, `${server.url}/ui/ensemble/growing?entity=team-01&outcome=wins`);
  const worlds = async () =>
    Number(
      (await page.locator(".facts div").filter({ hasText: "Worlds" }).locator("dd").innerText()).replaceAll(",", ""),
    );
  const before = await eventually(worlds);
  await eventually(async () => assert.ok((await worlds()) > before));
  await page.getByRole("button", { name: "Cancel growing" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel the run" }).click();
  await page.locator(".state", { hasText: "cancelled" }).waitFor();
});

test("slow_questions_are_answered_while_worlds_are_added", async (t) => {
  await long("steady");
  const page = await browse(t, server.url);
  await page.route("**/api/v1/outcome", async (route) => {
    await new Promise((done) => setTimeout(done, 2500));
    await route.continue().catch(() => {});
  });
  await page.goto(`${server.url}/ui/ensemble/steady?entity=team-01`);
  const card = page.getByRole("link", { name: /^wins / });
  await card.locator("b").waitFor({ timeout: 15_000 });
  await card.click();
  await page.locator(".facts").waitFor({ timeout: 15_000 });
  assert.equal(await page.locator(".state").first().innerText(), "running");
  await page.getByRole("button", { name: "Cancel steady" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel the run" }).click();
  await page.locator(".state", { hasText: "cancelled" }).waitFor();
});

test("failed_run_says_why_and_is_retried", async (t) => {
  const page = await browse(t, server.url);
  await page.getByRole("heading", { name: "Ensembles" }).waitFor();
  await long("broken");
  const row = page.getByRole("row", { name: /broken/ });
  await row.locator(".state", { hasText: "running" }).waitFor();
  process.kill(player(), "SIGKILL");
  await row.locator(".state", { hasText: "failed" }).waitFor();
  await row.getByText(/signal 9/).waitFor();
  await row.getByRole("button", { name: "Retry broken" }).click();
  await row.locator(".state", { hasText: "running" }).waitFor();
  await row.getByRole("button", { name: "Cancel broken" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel the run" }).click();
  await row.locator(".state", { hasText: "cancelled" }).waitFor();
});

test("run_stops_once_its_estimate_is_precise", async (t) => {
  const page = await browse(t, `${server.url}/ui/run?model=football&name=precise&events=replay`, { expect: [/400/] });
  await page.getByRole("textbox", { name: "Worlds", exact: true }).fill(String(WORLDS));
  await page.getByText("Stop once an estimate is precise enough").click();
  await page.getByRole("textbox", { name: "Outcome", exact: true }).fill("team-01:winz");
  await page.getByText("say how precise").waitFor();
  assert.ok(await page.getByRole("button", { name: "Start" }).isDisabled());
  await page.getByRole("textbox", { name: "Half width of the 95% interval" }).fill("8%");
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByRole("alert").getByText(/winz/).waitFor();
  await page.getByRole("textbox", { name: "Outcome", exact: true }).fill("team-01:wins");
  await page.getByText(/--outcome team-01:wins --until-ci 8%$/).waitFor();
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByRole("heading", { name: "precise" }).waitFor();
  await page.locator(".state", { hasText: "enough" }).waitFor();
  const { state, worlds } = stored("precise");
  assert.equal(state, "enough");
  assert.ok(worlds < WORLDS);
  await page.getByText(`${worlds} of 200,000 worlds`).waitFor();
  const [{ mean, ci }] = shellJson(
    "outcome",
    "precise",
    "--entity",
    "team-01",
    "--outcome",
    "wins",
    "--data",
    server.folder,
  );
  const half = Math.max(mean - ci[0], ci[1] - mean);
  assert.ok(half <= 0.08 * mean, `${half} of ${mean}`);
});

test("list_shows_parameters_that_differ", async (t) => {
  const page = await browse(t, server.url);
  await page.getByRole("row", { name: /^slow/ }).getByText("pace 1.2").waitFor();
  await page
    .getByRole("row", { name: /^season/ })
    .getByText("pace 1", { exact: true })
    .waitFor();
  await page.getByRole("searchbox", { name: "Search ensembles" }).fill("pace=1.2");
  await page.getByRole("row", { name: /^season/ }).waitFor({ state: "detached" });
  await page.getByRole("row", { name: /^slow/ }).waitFor();
  assert.match(page.url(), /q=pace/);
});

test("run_form_fits_every_window_and_theme", async (t) => {
  const page = await browse(t, `${server.url}/ui/run?model=football&set=pace=1.1`);
  await page.getByRole("heading", { name: "Parameters" }).waitFor();
  await picture(page, "run");
  await everywhere(page);
});
