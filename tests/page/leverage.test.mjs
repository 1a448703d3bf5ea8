// Leverage and correlations: the events that move a condition most, and how outcomes go together.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { browse, data, eventually, everywhere, picture, serve, shellJson } from "./harness.mjs";

let server;
let folder;
before(async () => {
  folder = data();
  server = await serve(folder);
});

const at = (part, query) => `${server.url}/ui/ensemble/season/${part}?${new URLSearchParams(query)}`;
const percent = (share) => `${(share * 100).toFixed(2)}%`;
const probability = (condition, given) =>
  shellJson("probability", "season", "--data", folder, "--condition", condition, ...(given ? ["--given", given, "--min-worlds", "1"] : [])).probability;

test("events_are_ranked_with_both_probabilities", async (t) => {
  const page = await browse(t, at("leverage", { entity: "team-01" }));
  await page.getByRole("combobox", { name: "Condition whose probability moves" }).fill("made_playoffs");
  await page.getByRole("button", { name: "Rank events" }).click();
  const rows = page.getByRole("region", { name: "Events by movement" }).locator("tbody tr[aria-rowindex]");
  await rows.first().waitFor();
  assert.equal(await page.locator("#leverage-probability").innerText(), percent(probability("team-01:made_playoffs")));
  const read = async (row) => {
    const cells = await row.locator("td").allInnerTexts();
    const leg = await row.getByRole("link", { name: /as a given/ }).getAttribute("aria-label");
    return { leg: /^Add (.*) as a given$/.exec(leg)[1], with: cells[2], without: cells[3], movement: Number(cells[4]) };
  };
  const read3 = await Promise.all([0, 1, 2].map((i) => read(rows.nth(i))));
  for (const event of read3) {
    assert.equal(event.with, percent(probability("team-01:made_playoffs", event.leg)));
    assert.equal(event.without, percent(probability("team-01:made_playoffs", `not (${event.leg})`)));
  }
  assert.ok(read3[0].movement >= read3[1].movement && read3[1].movement >= read3[2].movement);
  await picture(page, "leverage");
  await everywhere(page);
});

test("an_event_becomes_a_given_or_a_leg", async (t) => {
  const page = await browse(t, at("leverage", { condition: "team-01:made_playoffs", outcomes: "home_won", among: "game" }));
  const rows = page.getByRole("region", { name: "Events by movement" }).locator("tbody tr[aria-rowindex]");
  await rows.first().waitFor();
  const events = await rows.locator("td:first-child .mono").allInnerTexts();
  assert.ok(events.length > 5 && events.every((event) => event === "home_won"), "only the outcomes of the question");
  const [given, leg] = [rows.first().getByRole("link", { name: /as a given/ }), rows.first().getByRole("link", { name: /as a leg/ })];
  const text = /^Add (.*) as a leg$/.exec(await leg.getAttribute("aria-label"))[1];
  // With few worlds the page asks for as many as there are.
  await given.click();
  await page.getByRole("button", { name: `Change ${text}` }).waitFor();
  await eventually(async () =>
    assert.equal(await page.locator("#joint-probability").innerText(), percent(probability("team-01:made_playoffs", text))),
  );
  await page.goBack();
  await leg.click();
  const joint = probability(`team-01:made_playoffs and ${text}`);
  await eventually(async () => assert.equal(await page.locator("#joint-probability").innerText(), percent(joint)));
  await page.getByRole("link", { name: "What moves it" }).click();
  await eventually(async () => assert.equal(await page.locator("#leverage-probability").innerText(), percent(joint)));
});

test("a_faulty_condition_is_marked", async (t) => {
  const page = await browse(t, at("leverage", { condition: "team-01:winz > 9" }), { expect: [/400/] });
  await page.locator("mark", { hasText: "team-01:winz" }).waitFor();
  await page.getByText(/did you mean wins/).waitFor();
});

test("correlations_equal_the_shell_by_pointer_and_keys", async (t) => {
  const page = await browse(t, at("correlations", { entity: "team-01", order: "listed", q: "win" }));
  const found = shellJson("correlate", "season", "--data", folder, "--entity", "team-01");
  const r = (a, b) => found.matrix[found.outcomes.indexOf(a)][found.outcomes.indexOf(b)];
  const names = found.outcomes.filter((name) => name.includes("win") && r(name, name) !== null);
  const said = (row, column) => `${names[row]} and ${names[column]}: ${r(names[row], names[column]).toFixed(3)}`;
  const map = page.getByRole("slider", { name: "Correlations of team-01" });
  await map.focus();
  await page.keyboard.press("ArrowRight");
  for (const [row, column] of [[0, 1], [0, 2]]) {
    await page.keyboard.press("ArrowRight");
    assert.equal(await map.getAttribute("aria-valuetext"), said(row, column));
  }
  await page.keyboard.press("ArrowDown");
  assert.equal(await map.getAttribute("aria-valuetext"), said(1, 2));
  const box = await page.locator(".heat canvas").boundingBox();
  await page.mouse.move(box.x + box.width - 4, box.y + 4);
  await eventually(async () => assert.equal(await map.getAttribute("aria-valuetext"), said(0, names.length - 1)));
  await page.mouse.click(box.x + box.width - 4, box.y + 4);
  assert.equal(await page.locator("#chosen-correlation").innerText(), r(names[0], names.at(-1)).toFixed(3));
});

test("clusters_bring_what_goes_together_side_by_side", async (t) => {
  const page = await browse(t, at("correlations", { entity: "team-01" }));
  const map = page.getByRole("slider", { name: "Correlations of team-01" });
  await map.waitFor();
  const found = shellJson("correlate", "season", "--data", folder, "--entity", "team-01");
  const varying = found.outcomes.filter((_, i) => found.matrix[i][i] !== null);
  const order = async () => {
    const seen = [];
    await map.focus();
    await page.keyboard.press("ArrowRight");
    for (let i = 0; i < varying.length; i++) {
      seen.push((await map.getAttribute("aria-valuetext")).split(" and ")[0]);
      await page.keyboard.press("ArrowDown");
    }
    return seen;
  };
  const clustered = await order();
  assert.deepEqual([...clustered].sort(), [...varying].sort(), "every outcome once");
  const alike = (names) =>
    names.slice(1).reduce((sum, name, i) => sum + Math.abs(found.matrix[found.outcomes.indexOf(name)][found.outcomes.indexOf(names[i])]), 0);
  assert.ok(alike(clustered) > 1.3 * alike(varying), `${alike(clustered)} against ${alike(varying)}`);
  const first = page.getByRole("region", { name: "Pairs by strength" }).locator("tbody tr[aria-rowindex]").first();
  const [one, other, , r] = await first.locator("td").allInnerTexts();
  assert.equal(Number(r), Number(found.matrix[found.outcomes.indexOf(one)][found.outcomes.indexOf(other)].toFixed(3)));
  await picture(page, "correlations");
  await everywhere(page);
});

test("850_outcomes_are_drawn_at_once", async (t) => {
  const page = await browse(t, at("correlations", { entity: "game-001" }));
  await page.getByText(/\d+ outcomes, 200 worlds/).waitFor();
  const coloured = await page.locator(".heat canvas").evaluate((canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const colours = new Set();
    for (let i = 0; i < data.length; i += 4 * 97) colours.add(`${data[i]},${data[i + 1]},${data[i + 2]}`);
    return colours.size;
  });
  assert.ok(coloured > 50, `${coloured} colours`);
});
