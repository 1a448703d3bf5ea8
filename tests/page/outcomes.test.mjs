// An ensemble, its entities and their outcomes: what people see is what the shell prints.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { NASTY, browse, data, eventually, everywhere, looksLike, picture, serve, shell, shellJson, shownCommand } from "./harness.mjs";

let server;
let folder;
before(async () => {
  folder = data();
  server = await serve(folder);
});

const outcome = (entities, name) =>
  shellJson("outcome", "season", "--data", folder, ...entities.flatMap((one) => ["--entity", one]), "--outcome", name);
const fixed = (n, places) =>
  n.toLocaleString("en-US", { minimumFractionDigits: places, maximumFractionDigits: places });

test("small_multiples_show_means_of_the_shell", async (t) => {
  const page = await browse(t, `${server.url}/ui/ensemble/season?entity=team-01`);
  const [wins] = outcome(["team-01"], "wins");
  const card = page.getByRole("link", { name: /^wins / });
  await card.getByText(fixed(wins.mean, 2), { exact: true }).waitFor();
});

test("850_outcomes_load_as_they_come_into_sight", async (t) => {
  const page = await browse(t, `${server.url}/ui/ensemble/season?entity=game-001`);
  await page.getByText("850 outcomes").waitFor();
  const cards = page.locator(".multiples li");
  await cards.nth(40).locator("b").waitFor();
  await picture(page, "entity");
  assert.ok((await cards.count()) < 200);
  const asked = [];
  page.on(
    "request",
    (request) => request.url().endsWith("/outcome") && asked.push(JSON.parse(request.postData()).outcomes.length),
  );
  await page.keyboard.press("End");
  const last = page.locator('.multiples li[aria-posinset="850"]');
  await last.locator("b").waitFor();
  assert.ok(asked.length > 0 && asked.every((n) => n <= 48), `asked ${asked}`);
});

test("outcome_numbers_equal_the_shell", async (t) => {
  const page = await browse(t, `${server.url}/ui/ensemble/season?entity=team-01`);
  await page.getByRole("link", { name: /^wins / }).click();
  const [wins] = outcome(["team-01"], "wins");
  const fact = (name) => page.locator(".facts div").filter({ hasText: name }).locator("dd");
  await page.getByRole("heading", { name: "wins" }).waitFor();
  assert.equal(await fact("Mean").innerText(), fixed(wins.mean, 4));
  assert.equal(await fact("95% interval").innerText(), wins.ci.map((end) => fixed(end, 4)).join(" to "));
  assert.equal(await fact("Std deviation").innerText(), fixed(wins.standard_deviation, 2));
  assert.equal(await fact("Worlds").innerText(), "200");
  const quantiles = await page.getByRole("region", { name: "Quantiles" }).locator("td").allInnerTexts();
  assert.deepEqual(
    quantiles.map(Number),
    ["0.01", "0.05", "0.25", "0.5", "0.75", "0.95", "0.99"].map((q) => wins.quantiles[q]),
  );
  await page.getByText("manyworlds outcome season --entity team-01 --outcome wins").waitFor();
});

test("every_bar_says_its_share_by_keyboard", async (t) => {
  const page = await browse(t, `${server.url}/ui/ensemble/season?entity=team-01&outcome=wins`);
  const [wins] = outcome(["team-01"], "wins");
  const chart = page.getByRole("slider", { name: /^Histogram/ });
  await chart.focus();
  for (const [i, bin] of wins.histogram.entries()) {
    await page.keyboard.press(i === 0 ? "Home" : "ArrowRight");
    const text = `${bin.from}: ${((bin.worlds / 200) * 100).toFixed(2)}%, ${bin.worlds} of 200 worlds`;
    await eventually(async () => assert.equal(await chart.getAttribute("aria-valuetext"), text));
  }
});

