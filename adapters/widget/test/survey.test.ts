import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { surveyWaitMs } from "#conversations/work/survey-work.ts";
import { buildBrowserCode } from "#web/build.ts";
import { accessibilityViolations } from "#test/support/accessibility.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import type { TestDatabase } from "#test/support/database/databases.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import { skipped } from "#test/support/skipped.ts";
import { noBrowser, openBrowser } from "#test/support/browser.ts";
import { openPage } from "./support/browser.ts";

const name = "the stars below a survey";

if (noBrowser === undefined) eachDatabase(name, throughTheProgram);
else skipped(name, noBrowser);

function throughTheProgram(open: () => Promise<TestDatabase>): void {
  let app: TestApp;
  let browser: Browser;

  beforeAll(async () => {
    await buildBrowserCode();
    app = await startApp(open, { settings: { satisfactionSurvey: true } });
    await app.learn("returns.md", "# Returning an item\n\nYou can return any item within 45 days of delivery.\n");
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  const ratings = () => app.store.read.selectFrom("ratings").select(["score", "comment"]).execute();

  it("rate the conversation by keyboard, take a comment, and are still lit after a reload", async () => {
    const context = await browser.newContext({ locale: "en-GB", colorScheme: "dark" });
    const { page, errors } = await openPage(context, `${app.url}/chat/${app.workspace.id}`);
    const log = page.getByRole("log", { name: "Messages" });
    const composer = page.getByRole("textbox", { name: "Write a message…" });
    await composer.fill("Within how many days can I return an item?");
    await composer.press("Enter");
    await log.getByText("45 days").first().waitFor();
    const { id } = await app.store.read.selectFrom("conversations").select("id").executeTakeFirstOrThrow();
    const actor = { type: "api_key", id: app.workspace.keyId, name: null } as const;
    await app.engine.update(app.workspace.id, id, { status: "resolved" }, actor);
    app.clock.advance(surveyWaitMs);
    await log.getByText("How was our support?").waitFor();

    const stars = page.getByRole("group", { name: "Rate the conversation" });
    await expect.poll(() => stars.getByRole("button").count()).toBe(5);
    await stars.getByRole("button", { name: "4 of 5" }).focus();
    await page.keyboard.press("Space");
    await log.getByText("Thank you for your rating.").waitFor();
    expect(await ratings()).toEqual([{ score: 4, comment: null }]);
    // The first score counts.
    await stars.getByRole("button", { name: "1 of 5" }).click({ force: true });
    const comment = page.getByRole("textbox", { name: "Add a comment" });
    await comment.fill("Quick and kind.");
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await comment.waitFor({ state: "hidden" });
    expect(await ratings()).toEqual([{ score: 4, comment: "Quick and kind." }]);

    await page.reload();
    await page.locator('.star[aria-pressed="true"][aria-label="4 of 5"]').waitFor();
    await expect.poll(() => page.locator(".star.lit").count()).toBe(4);
    await expect.poll(() => comment.isHidden()).toBe(true);
    expect(errors).toEqual([]);
    await context.close();
  });
}
