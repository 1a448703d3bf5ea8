// Joint questions, as a viewer asks them: by typing, by clicking bars, and by switching legs.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { NASTY, browse, data, eventually, everywhere, picture, serve, shellJson, shownCommand } from "./harness.mjs";

let server;
let folder;
before(async () => {
  folder = data();
  server = await serve(folder);
});

const at = (query, name = "season") => `${server.url}/ui/ensemble/${name}/joint?${new URLSearchParams(query)}`;
const percent = (share) => `${(share * 100).toFixed(2)}%`;

function probability({ entity, legs, given = [] }) {
  const flags = [...legs.flatMap((leg) => ["--condition", leg]), ...given.flatMap((one) => ["--given", one])];
  return shellJson("probability", "season", "--data", folder, ...(entity ? ["--entity", entity] : []), ...flags);
}

async function shows(page, answer) {
  await eventually(async () => assert.equal(await page.locator("#joint-probability").innerText(), percent(answer.probability)));
  assert.equal(await page.locator("#joint-interval").innerText(), answer.ci.map(percent).join(" to "));
  assert.equal(await page.locator("#joint-independent").innerText(), percent(answer.independent));
  const shares = await page.locator('[aria-label="Legs"] .leg:not([data-is="off"]) .leg-share').allInnerTexts();
  assert.deepEqual(shares, answer.legs.map((leg) => percent(leg.probability)));
}

/** Types a condition as a viewer does, without the options below the field. */
async function add(page, field, text) {
  await page.getByRole("combobox", { name: field }).fill(text);
  await page.keyboard.press("Enter");
}

test("typed_legs_show_the_numbers_of_the_shell", async (t) => {
  const page = await browse(t, at({ entity: "team-01" }));
  await add(page, "Add a leg", "wins > 8");
  await shows(page, probability({ entity: "team-01", legs: ["wins > 8"] }));
  await add(page, "Add a leg", "team-02:wins > 7");
  await add(page, "Add a leg", "points_for - points_against > 0");
  const legs = ["wins > 8", "team-02:wins > 7", "points_for - points_against > 0"];
  await shows(page, probability({ entity: "team-01", legs }));
  await add(page, "Add a given", "team-03:wins > 5");
  const answer = probability({ entity: "team-01", legs, given: ["team-03:wins > 5"] });
  await shows(page, answer);
  assert.equal(await page.locator("#given-worlds").innerText(), String(answer.worlds));
  assert.deepEqual(await shownCommand(page, folder), answer);
  await picture(page, "joint");
  await everywhere(page);
});

test("conditions_are_added_in_the_order_of_their_entry", async (t) => {
  const page = await browse(t, at({ entity: "team-01" }));
  let asked = 0;
  await page.route("**/api/v1/price", async (route) => {
    if (asked++ === 0) await delay(500);
    await route.continue();
  });
  await add(page, "Add a leg", "wins > 8");
  await add(page, "Add a leg", "team-02:wins > 7");
  await shows(page, probability({ entity: "team-01", legs: ["wins > 8", "team-02:wins > 7"] }));
});

test("a_link_reproduces_legs_givens_and_switches", async (t) => {
  const page = await browse(t, at({ entity: "team-01" }));
  for (const leg of ["wins > 8", "wins < 13", "points_for > 300"]) await add(page, "Add a leg", leg);
  await add(page, "Add a given", "team-02:wins > 4");
  await page.getByRole("checkbox", { name: "Count wins < 13" }).uncheck();
  await page.getByRole("button", { name: "not points_for > 300" }).click();
  const answer = probability({ entity: "team-01", legs: ["wins > 8", "not (points_for > 300)"], given: ["team-02:wins > 4"] });
  await shows(page, answer);
  const other = await browse(t, page.url());
  await shows(other, answer);
  assert.equal(await other.getByRole("checkbox", { name: "Count wins < 13" }).isChecked(), false);
  await other.getByRole("checkbox", { name: "Count team-02:wins > 4" }).uncheck();
  await shows(other, probability({ entity: "team-01", legs: ["wins > 8", "not (points_for > 300)"] }));
  await other.getByRole("button", { name: "Remove wins < 13" }).click();
  await other.reload();
  await shows(other, probability({ entity: "team-01", legs: ["wins > 8", "not (points_for > 300)"] }));
});

