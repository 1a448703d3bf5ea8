// The list of hundreds of ensembles.
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { before, test } from "node:test";
import { browse, empty, eventually, everywhere, serve, shell, shellJson } from "./harness.mjs";

const ENSEMBLES = 500;
const nameOf = (i) => `e-${String(i).padStart(3, "0")}`;

let server;
before(async () => {
  const folder = empty();
  const file = join(folder, "rows.csv");
  writeFileSync(
    file,
    `world,entity,wait\n${Array.from({ length: 20 }, (_, i) => `${i},queue,${i * 1.5}`).join("\n")}\n`,
  );
  shell("import", nameOf(1), file, "--data", folder);
  for (const table of ["ensembles", "outcomes"]) repeat(join(folder, "sim", table));
  server = await serve(folder);
});

/** Repeats the commit of the only ensemble of a table for all others: as many imports would take minutes. */
function repeat(table) {
  const log = join(table, "_delta_log");
  const [, committed] = readdirSync(log)
    .filter((name) => name.endsWith(".json"))
    .sort();
  const text = readFileSync(join(log, committed), "utf8");
  const path = JSON.parse(text.split("\n").find((line) => line.startsWith('{"add"'))).add.path;
  for (let i = 2; i <= ENSEMBLES; i++) {
    const other = (text) =>
      text
        .replaceAll(nameOf(1), nameOf(i))
        .replaceAll("version=1/", `version=${i}/`)
        .replaceAll('"version":"1"', `"version":"${i}"`)
        .replace('"appId":"version/1"', `"appId":"version/${i}"`)
        .replace(`${nameOf(i)}/1/`, `${nameOf(i)}/${i}/`);
    mkdirSync(join(table, dirname(other(path))), { recursive: true });
    copyFileSync(join(table, path), join(table, other(path)));
    writeFileSync(join(log, `${String(i).padStart(20, "0")}.json`), other(text));
  }
}

test("five_hundred_ensembles_are_listed_and_searched_by_keyboard", async (t) => {
  const since = performance.now();
  const listed = await (await fetch(`${server.api}/api/v1/ensembles`)).json();
  t.diagnostic(`GET /api/v1/ensembles, cold: ${Math.round(performance.now() - since)} ms`);
  assert.equal(listed.length, ENSEMBLES);
  const page = await browse(t, server.url);
  await page.getByText("500", { exact: true }).waitFor();
  const list = page.getByRole("region", { name: "Ensembles" });
  assert.ok((await list.getByRole("row").count()) < 100, "only visible rows exist");
  await page.getByRole("button", { name: "Ensemble" }).focus();
  await page.keyboard.press("Enter");
  await list.getByRole("link", { name: nameOf(1), exact: true }).waitFor();
  await list.focus();
  await page.keyboard.press("End");
  await list.getByRole("link", { name: nameOf(ENSEMBLES) }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("e-437");
  await page.getByText("1 of 500").waitFor();
  await eventually(async () => assert.equal(await list.getByRole("row").count(), 2));
  const link = list.getByRole("link", { name: "e-437" });
  for (let i = 0; !(await link.evaluate((link) => link === document.activeElement)); i++) {
    assert.ok(i < 12, "the link is not reached by Tab");
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "e-437" }).waitFor();
  const { hash } = shellJson("verify", "e-437", "--data", server.folder);
  await page.getByRole("link", { name: "About" }).click();
  await page.getByRole("button", { name: "Verify" }).click();
  await page.getByText(hash).waitFor();
});

test("list_of_hundreds_is_clean_everywhere", async (t) => {
  const page = await browse(t, server.url);
  await page.getByRole("region", { name: "Ensembles" }).waitFor();
  await everywhere(page);
});

test("list_of_hundreds_comes_while_a_run_commits", async (t) => {
  const body = JSON.stringify({ model: "football", name: "marathon", worlds: 200_000, events: "replay" });
  const headers = { "content-type": "application/json" };
  const act = (path, body) => fetch(`${server.api}/api/v1/${path}`, { method: "POST", headers, body });
  assert.equal((await act("run", body)).status, 202);
  const stored = () =>
    shellJson("ensembles", "--data", server.folder).find((one) => one.ensemble === "marathon").worlds;
  await eventually(() => assert.ok(stored() > 0));
  const page = await browse(t, server.url);
  const row = page.getByRole("region", { name: "Ensembles" }).getByRole("row", { name: /marathon/ });
  await row.locator(".state", { hasText: "running" }).waitFor();
  await page.getByText("501 · 1 running").waitFor();
  await act("cancel", JSON.stringify({ ensemble: "marathon" }));
  await row.locator(".state", { hasText: "cancelled" }).waitFor();
});
