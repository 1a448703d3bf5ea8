// Writes src/api.gen.ts, the types of the API, from the OpenAPI document of a running server, or of a file.
//   npm run types -- http://127.0.0.1:8080/api/v1/openapi.json
//   npm run types -- FILE --check      compare only
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import openapiTS, { astToString } from "openapi-typescript";

const FILE = fileURLToPath(new URL("src/api.gen.ts", import.meta.url));
const HEAD = "// Generated from the server's OpenAPI document: `npm run types -- ADDRESS`. Do not edit.\n";

const { values, positionals } = parseArgs({ options: { check: { type: "boolean" } }, allowPositionals: true });
const [source] = positionals;
if (source === undefined)
  throw new Error("name the document: npm run types -- http://127.0.0.1:8080/api/v1/openapi.json");
const text = /^https?:/.test(source) ? await (await fetch(source)).text() : readFileSync(source, "utf8");
const written = HEAD + astToString(await openapiTS(JSON.parse(text)));
if (!values.check) writeFileSync(FILE, written);
else if (readFileSync(FILE, "utf8") !== written) {
  console.error(
    `ui/src/api.gen.ts differs from the server's OpenAPI document: run "npm run types -- ${source}" in ui/`,
  );
  process.exit(1);
}
