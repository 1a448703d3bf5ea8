// Tables of rows: the list, charts over time, rows as they come, and how to send them.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { LINES, ROOT, browse, empty, eventually, everywhere, picture, serve, shell, shellJson, token } from "./harness.mjs";

// Names that break pages which paste them into HTML, addresses, SQL, or shells.
const NASTY = ["<img src=x onerror=alert(1)>", `o'br"ien`, "a b", "😀 table", "שלום", "semi;--drop", "a/b%2F?#&", "`back` $HOME", "x".repeat(120)];

let server;
before(async () => {
  server = await serve(empty());
  await write("/write?db=metrics&precision=s", LINES);
});

async function write(path, body) {
  const answer = await fetch(`${server.api}${path}`, { method: "POST", body });
  assert.equal(answer.status, 204, await answer.text());
}

const json = (table, row) => write(`/api/v1/write/json?table=${encodeURIComponent(table)}`, JSON.stringify(row));
const ask = (...args) => shellJson("ask", ...args, "--data", server.folder);
const sql = (query) => shellJson("sql", query, "--data", server.folder);

test("list_shows_rows_and_the_rate_of_new_ones", async (t) => {
  const page = await browse(t, `${server.url}/ui/tables`);
  const row = page.getByRole("row", { name: /metrics\.cpu/ });
  const [{ n }] = sql("SELECT count(*) AS n FROM metrics.cpu");
  await row.getByRole("cell", { name: String(n), exact: true }).waitFor();
  await json("metrics.growing", { value: 1 });
  const growing = page.getByRole("row", { name: /metrics\.growing/ });
  await growing.waitFor();
  await json("metrics.growing", { value: 2 });
  await growing.getByText(/\d\/s/).waitFor();
  await growing.getByRole("cell", { name: "2", exact: true }).waitFor();
});

test("chart_equals_ask", async (t) => {
  const page = await browse(t, `${server.url}/ui/tables`);
  await page.getByRole("link", { name: "metrics.cpu" }).click();
  await page.getByText("No row is from this span").waitFor();
  await page.getByRole("button", { name: "Show all times" }).click();
  await page.getByLabel("Measure").selectOption("p95");
  await page.getByLabel("of", { exact: true }).selectOption("load");
  await page.getByLabel("Group by").selectOption("host");
  await page.getByLabel("Buckets").selectOption("5m");
  await page.getByRole("button", { name: "Values" }).click();
  const expected = ask("metrics.cpu", "--quantiles", "load:p95", "--group", "host", "--time-bucket", "5m");
  const values = page.getByRole("region", { name: "Values" });
  const titles = values.getByRole("columnheader");
  await titles.nth(4).waitFor();
  const hosts = (await titles.allInnerTexts()).slice(1);
  assert.deepEqual([...hosts].sort(), ["web-0", "web-1", "web-2", "web-3"]);
  // The newest bucket is first.
  const last = expected.at(-1).time;
  const shown = (await values.getByRole("row").nth(1).getByRole("cell").allInnerTexts()).slice(1);
  for (const [i, host] of hosts.entries()) {
    const row = expected.find((one) => one.time === last && one.host === host);
    assert.equal(Number(shown[i]), row["p95(load)"], host);
  }
  await picture(page, "table");
});

/** Where a chart has the colour of its first line: the share of its width from the left, the least and the greatest. */
async function drawn(figure) {
  await figure.locator("canvas").waitFor();
  return figure.locator("canvas").evaluate((canvas) => {
    const { width, height } = canvas;
    const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
    // Axes and grid are grey.
    const places = [];
    for (let i = 0; i < data.length; i += 4)
      if (data[i + 3] > 200 && Math.abs(data[i] - data[i + 2]) > 60) places.push(((i / 4) % width) / width);
    return [Math.min(...places), Math.max(...places)];
  });
}

