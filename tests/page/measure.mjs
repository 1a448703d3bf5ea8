// Measures the times of docs/performance.md#the-page: MANYWORLDS=PROGRAM node tests/page/measure.mjs [WORLDS]
//
// WORLDS are those of the season whose leverage is measured (10,000). Times end with the frame that shows the answer; they
// are medians, with the 90th percentile. The machine should do nothing else.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { empty, serve, shell } from "./harness.mjs";

const SEASON = Number(process.argv[2] ?? 10_000);
const WORLDS = 100_000;
const OUTCOMES = ["wait", "queue", "served", "lost", "late", "cost"];
const RUN = 20_000;

/** Outcomes that depend on each other, of a generator without a state that matters. */
function numbers() {
  let state = 1;
  const next = () => (state = (state * 1103515245 + 12345) % 2147483648) / 2147483648;
  const row = (world) => {
    const load = next() + next() + next();
    return [world, ...OUTCOMES.map((_, i) => Math.round((load + next()) * 20 * (i + 1)))].join(",");
  };
  return `world,${OUTCOMES.join(",")}\n${Array.from({ length: WORLDS }, (_, world) => row(world)).join("\n")}\n`;
}

const middle = (times, share = 0.5) => times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))];
const say = (what, times, unit = "ms") =>
  console.log(`${what.padEnd(52)} ${middle(times).toFixed(0)} ${unit}, 90%: ${middle(times, 0.9).toFixed(0)} ${unit} (${times.length})`);

/** In the page: the time from the next click to the frame that shows what `shown(argument)` waits for. */
function clock([shown, argument]) {
  // The browser's tools are exempt from the policy of the page, so a function may come as text.
  const isShown = new Function(`return ${shown}`)();
  globalThis.took = new Promise((done) => {
    const begin = () => {
      const began = performance.now();
      const look = () => {
        if (!isShown(argument)) return requestAnimationFrame(look);
        // A message after the frame comes once it is drawn.
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => done(performance.now() - began);
        requestAnimationFrame(() => port2.postMessage(0));
      };
      look();
    };
    addEventListener("click", begin, { capture: true, once: true });
  });
}

async function timed(page, click, shown, argument = null) {
  await page.evaluate(clock, [String(shown), argument]);
  await click();
  return page.evaluate(() => globalThis.took);
}

async function firstView(browser, url) {
  const times = [];
  for (let turn = 0; turn < 15; turn++) {
    const window = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await window.newPage();
    await page.addInitScript(() => {
      globalThis.drawn = new Promise((done) => {
        const look = () => {
          if (!document.querySelector('a[href*="/ui/ensemble/"]')) return requestAnimationFrame(look);
          requestAnimationFrame(() => setTimeout(() => done(performance.now())));
        };
        requestAnimationFrame(look);
      });
    });
    await page.goto(url);
    times.push(await page.evaluate(() => globalThis.drawn));
    await window.close();
  }
  say("first view drawn, nothing kept by the browser", times);
}

async function outcomes(page, server) {
  const times = [];
  for (let turn = 0; turn < 4; turn++) {
    for (const outcome of OUTCOMES) {
      await page.goto(`${server.url}/ui/ensemble/big`);
      const card = page.getByRole("link", { name: new RegExp(`^${outcome} `) });
      await card.waitFor();
      await card.locator("b").waitFor();
      times.push(await timed(page, () => card.click(), () => document.querySelector('[role="slider"][aria-label^="Histogram"]')));
    }
  }
  say(`one outcome of ${WORLDS} worlds, click to picture`, times);
}

async function legs(page, server) {
  const query = new URLSearchParams(OUTCOMES.slice(0, 5).map((outcome, i) => ["leg", `${outcome} > ${30 * (i + 1)}`]));
  await page.goto(`${server.url}/ui/ensemble/big/joint?entity=all&${query}`);
  const number = page.locator("#joint-probability");
  await number.waitFor();
  const boxes = page.getByRole("checkbox", { name: /^Count / });
  const times = [];
  for (let turn = 0; turn < 40; turn++) {
    await page.waitForTimeout(150);
    const before = await number.innerText();
    const shown = (old) => document.querySelector("#joint-probability")?.textContent !== old;
    times.push(await timed(page, () => boxes.nth(Math.floor(turn / 2) % 5).click(), shown, before));
  }
  say(`a leg of five over ${WORLDS} worlds, click to number`, times);
}

