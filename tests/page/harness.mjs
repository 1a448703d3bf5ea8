// Real servers with real ensembles, and a real browser before them.
//
// MANYWORLDS          the program (default: target/debug/manyworlds)
// MANYWORLDS_PAGE     "sources": show the page from ui/src instead of the files in the program
// MANYWORLDS_CHROMIUM the browser (default: chromium)
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const HERE = fileURLToPath(new URL(".", import.meta.url));
export const ROOT = resolve(HERE, "../..");
export const PROGRAM = process.env.MANYWORLDS ?? join(ROOT, "target/debug/manyworlds");
const FROM_SOURCES = process.env.MANYWORLDS_PAGE === "sources";
const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const PATIENCE = 30_000;

// What ends with the tests of a file, last made first.
const endings = [];
after(async () => {
  for (const end of endings.reverse()) await end();
});

/** Runs the program; returns what it prints. */
export function shell(...args) {
  return execFileSync(PROGRAM, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], maxBuffer: 1 << 28 });
}

/** Runs the command that the page shows, in a shell; returns its answer in JSON. */
export async function shownCommand(page, folder) {
  const text = await page.locator(".command code").last().innerText();
  assert.match(text, /^manyworlds /);
  const command = `"$PROGRAM" ${text.slice("manyworlds ".length)} --data "$FOLDER" --format json`;
  const env = { ...process.env, PROGRAM, FOLDER: folder };
  return JSON.parse(execFileSync("sh", ["-c", command], { encoding: "utf8", env }));
}

/** As `shell`, for answers in JSON. */
export function shellJson(...args) {
  return JSON.parse(shell(...args, "--format", "json"));
}

// The ensembles and tables of most tests. Names are chosen to need escaping in addresses.
const ROWS = Array.from(
  { length: 200 },
  (_, i) => `cpu,host=web-${i % 4} load=${(i % 50) / 10},big=${9007199254740993n + BigInt(i)}i ${1760000000 + i * 15}`,
);

/** A name that must be escaped in addresses, HTML, expressions and files. */
export const NASTY = `a/b <img src=x> & "c" %2F ?# 'd' ü日本`;

/** An outcome of real numbers, one of words, and one with an odd name, of an entity with an odd name. */
function nasty() {
  const quoted = (text) => `"${text.replaceAll('"', '""')}"`;
  const row = (i) => [i, quoted(NASTY), Math.sin(i) * 10 + i / 7, ["busy", "calm"][i % 2], i % 5].join(",");
  return `world,entity,wait,state,${quoted('odd <b> "name"')}\n${Array.from({ length: 400 }, (_, i) => row(i)).join("\n")}\n`;
}

function make(data) {
  shell("run", "football", "--worlds", "200", "--seed", "1", "--events", "replay", "--name", "season", "--data", data);
  shell(
    "run",
    "football",
    "--worlds",
    "200",
    "--seed",
    "1",
    "--events",
    "replay",
    "--name",
    "slow",
    "--param",
    "pace=1.2",
    "--data",
    data,
  );
  const file = join(data, "queue.csv");
  writeFileSync(file, nasty());
  shell("import", "queue", file, "--data", data);
  const event = join(data, "event.toml");
  writeFileSync(event, shell("bingo", "example"));
  shell("run", "bingo", "--event", event, "--worlds", "500", "--seed", "1", "--name", "plan", "--data", data);
}

/** A folder with ensembles of its own; what is in it was made once for a program. */
export function data() {
  // Another program, or other ensembles to make, give another folder.
  const versions = [PROGRAM, fileURLToPath(import.meta.url)].map((file) => Math.round(statSync(file).mtimeMs));
  const made = join(HERE, ".data", versions.join("-"));
  if (!existsSync(made)) {
    const partial = `${made}.${process.pid}`;
    mkdirSync(partial, { recursive: true });
    make(partial);
    renameSync(partial, made);
  }
  const folder = empty();
  cpSync(made, folder, { recursive: true });
  return folder;
}

/** Makes a token with the given permissions; returns it. */
export function token(file, name, ...permissions) {
  return /mw_\S+/.exec(shell("token", "create", name, ...permissions, "--token-file", file))[0];
}

/** An empty folder that goes with the tests of the file. */
export function empty() {
  const folder = mkdtempSync(join(tmpdir(), "manyworlds-page-"));
  endings.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Rows in line protocol: real telemetry for tests of tables. */
export const LINES = ROWS.join("\n");

function started(program, args, said, env = {}) {
  // A test that wants a fleet names it.
  const { MANYWORLDS_LEDGER, MANYWORLDS_BROKER, ...rest } = process.env;
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], env: { ...rest, ...env } });
  let text = "";
  return new Promise((done, fail) => {
    const timer = setTimeout(() => fail(new Error(`${program} ${args.join(" ")} did not start:\n${text}`)), PATIENCE);
    const hear = (bytes) => {
      text += bytes;
      const found = said.exec(text);
      if (!found) return;
      clearTimeout(timer);
      done({ child, found });
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("exit", (code) => {
      clearTimeout(timer);
      fail(new Error(`${program} ${args.join(" ")} ended with ${code}:\n${text}`));
    });
  });
}