test("lone_points_are_drawn_and_integers_keep_their_digits", async (t) => {
  const rows = Array.from({ length: 200 }, (_, i) => `apart big=${9007199254740993n + BigInt(i)}i ${1760000000 + i * 60}`);
  await write("/write?db=metrics&precision=s", rows.join("\n"));
  // Every second bucket is empty.
  const page = await browse(t, `${server.url}/ui/tables/metrics/apart?since=all&measure=max%3Abig&bucket=30s`);
  const figure = page.getByRole("figure", { name: /^max\(big\)/ }).first();
  await eventually(async () => {
    const [from, to] = await drawn(figure);
    assert.ok(from < 0.25 && to > 0.9, `${from} to ${to}`);
  });
  await page.getByRole("button", { name: "Values" }).click();
  await page.getByRole("region", { name: "Values" }).getByText("9,007,199,254,741,192").waitFor();
  // A single bucket is in the middle.
  await page.goto(`${server.url}/ui/tables/metrics/apart?since=all&measure=max%3Abig&bucket=1h&where=big%20%3D%209007199254740993`);
  await eventually(async () => {
    const [from, to] = await drawn(figure);
    assert.ok(from > 0.4 && to < 0.7, `${from} to ${to}`);
  });
});

test("groups_filter_and_the_address_reproduces_it", async (t) => {
  const page = await browse(t, `${server.url}/ui/tables/metrics/cpu?since=all&group=host&measure=sum%3Aload`);
  const groups = page.getByRole("region", { name: "sum(load) by host" });
  await groups.getByRole("button", { name: "web-2" }).click();
  await page.getByText("host = 'web-2'", { exact: true }).waitFor();
  const [{ "sum(load)": sum }] = ask("metrics.cpu", "--sum", "load", "--where", "host = 'web-2'");
  const only = async () => {
    const rows = groups.getByRole("row");
    assert.equal(await rows.count(), 1);
    assert.equal(Number((await rows.getByRole("cell").last().innerText()).replaceAll(",", "")), sum);
  };
  await eventually(only);
  await page.reload();
  await eventually(only);
  await page.getByRole("button", { name: "Remove host = 'web-2'" }).click();
  await eventually(async () => assert.equal(await groups.getByRole("row").count(), 4));
});

test("filter_is_typed_with_completion_and_faults_are_marked", async (t) => {
  const page = await browse(t, `${server.url}/ui/tables/metrics/cpu?since=all`, { expect: [/400/] });
  const filter = page.getByRole("combobox", { name: "Filter" });
  await filter.click();
  await page.keyboard.type("ho");
  await page.getByRole("option", { name: "host Text" }).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.keyboard.type("= ");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText(/expected a name, a number or a 'text'/).waitFor();
  assert.equal(await filter.getAttribute("aria-invalid"), "true");
});

test("rows_come_until_paused", async (t) => {
  await json("metrics.stream", { time: Date.now() / 1000 - 60, word: "first" });
  const page = await browse(t, `${server.url}/ui/tables/metrics/stream/rows`);
  const grid = page.getByRole("grid", { name: "Newest rows" });
  await grid.getByText("first").waitFor();
  await json("metrics.stream", { word: "second", nothing: null, text: "NULL" });
  await grid.getByText("second").waitFor();
  await page.getByRole("button", { name: "Pause" }).click();
  await json("metrics.stream", { word: "third" });
  await eventually(async () => assert.match(await page.getByText(/3 rows/).first().innerText(), /3 rows/));
  assert.equal(await grid.getByText("third").count(), 0);
  await page.getByRole("button", { name: "Resume" }).click();
  await grid.getByText("third").waitFor();
  // The newest row is the first.
  assert.match(await grid.getByRole("row").nth(1).innerText(), /third/);
});

test("columns_are_those_of_describe", async (t) => {
  const page = await browse(t, `${server.url}/ui/tables/metrics/cpu/columns`);
  const rows = page.getByRole("region", { name: "Columns" }).getByRole("row");
  await rows.nth(1).waitFor();
  const shown = await Promise.all((await rows.all()).slice(1).map((row) => row.getByRole("cell").allInnerTexts()));
  const expected = sql("DESCRIBE metrics.cpu").map((column) => [column.column_name, column.data_type.replace("Utf8View", "Text"), column.is_nullable === "YES" ? "yes" : "no"]);
  assert.deepEqual(shown, expected);
});

