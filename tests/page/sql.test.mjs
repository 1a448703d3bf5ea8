// The editor of SQL: completion, running, cancelling, results, downloads, and what the browser keeps.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before, test } from "node:test";
import { LINES, axe, browse, empty, eventually, everywhere, picture, serve, shell, shellJson } from "./harness.mjs";

let server;
before(async () => {
  server = await serve(empty());
  const answer = await fetch(`${server.api}/write?db=metrics&precision=s`, { method: "POST", body: LINES });
  assert.equal(answer.status, 204);
});

const sql = (query) => shellJson("sql", query, "--data", server.folder);

/** The view with a text, the cursor at its end. */
async function editor(t, text, options = {}) {
  const address = `${server.url}/ui/sql${text === "" ? "" : `?sql=${encodeURIComponent(text)}`}`;
  const page = await browse(t, address, { timezoneId: "UTC", ...options });
  await page.getByRole("textbox", { name: "SQL" }).waitFor();
  return page;
}

/** Takes the first completion as soon as the editor lets it be taken. */
async function take(page) {
  await page.waitForTimeout(120);
  await page.keyboard.press("Enter");
}

const run = (page) => page.getByRole("button", { name: "Run", exact: true }).click();
const grid = (page) => page.getByRole("grid", { name: "Rows of the result" });
const ended = (page, rows) => page.getByText(new RegExp(`^${rows} rows? in `)).waitFor();

/** The texts of the visible cells, by row. */
async function cells(page) {
  return grid(page).evaluate((element) =>
    [...element.querySelectorAll(".grid-row")]
      .sort((a, b) => Number(a.getAttribute("aria-rowindex")) - Number(b.getAttribute("aria-rowindex")))
      .map((row) => [...row.querySelectorAll('[role="gridcell"]')].map((cell) => cell.textContent)),
  );
}

test("completion_names_tables_and_columns", async (t) => {
  const page = await editor(t, "");
  await page.keyboard.type("SELECT * FROM metr");
  await page.getByRole("option", { name: /metrics\.cpu/ }).waitFor();
  await take(page);
  await page.keyboard.type(" WHERE lo");
  await page.getByRole("option", { name: /load/ }).waitFor();
  await take(page);
  await page.keyboard.type(" > 4.8 ORDER BY time");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+Enter");
  const expected = sql("SELECT * FROM metrics.cpu WHERE load > 4.8 ORDER BY time");
  await ended(page, expected.length);
  assert.equal((await cells(page))[0][1], expected[0].host);
});

test("completion_waits_for_the_tables", async (t) => {
  const page = await editor(t, "");
  await page.route("**/api/v1/query", async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await route.continue();
  });
  await page.reload();
  await page.getByRole("textbox", { name: "SQL" }).waitFor();
  await page.keyboard.type("SELECT * FROM metr");
  await page.getByRole("option", { name: /metrics\.cpu/ }).waitFor();
});

test("completion_quotes_nasty_names", async (t) => {
  const row = JSON.stringify({ [`a "b" c`]: 7 });
  const table = encodeURIComponent(`odd.o'br"ien`);
  await fetch(`${server.api}/api/v1/write/json?table=${table}`, { method: "POST", body: row });
  const page = await editor(t, "");
  await page.keyboard.type("SELECT  FROM odd.");
  await page.getByRole("option", { name: `o'br"ien` }).waitFor();
  await take(page);
  await page.keyboard.press("Home");
  for (let i = 0; i < 7; i++) await page.keyboard.press("ArrowRight");
  await page.keyboard.type("a");
  await page.getByRole("option", { name: `a "b" c` }).click();
  await run(page);
  await ended(page, 1);
  assert.deepEqual(await cells(page), [["7"]]);
});

