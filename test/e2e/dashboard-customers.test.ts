import { createHmac } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { buildBrowserCode } from "#web/build.ts";
import { accessibilityViolations } from "../support/accessibility.ts";
import { noBrowser, openBrowser } from "../support/browser.ts";
import { newSqlite } from "../support/database/databases.ts";
import type { DashboardUser } from "../support/http/administrators.ts";
import { dashboardUser } from "../support/http/administrators.ts";
import type { TestApp } from "../support/http/app.ts";
import { startApp } from "../support/http/app.ts";
import { createDashboardPages, phone } from "../support/http/dashboard-pages.ts";
import { skipped } from "../support/skipped.ts";

const name = "the page of customer data in a browser";
const email = "ada@shop.example";

if (noBrowser === undefined) describe(name, inTheBrowser);
else skipped(name, noBrowser);

function inTheBrowser(): void {
  let app: TestApp;
  let browser: Browser;
  let admin: DashboardUser;
  const pages = createDashboardPages(
    () => browser,
    () => app,
  );
  beforeAll(async () => {
    await buildBrowserCode();
    app = await startApp(newSqlite);
    admin = await dashboardUser(app, "admin");
    const hash = createHmac("sha256", app.workspace.identitySecret).update("u-ada").digest("hex");
    const user = { name: "Ada", email, user_id: "u-ada", hash };
    await app.post("/v1/query", { workspace_id: app.workspace.id, query: "Where is my lamp?", user });
    browser = await openBrowser();
  });
  afterEach(async () => expect(await pages.close()).toEqual([]));
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  it.each(["light", "dark"] as const)(
    "shows a customer without barriers, wide and on a phone, %s",
    async (colorScheme) => {
      for (const size of [{}, { viewport: phone }]) {
        const page = await pages.open(admin, "/customers?q=u-ada", { colorScheme, ...size });
        await page.getByRole("button", { name: "Erase…" }).waitFor();
        expect(await accessibilityViolations(page)).toEqual([]);
        expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBeLessThanOrEqual(
          0,
        );
      }
    },
  );

  it("finds, exports and erases a customer by keyboard, and says when it is done", async () => {
    const page = await pages.open(admin, "/customers");
    await page.getByPlaceholder("E-mail, phone, user id or contact id").fill(email.toUpperCase());
    const saving = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export" }).press("Enter");
    const saved = await saving;
    expect(saved.suggestedFilename()).toMatch(/^customer-.*\.jsonl$/);
    expect(await readFile(await saved.path(), "utf8")).toContain("Where is my lamp?");

    await page.getByRole("button", { name: "Erase…" }).press("Enter");
    const dialog = page.getByRole("dialog", { name: `Erase all data of ${email}?` });
    await expect.poll(() => dialog.getByRole("button", { name: "Erase" }).isDisabled()).toBe(true);
    await dialog.getByLabel(`Type ${email} to confirm`).fill(email);
    await page.keyboard.press("Enter");
    const progress = page.getByRole("table", { name: "Erasures in progress" });
    await progress.getByText("waiting").waitFor();
    await dialog.waitFor({ state: "detached" });
    expect(await accessibilityViolations(page)).toEqual([]);
    const done = page.getByText("Customer erased.");
    while (!(await done.isVisible())) {
      app.clock.advance(1_000);
      await page.evaluate(() => new Promise(requestAnimationFrame));
    }
    await page.getByText("No customer found").waitFor();
  });
}
