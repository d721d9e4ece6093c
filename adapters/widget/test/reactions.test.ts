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

const name = "reactions in the chat";

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

  const mia = { email: "mia@shop.example", name: "Mia" };
  const question = "Within how many days can I return an item?";
  const log = (page: Page) => page.getByRole("log", { name: "Messages" });
  const row = (page: Page, text: string) => log(page).locator(".row", { hasText: text });
  async function say(page: Page, text: string): Promise<void> {
    const composer = page.getByRole("textbox", { name: "Write a message…" });
    await composer.fill(text);
    await composer.press("Enter");
  }
  const messageOf = (content: string) =>
    app.store.read
      .selectFrom("messages")
      .select(["id", "conversation_id"])
      .where("content", "=", content)
      .orderBy("id", "desc")
      .limit(1)
      .executeTakeFirstOrThrow();
  async function agentReacts(content: string, emoji: string | null): Promise<void> {
    const { id: messageId, conversation_id: conversationId } = await messageOf(content);
    await app.engine.postAgentMessage(app.workspace.id, conversationId, { kind: "react", messageId, emoji }, mia);
  }
  const stored = async (content: string) => {
    const rows = app.store.read.selectFrom("reactions").where("message_id", "=", (await messageOf(content)).id);
    return (await rows.select(["role", "emoji"]).execute()).map(({ role, emoji }) => `${role} ${emoji}`);
  };

  it("of agents are shown at once, after a reload, and after the browser was away", async () => {
    const context = await browser.newContext({ locale: "en-GB", viewport: { width: 390, height: 800 } });
    const { page, errors } = await openPage(context, `${app.url}/chat/${app.workspace.id}`);
    await say(page, question);
    await row(page, "45 days").first().waitFor();
    await say(page, "Thank you");
    const own = row(page, "Thank you").first();
    await expect.poll(async () => (await messageOf("Thank you").catch(() => undefined))?.id).toBeDefined();
    const shown = (text: string) => row(page, text).first().locator(".reaction");

    await agentReacts("Thank you", "❤️");
    await expect.poll(() => shown("Thank you").textContent()).toBe("Reaction by Mia: ❤️");
    await agentReacts("Thank you", "🎉");
    await expect.poll(() => shown("Thank you").textContent()).toBe("Reaction by Mia: 🎉");
    // The row stays the same element: screen readers do not read the message again.
    await own.evaluate((node) => node.setAttribute("data-seen", ""));
    expect(await accessibilityViolations(page)).toEqual([]);

    await context.setOffline(true);
    await page.getByText("You are offline.", { exact: false }).waitFor();
    await agentReacts("Thank you", null);
    await agentReacts(question, "👍");
    expect(await shown("Thank you").textContent()).toBe("Reaction by Mia: 🎉");
    await context.setOffline(false);
    await expect.poll(() => shown(question).textContent()).toBe("Reaction by Mia: 👍");
    expect(await shown("Thank you").isVisible()).toBe(false);
    expect(await own.getAttribute("data-seen")).toBe("");

    await page.reload();
    await expect.poll(() => shown(question).textContent()).toBe("Reaction by Mia: 👍");
    expect(await shown("Thank you").textContent()).toBe("");
    expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBe(0);
    expect(errors).toEqual([]);
    await context.close();
  });

  it("of customers are chosen by keyboard and pointer, are one for each message, and are taken back", async () => {
    const context = await browser.newContext({ locale: "en-GB", viewport: { width: 390, height: 800 } });
    const { page, errors } = await openPage(context, `${app.url}/chat/${app.workspace.id}`);
    await say(page, "How many days may I return an item?");
    const answer = row(page, "45 days").first();
    await answer.waitFor();
    const { conversation_id: conversationId } = await messageOf("How many days may I return an item?");
    await app.engine.reply({
      workspaceId: app.workspace.id,
      conversationId,
      content: "Sixty for you.",
      authorEmail: mia.email,
      actor: { type: "agent", id: mia.email, name: mia.name },
    });
    const reply = row(page, "Sixty for you.");
    const opener = reply.getByRole("button", { name: /^React to this message/u });
    const choices = reply.getByRole("group", { name: "React to this message" });
    await opener.waitFor();
    // The thumbs below an answer are the customer's opinion of it.
    await answer.getByRole("button", { name: "Helpful", exact: true }).waitFor();
    expect(await answer.getByRole("button", { name: /^React/u }).count()).toBe(0);
    expect(await row(page, "How many days may").getByRole("button").count()).toBe(0);

    await opener.focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => opener.getAttribute("aria-expanded")).toBe("true");
    expect(await choices.getByRole("button").allInnerTexts()).toEqual(["👍", "❤️", "🎉", "🙏", "👌", "👀"]);
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.keyboard.press("Escape");
    expect(await choices.isVisible()).toBe(false);
    expect(await opener.evaluate((button) => button.matches(":focus"))).toBe(true);
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await expect.poll(() => opener.getAttribute("aria-label")).toBe("React to this message: ❤️");
    expect(await opener.evaluate((button) => button.matches(":focus"))).toBe(true);
    expect(await stored("Sixty for you.")).toEqual(["user ❤️"]);

    await opener.click();
    await choices.getByRole("button", { name: "🙏" }).click();
    await expect.poll(() => opener.innerText()).toBe("🙏");
    expect(await stored("Sixty for you.")).toEqual(["user 🙏"]);
    const other = await openPage(context, `${app.url}/chat/${app.workspace.id}`);
    const there = row(other.page, "Sixty for you.").getByRole("button", { name: /^React to this message/u });
    await expect.poll(() => there.innerText()).toBe("🙏");

    await opener.click();
    await choices.getByRole("button", { name: "🙏", pressed: true }).click();
    // Another tab shows the same.
    await expect.poll(() => there.getAttribute("aria-label")).toBe("React to this message");
    await expect.poll(() => opener.getAttribute("aria-label")).toBe("React to this message");
    expect(await stored("Sixty for you.")).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBe(0);
    expect(errors).toEqual([]);
    await context.close();
  });
}