test("every_type_keeps_its_value", async (t) => {
  const values = [
    "9007199254740993", "-9223372036854775808", "arrow_cast(18446744073709551615, 'UInt64')",
    "CAST('12345678901234567890.123456789' AS DECIMAL(38, 9))", "arrow_cast('-0.05', 'Decimal256(50, 2)')",
    "arrow_cast('2026-01-02T03:04:05.123456789Z', 'Timestamp(Nanosecond, Some(\"UTC\"))')", "TIMESTAMP '1960-01-02 03:04:05.5'",
    "DATE '2026-03-04'", "[1, NULL, 9007199254740993]", "struct(1 AS a, 'x' AS b)", "arrow_cast('word', 'Dictionary(Int32, Utf8)')",
    "arrow_cast('a text that is longer than twelve', 'Utf8View')", "arrow_cast(1.1, 'Float32')", "0.1", "true", "x'00ff'", "'<b>NULL</b>'",
  ];
  const query = `SELECT ${values.map((value, i) => `${value} AS c${i}`).join(", ")}`;
  const page = await editor(t, query, { width: 3800 });
  await run(page);
  await ended(page, 1);
  const [shown] = await cells(page);
  assert.deepEqual(shown, [
    "9007199254740993", "-9223372036854775808", "18446744073709551615", "12345678901234567890.123456789", "-0.05",
    "2026-01-02 03:04:05.123456789", "1960-01-02 03:04:05.500", "2026-03-04", "[1, null, 9007199254740993]", `{"a": 1, "b": "x"}`, "word",
    "a text that is longer than twelve", "1.1", "0.1", "true", "00ff", "<b>NULL</b>",
  ]);
  const nested = await editor(t, `SELECT [${values[5]}] AS times, struct(${values[3]} AS d) AS inside, map(['k'], [${values[0]}]) AS m`);
  await run(nested);
  await ended(nested, 1);
  assert.deepEqual(await cells(nested), [[`["2026-01-02 03:04:05.123456789"]`, `{"d": 12345678901234567890.123456789}`, `{"k": 9007199254740993}`]]);
  // What is copied is what the shell prints.
  const [line, copied] = shell("sql", query, "--data", server.folder, "--format", "csv").trim().split("\n");
  assert.equal(line.split(",").length, values.length);
  for (const exact of ["9007199254740993", "12345678901234567890.123456789", "-0.05", "2026-03-04"]) assert.ok(copied.includes(exact));
});

test("null_differs_from_the_text", async (t) => {
  const page = await editor(t, "SELECT NULL AS a, 'NULL' AS b, '' AS c");
  await run(page);
  await ended(page, 1);
  assert.deepEqual(await cells(page), [["NULL", "NULL", ""]]);
  assert.equal(await grid(page).locator(".null").count(), 1);
});

test("statement_under_the_cursor_selection_and_all", async (t) => {
  const page = await editor(t, "SELECT 1 AS one;\nSELECT ';' AS two -- ; no end\n;\nSELECT 3 AS three");
  await page.keyboard.press("Control+Enter");
  await ended(page, 1);
  await grid(page).getByText("three").waitFor();
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Control+Enter");
  await grid(page).getByText("two").waitFor();
  assert.deepEqual(await cells(page), [[";"]]);
  await page.keyboard.press("Control+Home");
  await page.keyboard.press("Shift+End");
  await page.keyboard.press("Control+Enter");
  await grid(page).getByText("one").waitFor();
  await page.getByRole("button", { name: "Run all" }).click();
  await page.getByRole("radio", { name: /^3/ }).waitFor();
  await page.getByRole("radio", { name: /^2/ }).check({ force: true });
  await grid(page).getByText("two").waitFor();
});

test("error_marks_its_place", async (t) => {
  const page = await editor(t, "SELECT 1;\nSELECT 2 +\n  * FROM", { expect: [/400/] });
  await page.keyboard.press("Control+Shift+Enter");
  await page.getByRole("alert").getByText(/invalid SQL/).waitFor();
  await page.locator(".fault").waitFor();
  const unknown = await editor(t, "SELECT nothing FROM metrics.cpu", { expect: [/400|404/] });
  await run(unknown);
  await unknown.getByRole("alert").getByText(/no column "nothing"/).waitFor();
});

test("cancel_ends_the_query", async (t) => {
  const page = await editor(t, "SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b WHERE a.value % 7 = b.value % 11");
  const running = async () => Number(/^manyworlds_questions_running (\d+)/m.exec(await (await fetch(`${server.api}/metrics`)).text())[1]);
  await run(page);
  await page.getByRole("timer", { name: "Elapsed" }).waitFor();
  await eventually(async () => assert.equal(await running(), 1));
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByText(/^Cancelled after/).waitFor();
  await eventually(async () => assert.equal(await running(), 0));
});

