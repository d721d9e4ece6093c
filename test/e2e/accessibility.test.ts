import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildBrowserCode } from "#web/build.ts";
import { accessibilityViolations } from "../support/accessibility.ts";
import type { TestApp } from "../support/http/app.ts";
import { startApp } from "../support/http/app.ts";
import { noBrowser, openBrowser } from "../support/browser.ts";
import { newSqlite } from "../support/database/databases.ts";
import { addAgent, customerWrites, password, settled } from "../support/http/inbox.ts";
import { createInboxPages } from "../support/http/inbox-pages.ts";
import { skipped } from "../support/skipped.ts";

const name = "pages have no barriers that a program can find";

if (noBrowser === undefined) describe.each(["light", "dark"] as const)(`${name}, %s`, inTheBrowser);
else skipped(name, noBrowser);

function inTheBrowser(colorScheme: "light" | "dark"): void {
  let app: TestApp;
  let browser: Browser;
  const contexts: BrowserContext[] = [];
  const pages = createInboxPages(
    () => browser,
    () => app,
  );

  beforeAll(async () => {
    await buildBrowserCode();
    app = await startApp(newSqlite, {
      settings: { savedReplies: { Thanks: "Thank you, {customer}.", Sizes: "We have all sizes." } },
    });
    await app.learn("shipping.md", "# Shipping\n\nStandard delivery takes 3 to 5 working days.\n");
    await addAgent(app, "Anna");
    await addAgent(app, "Ben");
    browser = await openBrowser();
  });
  afterAll(async () => {
    await pages.close();
    for (const context of contexts) await context.close();
    await browser?.close();
    await app?.close();
  });

  async function visit(path: string, viewport = { width: 1280, height: 800 }): Promise<Page> {
    const context = await browser.newContext({ viewport, colorScheme, locale: "en-GB", reducedMotion: "reduce" });
    contexts.push(context);
    const page = await context.newPage();
    await page.goto(`${app.url}${path}`);
    return page;
  }

  const phone = { width: 390, height: 780 };

  it("customers: the page with the widget, closed and with an answer", async () => {
    const page = await visit("/demo");
    const launcher = page.getByRole("button", { name: /^Open chat/u });
    await launcher.waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await launcher.click();
    await page.getByRole("textbox", { name: "Write a message…" }).fill("How long does delivery take?");
    await page.keyboard.press("Enter");
    await page.getByText("3 to 5 working days").first().waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  it("customers: the hosted page on a phone, with an answer and handed over", async () => {
    const page = await visit(`/chat/${app.workspace.id}`, phone);
    const field = page.getByRole("textbox", { name: "Write a message…" });
    await field.fill("How long does delivery take?");
    await field.press("Enter");
    await page.getByText("3 to 5 working days").first().waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await field.fill("I want to talk to a human");
    await field.press("Enter");
    await page
      .getByText(/colleague|team|person|someone/iu)
      .first()
      .waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  it("agents: the sign-in", async () => {
    const page = await visit("/inbox");
    await page.getByLabel("E-mail address").waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByLabel("E-mail address").fill("anna@shop.example");
    await page.getByLabel("Password").fill("wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  it("agents: the choice of a workspace by keyboard, on the way to a linked conversation", async () => {
    const email = `${colorScheme}@shop.example`;
    for (const { id } of [app.workspace, await app.createWorkspace()]) await addAgent(app, "Both", id, email);
    const page = await visit("/inbox#/escalated", phone);
    await page.getByLabel("E-mail address").fill(email);
    await page.getByLabel("Password").fill(password);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Choose a workspace" }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    expect(page.url()).toBe(`${app.url}/inbox#/escalated`);
  });

  it("agents: the list, a conversation with answer, note and reply, menus and dialogs", async () => {
    const customer = await customerWrites(app, `axe-${colorScheme}`, "How long does delivery take?", "Ada Byron");
    await customerWrites(app, `axe2-${colorScheme}`, "I want to talk to a human", "Bob Frost");
    await settled(app);
    const page = await pages.open("anna", {
      colorScheme,
      viewport: { width: 1500, height: 900 },
      reducedMotion: "reduce",
    });
    await page.getByText("Ada Byron").first().waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.goto(`${app.url}/inbox#/all/${customer.conversationId}`);
    await page.getByRole("heading", { name: "Ada Byron" }).waitFor();
    await page.getByRole("button", { name: "Claim" }).click();
    await page.getByText("The conversation is yours.").waitFor();
    const field = page.getByRole("textbox", { name: "Reply to Ada Byron" });
    await field.fill("The **same**: see https://shop.example/shipping");
    await field.press("Control+Enter");
    await settled(app);
    await page.getByRole("button", { name: "Note", exact: true }).click();
    await page.getByRole("textbox", { name: "Internal note" }).fill("She is a VIP.");
    await page.getByRole("button", { name: "Add note" }).click();
    await page.getByRole("article").filter({ hasText: "Internal note" }).first().waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Reply", exact: true }).click();
    for (const menu of ["Snooze", "Assigned to: Anna (you)"]) {
      await page.getByRole("button", { name: menu }).click();
      await page.getByRole("menu").waitFor();
      expect(await accessibilityViolations(page)).toEqual([]);
      await page.keyboard.press("Escape");
    }
    await page.getByRole("button", { name: "Saved replies" }).click();
    await page.getByRole("listbox", { name: "Saved replies" }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Delete your reply" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Choose several" }).click();
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  it("agents: on a phone", async () => {
    const page = await pages.open("ben", { colorScheme, viewport: phone, reducedMotion: "reduce" });
    await page.getByText("Bob Frost").first().waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole("link").filter({ hasText: "Bob Frost" }).first().click();
    await page.getByRole("heading", { name: "Bob Frost" }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Details", exact: true }).click();
    await page.getByRole("heading", { name: "Tags" }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  it("developers: the reference of the API", async () => {
    const page = await visit("/docs");
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
  });
}
