import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildBrowserCode } from "#web/build.ts";
import { accessibilityViolations } from "#test/support/accessibility.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { newSqlite } from "#test/support/database/databases.ts";
import { skipped } from "#test/support/skipped.ts";
import { noBrowser, openBrowser } from "#test/support/browser.ts";
import { openPage } from "./support/browser.ts";

const name = 'titles below "I don\'t know"';

if (noBrowser === undefined) describe(name, inTheBrowser);
else skipped(name, noBrowser);

function inTheBrowser(): void {
  let app: TestApp;
  let browser: Browser;

  beforeAll(async () => {
    await buildBrowserCode();
    app = await startApp(newSqlite);
    await app.learn(
      "storms.md",
      "# Storms and ferries\n\nIn a storm of force nine the ferries stay in the harbour until it has passed.\n",
    );
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  it("are buttons that get the passage", async () => {
    const context = await browser.newContext({ locale: "en-GB", colorScheme: "dark" });
    const sent: string[] = [];
    context.on("page", (each) =>
      each.on("websocket", (socket) => socket.on("framesent", ({ payload }) => void sent.push(payload.toString()))),
    );
    const { page, errors } = await openPage(context, `${app.url}/chat/${app.workspace.id}`);
    const log = page.getByRole("log", { name: "Messages" });
    const composer = page.getByRole("textbox", { name: "Write a message…" });
    await composer.fill("can the harbour master marry us on the ferries");
    await composer.press("Enter");
    const choice = log.getByRole("button", { name: "Storms and ferries" });
    await choice.waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await expect.poll(() => log.getByRole("group", { name: /related|Sources/u }).count()).toBe(0);
    await choice.focus();
    await page.keyboard.press("Enter");
    await log.locator(".row.user").nth(1).getByText("Storms and ferries").waitFor();
    await log.locator(".row.bot .bubble").getByText("the ferries stay in the harbour").waitFor();
    // The answer to a typed text may wait for the rest of it, that to a choice does not.
    const messages = sent.map((frame) => JSON.parse(frame) as Record<string, unknown>);
    expect(messages.filter(({ kind }) => kind === "send")).toEqual([
      expect.not.objectContaining({ chosen: true }),
      expect.objectContaining({ text: "Storms and ferries", chosen: true }),
    ]);
    expect(errors).toEqual([]);
    await context.close();
  });
}