test("sorts_by_type_with_null_last", async (t) => {
  const page = await editor(t, "SELECT * FROM (VALUES (9007199254740993, 'b'), (9007199254740992, 'é'), (NULL, NULL), (-10, 'a'), (9, 'Z')) AS t(n, s)");
  await run(page);
  await ended(page, 5);
  const column = async (place) => (await cells(page)).map((row) => row[place]);
  const sort = (name) => grid(page).getByRole("columnheader", { name }).getByRole("button").click();
  await sort(/^n/);
  await eventually(async () => assert.deepEqual(await column(0), ["-10", "9", "9007199254740992", "9007199254740993", "NULL"]));
  await sort(/^n/);
  await eventually(async () => assert.deepEqual(await column(0), ["9007199254740993", "9007199254740992", "9", "-10", "NULL"]));
  await sort(/^s/);
  await eventually(async () => assert.deepEqual(await column(1), ["Z", "a", "b", "é", "NULL"]));
});

test("cells_are_chosen_and_copied_by_keys", async (t) => {
  const page = await editor(t, "SELECT value AS n, 'x' || value AS s, NULL AS nothing FROM generate_series(1, 3) ORDER BY value", {
    permissions: ["clipboard-read", "clipboard-write"],
  });
  await run(page);
  await ended(page, 3);
  await grid(page).focus();
  for (const key of ["ArrowDown", "ArrowDown", "Shift+ArrowRight", "Shift+ArrowRight", "Shift+ArrowDown"]) await page.keyboard.press(key);
  await page.getByText("6 cells chosen").waitFor();
  await page.keyboard.press("Control+c");
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  await eventually(async () => assert.equal(await copied(), "2\tx2\t\n3\tx3\t"));
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Copy", exact: true }).click();
  await eventually(async () => assert.equal(await copied(), "n\ts\tnothing\n1\tx1\t\n2\tx2\t\n3\tx3\t"));
  await grid(page).focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "n" }).waitFor();
  await page.keyboard.press("Escape");
});

test("downloads_equal_the_shell", async (t) => {
  const query = "SELECT time, host, load, big FROM metrics.cpu ORDER BY time, host";
  const page = await editor(t, query);
  await run(page);
  await ended(page, 200);
  const file = async (name) => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: `Download ${name}` }).click()]);
    return readFileSync(await download.path());
  };
  assert.equal(String(await file("CSV")).trim(), shell("sql", query, "--data", server.folder, "--format", "csv").trim());
  const parquet = await file("Parquet");
  assert.deepEqual([parquet.subarray(0, 4).toString(), parquet.subarray(-4).toString()], ["PAR1", "PAR1"]);
  assert.equal((await file("Arrow")).readUInt32LE(0), 0xffffffff);
});

test("a_million_rows_scroll_to_the_last", async (t) => {
  const page = await editor(t, "SELECT value, value * 3 AS triple FROM generate_series(1, 1000000) ORDER BY value");
  await run(page);
  await page.getByText(/^1,000,000 rows in /).waitFor({ timeout: 60_000 });
  await grid(page).focus();
  await page.keyboard.press("Control+End");
  await grid(page).getByRole("gridcell", { name: "3000000", exact: true }).waitFor();
  await page.keyboard.press("PageUp");
  await page.keyboard.press("Control+Home");
  await grid(page).getByRole("gridcell", { name: "3", exact: true }).first().waitFor();
  // A turn of the wheel moves by rows, however long the table is.
  await grid(page).hover();
  await page.mouse.wheel(0, 260);
  await eventually(async () => assert.equal((await cells(page)).find(([value]) => value === "11")?.[1], "33"));
  await grid(page).evaluate((element) => (element.scrollTop = element.scrollHeight / 2));
  await eventually(async () => assert.ok(Math.abs(Number((await cells(page))[0][0]) - 500_000) < 50));
});

