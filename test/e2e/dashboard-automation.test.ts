import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { buildBrowserCode } from "#web/build.ts";
import { accessibilityViolations } from "../support/accessibility.ts";
import { noBrowser, openBrowser } from "../support/browser.ts";
import { newSqlite } from "../support/database/databases.ts";
import type { DashboardUser } from "../support/http/administrators.ts";
import { dashboardUser } from "../support/http/administrators.ts";
import type { TestApp } from "../support/http/app.ts";
import { startApp } from "../support/http/app.ts";
import type { ShopServer } from "../support/servers/shop-server.ts";
import { sendJson, startShopServer } from "../support/servers/shop-server.ts";
import { asked } from "../support/http/inbox.ts";
import { skipped } from "../support/skipped.ts";

const name = "automation in the dashboard";

if (noBrowser === undefined) describe(name, inTheBrowser);
else skipped(name, noBrowser);

function inTheBrowser(): void {
  let app: TestApp;
  let browser: Browser;
  let admin: DashboardUser;
  let shop: ShopServer;
  const contexts: BrowserContext[] = [];
  const complaints: string[] = [];

  beforeAll(async () => {
    await buildBrowserCode();
    shop = await startShopServer();
    app = await startApp(newSqlite, { file: { workspaces: [], allowPrivate: ["127.0.0.1"] } });
    admin = await dashboardUser(app, "admin");
    browser = await openBrowser();
  });
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
    expect(complaints.splice(0)).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
    await shop?.close();
  });

  async function open(path: string): Promise<Page> {
    const context = await browser.newContext({ reducedMotion: "reduce", locale: "en-GB" });
    contexts.push(context);
    const [key = "", value = ""] = admin.cookie.split("=");
    await context.addCookies([{ name: key, value, url: app.url }]);
    const page = await context.newPage();
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
    });
    await page.goto(app.url + path);
    return page;
  }

  it("makes a skill, tries it with its secrets hidden, and pauses it", async () => {
    shop.answer = ({ headers }, response) => sendJson(response, { state: "ready", key: headers["authorization"] });
    const page = await open("/dashboard/skills");
    await page.getByRole("button", { name: "Add a skill" }).click();
    await page.getByLabel("Name").fill("order_status");
    await page.getByLabel("Description").fill("Tells the state of an order.");
    await page.getByLabel("Address").fill(`${shop.url}/orders/{order}`);
    await page.getByRole("button", { name: "Add a header" }).click();
    await page.getByLabel("Header", { exact: true }).fill("authorization");
    await page.getByLabel("Value of authorization").fill("Bearer secret-key-1");
    await page.getByRole("button", { name: "Add an argument" }).click();
    await page.getByLabel("Name").nth(1).fill("order");
    await page.getByLabel("Description").nth(1).fill("The number.");
    await page.getByLabel("Shapes").fill("A-####");
    await page.getByLabel("Answer (optional)").fill("It is {state}.");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { level: 1, name: "order_status" }).waitFor();
    await page.getByLabel("order", { exact: true }).fill("A-1234");
    await page.getByRole("button", { name: "Try", exact: true }).click();
    await page.getByText("It is ready.").waitFor();
    const tried = await page.getByRole("region", { name: "Request sent" }).innerText();
    expect(tried).toContain("/orders/A-1234");
    expect(await page.content()).not.toContain("secret-key-1");
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole("link", { name: "Skills" }).first().click();
    // A sample that was tried counts as saved.
    await page.getByRole("button", { name: "Pause order_status" }).click();
    await page.getByRole("button", { name: "Resume order_status" }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    const { body } = await admin.call("GET", "skills");
    expect(body).toMatchObject({ skills: [{ enabled: false, request: { headers: { authorization: null } } }] });
  });

  it("makes a macro, shows what it will do to a conversation, and applies it by keyboard", async () => {
    const page = await open("/dashboard/macros");
    await page.getByRole("button", { name: "Add a macro" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Refund");
    await dialog.getByLabel("Add an action").selectOption("reply");
    await dialog.getByRole("textbox", { name: "Reply to the customer" }).fill("Hello {customer}, it is on its way.");
    await dialog.getByLabel("Add an action").selectOption("resolve");
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText("Reply “Hello {customer}, it is on its way.”, then resolve it.").waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    app.clock.advance(1_001);
    const { conversationId: id } = await asked(app, "macro", "I want my money back", "Ada Byron");
    const inbox = await open(`/inbox#/all/${id}`);
    await inbox.getByRole("button", { name: "Macros" }).waitFor();
    await inbox.keyboard.press("m");
    await inbox.getByRole("searchbox", { name: "Search macros" }).fill("ref");
    await inbox.keyboard.press("Enter");
    await inbox.getByText("Hello Ada Byron, it is on its way.").waitFor();
    expect(await accessibilityViolations(inbox)).toEqual([]);
    await inbox.keyboard.press("Enter");
    await inbox.getByText("Applied Refund.").waitFor();
    await inbox.getByRole("dialog").waitFor({ state: "detached" });
    const row = app.store.read.selectFrom("conversations").select("status").where("id", "=", id);
    expect(await row.executeTakeFirst()).toEqual({ status: "resolved" });
  });

  it("tries a rule on real conversations, and says why it would not have fired", async () => {
    await asked(app, "rule-1", "I want my money back");
    await asked(app, "rule-2", "How long does delivery take?");
    const page = await open("/dashboard/automation");
    await page.getByRole("button", { name: "Add a rule" }).click();
    await page.getByLabel("Name").fill("Money");
    await page.getByLabel("Add a condition").selectOption("words");
    await page.getByRole("textbox", { name: "The message has one of these words" }).fill("delivery");
    await page.keyboard.press("Enter");
    await page.getByLabel("Add an action").selectOption("escalate");
    await page.getByRole("textbox", { name: "Hand over to people" }).fill("Delivery");
    await page.getByRole("button", { name: "Try on real conversations" }).click();
    await page.getByText("It would have fired 1 time").waitFor();
    await page.getByText("Why not on the others?").click();
    await page.getByText("the message has none of the words").first().waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    const link = page.getByRole("table", { name: "What the rule would have done" }).getByRole("link");
    await expect.poll(() => link.getAttribute("href")).toMatch(/^\/inbox#\/all\/conv_/);
  });

  it("moves, turns off and deletes rules in their list", async () => {
    const names = ["First", "Second", "Third"];
    for (const rule of names) {
      // oxlint-disable-next-line unicorn/no-thenable -- a key of the API.
      const body = { name: rule, when: { message: "customer" }, if: { words: ["refund"] }, then: [{ tag: ["money"] }] };
      expect((await admin.call("POST", "rules", body)).status).toBe(201);
    }
    const rules = async () => ((await admin.call("GET", "rules")).body as { readonly rules: readonly unknown[] }).rules;
    const page = await open("/dashboard/automation");
    const button = (label: string) => page.getByRole("button", { name: label, exact: true });
    await button("Move First down").click();
    await expect.poll(rules).toMatchObject([{ name: "Second" }, { name: "First" }, { name: "Third" }]);
    await expect.poll(() => button("Move Second up").isDisabled()).toBe(true);
    await button("Move Third up").click();
    await expect.poll(rules).toMatchObject([{ name: "Second" }, { name: "Third" }, { name: "First" }]);
    await expect.poll(() => button("Move First down").isDisabled()).toBe(true);
    await button("Turn off Third").click();
    await button("Turn on Third").waitFor();
    for (const rule of names) {
      await button(`Delete ${rule}`).click();
      await button("Delete").click();
      await button(`Delete ${rule}`).waitFor({ state: "detached" });
    }
    expect(await rules()).toEqual([]);
  });

  it("asks before unsaved changes are lost, and only then", async () => {
    const page = await open("/dashboard/automation");
    await page.getByRole("link", { name: "Settings" }).click();
    const questions: string[] = [];
    let isAccepted = false;
    page.on("dialog", (dialog) => {
      questions.push(dialog.type());
      void (isAccepted ? dialog.accept() : dialog.dismiss());
    });
    const botName = page.getByLabel("Name of the bot");
    await botName.fill("Ada");
    await page.getByRole("link", { name: "Automation" }).click();
    await page.getByRole("tab", { name: "Escalation" }).click();
    const back = page.waitForEvent("dialog");
    await page.evaluate(() => history.back());
    await back;
    expect(questions).toEqual(["confirm", "confirm", "confirm"]);
    await expect.poll(() => botName.inputValue()).toBe("Ada");
    await botName.fill("Assistant");
    await page.getByRole("tab", { name: "Escalation" }).click();
    await page.getByRole("tab", { name: "General" }).click();
    expect(questions.length).toBe(3);
    await botName.fill("Ada");
    isAccepted = true;
    // The event of a dialog can follow the end of the reload.
    await Promise.all([page.waitForEvent("dialog"), page.reload()]);
    expect(questions.at(-1)).toBe("beforeunload");
    await botName.fill("Ada");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    await page.getByRole("link", { name: "Saved replies" }).click();
    await page.getByRole("button", { name: "Add a reply" }).click();
    expect(questions.length).toBe(4);
    isAccepted = false;
    await page.getByLabel("Name").fill("hi");
    await page.keyboard.press("Escape");
    expect(questions.length).toBe(5);
    await expect.poll(() => page.getByLabel("Name").inputValue()).toBe("hi");
  });
}
