// Two ensembles beside each other.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { browse, data, eventually, everywhere, picture, serve, shellJson } from "./harness.mjs";

let server;
let folder;
before(async () => {
  folder = data();
  server = await serve(folder);
});

const at = (query) => `${server.url}/ui/ensemble/season/compare?${new URLSearchParams(query)}`;
const significant = (n) => Number(n.toPrecision(Math.abs(n) >= 1000 ? 6 : 4)).toLocaleString("en-US", { maximumFractionDigits: 6 });

test("another_ensemble_is_chosen_and_differing_parameters_come_first", async (t) => {
  const page = await browse(t, `${server.url}/ui/ensemble/season`);
  await page.getByRole("link", { name: "Compare" }).click();
  await page.getByRole("combobox", { name: "Compare with" }).fill("slo");
  await page.getByRole("option", { name: /slow/ }).click();
  const table = page.getByRole("region", { name: "Parameters that differ" });
  await table.waitFor();
  assert.deepEqual(await table.locator("tbody td").allInnerTexts(), ["pace", "1", "1.2"]);
  assert.match(page.url(), /with=slow/);
});

test("differences_equal_the_shell", async (t) => {
  const page = await browse(t, at({ with: "slow", entity: "team-01", order: "listed" }));
  const outcomes = ["wins", "points_for", "yards"];
  const found = shellJson("compare", "season", "slow", "--data", folder, ...outcomes.flatMap((one) => ["--outcome", `team-01:${one}`]));
  for (const [i, name] of outcomes.entries()) {
    await page.getByRole("searchbox", { name: "Search outcomes" }).fill(name);
    const row = page.getByRole("row").filter({ has: page.getByRole("button", { name: new RegExp(`^${name}\\b`) }) }).first();
    await row.waitFor();
    const cells = await row.locator("td").allInnerTexts();
    const sign = (n) => `${n > 0 ? "+" : ""}${significant(n)}`;
    assert.equal(cells[1], significant(found[i].means[0]));
    assert.equal(cells[2], significant(found[i].means[1]));
    assert.equal(cells[3], sign(found[i].difference));
    assert.equal(cells[5], found[i].ci.map(sign).join(" to "));
    assert.equal(cells[6], found[i].correlation.toFixed(3));
    assert.equal(cells[7], found[i].shares.map((share) => `${(share * 100).toFixed(0)}%`).join(" / "));
  }
  await page.getByText("200 worlds in both, paired").waitFor();
});

test("the_clearest_difference_comes_first_and_its_distributions_lie_over_each_other", async (t) => {
  const page = await browse(t, at({ with: "slow", entity: "team-01" }));
  const rows = page.getByRole("region", { name: "Differences" }).locator("tbody tr[aria-rowindex]");
  await rows.first().waitFor();
  const clear = async (i) => {
    const [low, high] = (await rows.nth(i).locator("td").nth(5).innerText()).split(" to ").map((end) => Number(end.replaceAll(/[+,%]/g, "")));
    return Math.abs(low + high) / (high - low);
  };
  assert.ok((await clear(0)) >= (await clear(5)));
  await rows.first().getByRole("button").click();
  const chart = page.getByRole("slider", { name: /^Histograms/ });
  await chart.focus();
  await page.keyboard.press("Home");
  const said = await chart.getAttribute("aria-valuetext");
  assert.match(said, /season: .*; slow: /);
  await page.getByRole("slider", { name: /^Cumulative/ }).waitFor();
  const url = page.url();
  await page.reload();
  await page.getByRole("slider", { name: /^Histograms/ }).waitFor();
  assert.equal(page.url(), url);
  await picture(page, "compare");
  await everywhere(page);
});

test("another_entity_takes_the_old_numbers_away", async (t) => {
  const page = await browse(t, at({ with: "slow", entity: "team-01" }));
  const table = page.getByRole("region", { name: "Differences" });
  await table.waitFor();
  let release;
  const wait = new Promise((done) => (release = done));
  await page.route("**/api/v1/compare", async (route) => {
    await wait;
    await route.continue().catch(() => {});
  });
  // The rows that a search leaves are known.
  await page.getByRole("searchbox", { name: "Search outcomes" }).fill("wins");
  await eventually(async () => assert.equal(await table.getAttribute("aria-busy"), "true"));
  for (const name of await table.locator("tbody .mono").allInnerTexts()) assert.match(name, /wins/);
  await page.getByRole("combobox", { name: "Entity" }).fill("team-02");
  await page.keyboard.press("Enter");
  await page.getByText("Comparing all outcomes").waitFor();
  assert.equal(await table.count(), 0);
  release();
  await table.waitFor();
});

test("ensembles_of_other_models_say_what_is_missing", async (t) => {
  const page = await browse(t, at({ with: "plan", entity: "team-01" }), { expect: [/400/, /404/] });
  await page.getByRole("alert").waitFor();
  await page.goto(at({ with: "none" }));
  await page.getByText('There is no ensemble "none"').waitFor();
  await page.getByRole("combobox", { name: "Compare with" }).fill("slow");
  await page.keyboard.press("Enter");
  await eventually(async () => assert.match(page.url(), /with=slow/));
});
