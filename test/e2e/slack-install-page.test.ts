import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildBrowserCode } from "#web/build.ts";
import type { FakeSlack } from "../../adapters/slack/test/support/fake-slack.ts";
import { startFakeSlack } from "../../adapters/slack/test/support/fake-slack.ts";
import { accessibilityViolations } from "../support/accessibility.ts";
import { noBrowser, openBrowser } from "../support/browser.ts";
import { newSqlite } from "../support/database/databases.ts";
import type { DashboardUser } from "../support/http/administrators.ts";
import { dashboardUser } from "../support/http/administrators.ts";
import type { TestApp } from "../support/http/app.ts";
import { startApp } from "../support/http/app.ts";
import { createDashboardPages, phone } from "../support/http/dashboard-pages.ts";
import { skipped } from "../support/skipped.ts";

const name = "the installation of Slack in the browser";

if (noBrowser === undefined) describe(name, inTheBrowser);
else skipped(name, noBrowser);

/** The tests' PUBLIC_URL, where no server is. */
const publicUrl = "http://parley.test";
const redirectUrl = `${publicUrl}/dashboard/channels/slack/installed`;

function inTheBrowser(): void {
  let app: TestApp;
  let admin: DashboardUser;
  let browser: Browser;
  let slack: FakeSlack;
  const pages = createDashboardPages(
    () => browser,
    () => app,
  );

  beforeAll(async () => {
    await buildBrowserCode();
    slack = await startFakeSlack();
    slack.oauth.redirectUrls.push(redirectUrl);
    app = await startApp(newSqlite, { file: { workspaces: [], allowPrivate: ["127.0.0.1"] } });
    admin = await dashboardUser(app, "admin");
    browser = await openBrowser();
  });
  afterAll(async () => {
    const slackAndBack = [`request to ${new URL(slack.url).origin}`, `request to ${publicUrl}`];
    expect((await pages.close()).filter((complaint) => !slackAndBack.includes(complaint))).toEqual([]);
    await browser?.close();
    await app?.close();
    await slack?.close();
  });

  async function open(path: string, options: Parameters<typeof pages.open>[2] = {}): Promise<Page> {
    const page = await pages.open(admin, path, options);
    await page.route(`${publicUrl}/**`, (route) =>
      route.fulfill({ status: 302, headers: { location: route.request().url().replace(publicUrl, app.url) } }),
    );
    return page;
  }
  async function fill(page: Page): Promise<void> {
    await page.getByLabel("Client ID").fill(slack.oauth.clientId);
    await page.getByLabel("Client Secret").fill(slack.oauth.clientSecret);
    await page.getByLabel("Signing Secret").fill(slack.signingSecret);
    await page.getByText("Advanced", { exact: true }).click();
    await page.getByLabel("Server of the Web API").fill(slack.url);
  }
  const press = (page: Page) => page.getByRole("button", { name: "Install to Slack" }).click();

  it("goes to Slack, shows a refusal with its fix, and connects at the next try", { timeout: 60_000 }, async () => {
    const page = await open("/channels/slack");
    await page.getByRole("tab", { name: "Install to Slack" }).click();
    await expect.poll(() => page.getByLabel("Redirect URL").inputValue()).toBe(redirectUrl);
    await page.getByLabel("Client ID").fill("none");
    await page.getByLabel("Client Secret").fill(slack.oauth.clientSecret);
    await page.getByLabel("Signing Secret").fill(slack.signingSecret);
    await press(page);
    await page.getByText("client_id cannot be right").waitFor();
    await page.reload();
    await fill(page);
    await press(page);
    await page.getByRole("heading", { name: "Support wants to access Shop" }).waitFor();
    await page.getByRole("link", { name: "Cancel" }).click();
    await page.getByRole("heading", { name: "Slack was not installed" }).waitFor();
    await page.getByText("press Allow on Slack's page").waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole("link", { name: "Back to the form" }).click();
    await expect.poll(() => page.getByLabel("Client ID").inputValue()).toBe(slack.oauth.clientId);
    await expect.poll(() => page.getByText("Set", { exact: true }).count()).toBe(2);
    expect(await page.content()).not.toContain(slack.oauth.clientSecret);
    await press(page);
    await page.getByRole("link", { name: "Allow" }).click();
    await page.getByRole("heading", { level: 1, name: "Shop" }).waitFor();
    await page.locator(".badge", { hasText: "Ready" }).waitFor();
  });

  it("shows that the app was removed, and installs it again", { timeout: 60_000 }, async () => {
    const { body } = await admin.call("GET", "channels");
    const { channels } = body as { readonly channels: readonly { readonly id: string; readonly channel: string }[] };
    const id = channels.find(({ channel }) => channel === "slack")?.id ?? "";
    const page = await open(`/channels/${id}`);
    slack.oauth.uninstall();
    const event = { type: "event_callback", team_id: slack.teamId, event: { type: "app_uninstalled" } };
    const text = JSON.stringify(event);
    await fetch(`${app.url}/channels/slack/${id}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...slack.sign(text, app.clock.now()) },
      body: text,
    });
    await page.locator(".badge", { hasText: "Not connected" }).waitFor();
    await page.getByText("Press Install again.").waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Install again" }).click();
    await page.getByRole("link", { name: "Allow" }).click();
    await page.locator(".badge", { hasText: "Ready" }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/dashboard/channels/${id}`);
  });

  it.each(["light", "dark"] as const)("has no barriers in its form, %s", { timeout: 60_000 }, async (colorScheme) => {
    for (const viewport of [{ width: 1280, height: 900 }, phone]) {
      const page = await open("/channels/slack?by=install", { colorScheme, viewport });
      await page.getByRole("button", { name: "Install to Slack" }).waitFor();
      expect(await accessibilityViolations(page)).toEqual([]);
      const sideways = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      expect(sideways).toBeLessThanOrEqual(0);
    }
  });
}
