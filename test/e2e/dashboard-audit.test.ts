import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { buildBrowserCode } from "#web/build.ts";
import { noBrowser, openBrowser } from "../support/browser.ts";
import { newSqlite } from "../support/database/databases.ts";
import type { DashboardUser } from "../support/http/administrators.ts";
import { dashboardUser } from "../support/http/administrators.ts";
import type { TestApp } from "../support/http/app.ts";
import { startApp } from "../support/http/app.ts";
import { createDashboardPages } from "../support/http/dashboard-pages.ts";
import { addDeadLetter, indexingOf } from "../support/queue/dead-letters.ts";
import { skipped } from "../support/skipped.ts";

const name = "the audit log and the overview in a browser";

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
    await admin.call("POST", "keys", { name: "Shop" });
    browser = await openBrowser();
  });
  afterEach(async () => expect(await pages.close()).toEqual([]));
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  it("say entries in words, keep filters in the address, and save what they show as CSV", async () => {
    const page = await pages.open(admin, "/audit?action=api_key");
    await page.getByText("added the API key Shop").waitFor();
    await page.getByPlaceholder("Who: e-mail or id").fill(admin.email);
    await page.waitForURL(/actor=admin/);
    const saving = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export as CSV" }).click();
    expect((await saving).suggestedFilename()).toMatch(/^audit-.*\.csv$/);
    await page.getByPlaceholder("What was changed").fill("nothing like this");
    await page.getByText("No entries").waitFor();
  });

  it("show the first steps until an administrator hides them", async () => {
    const page = await pages.open(admin);
    await page.getByRole("heading", { name: "First steps" }).waitFor();
    await expect.poll(() => page.getByText("To do").count()).toBe(6);
    await page.getByRole("button", { name: "Hide" }).click();
    await page.getByRole("heading", { name: "First steps" }).waitFor({ state: "detached" });
    await page.reload();
    await page.getByText("Everything works.").waitFor();
    await expect.poll(() => page.getByRole("heading", { name: "First steps" }).count()).toBe(0);
  });

  it("list work that was given up, which administrators try again or dismiss", async () => {
    const { body } = await app.post("/v1/query", { workspace_id: app.workspace.id, query: "Hello?" });
    const work = indexingOf(body.conversation_id);
    for (const error of ["one", "two", "three"]) await addDeadLetter(app, { ...work, error });
    const viewer = await pages.open(await dashboardUser(app, "viewer"));
    const title = "A conversation was not brought up to date in the search";
    await viewer.getByText(`${title}.`).first().waitFor();
    expect(await viewer.getByRole("button", { name: /Try|Dismiss/u }).count()).toBe(0);
    const page = await pages.open(admin);
    const letter = (error: string) => page.locator(".callout", { hasText: `${title}: ${error}` });
    await letter("two").getByRole("button", { name: "Dismiss" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Dismiss" }).click();
    await page.getByText("The work was dismissed.").waitFor();
    await letter("two").waitFor({ state: "detached" });
    await letter("one").waitFor();
    await page.getByRole("button", { name: "Try all again" }).click();
    await page.getByText("2 pieces of work are being tried again.").waitFor();
    await page.getByText("Everything works.").waitFor();
    await addDeadLetter(app, { ...work, error: "four" });
    await page.reload();
    await letter("four").getByRole("button", { name: "Try again" }).click();
    await page.getByText("The work is being tried again.").waitFor();
    await page.getByText("Everything works.").waitFor();
  });
}
