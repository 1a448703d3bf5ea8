// Serves the page from its sources, and everything else from a running server, under the policy that the server sends.
//   node dev.mjs --server http://127.0.0.1:8080 --port 8090
import http from "node:http";
import { parseArgs } from "node:util";
import { OPTIONS, files } from "./build.mjs";

const { values } = parseArgs({
  options: { server: { type: "string", default: "http://127.0.0.1:8080" }, port: { type: "string", default: "8090" } },
});
const SERVER = new URL(values.server);
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
  "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

let built;

/** A file of the page; a reload builds it again. */
async function page(path) {
  const isIndex = !path.startsWith("/assets/");
  if (isIndex || !built) built = files({ ...OPTIONS, minify: false });
  return (await built).find(([at]) => at === (isIndex ? "/" : path));
}

function forward(request, response) {
  const headers = { ...request.headers, host: SERVER.host };
  if (headers.origin) headers.origin = SERVER.origin;
  const options = { hostname: SERVER.hostname, port: SERVER.port, path: request.url, method: request.method, headers };
  const asked = http.request(options, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    // A stream that the server leaves ends here, too.
    answer.on("close", () => response.end()).on("error", () => response.destroy());
    answer.pipe(response);
  });
  asked.on("error", (error) => response.writeHead(502).end(String(error)));
  response.on("close", () => asked.destroy());
  request.pipe(asked);
}

const server = http.createServer(async (request, response) => {
  const path = new URL(request.url, "http://page").pathname;
  if (path !== "/" && !path.startsWith("/ui/") && !path.startsWith("/assets/")) return forward(request, response);
  try {
    const file = await page(path);
    if (!file) return response.writeHead(404).end();
    response.writeHead(200, {
      "content-type": file[1],
      "content-security-policy": POLICY,
      "cache-control": "no-store",
    });
    response.end(file[2]);
  } catch (error) {
    response.writeHead(500, { "content-type": "text/plain" }).end(String(error));
  }
});
server.listen(Number(values.port), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/`));
