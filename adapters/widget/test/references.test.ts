import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { buildBrowserCode } from "#web/build.ts";
import { accessibilityViolations } from "#test/support/accessibility.ts";
import type { TestDatabase } from "#test/support/database/databases.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { noBrowser, openBrowser } from "#test/support/browser.ts";
import { skipped } from "#test/support/skipped.ts";
import { openPage } from "./support/browser.ts";

const name = "a message of the chat that answers an earlier one";

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

  const answer = "You can return any item within 45 days of delivery.";
  const messages = () => app.store.read.selectFrom("messages").selectAll().orderBy("id").execute();
  const log = (page: Page) => page.getByRole("log", { name: "Messages" });
  const composer = (page: Page) => page.getByRole("textbox", { name: "Write a message…" });
  const say = async (page: Page, text: string): Promise<void> => {
    await composer(page).fill(text);
    await composer(page).press("Enter");
  };
  const quotes = (page: Page) => log(page).getByRole("blockquote").allInnerTexts();

  it("names the answered one, for the customer and the program, and for agents' replies too", async () => {
    const context = await browser.newContext({ locale: "en-GB", viewport: { width: 390, height: 800 } });
    const { page, errors } = await openPage(context, `${app.url}/chat/${app.workspace.id}`);
    await say(page, "Within how many days can I return an item?");
    const row = log(page).locator(".row", { hasText: answer });
    await row.waitFor();

    await row.getByRole("button", { name: /^Reply to this message: / }).focus();
    await page.keyboard.press("Enter");
    const chosen = page.locator(".answered");
    expect(await chosen.innerText()).toContain(answer);
    expect(await composer(page).evaluate((field) => field.matches(":focus"))).toBe(true);
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Reply to no message in particular" }).click();
    expect(await chosen.isVisible()).toBe(false);
    await row.getByRole("button", { name: /^Reply to this message: / }).click();
    await page.reload();
    await expect.poll(() => chosen.isVisible()).toBe(true);
    await say(page, "That one is too short for me");
    await expect.poll(async () => (await quotes(page)).join()).toContain(answer);
    expect(await chosen.isVisible()).toBe(false);
    const [, answered] = await messages();
    await expect
      .poll(async () => (await messages()).find(({ content }) => content.startsWith("That one"))?.refers_to)
      .toBe(JSON.stringify({ message_id: answered?.id }));

    const [asked] = await messages();
    await app.engine.reply({
      workspaceId: app.workspace.id,
      conversationId: asked?.conversation_id ?? "",
      content: "Sixty for you.",
      authorEmail: "mia@shop.example",
      refersTo: asked?.id ?? "",
      actor: { type: "agent", id: "mia@shop.example", name: "Mia" },
    });
    const reply = log(page).locator(".row", { hasText: "Sixty for you." });
    await expect.poll(() => reply.getByRole("blockquote").innerText()).toMatch(/You\s+Within how many days/u);
    await page.reload();
    await expect.poll(() => quotes(page)).toHaveLength(2);

    const answerSixty = reply.getByRole("button", { name: "Reply to this message: Mia" });
    await answerSixty.click();
    await say(page, "Thank you");
    await expect.poll(() => quotes(page)).toHaveLength(3);
    await answerSixty.click();
    const sixty = (await messages()).find(({ content }) => content === "Sixty for you.");
    const taking = { kind: "amend", messageId: sixty?.id ?? "", content: null } as const;
    await app.engine.postAgentMessage(app.workspace.id, asked?.conversation_id ?? "", taking, {
      email: "mia@shop.example",
      name: "Mia",
    });
    await expect.poll(() => quotes(page)).toHaveLength(1);
    expect(await chosen.isVisible()).toBe(false);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBe(0);
    expect(errors).toEqual([]);
    await context.close();
  });
}