test("odds_follow_the_chosen_format", async (t) => {
  const page = await browse(t, at([["entity", "team-01"], ["leg", "wins > 8"]]));
  const { probability: p, fair_odds: fair } = shellJson("price", "season", "--data", folder, "--entity", "team-01", "--leg", "wins > 8");
  const odds = page.locator("#joint-odds");
  await page.getByRole("radio", { name: "Decimal" }).check();
  await eventually(async () => assert.equal(await odds.innerText(), fair.toFixed(2)));
  await page.getByRole("radio", { name: "American" }).check();
  const american = p > 0.5 ? Math.round((-100 * p) / (1 - p)) : Math.round((100 * (1 - p)) / p);
  await eventually(async () => assert.equal(await odds.innerText(), `${american < 0 ? "-" : "+"}${Math.abs(american)}`));
  await page.getByRole("radio", { name: "Percent" }).check();
  await eventually(async () => assert.equal(await odds.innerText(), percent(p)));
});

test("a_picked_bar_becomes_a_leg", async (t) => {
  const page = await browse(t, `${server.url}/ui/ensemble/season?entity=team-01&outcome=wins`);
  const pick = async () => {
    const chart = page.getByRole("slider", { name: /^Histogram/ });
    await chart.focus();
    await page.keyboard.press("Home");
    for (let i = 0; i < 5; i++) await page.keyboard.press("ArrowRight");
    const said = await chart.getAttribute("aria-valuetext");
    await page.keyboard.press("Enter");
    return Number(/, ([\d,]+) of/.exec(said)[1].replace(",", ""));
  };
  const worlds = await pick();
  await page.getByRole("link", { name: "Add as a leg" }).click();
  await page.getByText(`${worlds} of 200`).waitFor();
  assert.match(await page.locator(".leg").innerText(), /team-01:wins/);
  // The next bar joins the question that is there.
  await page.goBack();
  await page.getByRole("link", { name: "Next", exact: true }).click();
  await pick();
  await page.getByRole("link", { name: "Add as a leg" }).click();
  await eventually(async () => assert.equal(await page.locator(".leg").count(), 2));
  const legs = await page.locator(".condition button").allInnerTexts();
  await shows(page, probability({ legs }));
});

test("a_picked_bar_of_several_values_keeps_both_ends", async (t) => {
  // Few worlds meet the given.
  const page = await browse(t, server.url, { expect: [/400/] });
  const pick = async (ensemble, entity, outcome, key, end) => {
    await page.goto(`${server.url}/ui/ensemble/${ensemble}?${new URLSearchParams({ entity, outcome })}`);
    const chart = page.getByRole("slider", { name: /^Histogram/ });
    await chart.focus();
    await page.keyboard.press(key);
    if (key === "Home") for (let i = 0; i < 6; i++) await page.keyboard.press("ArrowRight");
    const [, worlds] = / to .*, (\d+) of \d+ worlds$/.exec(await chart.getAttribute("aria-valuetext"));
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Add as a given" }).click();
    const text = await page.locator(".condition button").innerText();
    assert.match(text, end);
    const { hits } = shellJson("probability", ensemble, "--data", folder, "--condition", text);
    assert.equal(hits, Number(worlds), text);
  };
  // Bars of whole numbers have gaps between them, those of real numbers touch.
  await pick("season", "game-001", "home_points + away_points", "Home", /<= \d+$/);
  await pick("season", "game-001", "home_points + away_points", "End", /<= \d+$/);
  await pick("queue", NASTY, "wait", "Home", /< [-\d.]+$/);
  await pick("queue", NASTY, "wait", "End", /<= [-\d.]+$/);
});