test("pointer_shows_the_bar_under_it", async (t) => {
  const page = await browse(t, `${server.url}/ui/ensemble/season?entity=team-01&outcome=wins`);
  const chart = page.getByRole("slider", { name: /^Histogram/ });
  await chart.waitFor();
  const bar = chart.locator("rect").nth(3);
  await bar.hover();
  await page
    .locator(".readout")
    .getByText(/of 200 worlds/)
    .waitFor();
  await eventually(async () => assert.match(await bar.getAttribute("class"), /held/));
});

test("cumulative_curve_equals_the_shell", async (t) => {
  const page = await browse(t, `${server.url}/ui/ensemble/season?entity=team-01&outcome=wins`);
  const [wins] = shellJson("outcome", "season", "--data", folder, "--entity", "team-01", "--outcome", "wins", "--cdf");
  const chart = page.getByRole("slider", { name: /^Cumulative/ });
  await chart.focus();
  for (const [i, { value, probability }] of wins.cdf.entries()) {
    await page.keyboard.press(i === 0 ? "Home" : "ArrowRight");
    const text = `${(probability * 100).toFixed(2)}% at or below ${value}`;
    await eventually(async () => assert.ok((await chart.getAttribute("aria-valuetext")).startsWith(text)));
  }
});

test("dots_count_worlds_of_100", async (t) => {
  const page = await browse(t, `${server.url}/ui/ensemble/season?entity=team-01&outcome=wins`);
  const chart = page.getByRole("slider", { name: /^Quantile dots/ });
  await chart.waitFor();
  assert.equal(await chart.locator("circle").count(), 100);
  await chart.focus();
  await page.keyboard.press("Home");
  await eventually(async () => assert.match(await chart.getAttribute("aria-valuetext"), /^100 of 100: \d+ or more$/));
});

test("entities_lie_over_each_other", async (t) => {
  const page = await browse(t, `${server.url}/ui/ensemble/season?entity=team-01&outcome=wins`);
  const field = page.getByRole("combobox", { name: "Overlay another entity" });
  await field.fill("team-02");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page
    .getByRole("slider", { name: /^Histogram/ })
    .locator("path.outline")
    .nth(1)
    .waitFor();
  assert.match(page.url(), /with=team-02/);
  const both = outcome(["team-01", "team-02"], "wins");
  const rows = await page.getByRole("region", { name: "Summary" }).locator("tbody tr").allInnerTexts();
  assert.deepEqual(
    rows.map((row) => row.split("\t")[1]),
    both.map((one) => fixed(one.mean, 4)),
  );
  await page.reload();
  await page
    .getByRole("slider", { name: /^Histogram/ })
    .locator("path.outline")
    .nth(1)
    .waitFor();
  await page.getByRole("button", { name: /^Remove/ }).click();
  await page
    .getByRole("slider", { name: /^Histogram/ })
    .locator("rect")
    .first()
    .waitFor();
});

test("labels_stand_for_codes", async (t) => {
  const page = await browse(t, `${server.url}/ui/ensemble/season?entity=game-017&outcome=winner`);
  const [winner] = outcome(["game-017"], "winner");
  const rows = () => page.getByRole("region", { name: "Labels" }).locator("tbody tr").allInnerTexts();
  const wanted = winner.labels.map(
    ({ label, code, worlds, share }) => `${label}\t${code}\t${worlds}\t${(share * 100).toFixed(2)}%`,
  );
  await eventually(async () => assert.deepEqual(await rows(), wanted));
});

test("expression_is_an_outcome", async (t) => {
  const page = await browse(t, `${server.url}/ui/ensemble/season?entity=game-017`);
  await page.getByRole("searchbox", { name: "Search outcomes" }).fill("home_points + away_points");
  await page.getByRole("link", { name: "Show it as an expression" }).click();
  const [sum] = outcome(["game-017"], "home_points + away_points");
  await page.locator(".facts").getByText(fixed(sum.mean, 4), { exact: true }).waitFor();
});

