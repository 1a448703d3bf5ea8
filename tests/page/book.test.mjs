// A book of bets: what it is worth equals the shell.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { browse, data, eventually, everywhere, picture, serve, shellJson } from "./harness.mjs";

let server;
let folder;
before(async () => {
  folder = data();
  server = await serve(folder);
});

const percent = (share) => `${(share * 100).toFixed(2)}%`;
const signed = (n) => `${n > 0 ? "+" : ""}${n.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;

test("a_book_from_a_joint_question_equals_the_shell", async (t) => {
  const query = new URLSearchParams([["entity", "team-01"], ["leg", "wins > 8"], ["leg", "points_for > 300"]]);
  const page = await browse(t, `${server.url}/ui/ensemble/season/joint?${query}`);
  await page.locator("#joint-probability").waitFor();
  await page.getByRole("link", { name: "Put into the book" }).click();
  await page.getByRole("textbox", { name: "Odds of bet 1" }).fill("2.5");
  await page.getByRole("combobox", { name: "Add a bet on" }).fill("team-02:wins > 6");
  await page.keyboard.press("Enter");
  await page.getByRole("combobox", { name: "Side of bet 2" }).selectOption("lay");
  await page.getByRole("textbox", { name: "Stake of bet 2" }).fill("7.50");
  const file = join(folder, "bets.csv");
  const lines = ["legs,stake,odds,side", "team-01:wins > 8; team-01:points_for > 300,10,2.5,back", "team-02:wins > 6,7.50,2,lay"];
  writeFileSync(file, `${lines.join("\n")}\n`);
  const book = shellJson("book", "season", "--data", folder, "--file", file);
  await eventually(async () => assert.equal(await page.locator("#book-mean").innerText(), signed(book.mean)));
  assert.equal(await page.locator("#book-loss").innerText(), percent(book.loss.probability));
  const rows = page.getByRole("region", { name: "Bets of the book" }).locator("tbody tr");
  for (const [i, bet] of book.bets.entries()) {
    const cells = await rows.nth(i).locator("td").allInnerTexts();
    assert.deepEqual(cells.slice(5, 8), [percent(bet.probability), signed(bet.expected_profit), percent(bet.edge)]);
  }
  await page.reload();
  await eventually(async () => assert.equal(await page.locator("#book-mean").innerText(), signed(book.mean)));
  await picture(page, "book");
  await everywhere(page);
  await page.getByRole("textbox", { name: "Stake of bet 2" }).fill("x");
  await page.getByRole("region", { name: "Profit" }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Remove bet 2" }).click();
  await page.getByRole("region", { name: "Profit" }).waitFor();
});
