import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { totpCode } from "#admin/sign-in/totp.ts";
import { buildBrowserCode } from "#web/build.ts";
import { accessibilityViolations } from "../support/accessibility.ts";
import { noBrowser, openBrowser } from "../support/browser.ts";
import { newSqlite } from "../support/database/databases.ts";
import { dashboardUser } from "../support/http/administrators.ts";
import type { TestApp } from "../support/http/app.ts";
import { startApp } from "../support/http/app.ts";
import { createDashboardPages } from "../support/http/dashboard-pages.ts";
import { password } from "../support/http/inbox.ts";
import { skipped } from "../support/skipped.ts";

const name = "an agent's sign-in";

if (noBrowser === undefined) describe(name, inTheBrowser);
else skipped(name, noBrowser);

function inTheBrowser(): void {
  let app: TestApp;
  let browser: Browser;
  const contexts: BrowserContext[] = [];
  const pages = createDashboardPages(
    () => browser,
    () => app,
  );

  beforeAll(async () => {
    await buildBrowserCode();
    app = await startApp(newSqlite);
    browser = await openBrowser();
  });
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
    expect(await pages.close()).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  /** The sign-in pages work without JavaScript. */
  async function enterPassword(email: string, given: string): Promise<Page> {
    const context = await browser.newContext({ javaScriptEnabled: false });
    contexts.push(context);
    const page = await context.newPage();
    await page.goto(`${app.url}/inbox/login?to=/dashboard/account`);
    await page.getByLabel("E-mail address").fill(email);
    await page.getByLabel("Password").fill(given);
    await page.getByRole("button", { name: "Sign in" }).click();
    return page;
  }
  async function enterCode(page: Page, code: string): Promise<void> {
    await page.getByLabel("Code", { exact: true }).fill(code);
    await page.getByRole("button", { name: "Sign in" }).click();
  }

  it("sets a password, turns a second factor on, and asks for its codes", { timeout: 120_000 }, async () => {
    const agent = await dashboardUser(app, "agent", { name: "anna" });
    const page = await pages.open(agent, "/account");
    await page.getByLabel("New password").fill(password);
    await page.getByRole("button", { name: "Set a password" }).click();
    await page.getByText("Password set.").waitFor();

    await page.getByRole("button", { name: "Set up" }).click();
    const confirm = page.getByRole("dialog", { name: "Set up a second factor" });
    await confirm.getByLabel("Your password").fill("a wrong password");
    await confirm.getByRole("button", { name: "Continue" }).click();
    await confirm.getByText("this is not your current password").waitFor();
    await confirm.getByLabel("Your password").fill(password);
    await confirm.getByRole("button", { name: "Continue" }).click();
    const scan = page.getByRole("dialog", { name: "Scan the code" });
    const picture = scan.getByRole("img", { name: "QR code" });
    expect(await picture.evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBeGreaterThan(0);
    expect(await accessibilityViolations(page)).toEqual([]);
    const secret = await scan.getByLabel("Or type this key").inputValue();
    await scan.getByLabel("Six digits").fill(totpCode(secret, app.clock.now()));
    await scan.getByRole("button", { name: "Turn on" }).click();
    const shown = page.getByRole("dialog", { name: "Your recovery codes" });
    await shown.waitFor();
    const [recovery = "", ...others] = await shown.getByRole("listitem").allInnerTexts();
    expect(others).toHaveLength(9);
    expect(await accessibilityViolations(page)).toEqual([]);
    await shown.getByRole("button", { name: "Done" }).click();
    await page.getByText("Recovery codes left: 10.").waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();

    app.clock.advance(30_000);
    const first = await enterPassword(agent.email, password);
    await enterCode(first, "000000");
    await first.getByRole("alert").getByText("This code is not right, or was used before.").waitFor();
    await enterCode(first, totpCode(secret, app.clock.now()));
    expect(new URL(first.url()).pathname).toBe("/dashboard/account");

    const second = await enterPassword(agent.email, password);
    await enterCode(second, recovery);
    expect(new URL(second.url()).pathname).toBe("/dashboard/account");
    const third = await enterPassword(agent.email, password);
    await enterCode(third, recovery);
    await third.getByRole("alert").waitFor();
    expect(new URL(third.url()).pathname).toBe("/inbox/login");
  });

  it("leads agents to their account until they have the second factor that the workspace requires", async () => {
    const admin = await dashboardUser(app, "admin", { name: "rita" });
    const page = await pages.open(admin, "/sign-in");
    const required = page.getByRole("switch", { name: "Required of every agent" });
    await required.check();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("This workspace requires a second factor.").waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.goto(`${app.url}/dashboard/api-keys`);
    await page.getByRole("heading", { name: "Your account" }).waitFor();
    expect((await admin.call("PUT", "me/password", { password })).status).toBe(204);
    const begun = (await admin.call("POST", "me/second-factor", { password })).body;
    const { secret, setup } = begun as { readonly secret: string; readonly setup: string };
    await admin.call("POST", "me/second-factor/confirm", { setup, code: totpCode(secret, app.clock.now()) });
    await page.goto(`${app.url}/dashboard/sign-in`);
    await required.uncheck();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  it("ends other sessions, and makes an access token that is shown once", async () => {
    const admin = await dashboardUser(app, "admin", { name: "olga" });
    const page = await pages.open(admin, "/account");
    await page.getByText("This one").waitFor();
    await page.getByRole("button", { name: "Create a token" }).click();
    const dialog = page.getByRole("dialog", { name: "Create an access token" });
    await dialog.getByLabel("Name").fill("Terraform");
    const tomorrow = new Date(app.clock.now() + 86_400_000).toISOString().slice(0, 10);
    await dialog.getByLabel("Last day").fill(tomorrow);
    await dialog.getByRole("button", { name: "Create", exact: true }).click();
    const shown = page.getByRole("dialog", { name: "The token of Terraform" });
    await expect.poll(() => shown.getByLabel("Access token").inputValue()).toMatch(/^pat_/u);
    await shown.getByRole("button", { name: "Done" }).click();
    await page.getByRole("button", { name: "Revoke Terraform" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke", exact: true }).click();
    await page.getByText("Token revoked.").waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
  });
}
