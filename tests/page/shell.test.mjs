// What surrounds all views: addresses, themes, keys, the connection, and the answer without JavaScript.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { before, test } from "node:test";
import { ROOT, axe, browse, data, empty, everywhere, serve, shell } from "./harness.mjs";

let server;
before(async () => {
  server = await serve(data());
});

test("unknown_address_leads_home", async (t) => {
  const page = await browse(t, `${server.url}/ui/nothing/here`);
  await page.getByRole("heading", { name: "There is no such view" }).waitFor();
  await page.getByRole("link", { name: "Go to the list of ensembles" }).click();
  await page.getByRole("heading", { name: "Ensembles" }).waitFor();
  assert.equal(new URL(page.url()).pathname, "/");
});

test("unknown_address_is_clean", async (t) => {
  const page = await browse(t, `${server.url}/ui/nowhere`);
  await page.getByRole("heading", { name: "There is no such view" }).waitFor();
  await axe(page);
});

test("back_returns_to_the_view_before", async (t) => {
  const page = await browse(t, server.url);
  await page.getByRole("link", { name: "season", exact: true }).click();
  await page.getByRole("heading", { name: "season" }).waitFor();
  await page.goBack();
  await page.getByRole("heading", { name: "Ensembles" }).waitFor();
});

test("theme_switch_overrides_the_system_and_stays", async (t) => {
  const page = await browse(t, server.url, { scheme: "light" });
  const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.getByRole("heading", { name: "Ensembles" }).waitFor();
  const light = await back();
  await page.getByRole("button", { name: "Display and session" }).click();
  await page.getByRole("radio", { name: "Dark" }).check({ force: true });
  const dark = await back();
  assert.notEqual(dark, light);
  await page.reload();
  await page.getByRole("heading", { name: "Ensembles" }).waitFor();
  assert.equal(await back(), dark);
});

test("times_switch_to_utc", async (t) => {
  const page = await browse(t, server.url, { timezoneId: "Asia/Tokyo" });
  const created = () =>
    page
      .getByRole("row", { name: /season/ })
      .getByText(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
      .innerText();
  const inTokyo = await created();
  await page.getByRole("button", { name: "Display and session" }).click();
  await page.getByRole("radio", { name: "UTC" }).check({ force: true });
  const inUtc = await created();
  assert.equal(Date.parse(`${inTokyo.replace(" ", "T")}+09:00`), Date.parse(`${inUtc.replace(" ", "T")}Z`));
});

test("keyboard_reaches_content_and_search", async (t) => {
  const page = await browse(t, server.url);
  await page.getByRole("heading", { name: "Ensembles" }).waitFor();
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to content");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "main");
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "Search ensembles");
});

test("without_javascript_the_page_says_so", async (t) => {
  const page = await browse(t, server.url, { javaScriptEnabled: false });
  assert.match(await page.locator("noscript").innerText(), /needs JavaScript/);
});

test("types_are_those_of_the_openapi_document", () => {
  execFileSync(process.execPath, ["ui/types.mjs", `${server.api}/api/v1/openapi.json`, "--check"], {
    cwd: ROOT,
    stdio: "pipe",
  });
});

test("first_view_is_at_most_60_kB", async (t) => {
  if (process.env.MANYWORLDS_PAGE === "sources") return t.skip("the sources are not compressed");
  const page = await browse(t, server.url);
  await page.getByRole("row", { name: /season/ }).waitFor();
  const bytes = await page.evaluate(() =>
    [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
      .map((entry) => entry.transferSize)
      .reduce((sum, size) => sum + size, 0),
  );
  assert.ok(bytes > 10_000 && bytes <= 60_000, `${bytes} bytes`);
});

test("policy_forbids_inline_and_foreign_code", async () => {
  const headers = (await fetch(server.url)).headers;
  const policy = headers.get("content-security-policy");
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /script-src 'self'(;|$)/);
  assert.match(policy, /style-src 'self'(;|$)/);
  assert.match(policy, /frame-ancestors 'none'/);
});

test("lost_connection_shows_and_returns_by_itself", async (t) => {
  const own = await serve(data());
  const page = await browse(t, own.url, { expect: [/Failed to load resource/, /ERR_/] });
  await page.getByText("live", { exact: true }).waitFor();
  await own.stop("SIGKILL");
  await page.getByText("connection lost").waitFor();
  await own.start();
  await page.getByText("live", { exact: true }).waitFor();
});

test("hidden_page_leaves_its_stream_and_catches_up", async (t) => {
  const own = await serve(data());
  const page = await browse(t, own.url);
  await page.getByText("live", { exact: true }).waitFor();
  const turn = (hidden) =>
    page.evaluate((hidden) => {
      Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, hidden);
  const ended = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/status/stream"));
  await turn(true);
  await ended;
  shell("drop", "queue", "--data", own.folder);
  await turn(false);
  await page.getByText("live", { exact: true }).waitFor();
  await page.getByRole("row", { name: /queue/ }).waitFor({ state: "detached" });
});

test("slow_network_shows_that_something_is_on_its_way", async (t) => {
  const page = await browse(t, server.url, { reducedMotion: "no-preference" });
  await page.getByRole("link", { name: "season", exact: true }).waitFor();
  const tools = await page.context().newCDPSession(page);
  await tools.send("Network.enable");
  await tools.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: 1500,
    downloadThroughput: 40_000,
    uploadThroughput: 40_000,
  });
  await page.getByRole("link", { name: "season", exact: true }).click();
  await page.locator(".loading").waitFor();
  await page.getByRole("heading", { name: "season" }).waitFor();
  await page.locator(".loading").waitFor({ state: "detached" });
});

test("dropped_ensemble_says_so_while_it_is_in_view", async (t) => {
  const own = await serve(data());
  const page = await browse(t, `${own.url}/ui/ensemble/queue`, { expect: [/status of 404/] });
  await page.getByRole("heading", { name: "queue" }).waitFor();
  shell("drop", "queue", "--data", own.folder);
  await page.getByRole("heading", { name: 'There is no ensemble "queue"' }).waitFor();
});

test("empty_server_says_what_to_do", async (t) => {
  const own = await serve(empty());
  const page = await browse(t, own.url);
  await page.getByRole("heading", { name: "No ensembles yet" }).waitFor();
  await page.getByText("manyworlds run football --worlds 1000 --name season").waitFor();
  await axe(page);
});

test("list_fits_every_window_and_theme", async (t) => {
  const page = await browse(t, server.url);
  await page.getByRole("row", { name: /season/ }).waitFor();
  await everywhere(page);
});
