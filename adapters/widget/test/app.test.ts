import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { buildBrowserCode } from "#web/build.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import type { TestDatabase } from "#test/support/database/databases.ts";
import { eachDatabase, newSqlite } from "#test/support/database/databases.ts";
import { png } from "#test/support/channels/file-channel.ts";
import { skipped } from "#test/support/skipped.ts";
import { noBrowser, openBrowser } from "#test/support/browser.ts";
import { openPage } from "./support/browser.ts";

const name = "a customer and an agent, through the whole program";

if (noBrowser === undefined) eachDatabase(name, throughTheProgram);
else skipped(name, noBrowser);

function throughTheProgram(open: () => Promise<TestDatabase>): void {
  let app: TestApp;
  let browser: Browser;

  beforeAll(async () => {
    await buildBrowserCode();
    app = await startApp(open);
    await app.learn(
      "returns.md",
      "# Returning an item\n\nYou can return any item within 45 days of delivery. Opened software cannot be returned.\n",
    );
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  // The page that embeds the widget is there on the embedded default only.
  const channels = open === newSqlite ? (["widget", "hosted"] as const) : (["hosted"] as const);
  it.each(channels)("talk over the %s channel", async (channel) => {
    const context = await browser.newContext({ locale: "en-GB" });
    const address = channel === "hosted" ? `${app.url}/chat/${app.workspace.id}` : `${app.url}/demo`;
    const { page, errors } = await openPage(context, address);
    const log = page.getByRole("log", { name: "Messages" });
    const composer = page.getByRole("textbox", { name: "Write a message…" });
    const ask = async (text: string): Promise<void> => {
      await composer.fill(text);
      await composer.press("Enter");
    };
    if (channel === "widget") await page.getByRole("button", { name: "Open chat" }).click();
    await ask("Within how many days can I return an item?");
    await log.getByText("45 days").first().waitFor();
    await page.getByRole("group", { name: "Sources" }).getByText("Returning an item").first().waitFor();

    await ask("I want to talk to a human");
    await page.getByText("Waiting for a person to join").waitFor();
    const form = page.getByRole("form", { name: "Where can we reach you?" });
    await form.getByRole("textbox", { name: "E-mail address" }).fill(`ada.${channel}@example.com`);
    await form.getByRole("button", { name: "Save" }).click();
    await page.getByText("Thank you, we have your address.").waitFor();

    const listed = await app.get(`/v1/conversations?workspace_id=${app.workspace.id}&email=ada.${channel}@example.com`);
    const [conversation] = listed.body.conversations;
    expect(conversation).toMatchObject({ channel, status: "escalated" });
    const claimed = await app.call("PATCH", `/v1/conversations/${conversation?.id}`, {
      body: { status: "claimed", assigned_to: "anna@example.com" },
    });
    expect(claimed.body).toMatchObject({ status: "claimed", assigned_to: "anna@example.com" });
    await page.getByText(/Anna is helping you/u).waitFor();
    const reply = await app.post(`/v1/conversations/${conversation?.id}/messages`, {
      content: "Hello, **Anna** here.",
      author_email: "anna@example.com",
    });
    expect(reply.status).toBeLessThan(300);
    await log.getByText("Hello, Anna here.").waitFor();
    await page.getByText(/is helping you/u).waitFor();

    await page.locator("input[type=file]").setInputFiles([
      { name: "photo.png", mimeType: "image/png", buffer: png },
      { name: "page.html", mimeType: "text/html", buffer: Buffer.from("<script>alert(1)</script>") },
    ]);
    await page.getByRole("button", { name: "Remove page.html" }).waitFor();
    const send = page.getByRole("button", { name: "Send message" });
    await expect.poll(() => send.isEnabled()).toBe(true);
    await send.click();
    await log
      .locator(".files")
      .getByRole("link", { name: /page\.html/u })
      .waitFor();
    const files = await app.store.read
      .selectFrom("attachments")
      .select(["name", "state", "media_type"])
      .where("conversation_id", "=", conversation?.id ?? "")
      .orderBy("position")
      .execute();
    expect(files).toEqual([
      { name: "photo.png", state: "stored", media_type: "image/png" },
      { name: "page.html", state: "stored", media_type: "text/html" },
    ]);

    await page.reload();
    if (channel === "hosted") await log.waitFor();
    await log.getByText("Hello, Anna here.").waitFor();
    await expect.poll(() => log.locator(".user").count()).toBe(3);
    expect(errors).toEqual([]);
    await context.close();
  });
}