test("labels_and_flags_become_legs_in_words", async (t) => {
  const page = await browse(t, `${server.url}/ui/ensemble/season?entity=game-001&outcome=winner`);
  const chart = page.getByRole("slider", { name: /^Histogram/ });
  await chart.focus();
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "Add as a leg" }).click();
  await page.getByRole("button", { name: "Change game-001:winner = 'away'" }).waitFor();
  await shows(page, probability({ legs: ["game-001:winner = 'away'"] }));
  await page.goto(`${server.url}/ui/ensemble/season?entity=game-001&outcome=overtime`);
  await chart.focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "Add as a given" }).click();
  await page.getByRole("button", { name: "Change not game-001:overtime" }).waitFor();
});

test("names_and_labels_are_completed_at_the_cursor", async (t) => {
  const page = await browse(t, at({ entity: "game-001" }));
  const field = page.getByRole("combobox", { name: "Add a leg" });
  const option = page.getByRole("option");
  await field.pressSequentially("half_f");
  await option.filter({ hasText: "half_full_result" }).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  assert.equal(await field.inputValue(), "half_full_result ");
  await field.pressSequentially("= 'home/");
  assert.deepEqual(await option.allInnerTexts(), ["home/neither", "home/home", "home/away"]);
  await option.filter({ hasText: "home/home" }).click();
  assert.equal(await field.inputValue(), "half_full_result = 'home/home' ");
  await field.pressSequentially("and team-0");
  await option.filter({ hasText: "team-07:" }).click();
  await field.pressSequentially("point_d");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  assert.equal(await field.inputValue(), "half_full_result = 'home/home' and team-07:point_difference ");
  await field.pressSequentially("> 0");
  await page.keyboard.press("Enter");
  await shows(page, probability({ entity: "game-001", legs: ["half_full_result = 'home/home' and team-07:point_difference > 0"] }));
});

test("a_typing_error_is_marked_and_loses_nothing", async (t) => {
  const page = await browse(t, at({ entity: "team-01" }), { expect: [/400/] });
  await add(page, "Add a leg", "wins > 8 and winz < 10");
  await page.locator(".adder .marked mark", { hasText: "winz" }).waitFor();
  await page.getByText(/unknown outcome "winz"|did you mean/).first().waitFor();
  assert.equal(await page.locator(".leg").count(), 0);
  const field = page.getByRole("combobox", { name: "Add a leg" });
  assert.equal(await field.inputValue(), "wins > 8 and winz < 10");
  await field.fill("wins > 8 and wins < 10");
  await page.keyboard.press("Enter");
  await shows(page, probability({ entity: "team-01", legs: ["wins > 8 and wins < 10"] }));
  await add(page, "Add a leg", '"team 99:wins" > 8');
  await page.locator(".adder .marked mark", { hasText: '"team 99:wins"' }).waitFor();
  // A faulty leg of a link is marked in its place, and can be repaired there.
  await page.goto(at([["entity", "team-01"], ["leg", "wins > 8"], ["leg", "losses >"], ["leg-not", "1"]]));
  const faulty = page.locator(".leg").nth(1);
  await faulty.locator("mark").waitFor();
  await faulty.getByRole("button", { name: "Change losses >" }).click();
  await page.getByRole("combobox", { name: "Change losses >" }).fill("losses > 3");
  await page.keyboard.press("Enter");
  await shows(page, probability({ entity: "team-01", legs: ["wins > 8", "not (losses > 3)"] }));
});

