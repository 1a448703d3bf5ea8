// One world: the model's own tables and its events, and the way to it from a bar.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { browse, data, eventually, everywhere, picture, serve, shellJson } from "./harness.mjs";

let server;
let folder;
before(async () => {
  folder = data();
  server = await serve(folder);
});

const at = (name, world, query = {}) => `${server.url}/ui/ensemble/${name}/world${world === undefined ? "" : `/${world}`}?${new URLSearchParams(query)}`;
const events = (name, entity, world, ...where) =>
  shellJson("events", name, "--data", folder, "--entity", entity, "--world", String(world), ...where.flatMap((one) => ["--where", one]));
const outcome = (name, entity, world, outcome) =>
  shellJson("events", name, "--data", folder, "--entity", entity, "--world", String(world), "--summary").outcomes[outcome];
/** The first event that the page shows, and `event` as it would show it. */
async function firstEvent(page, event) {
  const region = page.getByRole("region", { name: "List of events" });
  const cells = await region.locator("tbody tr[aria-rowindex]").first().locator("td").allInnerTexts();
  const head = await region.locator("th").allInnerTexts();
  const expected = head.map((name) => (event[name] === null ? "" : String(event[name])));
  return [cells.map((text) => text.replaceAll(",", "")), expected];
}
const number = (page) => page.getByRole("textbox", { name: "World" });

test("the_models_tables_and_events_equal_the_shell", async (t) => {
  const page = await browse(t, at("plan", 17, { entity: "beta" }));
  const summary = shellJson("events", "plan", "--data", folder, "--entity", "beta", "--world", "17", "--summary");
  for (const table of summary.tables) {
    const region = page.getByRole("region", { name: table.name, exact: true });
    await region.waitFor();
    const shown = (await region.locator("td").allInnerTexts()).map((text) => text.replaceAll(",", ""));
    assert.deepEqual(shown, table.rows.flat().map((cell) => (cell === null ? "" : String(cell).replaceAll(",", ""))));
  }
  const all = events("plan", "beta", 17);
  await page.getByText(`${all.length} events`, { exact: true }).waitFor();
  assert.deepEqual(...(await firstEvent(page, all[0])));
  await picture(page, "world");
  await everywhere(page);
});

test("worlds_of_games_are_clean", async (t) => {
  const page = await browse(t, at("season", 3, { entity: "game-001" }));
  await page.getByRole("region", { name: "List of events" }).waitFor();
  await everywhere(page);
  // Imported ensembles have no events: nobody asks for them.
  await page.goto(at("queue", 3));
  await page.getByText("This entity has no events").waitFor();
});

test("events_are_those_of_the_world_and_filter_in_view", async (t) => {
  const page = await browse(t, at("plan", 17, { entity: "beta" }));
  const shows = (event) => eventually(async () => assert.deepEqual(...(await firstEvent(page, event))), 5000);
  await shows(events("plan", "beta", 17)[0]);
  await page.getByRole("button", { name: "Next world" }).click();
  await shows(events("plan", "beta", 18)[0]);
  await page.getByRole("combobox", { name: "Filter events" }).fill("what != 'drop'");
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await shows(events("plan", "beta", 18, "what != 'drop'")[0]);
});

test("events_are_filtered_and_faults_marked", async (t) => {
  const page = await browse(t, at("plan", 17, { entity: "beta" }), { expect: [/400/] });
  const field = page.getByRole("combobox", { name: "Filter events" });
  await field.pressSequentially("wha");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await field.pressSequentially("= dr");
  await page.getByRole("option", { name: "drop" }).click();
  assert.equal(await field.inputValue(), "what = 'drop' ");
  await page.keyboard.press("Enter");
  const drops = events("plan", "beta", 17, "what = 'drop'");
  await page.getByText(`${drops.length} events match`).waitFor();
  await page.reload();
  await page.getByText(`${drops.length} events match`).waitFor();
  await field.fill("what = 'drop' and nobody = 3");
  await page.keyboard.press("Enter");
  await page.locator(".events-where mark", { hasText: "nobody" }).waitFor();
  await page.getByRole("button", { name: "Show all events" }).click();
  await page.getByText(`${events("plan", "beta", 17).length} events`, { exact: true }).waitFor();
});

test("a_bar_leads_to_a_world_that_is_in_it", async (t) => {
  const page = await browse(t, `${server.url}/ui/ensemble/season?entity=team-01&outcome=wins`, { expect: [/400/] });
  const chart = page.getByRole("slider", { name: /^Histogram/ });
  await chart.focus();
  await page.keyboard.press("Home");
  for (let i = 0; i < 4; i++) await page.keyboard.press("ArrowRight");
  const [, wins, worlds] = /^(\d+): .*, (\d+) of 200 worlds/.exec(await chart.getAttribute("aria-valuetext"));
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "Open a world" }).click();
  await page.getByText(`1 of ${worlds}`).waitFor();
  const seen = [];
  for (let i = 0; i < 3; i++) {
    seen.push(Number(await number(page).inputValue()));
    await page.getByRole("button", { name: "Next world" }).click();
    await page.getByText(`${i + 2} of ${worlds}`).waitFor();
  }
  for (const world of seen) assert.equal(outcome("season", "team-01", world, "wins"), Number(wins));
  await page.getByRole("button", { name: "Previous world" }).click();
  await eventually(async () => assert.equal(Number(await number(page).inputValue()), seen[2]));
  await page.locator("h2").first().click();
  await page.keyboard.press("ArrowLeft");
  await eventually(async () => assert.equal(Number(await number(page).inputValue()), seen[1]));
});

test("a_joint_question_leads_to_its_worlds", async (t) => {
  const query = new URLSearchParams([["entity", "team-01"], ["leg", "wins > 8"], ["leg", "points_for > 380"], ["leg-not", "1"]]);
  const page = await browse(t, `${server.url}/ui/ensemble/season/joint?${query}`, { expect: [/400/] });
  await page.getByRole("link", { name: "Open a world with all of it" }).click();
  const hits = shellJson("probability", "season", "--data", folder, "--entity", "team-01", "--condition", "wins > 8", "--condition", "not (points_for > 380)").hits;
  await page.getByText(`1 of ${hits}`).waitFor();
  const world = Number(await number(page).inputValue());
  assert.ok(outcome("season", "team-01", world, "wins") > 8);
  assert.ok(outcome("season", "team-01", world, "points_for") <= 380);
});

test("unknown_worlds_and_impossible_conditions_say_so", async (t) => {
  const page = await browse(t, at("plan", 99999, { entity: "beta" }), { expect: [/400/, /404/] });
  await page.getByText(/does not store world 99999/).first().waitFor();
  await page.goto(at("season", undefined, { in: "team-01:wins > 99" }));
  await page.getByText("No world meets all of it").waitFor();
  await page.goto(at("season", 3, { entity: "team-01" }));
  await page.getByText("This entity has no events").waitFor();
});
