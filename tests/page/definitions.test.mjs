// Definitions: written with their faults marked, kept in versions, and played.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { browse, empty, eventually, everywhere, picture, serve, shell, shellJson } from "./harness.mjs";

let server;
let event;
before(async () => {
  server = await serve(empty());
  event = shell("bingo", "example");
});

test("definition_is_checked_kept_and_played", async (t) => {
  const page = await browse(t, `${server.url}/ui/run?model=bingo`);
  await page.getByRole("link", { name: "Write one" }).click();
  const text = page.getByRole("textbox", { name: /^Text of the/ });
  await text.fill(event);
  await page.getByRole("heading", { name: "Valid event" }).waitFor();
  await page.getByRole("textbox", { name: "Name" }).fill("winter");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: "winter" }).waitFor();
  await text.fill(event.replace(/opening_points = \d+/, "opening_points = 4"));
  await page.getByRole("button", { name: "Save as a new version" }).click();
  await page.getByLabel("Version").locator("option:checked", { hasText: "2" }).waitFor({ state: "attached" });
  await page.getByLabel("Version").selectOption("1");
  await eventually(async () => assert.equal(await text.inputValue(), event));
  await page.getByRole("link", { name: "Play" }).click();
  await page.getByRole("textbox", { name: "Name", exact: true }).fill("plan");
  await page.getByRole("textbox", { name: "Worlds", exact: true }).fill("200");
  await page.getByRole("button", { name: "Start" }).click();
  await page.locator(".state", { hasText: "complete" }).waitFor();
  assert.equal(shellJson("ensembles", "--data", server.folder).find((one) => one.ensemble === "plan").worlds, 200);
});

test("faults_are_marked_as_the_shell_reports_them", async (t) => {
  const page = await browse(t, `${server.url}/ui/definitions?model=bingo&new=1`);
  const text = page.getByRole("textbox", { name: /^Text of the/ });
  const faulty = event.replace(/duration = "[^"]*"/, 'duration = "a day"');
  await text.fill(faulty);
  await page.getByText('invalid duration "a day": write 24h or 9days').waitFor();
  const line = faulty.split("\n").findIndex((one) => one.startsWith("duration")) + 1;
  assert.equal(await page.locator('.gutter [data-tone="bad"]').innerText(), String(line));
  await page.getByRole("button", { name: `line ${line}` }).click();
  assert.equal(
    await page.evaluate(() => document.activeElement.value.slice(document.activeElement.selectionStart).split("\n")[0]),
    'duration = "a day"'.slice(await column(page)),
  );
  await picture(page, "definition");
  await everywhere(page);
});

test("event_shares_players_of_another_definition", async (t) => {
  const page = await browse(t, `${server.url}/ui/definitions`);
  const text = page.getByRole("textbox", { name: /^Text of the/ });
  const write = async (name, said, words) => {
    await page.getByRole("link", { name: "Definitions", exact: true }).first().click();
    await page.getByRole("link", { name: "New bingo event" }).click();
    await text.fill(said);
    await page.getByRole("heading", { name: words }).waitFor();
    await page.getByRole("textbox", { name: "Name" }).fill(name);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name }).waitFor();
  };
  const [players, rest] = apart(event);
  await write("crew", players, "Valid part");
  await page.getByRole("heading", { name: "Valid part" }).waitFor();
  assert.equal(await page.getByRole("link", { name: "Play" }).count(), 0);
  await write("shared", `use = ["crew"]\n${rest}`, "Valid event");
  await page.getByRole("link", { name: "Play" }).click();
  await page.getByLabel("event", { exact: true }).selectOption("crew");
  await page.getByText("crew is a part: choose an event that uses it.").waitFor();
  assert.ok(await page.getByRole("button", { name: "Start" }).isDisabled());
  await page.getByLabel("event", { exact: true }).selectOption("shared");
  await page.getByRole("textbox", { name: "Name", exact: true }).fill("together");
  await page.getByRole("textbox", { name: "Worlds", exact: true }).fill("60");
  await page.getByRole("button", { name: "Start" }).click();
  await page.locator(".state", { hasText: "complete" }).waitFor();
  const folder = empty();
  const file = join(folder, "event.toml");
  writeFileSync(file, event);
  shell("run", "bingo", "--event", file, "--worlds", "60", "--name", "together", "--data", folder);
  const hash = (data) => shellJson("verify", "together", "--data", data).hash;
  assert.equal(hash(server.folder), hash(folder));
  // A fault in the part is shown in the event that uses it, and leads there.
  await page.goto(`${server.url}/ui/definitions/crew`);
  await text.fill(players.replace(/skill = [\d.]+/, "skill = 99"));
  await page.getByRole("button", { name: "Save as a new version" }).click();
  await page.getByRole("link", { name: "Definitions", exact: true }).first().click();
  await page.getByRole("link", { name: "shared" }).click();
  await page.getByRole("heading", { name: "1 fault" }).waitFor();
  await page.getByText(/skill/).last().waitFor();
  await page.goto(`${server.url}/ui/run?model=bingo&definition=shared`);
  await page.getByText("shared has 1 fault: edit it, or choose another version.").waitFor();
  await page.getByRole("link", { name: "Show or edit it" }).click();
  await page.getByRole("link", { name: "crew@2" }).first().click();
  await page.getByRole("heading", { name: "crew" }).waitFor();
});

/** The tables [[players]] of an event, and the rest of it. */
function apart(event) {
  const tables = event.split(/^(?=\[)/m);
  const isPlayer = tables.map((table) => table.startsWith("[[players"));
  return [true, false].map((wanted) => tables.filter((_, i) => isPlayer[i] === wanted).join(""));
}

/** Where the selection begins in its line. */
function column(page) {
  return page.evaluate(
    () => document.activeElement.value.slice(0, document.activeElement.selectionStart).split("\n").at(-1).length,
  );
}
