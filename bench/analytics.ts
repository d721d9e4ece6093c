// Measures how fast reports of a workspace with a million conversations a year are read, on SQLite and MariaDB:
// by query, by the requests of the page over HTTP, and by a browser that loads the page.
//   node bench/analytics.ts
import { dateOfDay } from "#domain/reporting/local-time.ts";
import { groupings, metricsBy } from "#domain/reporting/metrics.ts";
import type { OpenStore } from "#database/open.ts";
import { openStore } from "#database/open.ts";
import { readReport } from "#conversations/reporting/report.ts";
import { emptyMysql, newSqlite } from "#test/support/database/new-database.ts";
import { seedReports } from "#test/support/database/report-rows.ts";
import { noBrowser, openBrowser } from "#test/support/browser.ts";
import { signIn } from "#test/support/program/administrator.ts";
import { install } from "#test/support/program/installation.ts";
import { launch } from "#test/support/program/launch.ts";
import { freePort } from "#test/support/servers/free-port.ts";
import { median } from "#test/support/quantile.ts";
import { mysql, teardown } from "#test/support/services.ts";

const rounds = 9;
const conversationsADay = 2_740;
const agents = Array.from({ length: 30 }, (_, i) => `agent${i}@shop.example`);
const today = Math.floor(Date.now() / 86_400_000);
const year = { from: today - 364, to: today };
const before = { from: year.from - 365, to: year.from - 1 };
const dates = ({ from, to }: typeof year) => ({ from: dateOfDay(from), to: dateOfDay(to) });

async function timed(work: () => Promise<unknown>): Promise<string> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const start = performance.now();
    await work();
    times.push(performance.now() - start);
  }
  return shown(times);
}

function shown(times: readonly number[]): string {
  const ms = (value: number): string => `${Math.round(value)}`.padStart(5);
  return `${ms(median(times))} ms median, ${ms(Math.max(...times))} ms longest`;
}

async function measureQueries(store: OpenStore, workspaceId: string): Promise<void> {
  for (const by of groupings) {
    const read = () => readReport(store.read, { workspaceId, days: year, by, metrics: metricsBy[by] });
    console.log(`  query by ${by.padEnd(13)}${await timed(read)}`);
  }
}

/** The requests that the page sends for twelve months. */
const requests = [
  `analytics?${new URLSearchParams(dates(year))}`,
  `analytics?${new URLSearchParams({ ...dates(before), by: "channel" })}`,
  `analytics?${new URLSearchParams({ ...dates(year), by: "hour_of_week" })}`,
  `analytics?${new URLSearchParams({ ...dates(year), by: "channel" })}`,
];

async function measure(name: string, databaseUrl: string): Promise<void> {
  const installation = await install(databaseUrl);
  const { workspaceId } = installation;
  const store = await openStore(databaseUrl);
  const range = { from: dates(before).from, to: dates(year).to };
  const counts = await seedReports(store, workspaceId, { ...range, conversationsADay, agents });
  console.log(`${name}: ${counts} counts for two years of a million conversations each`);
  await measureQueries(store, workspaceId);
  const port = await freePort();
  const program = launch({ installation, port, env: {} });
  try {
    await program.ready;
    const url = `http://127.0.0.1:${port}`;
    const operator = await store.read.selectFrom("agents").select("id").executeTakeFirstOrThrow();
    const session = await signIn(store, url, operator.id);
    const load = async (): Promise<void> => {
      for (const { status } of await Promise.all(requests.map((path) => session.call(url, "GET", path)))) {
        if (status !== 200) throw new Error(`the report answered ${status}`);
      }
    };
    await load();
    console.log(`  the page's requests   ${await timed(load)}`);
    console.log(noBrowser ?? `  the page in a browser ${await measurePage(url, session.cookie)}`);
  } finally {
    program.signal("SIGTERM");
    await program.exited;
    await store.close();
    await installation.remove();
  }
}

/** From the click on a link in the dashboard to the drawn chart. */
async function measurePage(url: string, cookie: string): Promise<string> {
  const [name = "", value = ""] = cookie.split("=", 2);
  const browser = await openBrowser();
  try {
    const context = await browser.newContext();
    await context.addCookies([{ name, value, url }]);
    const page = await context.newPage();
    await page.goto(`${url}/dashboard`);
    await page.getByRole("link", { name: "Reports" }).first().waitFor();
    const open = async (): Promise<void> => {
      await page.evaluate(async () => {
        const link = document.createElement("a");
        link.href = "/dashboard/reports?range=year";
        document.body.append(link);
        link.click();
        link.remove();
        while (document.querySelector(".chart canvas") === null) await new Promise(requestAnimationFrame);
      });
    };
    const times: number[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      const start = performance.now();
      await open();
      // The first also loads the scripts of the page.
      if (round > 0) times.push(performance.now() - start);
      await page.goBack();
      await page.locator(".chart canvas").waitFor({ state: "detached" });
    }
    return shown(times);
  } finally {
    await browser.close();
  }
}

const sqlite = await newSqlite();
await measure("SQLite", sqlite.url);
await sqlite.remove();

const server = await mysql();
if (server.url === undefined) console.log(server.reason);
else {
  const database = await emptyMysql(server.url);
  await measure("MariaDB", database.url);
  await database.remove();
}
await teardown();