async function stopped(child, signal = "SIGTERM") {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((done) => child.once("exit", done));
  child.kill(signal);
  await ended;
}

/**
 * A server over a folder. `url` is where the page is; `stop` and `start` end it and start it again at the same address.
 * `env` has variables for it.
 */
export async function serve(folder, { args = [], env = {} } = {}) {
  const server = { folder, url: "", api: "", child: undefined, port: 0 };
  server.start = async () => {
    const listen = `127.0.0.1:${server.port}`;
    const { child, found } = await started(
      PROGRAM,
      ["serve", "--data", folder, "--listen", listen, ...args],
      /listening on (https?:\/\/[^\s;]+)/,
      env,
    );
    server.child = child;
    server.api = found[1];
    server.port = Number(new URL(found[1]).port);
  };
  server.stop = (signal) => stopped(server.child, signal);
  await server.start();
  server.url = server.api;
  if (FROM_SOURCES) {
    const dev = [join(ROOT, "ui/dev.mjs"), "--server", server.api, "--port", "0"];
    const { child, found } = await started(process.execPath, dev, /(http:\/\/\S+?)\/\s/);
    server.url = found[1];
    endings.push(() => stopped(child, "SIGKILL"));
  }
  endings.push(() => server.stop());
  return server;
}

/**
 * The services of a fleet, as variables for its programs, and why tests that need them are skipped: services.sh starts
 * them, and prints what to export.
 */
const { MANYWORLDS_LEDGER, MANYWORLDS_BROKER } = process.env;
export const FLEET = { MANYWORLDS_LEDGER, MANYWORLDS_BROKER };
export const WITHOUT_FLEET =
  !(MANYWORLDS_LEDGER && MANYWORLDS_BROKER) && "no fleet: run scripts/services.sh start, and export what it prints";
if (WITHOUT_FLEET && process.env.CI) throw new Error(WITHOUT_FLEET);

/** Starts a worker of the fleet; returns its process and how to stop it. */
export async function work(folder) {
  const args = ["worker", "--concurrency", "1", "--data", folder];
  const { child } = await started(PROGRAM, args, /playing up to/, FLEET);
  const worker = { pid: child.pid, stop: (signal) => stopped(child, signal) };
  endings.push(() => worker.stop("SIGKILL"));
  return worker;
}

/** A proxy before a service: `address` is that of the service through it. `shut` cuts all connections and rejects others. */
export async function gate(address) {
  const through = new URL(address);
  const { port, hostname } = through;
  const passing = new Set();
  let isOpen = true;
  const proxy = createServer((near) => {
    const far = isOpen && connect(Number(port), hostname);
    if (!far) return near.destroy();
    for (const [end, other] of [
      [near, far],
      [far, near],
    ]) {
      passing.add(end);
      end.on("error", () => {});
      end.on("close", () => passing.delete(end) && other.destroy());
      end.pipe(other);
    }
  });
  await new Promise((done) => proxy.listen(0, "127.0.0.1", done));
  through.host = `127.0.0.1:${proxy.address().port}`;
  const shut = () => {
    isOpen = false;
    for (const end of passing) end.destroy();
  };
  endings.push(() => {
    shut();
    proxy.close();
  });
  return { address: through.href, shut, open: () => (isOpen = true) };
}

let launched;

/**
 * A page in the browser. What it complains about fails the test, unless `expect` allows it. `init` runs in the page before
 * its own scripts.
 */
export async function browse(
  t,
  url,
  { width = 1280, height = 800, scheme = "light", expect = [], init = () => {}, ...context } = {},
) {
  if (launched === undefined) {
    const executablePath = process.env.MANYWORLDS_CHROMIUM ?? "/usr/bin/chromium";
    launched = chromium.launch({ executablePath, args: ["--no-sandbox"] });
    endings.push(async () => (await launched).close());
  }
  const browser = await launched;
  const options = {
    viewport: { width, height },
    colorScheme: scheme,
    acceptDownloads: true,
    reducedMotion: "reduce",
    ...context,
  };
  const window = await browser.newContext(options);
  const page = await window.newPage();
  await page.addInitScript(init);
  page.setDefaultTimeout(PATIENCE);
  const complaints = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error.stack)));
  const foreign = [];
  page.on("request", (request) => {
    const scheme = new URL(request.url()).protocol;
    if (new URL(request.url()).origin !== new URL(url).origin && !["data:", "blob:"].includes(scheme))
      foreign.push(request.url());
  });
  t.after(async () => {
    await window.close();
    assert.deepEqual(foreign, [], "the page asks its own server only");
    assert.deepEqual(
      complaints.filter((said) => !expect.some((allowed) => allowed.test(said))),
      [],
      "the browser complains",
    );
  });
  await page.goto(url);
  return page;
}