test("faulty_expression_is_marked", async (t) => {
  const address = `${server.url}/ui/ensemble/season?entity=game-017&outcome=${encodeURIComponent("home_points + + nothing")}`;
  const page = await browse(t, address, { expect: [/status of 400/] });
  await page.getByRole("alert").locator("mark").first().waitFor();
});

test("entity_search_finds_titles", async (t) => {
  const page = await browse(t, `${server.url}/ui/ensemble/season`);
  await page.getByRole("searchbox", { name: "Search 320 entities" }).fill("alder bay herons team-01");
  await page.getByRole("region", { name: "Entities" }).getByRole("link").first().click();
  await page.getByRole("heading", { name: "Alder Bay Herons" }).waitFor();
});

test("pictures_and_values_download", async (t) => {
  const page = await browse(t, `${server.url}/ui/ensemble/season?entity=team-01&outcome=wins`);
  const saved = async (name) => {
    const waiting = page.waitForEvent("download");
    await page.getByRole("button", { name }).click();
    return readFileSync(await (await waiting).path());
  };
  await page
    .getByRole("slider", { name: /^Histogram/ })
    .locator("rect")
    .first()
    .waitFor();
  const svg = (await saved(/Save Histogram.* as SVG/)).toString();
  assert.match(svg, /^<svg [^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"/);
  assert.equal(
    svg.match(/<rect/g).length,
    1 +
      (await page
        .getByRole("slider", { name: /^Histogram/ })
        .locator("rect")
        .count()),
  );
  assert.deepEqual([...(await saved(/Save Histogram.* as PNG/)).subarray(1, 4)], [...Buffer.from("PNG")]);
  const csv = (await saved("CSV")).toString().trim().split("\n");
  assert.equal(csv.length, 201);
  const [wins] = outcome(["team-01"], "wins");
  const sum = csv.slice(1).reduce((total, line) => total + Number(line.split(",").at(-1)), 0);
  assert.equal(sum / 200, wins.mean);
  const parquet = await saved("Parquet");
  assert.equal(parquet.subarray(0, 4).toString(), "PAR1");
  assert.equal(parquet.subarray(-4).toString(), "PAR1");
});

test("missing_ensemble_says_what_to_do", async (t) => {
  const page = await browse(t, `${server.url}/ui/ensemble/nobody`);
  await page.getByRole("heading", { name: 'There is no ensemble "nobody"' }).waitFor();
  await everywhere(page);
  await page.goto(`${server.url}/ui/ensemble/it's`);
  await page.getByText(`--name 'it'\\''s'`).waitFor();
});

test("commands_are_copied_over_plain_http", async (t) => {
  const init = () => {
    Object.defineProperty(window, "isSecureContext", { value: false });
    Object.defineProperty(navigator, "clipboard", { value: undefined });
  };
  const page = await browse(t, `${server.url}/ui/ensemble/season?entity=team-01&outcome=wins`, { init });
  await page.getByRole("button", { name: "Copy command" }).click();
  await page.getByText("Copied", { exact: true }).waitFor();
});

test("tabs_of_an_ensemble_without_worlds_say_so", async (t) => {
  const page = await browse(t, server.url);
  await page.route("**/api/v1/ensembles", async (route) => {
    const response = await route.fetch();
    const list = await response.json();
    const json = list.map((one) => (one.ensemble === "season" ? { ...one, worlds: 0 } : one));
    await route.fulfill({ response, json });
  });
  const empty = page.getByRole("heading", { name: "No worlds yet" });
  for (const tab of ["", "/joint", "/leverage", "/correlations", "/compare", "/book", "/world"]) {
    await page.goto(`${server.url}/ui/ensemble/season${tab}`);
    await empty.waitFor();
  }
  await page.goto(`${server.url}/ui/ensemble/season/about`);
  await page.getByRole("region", { name: "Parameters" }).waitFor();
  assert.equal(await empty.count(), 0);
  await page.goto(`${server.url}/ui/ensemble/slow/compare?with=season`);
  await page.getByRole("heading", { name: "season has no worlds yet" }).waitFor();
});

test("odd_names_and_real_numbers_are_shown_as_they_are", async (t) => {
  const page = await browse(t, `${server.url}/ui/ensemble/queue`);
  await page.getByRole("heading", { name: NASTY }).waitFor();
  assert.equal(await page.locator("img").count(), 0);
  await page.getByRole("link", { name: /^odd <b> "name"/ }).click();
  await page.getByRole("heading", { name: 'odd <b> "name"' }).waitFor();
  await page
    .getByRole("slider", { name: /^Histogram/ })
    .locator("rect")
    .nth(4)
    .waitFor();
  await page.reload();
  await page
    .getByRole("slider", { name: /^Histogram/ })
    .locator("rect")
    .nth(4)
    .waitFor();
  await page.goto(`${server.url}/ui/ensemble/queue?outcome=wait`);
  const [wait] = shellJson("outcome", "queue", "--data", folder, "--entity", NASTY, "--outcome", "wait");
  await page.locator(".facts").getByText(fixed(wait.mean, 4), { exact: true }).waitFor();
  assert.deepEqual(await shownCommand(page, folder), [wait]);
  assert.equal(
    await page
      .getByRole("slider", { name: /^Histogram/ })
      .locator("rect")
      .count(),
    wait.histogram.length,
  );
});

/** Values that charts which subtract, divide or round carelessly cannot show. */
const EXTREMES = {
  constant: () => 7,
  exact: (i) => 9007199254740990 + (i % 3),
  faint: (i) => (i - 150) * 1e-12,
  great: (i) => i * 3e9,
  least: (i) => (i % 2 ? "5e-324" : "1e-310"),
  none: (i) => (i % 9 ? i / 7 : "NaN"),
  vast: (i) => (i % 2 ? "-1.7e308" : "1.7e308"),
  word: (i) => ["yes", "no", "z".repeat(300), "<b>two</b> words"][i % 4],
};

test("extreme_values_are_drawn_and_told", async (t) => {
  const names = Object.keys(EXTREMES);
  const rows = Array.from({ length: 300 }, (_, i) => names.map((name) => EXTREMES[name](i)).join(","));
  const file = join(folder, "extremes.csv");
  writeFileSync(file, [names.join(","), ...rows].join("\n"));
  shell("import", "extremes", file, "--data", folder);
  const page = await browse(t, `${server.url}/ui/ensemble/extremes`);
  await page.locator(".multiple b").nth(names.length - 1).waitFor();
  const fact = (name) => page.locator(".facts div").filter({ hasText: name }).locator("dd").innerText();
  for (const name of names) {
    await page.goto(`${server.url}/ui/ensemble/extremes?outcome=${name}`);
    await page.locator("section.card table").first().waitFor();
    await page.locator(".loading").waitFor({ state: "detached" });
    const charts = await page.locator(".picture .chart svg").all();
    if (name === "none") assert.match(await page.locator("main").innerText(), /There is no picture/);
    else if (name !== "vast") assert.equal(charts.length, 3, name);
    for (const chart of charts) await apart(chart, name);
  }
  const told = /mean (\S+) \(95%: (.*?)\), standard deviation (\S+)/;
  const [, mean, interval, deviation] = told.exec(shell("outcome", "extremes", "all", "faint", "--data", folder));
  await page.goto(`${server.url}/ui/ensemble/extremes?outcome=faint`);
  await page.locator(".facts").waitFor();
  assert.deepEqual([await fact("Mean"), await fact("95% interval"), await fact("Std deviation")], [mean, interval, deviation]);
  await page.goto(`${server.url}/ui/ensemble/extremes?outcome=exact`);
  await page.locator(".facts").waitFor();
  assert.deepEqual([await fact("Least"), await fact("Greatest")], ["9,007,199,254,740,990", "9,007,199,254,740,992"]);
  // Few values: dots are beside each other, so that they can be counted.
  await page.goto(`${server.url}/ui/ensemble/extremes?outcome=constant`);
  const dots = page.getByRole("slider", { name: /^Quantile dots/ }).locator("circle");
  await dots.nth(99).waitFor();
  assert.ok(Number(await dots.first().getAttribute("r")) >= 4);
  assert.equal(new Set(await dots.evaluateAll((all) => all.map((dot) => `${dot.cx.baseVal.value} ${dot.cy.baseVal.value}`))).size, 100);
});

test("long_names_fit_every_window", async (t) => {
  const [entity, outcome] = ["e".repeat(400), "o".repeat(150)];
  const file = join(folder, "long.csv");
  writeFileSync(file, `entity,${outcome}\n${entity},1\n${entity},2\n`);
  shell("import", "long", file, "--data", folder);
  const page = await browse(t, `${server.url}/ui/ensemble/long?${new URLSearchParams({ entity, outcome })}`);
  await page.locator(".picture svg").first().waitFor();
  await everywhere(page);
});

/** Checks that the texts below a chart neither touch nor leave it, and that all it draws is inside. */
async function apart(chart, name) {
  const { box, texts, drawn } = await chart.evaluate((svg) => {
    const sides = (element) => (({ left, right }) => ({ left, right }))(element.getBoundingClientRect());
    return {
      box: sides(svg),
      texts: [...svg.querySelectorAll(".axis text")].map(sides),
      drawn: [...svg.querySelectorAll("rect, circle, path")].map(sides),
    };
  });
  assert.ok(texts.length > 0 && drawn.length > 0, name);
  for (const one of [...texts, ...drawn]) assert.ok(one.left >= box.left - 2 && one.right <= box.right + 2, `${name} sticks out`);
  texts.sort((a, b) => a.left - b.left).forEach((one, i) => assert.ok(i === 0 || texts[i - 1].right <= one.left, `texts of ${name} touch`));
}

test("about_shows_parameters_and_verifies", async (t) => {
  const page = await browse(t, `${server.url}/ui/ensemble/slow/about`);
  const row = page.getByRole("region", { name: "Parameters" }).getByRole("row", { name: /^pace/ });
  await eventually(async () => assert.deepEqual((await row.innerText()).split("\t"), ["pace", "1.2", "1"]));
  await page.goto(`${server.url}/ui/ensemble/queue/about`);
  await page.getByRole("button", { name: "Verify" }).click();
  const { hash, checks } = shellJson("verify", "queue", "--data", folder);
  await page.getByText(hash).waitFor();
  assert.equal(await page.getByRole("region", { name: "Checks" }).locator("tbody tr").count(), checks.length);
  await everywhere(page);
});

for (const scheme of ["light", "dark"]) {
  test(`pictures_look_like_golden_ones_${scheme}`, async (t) => {
    const page = await browse(t, `${server.url}/ui/ensemble/season?entity=team-01&outcome=wins`, { scheme });
    for (const chart of ["Histogram", "Cumulative", "Quantile dots"]) {
      const plot = page.getByRole("slider", { name: new RegExp(`^${chart}`) });
      await plot.locator("svg").waitFor();
      await looksLike(plot, `${chart.toLowerCase().replace(" ", "-")}-${scheme}`);
    }
    await page.goto(`${server.url}/ui/ensemble/season?entity=team-01&outcome=wins&with=team-02&with=team-05`);
    const plot = page.getByRole("slider", { name: /^Histogram/ });
    await plot.locator("path.outline").nth(2).waitFor();
    await looksLike(plot, `overlay-${scheme}`);
    if (scheme === "light") await picture(page, "outcome");
  });
}

for (const address of [
  "?entity=team-01",
  "?entity=team-01&outcome=wins&with=team-02",
  "?entity=game-017&outcome=winner",
]) {
  test(`ensemble_fits_every_window_and_theme_${address}`, async (t) => {
    const page = await browse(t, `${server.url}/ui/ensemble/season${address}`);
    await page
      .locator(address.includes("outcome") ? ".picture svg" : ".multiple b")
      .first()
      .waitFor();
    await everywhere(page);
  });
}
