import { readFile } from "node:fs/promises";
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { buildBrowserCode } from "#web/build.ts";
import { bucketOf } from "#domain/reporting/duration-buckets.ts";
import { dayOfDate } from "#domain/reporting/local-time.ts";
import { accessibilityViolations } from "../support/accessibility.ts";
import { noBrowser, openBrowser } from "../support/browser.ts";
import { newSqlite } from "../support/database/databases.ts";
import { seedReports, storeCells } from "../support/database/report-rows.ts";
import type { DashboardUser } from "../support/http/administrators.ts";
import { dashboardUser } from "../support/http/administrators.ts";
import type { TestApp } from "../support/http/app.ts";
import { startApp } from "../support/http/app.ts";
import { createDashboardPages, phone } from "../support/http/dashboard-pages.ts";
import { skipped } from "../support/skipped.ts";

const name = "reports in the dashboard";

if (noBrowser === undefined) describe(name, inTheBrowser);
else skipped(name, noBrowser);

function inTheBrowser(): void {
  let app: TestApp;
  let browser: Browser;
  let viewer: DashboardUser;
  const pages = createDashboardPages(
    () => browser,
    () => app,
  );

  beforeAll(async () => {
    await buildBrowserCode();
    app = await startApp(newSqlite);
    viewer = await dashboardUser(app, "viewer");
    const agents = [viewer.email, "ben@shop.example"];
    await seedReports(app.store, app.workspace.id, {
      from: "2031-03-01",
      to: "2031-05-14",
      conversationsADay: 90,
      agents,
    });
    const day = dayOfDate("2031-04-14") ?? Number.NaN;
    const replies = [
      { name: "9", metric: `first_reply:${bucketOf(4_000)}` },
      { name: "14", metric: `first_reply:${bucketOf(25 * 60_000)}` },
    ].map((cell) => ({ ...cell, dimension: "hour", day, value: 3 }) as const);
    await app.store.write((tx) => storeCells(tx, app.workspace.id, replies));
    browser = await openBrowser();
  });
  afterEach(async () => expect(await pages.close()).toEqual([]));
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  const totals = async (from: string, to: string): Promise<Readonly<Record<string, number>>> => {
    const { body } = await viewer.call("GET", `analytics?from=${from}&to=${to}`);
    return (body as { readonly totals: Readonly<Record<string, number>> }).totals;
  };

  it("show the numbers of the range, their change, and how each is defined", async () => {
    const page = await pages.open(viewer, "/reports?range=7");
    const tile = page.locator(".tile", { hasText: "Conversations" }).first();
    const now = (await totals("2031-05-08", "2031-05-14"))["conversations"] ?? 0;
    const before = (await totals("2031-05-01", "2031-05-07"))["conversations"] ?? 0;
    await tile.getByText(now.toLocaleString("en-GB"), { exact: true }).waitFor();
    await tile.getByText(now > before ? /more$/ : /less$/).waitFor();
    // The tabs far below must not scroll the page to themselves.
    await page.getByRole("tablist").waitFor();
    expect(await page.evaluate(() => scrollY)).toBe(0);
    await tile.getByText("Definition").click();
    await tile.getByText("Conversations that customers started.").waitFor();
    await page.getByRole("combobox", { name: "Range" }).selectOption({ label: "Today" });
    const today = (await totals("2031-05-14", "2031-05-14"))["conversations"] ?? 0;
    await tile.getByText(String(today), { exact: true }).waitFor();
    expect(new URL(page.url()).searchParams.get("range")).toBe("today");
  });

  it("draw charts, whose numbers are in a table and in a file", async () => {
    const page = await pages.open(viewer, "/reports?range=custom&from=2031-04-01&to=2031-04-03");
    const chart = page.getByRole("figure", { name: "Messages by day" });
    await chart.locator("canvas").waitFor();
    await chart.getByText("Numbers of this chart").click();
    await expect.poll(() => chart.getByRole("row").count()).toBe(4);
    const saved = page.waitForEvent("download");
    await chart.getByRole("button", { name: "Save Messages by day as CSV" }).click();
    const text = await readFile(await (await saved).path(), "utf8");
    const { messages_by_bot: byBot } = await totals("2031-04-01", "2031-04-01");
    expect(text.split("\r\n")[0]).toBe("\uFEFFDay,By customers,By the bot,By agents");
    expect(text.split("\r\n")[1]?.split(",")[2]).toBe(String(byBot));
  });

  it("define the numbers of each chart and table", async () => {
    const page = await pages.open(viewer, "/reports");
    for (const label of ["First reply, 90th percentile", "SLA missed"]) {
      await page.locator(".tile", { hasText: label }).waitFor();
    }
    for (const [place, text] of [
      ["By day", /Messages of rules count as the bot's/],
      ["Reasons for hand-overs", "Hand-overs because the customer seemed to be angry."],
      ["Hours of the week", /in its hour, in the workspace's time zone/],
    ] as const) {
      const section = page.getByRole("region", { name: place, exact: true });
      for (const summary of await section.getByText("Definitions").all()) await summary.click();
      await section.getByText(text).first().waitFor();
    }
    await page.getByRole("tab", { name: "Agents" }).click();
    const detail = page.getByRole("region", { name: "In detail" });
    await detail.getByText("Definitions").click();
    await detail.getByText("Times that a conversation got an agent or another agent.").waitFor();
  });

  it("divide the numbers by channel, agent, team and tag", async () => {
    const page = await pages.open(viewer, "/reports");
    for (const [tab, row] of [
      ["Channels", "Telegram"],
      ["Agents", "ben@shop.example"],
      ["Tags", "tag 3"],
    ] as const) {
      await page.getByRole("tab", { name: tab }).click();
      await page.getByRole("rowheader", { name: row, exact: true }).waitFor();
    }
    await page.getByRole("tab", { name: "Teams" }).click();
    await page.getByText("No teams").waitFor();
  });

  it("compare each part with the range before, in the chart, the table and the file", async () => {
    const conversations = async (from: string, to: string): Promise<Readonly<Record<string, number>>> => {
      const { body } = await viewer.call("GET", `analytics?from=${from}&to=${to}&by=channel`);
      const { rows } = body as {
        readonly rows: readonly { readonly name: string; readonly values: { readonly conversations: number } }[];
      };
      return Object.fromEntries(rows.map((row) => [row.name, row.values.conversations]));
    };
    const now = await conversations("2031-04-08", "2031-04-14");
    const before = await conversations("2031-04-01", "2031-04-07");
    const page = await pages.open(viewer, "/reports?range=custom&from=2031-04-08&to=2031-04-14&by=channel");
    await page.getByRole("figure", { name: "Channels: conversations" }).waitFor();
    const share = new Intl.NumberFormat("en-GB", { style: "percent", maximumFractionDigits: 1 });
    for (const [channel, earlier] of Object.entries(before)) {
      const by = ((now[channel] ?? 0) - earlier) / earlier;
      const change = by === 0 ? "as before" : `${share.format(Math.abs(by))} ${by > 0 ? "more" : "less"}`;
      const row = page.getByRole("row").filter({ has: page.getByRole("rowheader", { name: channel, exact: true }) });
      await row.locator('td[data-label="Conversations"]').getByText(change, { exact: true }).waitFor();
    }
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save Channels as CSV" }).click();
    const text = await readFile(await (await saved).path(), "utf8");
    // Commas of quoted headers are not those between columns.
    const [header = [], ...lines] = text
      .trim()
      .split("\r\n")
      .map((line) => line.replaceAll(/"[^"]*"/g, "quoted").split(","));
    const at = header.indexOf("Conversations before");
    expect(Object.fromEntries(lines.map((line) => [line[0], Number(line[at])]))).toEqual(before);
  });

  it("compare the hours of the week with the range before, in tables of one scale and in the file", async () => {
    const byHour = async <Value = number>(day: string, metric = "handed_over"): Promise<readonly Value[]> => {
      const { body } = await viewer.call("GET", `analytics?from=${day}&to=${day}&by=hour_of_week&metrics=${metric}`);
      const { rows } = body as { readonly rows: readonly { readonly values: Readonly<Record<string, Value>> }[] };
      return rows.flatMap(({ values }) => values[metric] ?? (null as Value));
    };
    const now = await byHour("2031-04-14");
    const before = await byHour("2031-04-13");
    const page = await pages.open(viewer, "/reports?range=custom&from=2031-04-14&to=2031-04-14");
    const section = page.getByRole("region", { name: "Hours of the week", exact: true });
    await section.getByLabel("Number").selectOption({ label: "Hand-overs" });
    await section.getByRole("heading", { name: "14 Apr 2031", exact: true }).waitFor();
    await section.getByRole("heading", { name: "The range before: 13 Apr 2031", exact: true }).waitFor();
    const most = Math.max(...now, ...before);
    for (const [title, values] of [
      ["Hand-overs by hour of the week, in the time zone UTC", now],
      ["Hand-overs by hour of the week, the range before, in the time zone UTC", before],
    ] as const) {
      const cells = section.getByRole("table", { name: title, exact: true }).locator("tbody td");
      expect((await cells.allTextContents()).map(Number)).toEqual(values);
      const shades = await cells.evaluateAll((all) => all.map((cell) => cell.getAttribute("class")));
      expect(shades).toEqual(values.map((value) => `heat-${Math.ceil((value / most) * 5)}`));
    }
    await section.getByLabel("Number").selectOption({ label: "First reply, median" });
    const replies = await byHour<number | null>("2031-04-14", "first_reply_median");
    const times = section.getByRole("table", { name: "First reply, median by hour of the week, in the time zone UTC" });
    const texts = replies
      .map(() => "–")
      .with(9, "4s")
      .with(14, `${Math.round((replies[14] ?? 0) / 60)}m`);
    expect(await times.locator("tbody td").allTextContents()).toEqual(texts);
    expect(texts[14]).toMatch(/^2[4-6]m$/);
    await section.getByLabel("Number").selectOption({ label: "Hand-overs" });
    const saved = page.waitForEvent("download");
    await section.getByRole("button", { name: "Save as CSV" }).click();
    const text = await readFile(await (await saved).path(), "utf8");
    const [header = [], ...days] = text
      .trim()
      .split("\r\n")
      .map((line) => line.split(","));
    expect([header[1], header[24], header[25], header[48]]).toEqual(["0:00", "23:00", "0:00 before", "23:00 before"]);
    expect(days.flatMap((day) => day.slice(1, 25).map(Number))).toEqual(now);
    expect(days.flatMap((day) => day.slice(25).map(Number))).toEqual(before);
  });

  it("list what was counted in the range before alone", async () => {
    const page = await pages.open(viewer, "/reports?range=custom&from=2031-05-15&to=2031-05-20&by=agent");
    const change = (row: RegExp, column: string) =>
      page
        .getByRole("row", { name: row })
        .locator(`td[data-label="${column}"]`)
        .getByText("100% less", { exact: true })
        .waitFor();
    await change(/^ben@shop\.example/, "Assigned");
    await page.getByRole("tab", { name: "Channels" }).click();
    await change(/^telegram/i, "Conversations");
  });

  it("say that a workspace has none yet", async () => {
    const page = await pages.open(viewer, "/reports?range=custom&from=2020-01-01&to=2020-01-31");
    await page.getByText("Nothing to report in these days").waitFor();
  });

  it("have no barriers that a program can find, in light, dark and on a phone", { timeout: 60_000 }, async () => {
    const wide = { width: 1280, height: 900 };
    for (const options of [
      { viewport: wide },
      { viewport: wide, colorScheme: "dark" },
      { viewport: { width: 820, height: 900 } },
      { viewport: phone },
    ] as const) {
      const page = await pages.open(viewer, "/reports", options);
      await page.getByRole("rowheader", { name: "telegram" }).waitFor();
      expect([options, await accessibilityViolations(page)]).toEqual([options, []]);
      const sideways = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      expect(sideways).toBeLessThanOrEqual(0);
    }
  });
}
