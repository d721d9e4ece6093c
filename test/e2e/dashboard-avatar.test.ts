import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { buildBrowserCode } from "#web/build.ts";
import { accessibilityViolations } from "../support/accessibility.ts";
import { noBrowser, openBrowser } from "../support/browser.ts";
import { png } from "../support/channels/file-channel.ts";
import { newSqlite } from "../support/database/databases.ts";
import { dashboardUser } from "../support/http/administrators.ts";
import type { TestApp } from "../support/http/app.ts";
import { startApp } from "../support/http/app.ts";
import { createDashboardPages } from "../support/http/dashboard-pages.ts";
import { skipped } from "../support/skipped.ts";

const name = "an agent's picture";

if (noBrowser === undefined) describe(name, inTheBrowser);
else skipped(name, noBrowser);

function inTheBrowser(): void {
  let app: TestApp;
  let browser: Browser;
  const pages = createDashboardPages(
    () => browser,
    () => app,
  );

  beforeAll(async () => {
    await buildBrowserCode();
    app = await startApp(newSqlite);
    browser = await openBrowser();
  });
  afterEach(async () => expect(await pages.close()).toEqual([]));
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  it("is chosen in the account, and customers see it beside the agent's messages", { timeout: 90_000 }, async () => {
    const anna = await dashboardUser(app, "agent", { name: "anna" });
    const page = await pages.open(anna, "/account");
    const choose = page.locator('input[type="file"]');
    await choose.setInputFiles({ name: "me.svg", mimeType: "image/svg+xml", buffer: Buffer.from("<svg/>") });
    await page.getByText("choose a PNG, JPEG or WebP picture.").waitFor();
    await choose.setInputFiles({ name: "me.png", mimeType: "image/png", buffer: png });
    await page.getByText("Picture saved.").waitFor();
    const shown = page.getByRole("img", { name: "Your picture" });
    // The page sends a small square.
    await expect.poll(() => shown.evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBe(256);
    expect(await accessibilityViolations(page)).toEqual([]);

    const context = await browser.newContext({ locale: "en-GB" });
    const chat = await context.newPage();
    await chat.goto(`${app.url}/chat/${app.workspace.id}`);
    const composer = chat.getByRole("textbox", { name: "Write a message…" });
    await composer.fill("I want to talk to a human");
    await composer.press("Enter");
    await chat.getByText("Waiting for a person to join").waitFor();
    const { body } = await app.get(`/v1/conversations?workspace_id=${app.workspace.id}`);
    const id = body.conversations[0]?.id;
    await app.call("PATCH", `/v1/conversations/${id}`, { body: { status: "claimed", assigned_to: anna.email } });
    const reply = { content: "Hello there", author_email: anna.email };
    expect((await app.post(`/v1/conversations/${id}/messages`, reply)).status).toBe(201);
    await chat.getByText("Hello there").waitFor();
    const picture = chat.locator(".row.agent img.avatar");
    await expect.poll(() => picture.evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBe(256);
    expect(await accessibilityViolations(chat)).toEqual([]);

    // Without it, customers see initials. An administrator can remove it too.
    const admin = await dashboardUser(app, "admin");
    const team = await pages.open(admin, `/team/${anna.id}`);
    await team.getByRole("button", { name: "Remove the picture" }).click();
    expect(await accessibilityViolations(team)).toEqual([]);
    await team.getByRole("dialog").getByRole("button", { name: "Remove the picture" }).click();
    await team.getByText("Picture removed.").waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Choose a picture" }).waitFor();
    await chat.reload();
    await chat.locator(".row.agent span.avatar.person").getByText("A").waitFor();
    await context.close();
  });
}
