import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { buildBrowserCode } from "#web/build.ts";
import { accessibilityViolations } from "#test/support/accessibility.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import type { TestDatabase } from "#test/support/database/databases.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import { skipped } from "#test/support/skipped.ts";
import { noBrowser, openBrowser } from "#test/support/browser.ts";
import { openPage } from "./support/browser.ts";

const name = "the thumbs below an answer";

if (noBrowser === undefined) eachDatabase(name, throughTheProgram);
else skipped(name, noBrowser);

function throughTheProgram(open: () => Promise<TestDatabase>): void {
  let app: TestApp;
  let browser: Browser;

  beforeAll(async () => {
    await buildBrowserCode();
    app = await startApp(open);
    await app.learn("returns.md", "# Returning an item\n\nYou can return any item within 45 days of delivery.\n");
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  const opinions = async () =>
    (await app.store.read.selectFrom("answer_feedback").select("value").execute()).map(({ value }) => value);

  it("are pressed by keyboard and pointer, and are still pressed after a reload", async () => {
    const context = await browser.newContext({ locale: "en-GB" });
    const { page, errors } = await openPage(context, `${app.url}/chat/${app.workspace.id}`);
    const log = page.getByRole("log", { name: "Messages" });
    const composer = page.getByRole("textbox", { name: "Write a message…" });
    await composer.fill("Hello");
    await composer.press("Enter");
    await log.locator(".row.bot").nth(1).waitFor();
    await composer.fill("Within how many days can I return an item?");
    await composer.press("Enter");
    await log.getByText("45 days").first().waitFor();

    // A greeting is no answer.
    const helpful = page.getByRole("button", { name: "Helpful", exact: true });
    const unhelpful = page.getByRole("button", { name: "Not helpful" });
    await expect.poll(() => helpful.count()).toBe(1);
    await expect.poll(() => helpful.getAttribute("aria-pressed")).toBe("false");
    await unhelpful.focus();
    await page.keyboard.press("Space");
    await page.locator('[aria-pressed="true"][aria-label="Not helpful"]').waitFor();
    // Focus stays on the button.
    expect(await unhelpful.evaluate((button) => button.matches(":focus"))).toBe(true);
    expect(await opinions()).toEqual(["down"]);
    await helpful.click();
    await page.locator('[aria-pressed="true"][aria-label="Helpful"]').waitFor();
    await expect.poll(() => unhelpful.getAttribute("aria-pressed")).toBe("false");
    expect(await opinions()).toEqual(["up"]);
    expect(await accessibilityViolations(page)).toEqual([]);

    await page.reload();
    await page.locator('[aria-pressed="true"][aria-label="Helpful"]').waitFor();
    await helpful.click();
    await page.locator('[aria-pressed="false"][aria-label="Helpful"]').waitFor();
    expect(await opinions()).toEqual([null]);
    expect(errors).toEqual([]);
    await context.close();
  });
}
