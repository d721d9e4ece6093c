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
import { skipped } from "../support/skipped.ts";

const name = "settings in the dashboard";

if (noBrowser === undefined) describe(name, inTheBrowser);
else skipped(name, noBrowser);

function inTheBrowser(): void {
  let app: TestApp;
  let browser: Browser;
  let admin: DashboardUser;
  const contexts: BrowserContext[] = [];
  const complaints: string[] = [];

  beforeAll(async () => {
    await buildBrowserCode();
    app = await startApp(newSqlite);
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
  });

  async function open(path: string, cookie = admin.cookie): Promise<Page> {
    const context = await browser.newContext({ reducedMotion: "reduce", locale: "en-GB" });
    contexts.push(context);
    const [key = "", value = ""] = cookie.split("=");
    await context.addCookies([{ name: key, value, url: app.url }]);
    const page = await context.newPage();
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
    });
    await page.goto(app.url + path);
    return page;
  }
  /** Resolves when the server has answered: an earlier "Saved." may still be on the page. */
  const save = async (page: Page): Promise<void> => {
    const answered = page.waitForResponse((response) => response.request().method() !== "GET");
    await page.getByRole("button", { name: "Save" }).first().click();
    await answered;
    await page.getByText("Saved.").first().waitFor();
  };

  it("change the widget on another page without a restart", async () => {
    const page = await open("/dashboard/widget");
    await page.getByLabel("Greeting").fill("Welcome to the garden shop!");
    const preview = page.frameLocator("iframe");
    await preview.getByText("Welcome to the garden shop!").waitFor();
    await page.getByLabel("Colour", { exact: true }).fill("#0b6e4f");
    await save(page);
    app.clock.advance(1_001);
    const chat = await open(`/chat/${app.workspace.id}`);
    await chat.getByText("Welcome to the garden shop!").waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  it("show each tab without barriers, and keep what was entered", async () => {
    const page = await open("/dashboard/settings");
    await page.getByLabel("Name of the bot").fill("Ada");
    await save(page);
    for (const tab of ["Bot & texts", "Escalation", "Hours & SLA", "Retention & limits", "Audiences"]) {
      await page.getByRole("tab", { name: tab }).click();
      await page.getByRole("button", { name: "Save" }).first().waitFor();
      expect(await accessibilityViolations(page)).toEqual([]);
    }
    await page.getByRole("tab", { name: "Hours & SLA" }).click();
    await page.getByRole("switch", { name: "Business hours" }).click();
    await page.getByLabel("Time zone").fill("Europe/Berlin");
    await save(page);
    const { body } = await admin.call("GET", "settings");
    expect(body).toMatchObject({
      settings: {
        bot_name: { value: "Ada" },
        business_hours: { value: { timezone: "Europe/Berlin", monday: ["09:00-17:00"] } },
      },
    });
  });

  it("recognise requests for a person by own phrases, and by the built-in patterns where there are none", async () => {
    const page = await open("/dashboard/settings");
    await page.getByRole("tab", { name: "Escalation" }).click();
    const phrases = page.getByLabel("Phrases that ask for a person");
    const stored = async (): Promise<unknown> => {
      const { body } = await admin.call("GET", "settings");
      return (body as { settings: Record<string, { value: unknown }> }).settings["escalation.phrases"]?.value;
    };
    await expect.poll(() => phrases.inputValue()).toBe("");
    await phrases.fill("bring me the captain\n");
    await save(page);
    expect(await stored()).toEqual(["bring me the captain"]);
    await phrases.fill("");
    await save(page);
    expect(await stored()).toBeNull();
    // An empty list, which the command line can set, recognises nothing. Another change must not undo it.
    await admin.call("PATCH", "settings", { settings: { "escalation.phrases": [] }, reset: [] });
    await page.reload();
    await page.getByRole("tab", { name: "Escalation" }).click();
    await page.getByLabel("Unsure answers in a row").fill("3");
    await save(page);
    expect(await stored()).toEqual([]);
  });

  it("say why a value was refused", async () => {
    const page = await open("/dashboard/settings?tab=limits");
    await page.getByLabel("Delete conversations after").fill("400");
    await page.getByRole("button", { name: "Save" }).first().click();
    await page.getByText("it takes the plan enterprise").waitFor();
    complaints.splice(0);
  });

  it("name the time zone of reports, and the plan", async () => {
    const page = await open("/dashboard/settings");
    await page.getByLabel("Time zone of reports").fill("Mars/Olympus");
    await page.getByRole("button", { name: "Save" }).first().click();
    await page.locator(".field-error", { hasText: "is no time zone" }).waitFor();
    complaints.splice(0);
    await page.getByLabel("Time zone of reports").fill("Asia/Tokyo");
    await save(page);
    await page.getByRole("tab", { name: "Retention & limits" }).click();
    await page.getByRole("combobox", { name: "Plan" }).selectOption("enterprise");
    await page.getByRole("button", { name: "Change the plan" }).click();
    await page.getByText("The plan enterprise keeps").waitFor();
    expect((await admin.call("GET", "settings")).body).toMatchObject({
      plan: { name: "enterprise" },
      settings: { timezone: { value: "Asia/Tokyo" } },
    });
  });

  it("make a rule of words, try it, and turn it off", async () => {
    await app.post("/v1/query", { workspace_id: app.workspace.id, query: "I want a refund" });
    const page = await open("/dashboard/automation");
    await page.getByRole("button", { name: "Add a rule" }).click();
    await page.getByLabel("Name").fill("Refunds");
    await page.getByLabel("Add a condition").selectOption("words");
    await page.getByRole("textbox", { name: "The message has one of these words" }).fill("refund");
    await page.getByLabel("Add an action").selectOption("tag");
    await page.getByRole("textbox", { name: "Add tags" }).fill("money");
    await page.keyboard.press("Enter");
    await save(page);
    await page.getByRole("heading", { level: 1, name: "Refunds" }).waitFor();
    await page.getByRole("button", { name: "Try on real conversations" }).click();
    await page.getByText("It would have fired 1 time").waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole("link", { name: "Automation" }).first().click();
    await page
      .getByText("When a message of the customer was added and the message has refund: add the tag money.")
      .waitFor();
    await page.getByRole("button", { name: "Turn off Refunds" }).click();
    await page.getByRole("button", { name: "Turn on Refunds" }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  it("keep saved replies, and say when a name is taken", async () => {
    const page = await open("/dashboard/replies");
    for (const text of ["Hello {customer}!", "Again"]) {
      await page.getByRole("button", { name: "Add a reply" }).click();
      await page.getByLabel("Name").fill("hi");
      await page.getByRole("textbox", { name: "Text" }).fill(text);
      await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
      if (text === "Again") await page.getByText("there is a saved reply named hi.").waitFor();
      else await page.getByText("/hi").waitFor();
    }
    expect(await accessibilityViolations(page)).toEqual([]);
    complaints.splice(0);
  });
}