test("result_is_drawn", async (t) => {
  const page = await editor(t, "SELECT host, sum(load) AS load FROM metrics.cpu GROUP BY host ORDER BY host");
  await run(page);
  await ended(page, 4);
  await page.getByRole("radio", { name: "Chart" }).check({ force: true });
  const bars = page.getByRole("region", { name: "load by host" });
  const expected = sql("SELECT host, sum(load) AS load FROM metrics.cpu GROUP BY host ORDER BY host");
  assert.deepEqual(await bars.getByRole("rowheader").allInnerTexts(), expected.map((row) => row.host));
  const numbers = (await bars.getByRole("cell").allInnerTexts()).filter((text) => text.trim() !== "").map(Number);
  assert.deepEqual(numbers, expected.map((row) => Math.round(row.load * 1e4) / 1e4));
  await page.getByRole("textbox", { name: "SQL" }).focus();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("SELECT time, host, load FROM metrics.cpu");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+Enter");
  await ended(page, 200);
  await page.getByRole("radio", { name: "Chart" }).check({ force: true });
  await page.getByRole("figure", { name: "load over time" }).locator("canvas").waitFor();
  assert.deepEqual((await page.locator(".u-legend .u-label").allInnerTexts()).slice(1).map((name) => name.replace(/:$/, "")).sort(), ["web-0", "web-1", "web-2", "web-3"]);
  await picture(page, "sql");
});

test("tabs_history_and_saved_queries_survive_a_reload", async (t) => {
  const page = await editor(t, "");
  await page.keyboard.type("SELECT 41 + 1 AS answer");
  await page.keyboard.press("Control+Enter");
  await ended(page, 1);
  await page.getByRole("button", { name: "Query 1", exact: true }).press("F2");
  await page.getByRole("textbox", { name: "Name of the query" }).fill("answer");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("button", { name: "New query" }).click();
  await page.getByRole("textbox", { name: "SQL" }).focus();
  await page.keyboard.type("SELECT 2");
  await page.reload();
  await page.getByRole("button", { name: "answer", exact: true }).click();
  await page.getByText("SELECT 41 + 1 AS answer").waitFor();
  await page.getByRole("button", { name: "Close answer" }).click();
  await page.getByText("SELECT 2").waitFor();
  await page.getByRole("button", { name: "History", exact: true }).click();
  await page.getByRole("list", { name: "History" }).getByText("SELECT 41 + 1 AS answer").waitFor();
  await page.getByRole("radio", { name: "Saved" }).check({ force: true });
  await page.getByRole("list", { name: "Saved queries" }).getByText("SELECT 41 + 1 AS answer").click();
  await run(page);
  await ended(page, 1);
  assert.deepEqual(await cells(page), [["42"]]);
});

test("windows_keep_each_others_queries", async (t) => {
  const page = await editor(t, "");
  const other = await page.context().newPage();
  await other.goto(page.url());
  const field = (window) => window.getByRole("textbox", { name: "SQL" });
  // A tab of its own in each, and the queries that both save.
  for (const [window, text] of [[page, "SELECT 'here'"], [other, "SELECT 'there'"]]) {
    await window.getByRole("button", { name: "New query" }).click();
    await field(window).focus();
    await window.keyboard.type(text);
    await window.getByRole("button", { name: "Save", exact: true }).click();
    await window.getByRole("button", { name: "History", exact: true }).click();
    await window.getByRole("radio", { name: "Saved" }).check({ force: true });
  }
  for (const window of [page, other]) {
    const saved = window.getByRole("list", { name: "Saved queries" });
    for (const text of ["SELECT 'here'", "SELECT 'there'"]) await saved.getByText(text).waitFor();
  }
  // One tab in both.
  await page.getByRole("button", { name: "Query 3", exact: true }).click();
  await eventually(async () => assert.equal(await field(page).innerText(), "SELECT 'there'"));
  await field(page).press("Control+End");
  await page.keyboard.type(" AS place");
  await eventually(async () => assert.equal(await field(other).innerText(), "SELECT 'there' AS place"));
  await page.reload();
  for (const name of ["Query 2", "Query 3"]) await page.getByRole("button", { name, exact: true }).waitFor();
  await eventually(async () => assert.match(await field(page).innerText(), /AS place$/));
});

test("sql_is_clean_everywhere", async (t) => {
  const page = await editor(t, "SELECT * FROM metrics.cpu");
  await run(page);
  await ended(page, 200);
  await everywhere(page);
  await page.getByRole("button", { name: "History", exact: true }).click();
  await page.getByRole("radio", { name: "Chart" }).check({ force: true });
  await axe(page);
});