/** Checks accessibility of what the page shows, in its theme. */
export async function axe(page) {
  // The policy forbids injected scripts; the browser's tools are exempt.
  await page.evaluate(readFileSync(AXE, "utf8"));
  const violations = await page.evaluate(async () => {
    const found = await globalThis.axe.run(document, { resultTypes: ["violations"] });
    return found.violations.map(
      ({ id, nodes }) =>
        `${id}: ${nodes
          .slice(0, 3)
          .map((node) => `${node.html.slice(0, 160)} (${node.failureSummary})`)
          .join(" | ")}`,
    );
  });
  assert.deepEqual(violations, []);
}

/** Time for charts to be drawn again in a window of another size. */
const RESIZE = 5_000;

/** Whether nothing of the page lies outside of its window, from side to side. */
export async function fits(page) {
  await eventually(async () => {
    const [wide, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(wide <= window, `the page is ${wide} wide in a window of ${window}`);
  }, RESIZE);
}

/** Checks what the page shows in both themes, from a phone to 4K: nothing sticks out, and axe finds nothing. */
export async function everywhere(page) {
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    for (const [width, height] of [
      [360, 740],
      [1280, 800],
      [3840, 2160],
    ]) {
      await page.setViewportSize({ width, height });
      await fits(page);
    }
    await page.setViewportSize({ width: colorScheme === "light" ? 360 : 1280, height: 800 });
    await axe(page);
  }
}

/** Drawn pixels of a picture that may differ: versions of the browser smooth the edges of shapes differently. */
const TOLERANCE = 0.01;

/** Leaves out texts on canvases, as `init` of `browse`. */
export function withoutTexts() {
  CanvasRenderingContext2D.prototype.fillText = () => {};
}

/**
 * Checks that a picture looks like the golden one, golden/NAME.png; MANYWORLDS_GOLDEN=write replaces that. Texts are left
 * out: machines have different fonts. For those on canvases, see `withoutTexts`.
 */
export async function looksLike(locator, name) {
  const page = locator.page();
  await page.evaluate(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync("* { color: transparent !important; } svg text { visibility: hidden !important; }");
    document.adoptedStyleSheets = [sheet];
  });
  const shot = await locator.screenshot({ animations: "disabled" });
  await page.evaluate(() => (document.adoptedStyleSheets = []));
  const file = join(HERE, "golden", `${name}.png`);
  if (process.env.MANYWORLDS_GOLDEN === "write") {
    mkdirSync(join(HERE, "golden"), { recursive: true });
    writeFileSync(file, shot);
    return;
  }
  const share = await page.evaluate(
    differing,
    [readFileSync(file), shot].map((bytes) => bytes.toString("base64")),
  );
  if (share > TOLERANCE) writeFileSync(join(HERE, ".data", `${name}.png`), shot);
  assert.ok(
    share <= TOLERANCE,
    `${(share * 100).toFixed(2)}% of what is drawn in golden/${name}.png differ from .data/${name}.png`,
  );
}

/** Pixels that differ, as a share of those that are not background; 1 if the sizes differ. Runs in the browser. */
async function differing(pictures) {
  const [a, b] = await Promise.all(
    pictures.map(async (bytes) => {
      const image = new Image();
      image.src = `data:image/png;base64,${bytes}`;
      await image.decode();
      const canvas = new OffscreenCanvas(image.width, image.height);
      const context = canvas.getContext("2d");
      context.drawImage(image, 0, 0);
      return context.getImageData(0, 0, image.width, image.height);
    }),
  );
  if (a.width !== b.width || a.height !== b.height) return 1;
  let differ = 0;
  const colours = new Map();
  for (let i = 0; i < a.data.length; i += 4) {
    const colour = (a.data[i] << 16) | (a.data[i + 1] << 8) | a.data[i + 2];
    colours.set(colour, (colours.get(colour) ?? 0) + 1);
    const far = [0, 1, 2].some((channel) => Math.abs(a.data[i + channel] - b.data[i + channel]) > 40);
    if (far) differ += 1;
  }
  const background = Math.max(...colours.values());
  return differ / (a.width * a.height - background);
}

/** Takes a picture of the page for the documents, docs/images/page-NAME.png, if MANYWORLDS_PICTURES is set. */
export async function picture(page, name) {
  if (process.env.MANYWORLDS_PICTURES === undefined) return;
  await page.evaluate(() => scrollTo(0, 0));
  await page.screenshot({ path: join(ROOT, "docs/images", `page-${name}.png`), animations: "disabled" });
}

/** Waits until `check` does not throw. */
export async function eventually(check, patience = PATIENCE) {
  const end = Date.now() + patience;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((done) => setTimeout(done, 50));
    }
  }
}
