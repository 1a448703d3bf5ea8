// Builds the page into dist/: gzip-compressed files with hashed names, the same bytes on every machine.
//   node build.mjs            write dist/
//   node build.mjs --check    compare dist/ with the sources, write nothing
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { basename, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import esbuild from "esbuild";
import { gzipSync } from "fflate";

const ROOT = fileURLToPath(new URL(".", import.meta.url));
const DIST = join(ROOT, "dist");
const TYPES = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};

export const OPTIONS = {
  absWorkingDir: ROOT,
  entryPoints: { main: "src/main.tsx" },
  bundle: true,
  splitting: true,
  format: "esm",
  target: ["es2022", "chrome120", "firefox120", "safari17.5"],
  jsx: "automatic",
  jsxImportSource: "preact",
  minify: true,
  legalComments: "none",
  outdir: "dist",
  entryNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  metafile: true,
  write: false,
};

/** The page's files by address: [address, type, bytes]. */
export async function files(options = OPTIONS) {
  const built = await esbuild.build(options);
  const out = built.outputFiles.map((file) => [`/assets/${basename(file.path)}`, Buffer.from(file.contents)]);
  const icon = readFileSync(join(ROOT, "src/icon.svg"));
  out.push([`/assets/icon-${createHash("sha256").update(icon).digest("hex").slice(0, 8).toUpperCase()}.svg`, icon]);
  const address = (start, end) => out.find(([path]) => path.startsWith(`/assets/${start}-`) && path.endsWith(end))[0];
  // The browser fetches what the first script imports beside it, not after it.
  const first = Object.entries(built.metafile.outputs).find(([path]) =>
    path.endsWith(basename(address("main", ".js"))),
  )[1];
  const imported = first.imports
    .filter(({ kind }) => kind === "import-statement")
    .map(({ path }) => `/assets/${basename(path)}`);
  const index = readFileSync(join(ROOT, "src/index.html"), "utf8")
    .replace("{script}", address("main", ".js"))
    .replace("{style}", address("main", ".css"))
    .replace("{preloads}", imported.map((path) => `<link rel="modulepreload" href="${path}">\n`).join(""))
    .replace("{icon}", address("icon", ".svg"));
  out.push(["/", Buffer.from(index)]);
  return out
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, bytes]) => [path, TYPES[extname(path) || ".html"], bytes]);
}

/** What dist/ holds: file name -> bytes. */
async function dist() {
  const found = new Map();
  const manifest = [];
  for (const [path, type, bytes] of await files()) {
    const file = `${path === "/" ? "index.html" : basename(path)}.gz`;
    found.set(file, Buffer.from(gzipSync(bytes, { level: 9, mtime: 0 })));
    manifest.push({ path, file, type });
  }
  found.set("manifest.json", Buffer.from(`${JSON.stringify(manifest, null, 1)}\n`));
  const row = ({ path, file, type }) => `    ("${path}", "${type}", include_bytes!("${file}").as_slice()),\n`;
  found.set("files.rs", Buffer.from(`&[\n${manifest.map(row).join("")}]\n`));
  return found;
}

async function main(check) {
  const wanted = await dist();
  const had = new Set(check ? readdirSync(DIST) : []);
  if (check) {
    const differ = [...wanted].filter(
      ([file, bytes]) => !had.has(file) || !readFileSync(join(DIST, file)).equals(bytes),
    );
    const extra = [...had].filter((file) => !wanted.has(file));
    if (differ.length + extra.length > 0) {
      const names = [...differ.map(([file]) => file), ...extra].join(", ");
      console.error(`ui/dist differs from its sources (${names}): run "npm run build" in ui/ and commit ui/dist`);
      process.exit(1);
    }
    return;
  }
  rmSync(DIST, { recursive: true, force: true });
  mkdirSync(DIST, { recursive: true });
  for (const [file, bytes] of wanted) writeFileSync(join(DIST, file), bytes);
  for (const [file, bytes] of wanted)
    if (file.endsWith(".gz")) console.log(`${String(bytes.length).padStart(8)}  ${file}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.includes("--check"));
