import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildBrowserCode } from "#web/build.ts";
import { startFakeDiscord } from "../../adapters/discord/test/support/fake-discord.ts";
import type { FakeTelegram } from "../../adapters/telegram/test/support/fake-telegram.ts";
import { startFakeTelegram } from "../../adapters/telegram/test/support/fake-telegram.ts";
import { messageUpdate } from "../../adapters/telegram/test/support/updates.ts";
import { accessibilityViolations } from "../support/accessibility.ts";
import { noBrowser, openBrowser } from "../support/browser.ts";
import { newSqlite } from "../support/database/databases.ts";
import type { DashboardUser } from "../support/http/administrators.ts";
import { dashboardUser } from "../support/http/administrators.ts";
import type { TestApp } from "../support/http/app.ts";
import { startApp } from "../support/http/app.ts";
import { createDashboardPages, phone } from "../support/http/dashboard-pages.ts";
import { skipped } from "../support/skipped.ts";

const name = "the page of channels";

if (noBrowser === undefined) describe(name, inTheBrowser);
else skipped(name, noBrowser);

const chat = 78;

function inTheBrowser(): void {
  let app: TestApp;
  let admin: DashboardUser;
  let browser: Browser;
  let telegram: FakeTelegram;
  let page: Page;
  const pages = createDashboardPages(
    () => browser,
    () => app,
  );

  beforeAll(async () => {
    await buildBrowserCode();
    telegram = await startFakeTelegram();
    app = await startApp(newSqlite, { file: { workspaces: [], allowPrivate: ["127.0.0.1"] } });
    admin = await dashboardUser(app, "admin");
    await app.learn("opening.md", "# Opening hours\n\nThe shop opens at nine in the morning.");
    browser = await openBrowser();
    page = await pages.open(admin, "/channels", { viewport: { width: 1280, height: 900 } });
  });
  afterAll(async () => {
    expect(await pages.close()).toEqual([]);
    await browser?.close();
    await app?.close();
    await telegram?.close();
  });

  async function until(what: string, reached: () => boolean | Promise<boolean>): Promise<void> {
    for (let turn = 0; turn < 2_000; turn += 1) {
      if (await reached()) return;
      app.clock.advance(100);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    throw new Error(`waited in vain: ${what}`);
  }
  const shows = (state: string) =>
    until(state, async () => (await page.locator(".badge", { hasText: state }).count()) > 0);
  const answered = () => telegram.shown.filter(({ text }) => text.includes("nine in the morning")).length;
  const asks = (messageId: number) =>
    telegram.queue(messageUpdate({ chatId: chat, messageId, text: "When do you open?" }));

  it("connects a bot by its token, and shows that it is connected", { timeout: 60_000 }, async () => {
    await page.getByRole("link", { name: "Telegram" }).click();
    await page.getByRole("heading", { level: 1, name: "Connect Telegram" }).waitFor();
    await page.getByText("@BotFather in Telegram").waitFor();
    await page.getByLabel("Bot token").fill("no token");
    await page.getByRole("button", { name: "Connect" }).click();
    await page.getByText("token cannot be right").waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByLabel("Bot token").fill(telegram.token);
    await page.getByText("Advanced", { exact: true }).click();
    await page.getByLabel("Server of the Bot API").fill(telegram.url);
    await page.getByRole("button", { name: "Connect" }).click();
    await page.getByRole("heading", { level: 1, name: "Telegram" }).waitFor();
    await shows("Connected");
    expect(await page.content()).not.toContain(telegram.token);
  });

  it("shows how the bot answers a check and a test message", { timeout: 60_000 }, async () => {
    asks(1);
    await until("the bot answers", () => answered() === 1);
    await page.getByRole("button", { name: "Check the channel" }).click();
    await page.getByText(`@${telegram.username}, polling`).waitFor();
    await page.getByRole("button", { name: "Send a test message" }).click();
    await page.getByLabel("Chat ID").fill(String(chat));
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByText("Test message sent. Answer it").waitFor();
    expect(telegram.shown.at(-1)?.text).toBe("This is a test message.");
  });

  it("saves other settings without the token", { timeout: 60_000 }, async () => {
    await page.getByLabel("Messages in groups").selectOption({ label: "Off" });
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Channel saved.").waitFor();
    const { body } = await admin.call("GET", "channels");
    expect(JSON.stringify(body)).toContain('"groups":"off"');
    await shows("Connected");
  });

  it(
    "refuses to save over the change of another administrator, and keeps what was typed",
    { timeout: 60_000 },
    async () => {
      const { body } = await admin.call("GET", "channels");
      const { channels } = body as { readonly channels: readonly { readonly id: string; readonly channel: string }[] };
      const id = channels.find(({ channel }) => channel === "telegram")?.id ?? "";
      const stale = await pages.open(admin, `/channels/${id}`);
      const field = stale.getByLabel("Name", { exact: true });
      await field.fill("Typed here");
      expect(await admin.call("PATCH", `channels/${id}`, { name: "Changed elsewhere" })).toMatchObject({ status: 200 });
      await stale.getByRole("button", { name: "Save" }).click();
      await stale.getByText("Somebody else has changed this channel. Load it again.").waitFor();
      await expect.poll(() => field.inputValue()).toBe("Typed here");
      expect(await admin.call("GET", `channels/${id}`)).toMatchObject({ body: { name: "Changed elsewhere" } });
      expect(await admin.call("PATCH", `channels/${id}`, { name: "Telegram" })).toMatchObject({ status: 200 });
      await stale.close();
      await page.reload();
      await shows("Connected");
    },
  );

  it("pauses, resumes and removes the channel after it has asked", { timeout: 60_000 }, async () => {
    await page.getByRole("button", { name: "Pause" }).click();
    const dialog = page.getByRole("dialog");
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Pause" }).click();
    await shows("Paused");
    await until("it no longer polls", async () => {
      const leases = app.store.read.selectFrom("connection_leases").select("holder");
      return (await leases.execute()).length === 0;
    });
    const polls = telegram.calls("getUpdates").length;
    asks(2);
    app.clock.advance(10_000);
    await page.getByRole("button", { name: "Resume" }).click();
    await until("the bot answers again", () => answered() === 2);
    expect(telegram.calls("getUpdates").length).toBeGreaterThan(polls);
    await page.getByRole("button", { name: "Remove" }).click();
    await dialog.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("heading", { level: 1, name: "Channels" }).waitFor();
    await page.getByText("Channel removed.").waitFor();
    await expect.poll(() => page.getByRole("table").getByRole("link", { name: "Telegram" }).count()).toBe(0);
  });

  it(
    "connects Discord by its token alone, and keeps what was typed when it is refused",
    { timeout: 60_000 },
    async () => {
      const discord = await startFakeDiscord();
      try {
        const form = await pages.open(admin, "/channels/discord");
        await form.getByLabel("Name", { exact: true }).fill("Community");
        await form.getByLabel("Bot token").fill("no token");
        await form.getByRole("button", { name: "Connect" }).click();
        await form.getByText("token cannot be right").waitFor();
        await expect.poll(() => form.getByLabel("Name", { exact: true }).inputValue()).toBe("Community");
        await expect.poll(() => form.getByLabel("Bot token").inputValue()).toBe("no token");
        await form.getByLabel("Bot token").fill(discord.token);
        await form.getByText("Advanced", { exact: true }).click();
        await form.getByLabel("Server of the API").fill(discord.url);
        await form.getByRole("button", { name: "Connect" }).click();
        await form.getByRole("heading", { level: 1, name: "Community" }).waitFor();
        await until(
          "it is connected",
          async () => (await form.locator(".badge", { hasText: "Connected" }).count()) > 0,
        );
        await form.getByRole("button", { name: "Remove" }).click();
        await form.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
        await form.getByText("Channel removed.").waitFor();
      } finally {
        await discord.close();
      }
    },
  );

  it(
    "offers Slack's manifests as links and to copy, and a webhook's address by keyboard",
    { timeout: 60_000 },
    async () => {
      const form = await pages.open(admin, "/channels/slack", { permissions: ["clipboard-read", "clipboard-write"] });
      const copied = () => form.evaluate(() => navigator.clipboard.readText());
      const links = form.getByRole("link", { name: "Create the app in Slack" });
      await expect.poll(() => links.count()).toBe(2);
      for (const link of await links.all()) {
        const { origin, searchParams } = new URL((await link.getAttribute("href")) ?? "");
        expect(origin).toBe("https://api.slack.com");
        expect(searchParams.get("manifest_json")).toContain('"socket_mode_enabled":true');
      }
      await form.getByRole("button", { name: "Copy the file" }).last().focus();
      await form.keyboard.press("Enter");
      await form.getByText("Copied.").waitFor();
      expect(await copied()).toContain("command: /parley");
      await form.getByLabel("Bot User OAuth Token").fill("xoxb-1111111111-2222222222-abcdefghijkl");
      await form.getByLabel("Signing Secret").fill("0123456789abcdef0123456789abcdef");
      await form.getByRole("button", { name: "Connect" }).click();
      const address = form.getByLabel("Webhook address");
      await address.waitFor();
      await address.focus();
      await form.keyboard.press("Tab");
      await form.keyboard.press("Enter");
      await expect.poll(copied).toBe(await address.inputValue());
      expect(await copied()).toMatch(/\/channels\/slack\/acc_\w+$/);
    },
  );

  it("shows the webhook address beside the steps before a number is connected, and keeps it", async () => {
    const form = await pages.open(admin, "/channels/sms", { permissions: ["clipboard-read", "clipboard-write"] });
    const address = form.getByLabel("Webhook address");
    await form.getByText("Copy the webhook address from this page.").waitFor();
    const before = await address.inputValue();
    expect(before).toMatch(/\/channels\/sms\/acc_\w+$/);
    await address.focus();
    await form.keyboard.press("Tab");
    await form.keyboard.press("Enter");
    await expect.poll(() => form.evaluate(() => navigator.clipboard.readText())).toBe(before);
    await form.getByLabel("Account SID").fill(`AC${"0".repeat(32)}`);
    await form.getByLabel("Auth Token").fill("0123456789abcdef0123456789abcdef");
    await form.getByRole("textbox", { name: /^Number/ }).fill("no number");
    await form.getByRole("button", { name: "Connect" }).click();
    await form.locator(".field [aria-invalid=true]").first().waitFor();
    expect(await address.inputValue()).toBe(before);
    await form.getByRole("textbox", { name: /^Number/ }).fill("+15550001111");
    await form.getByRole("button", { name: "Connect" }).click();
    await form.getByRole("heading", { name: "State" }).waitFor();
    expect(await address.inputValue()).toBe(before);
    expect(new URL(form.url()).pathname.split("/").at(-1)).toBe(before.split("/").at(-1));
  });

  it.each(["light", "dark"] as const)("has no barriers in its forms, %s", { timeout: 120_000 }, async (colorScheme) => {
    for (const path of ["/channels/telegram", "/channels/slack", "/channels/email", "/channels/sms"]) {
      for (const viewport of [{ width: 1280, height: 900 }, phone]) {
        const form = await pages.open(admin, path, { colorScheme, viewport });
        await form.getByRole("button", { name: "Connect" }).waitFor();
        expect([path, await accessibilityViolations(form)]).toEqual([path, []]);
        const sideways = await form.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        expect([path, sideways <= 0]).toEqual([path, true]);
      }
    }
  });
}
