import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { buildBrowserCode } from "#web/build.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { newSqlite } from "#test/support/database/databases.ts";
import { skipped } from "#test/support/skipped.ts";
import { noBrowser, openBrowser } from "#test/support/browser.ts";
import { openPage } from "./support/browser.ts";

const name = "the chat page with little room, or with much at once";

if (noBrowser === undefined) describe(name, crowded);
else skipped(name, noBrowser);

function crowded(): void {
  let app: TestApp;
  let browser: Browser;
  let context: BrowserContext | undefined;

  beforeAll(async () => {
    await buildBrowserCode();
    app = await startApp(newSqlite);
    browser = await openBrowser();
  });
  afterEach(() => context?.close());
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  async function open(options: BrowserContextOptions = {}): Promise<Page> {
    context = await browser.newContext({ locale: "en-GB", ...options });
    const { page } = await openPage(context, `${app.url}/chat/${app.workspace.id}`);
    // It is there as soon as the chat knows that files are taken.
    await page.locator(".attach").waitFor();
    return page;
  }

  const composer = (page: Page) => page.getByRole("textbox", { name: "Write a message…" });
  const sendButton = (page: Page) => page.getByRole("button", { name: "Send message" });
  const own = (page: Page, text: string) => page.getByRole("log").locator(".user").filter({ hasText: text });
  const files = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      name: `photo-${index}.txt`,
      mimeType: "text/plain",
      buffer: Buffer.from("hi"),
    }));
  async function inSight(page: Page, each: Locator): Promise<boolean> {
    const box = await each.boundingBox();
    return box !== null && box.y >= 0 && box.y + box.height <= (page.viewportSize()?.height ?? 0);
  }

  it("keeps the field and its buttons visible above a phone's keyboard, with attached files and with the lead form", async () => {
    const page = await open({ viewport: { width: 320, height: 300 }, isMobile: true, hasTouch: true });
    await page.locator("input[type=file]").setInputFiles(files(12));
    await expect.poll(() => page.locator(".tray progress").count()).toBe(0);
    expect(await inSight(page, composer(page))).toBe(true);
    expect(await inSight(page, sendButton(page))).toBe(true);
    // The two that are too many go with the next message.
    const refused = page.getByText("Too many: at most 10 files in a message.");
    await expect.poll(() => refused.count()).toBe(2);
    expect(await inSight(page, refused.last())).toBe(true);
    await composer(page).fill("I want to talk to a human");
    await sendButton(page).tap();
    await own(page, "photo-9.txt").waitFor();
    await expect.poll(() => own(page, "photo-10.txt").count()).toBe(0);
    for (const left of ["photo-10.txt", "photo-11.txt"])
      await page.getByRole("listitem").filter({ hasText: left }).getByRole("button", { name: "Try again" }).tap();
    await expect.poll(() => sendButton(page).isEnabled()).toBe(true);
    await expect.poll(() => refused.count()).toBe(0);
    const form = page.getByRole("form", { name: "Where can we reach you?" });
    await form.waitFor();
    expect(await inSight(page, composer(page))).toBe(true);
    expect((await page.locator(".middle").boundingBox())?.height).toBeGreaterThan(50);
    await form.getByRole("button", { name: "Save" }).scrollIntoViewIfNeeded();
    expect(await inSight(page, form.getByRole("button", { name: "Save" }))).toBe(true);
    expect(await inSight(page, sendButton(page))).toBe(true);
  });

  it("keeps a file whose upload failed when the text is sent without it", async () => {
    const page = await open();
    await page.route("**/widget/files?*", (route) => route.abort());
    await page.locator("input[type=file]").setInputFiles(files(1));
    await page.getByText("Could not be sent. Please try again.").waitFor();
    await composer(page).fill("Here is my photo");
    await composer(page).press("Enter");
    await own(page, "Here is my photo").waitFor();
    await page.unroute("**/widget/files?*");
    await page.getByRole("listitem").getByRole("button", { name: "Try again" }).click();
    await expect.poll(() => sendButton(page).isEnabled()).toBe(true);
    await sendButton(page).click();
    await own(page, "photo-0.txt").getByRole("link").waitFor();
  });

  it("asks again for attached files that were removed, and keeps the text", async () => {
    const page = await open();
    const { read } = app.store;
    const messages = () => read.selectFrom("messages").select("id").orderBy("id").execute();
    const unsent = () => read.selectFrom("attachments").select("id").where("message_id", "is", null).execute();
    const before = await messages();
    await page.locator("input[type=file]").setInputFiles(files(1));
    await composer(page).fill("Here is my old photo");
    await expect.poll(() => page.locator(".tray progress").count()).toBe(0);
    expect(await unsent()).not.toEqual([]);
    await expect
      .poll(() => {
        app.clock.advance(10 * 60_000);
        return unsent();
      })
      .toEqual([]);
    await composer(page).press("Enter");
    const why = "Not sent: attached files are removed after an hour. Please attach them again.";
    await own(page, why).filter({ hasText: "photo-0.txt" }).waitFor();
    expect(await messages()).toEqual(before);
    await page.reload();
    await own(page, why).filter({ hasText: "Here is my old photo" }).waitFor();
    const chooser = page.waitForEvent("filechooser");
    await own(page, why).getByRole("button", { name: "Try again" }).click();
    await (await chooser).setFiles(files(1));
    await expect.poll(() => composer(page).inputValue()).toBe("Here is my old photo");
    await expect.poll(() => page.locator(".tray progress").count()).toBe(0);
    await sendButton(page).click();
    await own(page, "Here is my old photo")
      .getByRole("link", { name: /photo-0/u })
      .waitFor();
    await expect.poll(() => own(page, "Here is my old photo").count()).toBe(1);
  });

  it("accepts files dropped anywhere on it", async () => {
    const page = await open();
    const stopped = await page.getByRole("log").evaluate((log) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(["hi"], "dropped.txt"));
      // The browser opens a drop that is not prevented in place of the page.
      return ["dragover", "drop"].map((kind) => {
        const event = new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true });
        log.dispatchEvent(event);
        return event.defaultPrevented;
      });
    });
    expect(stopped).toEqual([true, true]);
    await page.getByRole("button", { name: "Remove dropped.txt" }).waitFor();
  });

  it("keeps rate-limited messages over a reload, and leaves a message in the field when too many wait", async () => {
    const page = await open();
    const ask = (text: string, count: number) =>
      page.evaluate(
        ([what, times]) => {
          for (let each = 1; each <= times; each += 1)
            document.dispatchEvent(new CustomEvent("parley:ask", { detail: `${what} ${each}.` }));
        },
        [text, count] as const,
      );
    await ask("message", 21);
    await own(page, "message 21.").getByRole("button", { name: "Try again" }).waitFor();
    await page.reload();
    app.clock.advance(60_000);
    await own(page, "message 21.").getByRole("button", { name: "Try again" }).click();
    const stored = () =>
      app.store.read
        .selectFrom("messages")
        .select("content")
        .where("content", "=", "message 21.")
        .execute()
        .then((rows) => rows.length);
    await expect.poll(stored).toBe(1);
    await page.reload();
    await own(page, "message 21.").waitFor();
    await expect.poll(() => own(page, "message 21.").getByRole("button").count()).toBe(0);

    await context?.setOffline(true);
    await page.getByText("You are offline.", { exact: false }).waitFor();
    await ask("offline", 50);
    await composer(page).fill("offline 51.");
    await composer(page).press("Enter");
    await expect.poll(() => composer(page).inputValue()).toBe("offline 51.");
    await page.getByText("Too many messages at once. Please wait a moment.").waitFor();
  });

  it("uses the visitor's language if it has texts", async () => {
    const page = await open({ locale: "fr-CA" });
    await page.getByRole("button", { name: "Envoyer le message" }).waitFor();
    expect(await page.evaluate(() => document.documentElement.lang)).toBe("fr-CA");
    await context?.close();
    const other = await open({ locale: "fi-FI" });
    await sendButton(other).waitFor();
    expect(await other.evaluate(() => document.documentElement.lang)).toBe("en");
  });
}
