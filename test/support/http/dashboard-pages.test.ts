import { describe, expect, it } from "vitest";
import { buildBrowserCode } from "#web/build.ts";
import { noBrowser, openBrowser } from "../browser.ts";
import { newSqlite } from "../database/databases.ts";
import { skipped } from "../skipped.ts";
import { dashboardUser } from "./administrators.ts";
import { startApp } from "./app.ts";
import { createDashboardPages } from "./dashboard-pages.ts";

const name = "pages of the dashboard in tests";

if (noBrowser === undefined) describe(name, inTheBrowser);
else skipped(name, noBrowser);

function inTheBrowser(): void {
  it("report requests to other servers as complaints", async () => {
    await buildBrowserCode();
    const app = await startApp(newSqlite);
    const browser = await openBrowser();
    try {
      const pages = createDashboardPages(
        () => browser,
        () => app,
      );
      const page = await pages.open(await dashboardUser(app, "admin"));
      await page.goto("http://127.0.0.1:9/pixel").catch(() => undefined);
      expect(await pages.close()).toContain("request to http://127.0.0.1:9");
    } finally {
      await browser.close();
      await app.close();
    }
  });
}
