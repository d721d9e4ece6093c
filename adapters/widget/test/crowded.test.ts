import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { buildBrowserCode } from "../../../src/web/build.ts";
import type { TestApp } from "../../../test/support/app.ts";
import { startApp } from "../../../test/support/app.ts";
import { newSqlite } from "../../../test/support/databases.ts";
import { skipped } from "../../../test/support/skipped.ts";
import { noBrowser, openBrowser, openPage } from "./support/browser.ts";

const name = "the chat page with little room, or with much at once";

if (noBrowser === undefined) describe(name, crowded);
else skipped(name, noBrowser);

function crowded(): void {
  let app: TestApp;
  let browser: Browser;
  let context: BrowserContext | undefined;

  beforeAll(async () => {
    await buildBrowserCode();
    app = await startApp(newSqlite);
    browser = await openBrowser();
  });
  afterEach(() => context?.close());
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  async function open(options: BrowserContextOptions = {}): Promise<Page> {
    context = await browser.newContext({ locale: "en-GB", ...options });
    const { page } = await openPage(context, `${app.url}/chat/${app.workspace.id}`);
    // It is there as soon as the chat knows that files are taken.
    await page.locator(".attach").waitFor();
    return page;
  }

  const sendButton = (page: Page) => page.getByRole("button", { name: "Send message" });

  it("speaks the visitor's language, where it has it", async () => {
    const page = await open({ locale: "fr-CA" });
    await page.getByRole("button", { name: "Envoyer le message" }).waitFor();
    expect(await page.evaluate(() => document.documentElement.lang)).toBe("fr-CA");
    await context?.close();
    const other = await open({ locale: "fi-FI" });
    await sendButton(other).waitFor();
    expect(await other.evaluate(() => document.documentElement.lang)).toBe("en");
  });
}
