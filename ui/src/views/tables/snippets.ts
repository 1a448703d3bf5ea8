// How programs send rows: texts with this server's address and a table's name.
import { shellWord } from "../../app/command";

export interface Snippet {
  id: string;
  name: string;
  about: string;
  text: string;
}

/** A text in TOML and Python: both read JSON's escapes. */
const quoted = (text: string) => JSON.stringify(text);

/** The name of a measurement in line protocol. */
export function measurement(name: string): string {
  return name.replace(/[\\, ]/g, (character) => `\\${character}`);
}

/** Snippets for a table; with tokens they read one from the environment. */
export function snippets(origin: string, database: string, name: string, tokens: boolean): Snippet[] {
  const table = encodeURIComponent(`${database}.${name}`);
  const db = encodeURIComponent(database);
  const header = tokens ? ` \\\n  -H "authorization: Bearer $MANYWORLDS_TOKEN"` : "";
  const lines = `${measurement(name)},host=web-1 load=0.5,cores=8i`;
  return [
    {
      id: "curl",
      name: "curl",
      about: "One JSON object a line; CSV and Arrow work the same way at /api/v1/write/csv and /arrow.",
      text: `curl -i -X POST ${shellWord(`${origin}/api/v1/write/json?table=${table}`)}${header} \\\n  --data-binary '{"host": "web-1", "load": 0.5, "cores": 8}'`,
    },
    {
      id: "line",
      name: "Line protocol",
      about: "What clients of InfluxDB 1 and 2 send; precision is ns, us, ms, s, m or h.",
      text: `curl -i -X POST ${shellWord(`${origin}/write?db=${db}&precision=s`)}${header} \\\n  --data-binary ${shellWord(lines)}`,
    },
    {
      id: "telegraf",
      name: "Telegraf",
      about: "In telegraf.conf. Each measurement becomes a table of the database that bucket names.",
      text: [
        "[[outputs.influxdb_v2]]",
        `  urls = [${quoted(origin)}]`,
        `  bucket = ${quoted(database)}`,
        `  organization = "any"`,
        `  token = ${tokens ? `"$\{MANYWORLDS_TOKEN}"` : `""`}`,
        `  content_encoding = "gzip"`,
      ].join("\n"),
    },
    {
      id: "client",
      name: "influxdb-client",
      about: "The client of InfluxDB 2 for Python: pip install influxdb-client",
      text: [
        ...(tokens ? ["import os"] : []),
        "from influxdb_client import InfluxDBClient, Point",
        "from influxdb_client.client.write_api import SYNCHRONOUS",
        "",
        `token = ${tokens ? `os.environ["MANYWORLDS_TOKEN"]` : `""`}`,
        `with InfluxDBClient(${quoted(origin)}, token=token, org="any", enable_gzip=True) as client:`,
        `    point = Point(${quoted(name)}).tag("host", "web-1").field("load", 0.5)`,
        `    client.write_api(write_options=SYNCHRONOUS).write(${quoted(database)}, record=point)`,
      ].join("\n"),
    },
    {
      id: "python",
      name: "Python",
      about: "Without any package. Send many rows at once: one JSON object a line.",
      text: [
        "import json",
        ...(tokens ? ["import os"] : []),
        "import urllib.request",
        "",
        `rows = [{"host": "web-1", "load": 0.5, "cores": 8}]`,
        "request = urllib.request.Request(",
        `    ${quoted(`${origin}/api/v1/write/json?table=${table}`)},`,
        `    data="\\n".join(map(json.dumps, rows)).encode(),`,
        ...(tokens ? [`    headers={"authorization": "Bearer " + os.environ["MANYWORLDS_TOKEN"]},`] : []),
        `    method="POST",`,
        ")",
        "urllib.request.urlopen(request)",
      ].join("\n"),
    },
    {
      id: "package",
      name: "Python package",
      about: "The package manyworlds for Python. Rows are dicts or any Arrow object, such as a data frame.",
      text: [
        ...(tokens ? ["import os", ""] : []),
        "import manyworlds as mw",
        "",
        `data = mw.connect(${quoted(origin)}${tokens ? `, token=os.environ["MANYWORLDS_TOKEN"]` : ""})`,
        `data.append(${quoted(`${database}.${name}`)}, [{"host": "web-1", "load": 0.5, "cores": 8}])`,
      ].join("\n"),
    },
  ];
}
