import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
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

const name = "the dashboard in a browser";

if (noBrowser === undefined) describe(name, inTheBrowser);
else skipped(name, noBrowser);

function inTheBrowser(): void {
  let app: TestApp;
  let browser: Browser;
  let users: Readonly<Record<"admin" | "agent" | "viewer", DashboardUser>>;
  const contexts: BrowserContext[] = [];
  const complaints: string[] = [];

  beforeAll(async () => {
    await buildBrowserCode();
    app = await startApp(newSqlite);
    users = {
      admin: await dashboardUser(app, "admin"),
      agent: await dashboardUser(app, "agent"),
      viewer: await dashboardUser(app, "viewer"),
    };
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

  async function open(role: keyof typeof users, path = "", options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({ reducedMotion: "reduce", locale: "en-GB", ...options });
    contexts.push(context);
    const [cookie = "", value = ""] = users[role].cookie.split("=");
    await context.addCookies([{ name: cookie, value, url: app.url }]);
    const page = await context.newPage();
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
    });
    await page.goto(`${app.url}/dashboard${path}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    return page;
  }
  const sideways = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  const phone = { viewport: { width: 390, height: 780 } };

  it("shows the workspace, its pages and the way to the inbox", async () => {
    const page = await open("admin");
    expect(await page.title()).toBe("Overview · Test");
    const menu = page.getByRole("navigation", { name: "Dashboard" });
    await expect.poll(() => menu.getByRole("link", { name: "Overview" }).getAttribute("aria-current")).toBe("page");
    await page.getByRole("link", { name: "Inbox", exact: true }).click();
    await page.waitForURL(`${app.url}/inbox`);
    await page.getByRole("link", { name: "Dashboard" }).click();
    await page.waitForURL(`${app.url}/dashboard`);
  });

  it("opens pages without loading anew, moves the focus to their headings, and goes back", async () => {
    const page = await open("admin", "/nowhere");
    await expect.poll(() => page.getByRole("heading", { level: 1 }).textContent()).toBe("Page not found");
    await page.evaluate(() => Object.assign(globalThis, { isSameDocument: true }));
    await page.getByRole("link", { name: "Go to the overview" }).click();
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Overview");
    await page.goBack();
    await page.getByRole("heading", { level: 1, name: "Page not found" }).waitFor();
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Page not found");
    expect(await page.evaluate(() => Reflect.has(globalThis, "isSameDocument"))).toBe(true);
  });

  it("leads keyboards past the menu", async () => {
    const page = await open("admin");
    // Tab begins elsewhere when a part of the page is replaced, and works in the front tab only.
    await page.bringToFront();
    await page.getByRole("heading", { name: "First steps" }).waitFor();
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Skip to the page");
    await page.keyboard.press("Enter");
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("content");
  });

  it("has its menu behind a button on phones", async () => {
    const page = await open("admin", "/nowhere", phone);
    expect(await sideways(page)).toBeLessThanOrEqual(0);
    await page.getByRole("button", { name: "Menu" }).click();
    const menu = page.getByRole("dialog", { name: "Menu" });
    await menu.waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await menu.getByRole("link", { name: "Overview" }).click();
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    await menu.waitFor({ state: "detached" });
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Overview");
  });

  it("sends agents to the inbox", async () => {
    const page = await open("agent");
    await page.getByText("The dashboard is for administrators").waitFor();
    await expect.poll(() => page.getByRole("link", { name: "Overview" }).count()).toBe(0);
    await page.getByRole("link", { name: "Go to the inbox" }).click();
    await page.getByRole("button", { name: "Keyboard shortcuts" }).waitFor();
    await expect.poll(() => page.getByRole("link", { name: "Dashboard" }).count()).toBe(0);
  });

  it("ends with the session", async () => {
    const page = await open("viewer");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.waitForURL(/\/inbox\/login/);
    await page.goto(`${app.url}/dashboard`);
    await page.getByLabel("E-mail address").waitFor();
  });
}