/** The tests' Python, and whether it has a package. */
const PYTHON = join(ROOT, ".venv/bin/python");
const without = (name) => {
  try {
    execFileSync(PYTHON, ["-c", `import ${name}`], { stdio: "ignore" });
    return false;
  } catch {
    return `${PYTHON} has no ${name}: run scripts/venv.sh, and scripts/python_package.sh for manyworlds`;
  }
};

/** Snippets that run here: their title, the program that runs them, and why that is missing. */
const SNIPPETS = [
  ["curl", "sh", false],
  ["Line protocol", "sh", false],
  ["Python", "python3", false],
  ["influxdb-client", PYTHON, without("influxdb_client")],
  ["Python package", PYTHON, without("manyworlds")],
];

/** Chooses a snippet and runs it as the page shows it. */
async function send(page, { api }, title, program, env = {}) {
  await page.getByRole("radio", { name: title, exact: true }).check({ force: true });
  // With sources, the page is at an address of its own, before the server.
  const text = (await page.locator(".send pre").innerText()).replaceAll(new URL(page.url()).origin, api);
  execFileSync(program, ["-c", text], { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
}

for (const [title, program, skip] of SNIPPETS) {
  test(`snippet_sends_rows_${title}`, { skip }, async (t) => {
    for (const name of ["snip", `o'br"ien s`]) {
      const table = `${name} ${title}`;
      await json(`sent.${table}`, { host: "before" });
      const page = await browse(t, `${server.url}/ui/tables/sent/${encodeURIComponent(table)}/send`);
      await send(page, server, title, program);
      await page.getByText("2 rows").waitFor();
    }
  });
}

test("snippets_send_rows_with_a_token_only", async (t) => {
  const folder = empty();
  const file = join(folder, "tokens.toml");
  const writer = token(file, "writer", "--read", "--write");
  const guarded = await serve(folder, { args: ["--token-file", file] });
  const page = await browse(t, `${guarded.url}/ui/tables`, { expect: [/401/] });
  await page.getByLabel("Token").fill(writer);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("heading", { name: "No tables yet" }).waitFor();
  let rows = 0;
  for (const [title, program] of SNIPPETS.filter(([, , missing]) => !missing)) {
    await send(page, guarded, title, program, { MANYWORLDS_TOKEN: writer });
    rows++;
    await page.getByRole("row", { name: /metrics\.cpu/ }).getByRole("cell", { name: String(rows), exact: true }).waitFor();
    if (rows === 1) await page.getByRole("button", { name: "How to send rows here" }).click();
  }
  await page.getByRole("radio", { name: "curl", exact: true }).check({ force: true });
  await send(page, guarded, "curl", "sh", { MANYWORLDS_TOKEN: "mw_none" });
  const [{ n }] = shellJson("sql", "SELECT count(*) AS n FROM metrics.cpu", "--data", folder);
  assert.equal(n, rows, "a wrong token sends nothing");
});

test("snippet_of_telegraf_is_its_configuration", async (t) => {
  await json("sent.tele'graf", { host: "before" });
  const page = await browse(t, `${server.url}/ui/tables/sent/tele'graf/send?send=telegraf`);
  const read = "import json, sys, tomllib; print(json.dumps(tomllib.loads(sys.stdin.read())))";
  const input = await page.locator(".send pre").innerText();
  const { outputs } = JSON.parse(execFileSync("python3", ["-c", read], { input, encoding: "utf8" }));
  const url = new URL(page.url()).origin;
  const expected = { urls: [url], bucket: "sent", organization: "any", token: "", content_encoding: "gzip" };
  assert.deepEqual(outputs, { influxdb_v2: [expected] });
});

test("snippets_are_copied", async (t) => {
  const page = await browse(t, `${server.url}/ui/tables?send=curl`, { permissions: ["clipboard-read", "clipboard-write"] });
  await page.getByRole("button", { name: "Copy command" }).click();
  await page.getByText("Copied").waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(copied, await page.locator(".send pre").innerText());
});

test("nasty_names_inject_nothing", async (t) => {
  for (const name of NASTY) await json(`nasty.${name}`, { time: 1760000000, [`${name.slice(0, 40)} c`]: name, load: 3 });
  const page = await browse(t, `${server.url}/ui/tables?q=nasty.`);
  for (const name of NASTY) {
    await page.goto(`${server.url}/ui/tables?q=nasty.`);
    await page.getByRole("link", { name: `nasty.${name}`, exact: true }).click();
    await page.getByRole("heading", { name: `nasty.${name}`, exact: true }).waitFor();
    await page.getByRole("button", { name: "Show all times" }).click();
    await page.getByLabel("Group by").selectOption(`${name.slice(0, 40)} c`);
    await page.getByRole("region", { name: /^count by/ }).getByRole("button").click();
    await page.getByRole("button", { name: /^Remove / }).waitFor();
    await page.getByRole("figure", { name: /^count per/ }).first().waitFor();
    await page.getByRole("link", { name: "Query in SQL" }).click();
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("grid").getByText(name, { exact: true }).waitFor();
  }
  assert.equal(await page.locator("main img, main script").count(), 0);
});

test("dropped_table_says_so", async (t) => {
  await json("metrics.short", { value: 1 });
  const page = await browse(t, `${server.url}/ui/tables/metrics/never`, { expect: [/404/] });
  await page.getByRole("heading", { name: `There is no table "metrics.never"` }).waitFor();
  await page.getByRole("link", { name: "Go to the list of tables" }).click();
  await page.getByRole("link", { name: "metrics.short" }).waitFor();
});

test("tables_are_clean_everywhere", async (t) => {
  await json("b.long name of a table", { value: 1 });
  const page = await browse(t, `${server.url}/ui/tables?send=python`);
  for (const [path, role, name] of [
    ["?send=python", "button", "Copy command"],
    ["/metrics/cpu?since=all&group=host", "button", "Values"],
    ["/metrics/cpu/rows", "grid", "Newest rows"],
    ["/metrics/cpu/columns", "region", "Columns"],
    ["/b/long%20name%20of%20a%20table/columns", "region", "Columns"],
  ]) {
    await page.goto(`${server.url}/ui/tables${path}`);
    await page.getByRole(role, { name }).waitFor();
    await everywhere(page);
  }
});

test("five_thousand_tables_are_listed_and_completed", async (t) => {
  const folder = empty();
  const [rows, first] = [join(folder, "one.jsonl"), join(folder, "many", "t0")];
  writeFileSync(rows, `{"time": 1760000000, "value": 1}\n`);
  shell("table", "insert", "many.t0", rows, "--data", folder);
  for (let i = 1; i < 5000; i++) cpSync(first, join(folder, "many", `t${i}`), { recursive: true });
  const many = await serve(folder);
  const page = await browse(t, `${many.url}/ui/tables`);
  await page.getByText("5,000", { exact: true }).waitFor({ timeout: 120_000 });
  const list = page.getByRole("region", { name: "Tables" });
  assert.ok((await list.getByRole("row").count()) < 100, "only visible rows exist");
  await page.keyboard.press("/");
  await page.keyboard.type("t4998");
  await list.getByRole("link", { name: "many.t4998" }).waitFor();
  assert.equal(await list.getByRole("row").count(), 2);
  await page.getByRole("link", { name: "SQL", exact: true }).click();
  // With the three of ensembles.
  await page.getByPlaceholder("Search 5,003 tables").waitFor();
  await page.getByRole("textbox", { name: "SQL" }).focus();
  await page.keyboard.type("SELECT * FROM t499");
  await page.getByRole("option", { name: "many.t4997" }).waitFor();
});
