import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { AdapterModule } from "#channels/contract.ts";
import { loadAdapter } from "#channels/load-adapter.ts";
import { buildBrowserCode } from "#web/build.ts";
import { accessibilityViolations } from "../support/accessibility.ts";
import { noBrowser, openBrowser } from "../support/browser.ts";
import { newSqlite } from "../support/database/databases.ts";
import type { TestApp } from "../support/http/app.ts";
import { startApp } from "../support/http/app.ts";
import type { Customer } from "../support/http/inbox.ts";
import { addAgent, asked } from "../support/http/inbox.ts";
import { surveyWaitMs } from "#conversations/work/survey-work.ts";
import { dashboardUser } from "../support/http/administrators.ts";
import { createInboxPages, focusIn } from "../support/http/inbox-pages.ts";
import { skipped } from "../support/skipped.ts";

const name = "reactions in the inbox";

if (noBrowser === undefined) describe(name, inTheBrowser);
else skipped(name, noBrowser);

function inTheBrowser(): void {
  let app: TestApp;
  let browser: Browser;
  const pages = createInboxPages(
    () => browser,
    () => app,
  );
  const shownThere: (string | null)[] = [];

  /** Keeps the reactions that the widget's channel is asked to show. */
  const keepReactions = (module: AdapterModule): AdapterModule => ({
    ...module,
    create: (...given) => ({
      ...module.create(...given),
      react: async (_externalId, emoji) => void shownThere.push(emoji),
    }),
  });

  beforeAll(async () => {
    await buildBrowserCode();
    app = await startApp(newSqlite, {
      loadAdapter: (channel, config) =>
        channel === "widget" ? loadAdapter(channel, config)?.then(keepReactions) : loadAdapter(channel, config),
    });
    await addAgent(app, "Anna");
    browser = await openBrowser();
  });
  afterEach(async () => {
    expect(await pages.close()).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  const messages = (page: Page) => page.getByRole("log", { name: "Messages, notes and events" });
  async function customerReacts({ thread, conversationId }: Customer, added: string, removed: string): Promise<void> {
    const { account_id: accountId } = await app.store.read
      .selectFrom("conversations")
      .select("account_id")
      .where("id", "=", conversationId)
      .executeTakeFirstOrThrow();
    const { external_id: asks } = await app.store.read
      .selectFrom("messages")
      .select("external_id")
      .where("conversation_id", "=", conversationId)
      .where("role", "=", "user")
      .executeTakeFirstOrThrow();
    await app.engine.ingest(accountId, {
      kind: "reaction",
      externalId: `reaction ${added}`,
      thread,
      sender: { key: thread, verified: { userId: thread, name: "Olga", email: `${thread}@customers.example` } },
      sentAt: app.clock.now(),
      of: { externalIds: [asks ?? ""] },
      added: [added],
      removed: removed === "" ? [] : [removed],
    });
  }

  it("stand below the message at once, with those who chose them", async () => {
    const customer = await asked(app, "Olga", "How long does delivery take?", "Olga");
    const page = await pages.open("anna", {}, `#/all/${customer.conversationId}`);
    await messages(page).getByText("How long does delivery take?").first().waitFor();
    await customerReacts(customer, "❤️", "");
    await messages(page).getByRole("listitem").filter({ hasText: "Olga reacted with ❤️" }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await customerReacts(customer, "🔥", "❤️");
    await messages(page).getByRole("listitem").filter({ hasText: "Olga reacted with 🔥" }).waitFor();
    expect(await messages(page).getByRole("listitem").filter({ hasText: "❤️" }).count()).toBe(0);
  });

  it("come with a rating and its comment after the resolve", async () => {
    const admin = await dashboardUser(app, "admin");
    await admin.call("PATCH", "settings", { settings: { satisfaction_survey: true } });
    // Settings that were read are used for a second at most.
    app.clock.advance(1_500);
    const rita = await asked(app, "Rita", "How long does delivery take?", "Rita");
    const page = await pages.open("anna", {}, `#/all/${rita.conversationId}`);
    await page.getByRole("textbox", { name: "Reply to Rita" }).fill("Three days.");
    await page.keyboard.press("Control+Enter");
    await messages(page).getByText("Three days.").waitFor();
    const anna = { email: "anna@shop.example", name: "Anna" };
    await app.engine.applyAction(app.workspace.id, rita.conversationId, { kind: "resolve" }, anna);
    app.clock.advance(surveyWaitMs);
    await messages(page).getByText("How was our support?").waitFor();
    await rita.write("4, Quick and kind.");
    await messages(page).getByText("rated the conversation 4 of 5: “Quick and kind.”").waitFor();
  });

  it("are offered below each of several messages, and nothing moves", async () => {
    const { conversationId, thread } = await asked(app, "Uma", "Hello there", "Uma");
    const { account_id: accountId } = await app.store.read
      .selectFrom("conversations")
      .select("account_id")
      .where("id", "=", conversationId)
      .executeTakeFirstOrThrow();
    await app.engine.applyAction(
      app.workspace.id,
      conversationId,
      { kind: "claim" },
      { email: "anna@shop.example", name: "Anna" },
    );
    for (const text of ["One", "Two", "Three"]) {
      const sender = { key: thread, verified: { userId: thread, name: "Uma", email: `${thread}@customers.example` } };
      const event = { kind: "message", externalId: `uma ${text}`, thread, sender, sentAt: app.clock.now() } as const;
      await app.engine.ingest(accountId, { ...event, text });
    }
    const page = await pages.open("anna", {}, `#/all/${conversationId}`);
    const row = (text: string) => messages(page).getByRole("article").filter({ hasText: text });
    const tool = row("One").getByRole("button", { name: "Reply to this message of Uma" });
    const places = () => Promise.all(["One", "Two", "Three"].map((text) => row(text).boundingBox()));
    const visible = () =>
      tool.evaluate((element) => element.closest(".meta")?.checkVisibility({ opacityProperty: true }));
    await row("Three").waitFor();
    expect(await visible()).toBe(false);
    const before = await places();
    await row("One").hover();
    await expect.poll(visible).toBe(true);
    expect(await places()).toEqual(before);
    await row("Three").hover();
    await expect.poll(visible).toBe(false);
    await row("One").getByRole("button", { name: "React to this message of Uma" }).focus();
    await expect.poll(visible).toBe(true);
    expect(await places()).toEqual(before);
    await row("One").hover();
    await tool.click();
    await page.getByText("One", { exact: true }).nth(1).waitFor();
    const phone = await pages.open(
      "anna",
      { hasTouch: true, isMobile: true, viewport: { width: 390, height: 800 } },
      `#/all/${conversationId}`,
    );
    const touched = messages(phone).getByRole("article").filter({ hasText: "One" });
    await touched.getByRole("button", { name: "Reply to this message of Uma" }).tap();
    await phone.getByText("One", { exact: true }).nth(1).waitFor();
    expect(await accessibilityViolations(phone)).toEqual([]);
  });

  it("are chosen and taken back by keyboard", async () => {
    const { conversationId } = await asked(app, "Una", "When do you open?", "Una");
    const page = await pages.open("anna", {}, `#/all/${conversationId}`);
    const opener = messages(page).getByRole("button", { name: "React to this message of Una" });
    await opener.focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => focusIn(page)).toContain("👍");
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => focusIn(page)).toContain("❤️");
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.keyboard.press("Enter");
    const shown = messages(page).getByRole("listitem").filter({ hasText: "Anna reacted with ❤️" });
    await shown.waitFor();
    await expect.poll(() => shownThere.at(-1)).toBe("❤️");
    await opener.click();
    await page.getByRole("menuitemradio", { name: "❤️", checked: true }).click();
    await shown.waitFor({ state: "detached" });
    await expect.poll(() => shownThere.at(-1)).toBe(null);
  });
}