test("a_switch_asks_once_and_outdated_answers_are_dropped", async (t) => {
  const legs = ["wins > 6", "losses > 3", "points_for > 250", "yards > 4000", "touchdowns > 20"];
  const page = await browse(t, at([["entity", "team-01"], ...legs.map((leg) => ["leg", leg])]));
  await shows(page, probability({ entity: "team-01", legs }));
  const asked = [];
  let wait;
  await page.route("**/api/v1/price", async (route) => {
    asked.push(JSON.parse(route.request().postData()));
    await wait;
    await route.continue().catch(() => {});
  });
  const toggle = page.getByRole("checkbox", { name: "Count losses > 3" });
  const before = await page.locator("#joint-probability").innerText();
  let release;
  wait = new Promise((done) => (release = done));
  await toggle.click();
  // The last answer stays while the next one is on its way.
  assert.equal(await page.locator("#joint-probability").innerText(), before);
  const held = release;
  wait = undefined;
  await page.getByRole("checkbox", { name: "Count yards > 4000" }).click();
  const answer = probability({ entity: "team-01", legs: [legs[0], legs[2], legs[4]] });
  await shows(page, answer);
  held();
  await toggle.click();
  await toggle.click();
  await shows(page, answer);
  assert.deepEqual(asked.map((question) => question.legs.length), [4, 3, 4, 3]);
});

test("too_few_worlds_say_how_many_and_can_be_accepted", async (t) => {
  const rare = "team-02:wins > 9 and team-03:wins > 9";
  const page = await browse(t, at([["entity", "team-01"], ["leg", "wins > 8"], ["given", rare]]), { expect: [/400/] });
  const few = shellJson("probability", "season", "--data", folder, "--entity", "team-01", "--condition", rare).hits;
  assert.ok(few > 0 && few < 100);
  await page.getByText(`Only ${few} of 200 worlds match the givens`).waitFor();
  await page.getByRole("button", { name: `Answer with ${few} worlds` }).click();
  assert.equal(await page.locator("#given-worlds").innerText(), String(few));
});

test("a_given_in_the_models_words_leads_to_no_world", async (t) => {
  const words = "game-017: at q3 8:00 ±900, score 14-10 ±60";
  const given = [["leg", "game-017:home_won"], ["given", "game-017:total_points > 3"], ["least", "1"]];
  const page = await browse(t, at(given));
  await page.locator("#joint-probability").waitFor();
  const link = page.getByRole("link", { name: "Open a world with all of it" });
  await link.waitFor();
  await add(page, "Add a given", words);
  await page.getByRole("button", { name: `Change ${words}` }).waitFor();
  assert.equal(await link.count(), 0);
  await page.getByRole("checkbox", { name: `Count ${words}` }).uncheck();
  await link.waitFor();
});

test("the_joint_tab_leads_back_to_the_question", async (t) => {
  const page = await browse(t, at([["entity", "team-01"], ["leg", "wins > 8"]]));
  await page.locator("#joint-probability").waitFor();
  await page.getByRole("link", { name: "Outcomes" }).click();
  await page.getByRole("link", { name: "Joint" }).click();
  await page.getByRole("button", { name: "Change wins > 8" }).waitFor();
  await page.getByRole("button", { name: "Clear" }).click();
  await page.getByText("No leg counts yet").waitFor();
});

test("nasty_names_stay_names", async (t) => {
  const page = await browse(t, at({ entity: NASTY }, "queue"));
  const field = page.getByRole("combobox", { name: "Add a leg" });
  await field.pressSequentially("odd");
  await page.getByRole("option").filter({ hasText: 'odd <b> "name"' }).click();
  await field.pressSequentially("> 2");
  await page.keyboard.press("Enter");
  await eventually(async () => assert.equal(await page.locator("#joint-probability").innerText(), "40.00%"));
  await page.goto(`${server.url}/ui/ensemble/queue?${new URLSearchParams({ entity: NASTY, outcome: 'odd <b> "name"' })}`);
  await page.getByRole("slider", { name: /^Histogram/ }).focus();
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "Add as a leg" }).click();
  await eventually(async () => assert.equal(await page.locator("#joint-probability").innerText(), "20.00%"));
  assert.equal((await shownCommand(page, folder)).probability, 0.2);
  assert.equal(await page.locator("main img, main b").filter({ hasText: "name" }).count(), 0);
});
