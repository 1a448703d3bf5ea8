// Charts look like their golden pictures, in both themes. Those of outcomes are in outcomes.test.mjs.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { LINES, browse, data, looksLike, serve, withoutTexts } from "./harness.mjs";

let server;
before(async () => {
  server = await serve(data());
  const written = await fetch(`${server.api}/write?db=metrics&precision=s`, { method: "POST", body: LINES });
  assert.equal(written.status, 204);
});

const of = (view, query) => `/ui/ensemble/season/${view}?${new URLSearchParams(query)}`;

/** Charts by name: where each is, and how to find it on the page. */
const CHARTS = {
  leverage: [
    of("leverage", { entity: "team-01", condition: "made_playoffs" }),
    (page) => page.getByRole("region", { name: "Events by movement" }),
  ],
  correlations: [of("correlations", { entity: "team-01" }), (page) => page.locator(".heat canvas")],
  differences: [
    of("compare", { with: "slow", entity: "team-01" }),
    (page) => page.getByRole("region", { name: "Differences" }),
  ],
  compare: [
    of("compare", { with: "slow", entity: "team-01", outcome: "yards" }),
    (page) => page.getByRole("slider", { name: /^Histograms/ }),
  ],
  book: [
    of("book", { bet: JSON.stringify(["back", "10", "2.5", "team-01:wins > 8"]) }),
    (page) => page.getByRole("slider", { name: /^Histogram/ }),
  ],
  series: [
    "/ui/tables/metrics/cpu?since=all&group=host&measure=max%3Aload&bucket=5m",
    (page) => page.locator(".u-wrap").first(),
  ],
  // Hosts that report at different times.
  sql: [
    `/ui/sql?${new URLSearchParams({ sql: "SELECT time, host, load FROM metrics.cpu" })}`,
    (page) => page.locator(".u-wrap").first(),
    async (page) => {
      await page.getByRole("button", { name: "Run", exact: true }).click();
      await page.getByRole("radio", { name: "Chart" }).check({ force: true });
    },
  ],
};

for (const scheme of ["light", "dark"]) {
  for (const [name, [address, chart, draw]] of Object.entries(CHARTS)) {
    test(`picture_looks_like_the_golden_one_${name}_${scheme}`, async (t) => {
      const page = await browse(t, `${server.url}${address}`, { scheme, init: withoutTexts, timezoneId: "UTC" });
      await draw?.(page);
      await chart(page).waitFor();
      await page.locator(".loading").waitFor({ state: "detached" });
      await looksLike(chart(page), `${name}-${scheme}`);
    });
  }
}
