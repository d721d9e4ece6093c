import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { buildBrowserCode } from "#web/build.ts";
import { accessibilityViolations } from "../support/accessibility.ts";
import { noBrowser, openBrowser } from "../support/browser.ts";
import { newSqlite } from "../support/database/databases.ts";
import type { DashboardUser } from "../support/http/administrators.ts";
import { dashboardUser } from "../support/http/administrators.ts";
import type { TestApp } from "../support/http/app.ts";
import { startApp } from "../support/http/app.ts";
import { createDashboardPages } from "../support/http/dashboard-pages.ts";
import type { Receiver } from "../support/servers/webhook-receiver.ts";
import { openReceiver } from "../support/servers/webhook-receiver.ts";
import { skipped } from "../support/skipped.ts";

const name = "API keys and webhooks in the dashboard";

if (noBrowser === undefined) describe(name, inTheBrowser);
else skipped(name, noBrowser);

function inTheBrowser(): void {
  let app: TestApp;
  let browser: Browser;
  let admin: DashboardUser;
  let receiver: Receiver;
  const pages = createDashboardPages(
    () => browser,
    () => app,
  );

  beforeAll(async () => {
    await buildBrowserCode();
    app = await startApp(newSqlite, { file: { workspaces: [], allowPrivate: true } });
    admin = await dashboardUser(app, "admin");
    receiver = await openReceiver(() => app.clock.now());
    browser = await openBrowser();
  });
  afterEach(async () => {
    expect(await pages.close()).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await receiver?.close();
    await app?.close();
  });

  it("make a key that works, show it once, and revoke it", async () => {
    const page = await pages.open(admin, "/api-keys");
    await page.getByRole("button", { name: "Create a key" }).click();
    const dialog = page.getByRole("dialog", { name: "Create an API key" });
    await dialog.getByRole("textbox", { name: "Name" }).fill("Shop server");
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Create", exact: true }).click();
    const shown = page.getByRole("dialog", { name: "The key of Shop server" });
    const key = await shown.getByRole("textbox", { name: "API key" }).inputValue();
    expect(await accessibilityViolations(page)).toEqual([]);
    await shown.getByRole("button", { name: "Done" }).click();
    const read = () => app.get(`/v1/conversations?workspace_id=${app.workspace.id}`, { key });
    expect((await read()).status).toBe(200);
    await page.reload();
    expect(await page.content()).not.toContain(key);
    await page.getByRole("button", { name: "Revoke Shop server" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke", exact: true }).click();
    await page.getByText("Key revoked.").waitFor();
    expect((await read()).status).toBe(401);
  });

  it("make a key with a last day, on Enterprise", async () => {
    expect((await admin.call("PUT", "settings/plan", { plan: "enterprise" })).status).toBe(200);
    // The day ends where the administrator is.
    const page = await pages.open(admin, "/api-keys", { timezoneId: "America/New_York" });
    await page.getByRole("button", { name: "Create a key" }).click();
    const dialog = page.getByRole("dialog", { name: "Create an API key" });
    await dialog.getByRole("textbox", { name: "Name" }).fill("Audit of 2031");
    await dialog.getByLabel("Last day").fill("2031-12-31");
    await dialog.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByRole("dialog", { name: "The key of Audit of 2031" }).getByRole("button", { name: "Done" }).click();
    await page.getByText("Until 2031-12-31").waitFor();
  });

  it("make an identity secret, and show it once", async () => {
    const page = await pages.open(admin, "/settings");
    await page.getByRole("button", { name: "Make an identity secret" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Make it" }).click();
    const shown = page.getByRole("dialog", { name: "The identity secret" });
    const secret = await shown.getByRole("textbox", { name: "Identity secret" }).inputValue();
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    expect(await accessibilityViolations(page)).toEqual([]);
    await shown.getByRole("button", { name: "Done" }).click();
    await page.reload();
    await page.getByRole("button", { name: "Make an identity secret" }).waitFor();
    expect(await page.content()).not.toContain(secret);
  });

  it("say why a webhook's address is refused, and test one that works", async () => {
    const page = await pages.open(admin, "/webhooks");
    await page.getByRole("button", { name: "Add a webhook" }).click();
    const dialog = page.getByRole("dialog", { name: "Add a webhook" });
    const address = dialog.getByRole("textbox", { name: "Address" });
    await address.fill("ftp://shop.example/hook");
    await dialog.getByRole("button", { name: "Add", exact: true }).click();
    await dialog.getByText("use the complete address").waitFor();
    await address.fill(receiver.url);
    await dialog.getByRole("button", { name: "Add", exact: true }).click();
    const shown = page.getByRole("dialog", { name: "The secret of the webhook" });
    await expect.poll(() => shown.getByRole("textbox", { name: "Signing secret" }).inputValue()).toMatch(/^whsec_/);
    await shown.getByRole("button", { name: "Done" }).click();
    await page.getByRole("link", { name: receiver.url }).click();
    await page.getByRole("button", { name: "Send a test event" }).click();
    await page.getByText("Test event delivered: 204.").waitFor();
    expect(receiver.types()).toEqual(["webhook.test"]);
    await page.getByRole("button", { name: "Reload" }).click();
    await page.getByRole("button", { name: /^Show attempt/u }).click();
    await page.getByRole("dialog", { name: "Delivery attempt" }).getByText("webhook.test").waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
  });
}