async function leverage(page, server) {
  const times = [];
  for (const among of ["game", ""]) {
    for (let turn = 0; turn < 3; turn++) {
      await page.goto(`${server.url}/ui/ensemble/season/leverage?entity=team-0${turn + 1}${among && `&among=${among}`}`);
      await page.getByRole("combobox", { name: "Condition whose probability moves" }).fill("made_playoffs");
      const rank = page.getByRole("button", { name: "Rank events" });
      times.push(await timed(page, () => rank.click(), () => document.querySelector('[aria-label="Events by movement"] tbody tr[aria-rowindex]')));
    }
    say(`leverage over ${among || "all"} entities, ${SEASON} worlds`, times.splice(0));
    console.log(`  ${await page.locator("main").innerText().then((text) => /[\d,]+ events[^\n]*/.exec(text)?.[0])}`);
  }
}

/** How long after a client of the API the page shows a number of worlds. */
async function progress(page, server) {
  await page.goto(server.url);
  const body = JSON.stringify({ model: "football", name: "running", worlds: RUN, events: "replay", threads: 1 });
  await fetch(`${server.api}/api/v1/run`, { method: "POST", headers: { "content-type": "application/json" }, body });
  await page.getByText("running").first().waitFor();
  const shown = page.locator("tr, li", { hasText: "running" }).first();
  const seen = [];
  const lags = [];
  for (const end = Date.now() + 15_000; Date.now() < end; ) {
    const status = await (await fetch(`${server.api}/api/v1/status`)).json();
    const done = status.runs.find((run) => run.ensemble === "running")?.worlds_done ?? 0;
    if (done > (seen.at(-1)?.done ?? 0)) seen.push({ done, at: Date.now() });
    const text = await shown.innerText();
    const onPage = Math.max(0, ...[...text.matchAll(/[\d,]+/g)].map(([digits]) => Number(digits.replaceAll(",", ""))).filter((n) => n <= done));
    // The oldest number that the page does not show yet.
    const missing = seen.find((one) => one.done > onPage);
    lags.push(missing ? Date.now() - missing.at : 0);
  }
  const cancel = JSON.stringify({ ensemble: "running" });
  await fetch(`${server.api}/api/v1/cancel`, { method: "POST", headers: { "content-type": "application/json" }, body: cancel });
  say(`progress, behind the API (${seen.length} steps)`, lags);
  console.log(`  most: ${Math.max(...lags)} ms`);
}

async function scrolling(page, server) {
  const query = "SELECT value, value * 3 AS triple, 'row ' || value AS name FROM generate_series(1, 1000000) ORDER BY value";
  await page.goto(`${server.url}/ui/sql?sql=${encodeURIComponent(query)}`);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByText(/^1,000,000 rows in /).waitFor({ timeout: 120_000 });
  const frames = await page.evaluate(async () => {
    const grid = document.querySelector('[role="grid"]');
    const found = [];
    let last;
    await new Promise((done) => {
      const step = (now) => {
        if (last !== undefined) found.push(now - last);
        last = now;
        // By rows, and by leaps that show other rows every time.
        grid.scrollTop += found.length % 2 ? 260 : grid.scrollHeight / 700;
        if (found.length < 600) requestAnimationFrame(step);
        else done();
      };
      requestAnimationFrame(step);
    });
    return found;
  });
  say("a frame while 1,000,000 rows scroll", frames);
  console.log(`  most: ${Math.max(...frames).toFixed(0)} ms; over 50 ms: ${frames.filter((frame) => frame > 50).length} of ${frames.length}`);
}

const folder = empty();
const file = join(folder, "big.csv");
writeFileSync(file, numbers());
shell("import", "big", file, "--data", folder);
shell("run", "football", "--worlds", String(SEASON), "--seed", "1", "--events", "replay", "--name", "season", "--data", folder);
const server = await serve(folder);
const browser = await chromium.launch({ executablePath: process.env.MANYWORLDS_CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  await firstView(browser, server.url);
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  await outcomes(page, server);
  await legs(page, server);
  await leverage(page, server);
  await scrolling(page, server);
  await progress(page, server);
} finally {
  await browser.close();
  await server.stop();
}
