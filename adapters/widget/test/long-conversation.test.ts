import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { buildBrowserCode } from "#web/build.ts";
import { skipped } from "#test/support/skipped.ts";
import { noBrowser, openBrowser } from "#test/support/browser.ts";
import { openPage } from "./support/browser.ts";
import { greet, newClientId } from "./support/client.ts";
import type { TestSite } from "./support/site.ts";
import { embedding, startSite } from "./support/site.ts";

const open: TestSite[] = [];

async function site(): Promise<TestSite> {
  const started = await startSite({});
  open.push(started);
  return started;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});

describe("a long conversation over the socket", () => {
  it("starts with the newest messages for a browser without history, and sends older ones on request", async () => {
    const shop = await site();
    const first = await greet(shop);
    first.send({ kind: "send", clientId: newClientId(), text: "Hello" });
    await first.next("message");
    const { token } = first.ready;
    first.close();
    await first.closed;
    const lines = Array.from({ length: 99 }, (_, index) => `line ${index}`);
    for (const markdown of lines) shop.host.say(shop.host.thread1(), { role: "assistant", markdown });
    const conversation = shop.host.storedThreads.get(shop.host.thread1())?.conversationId;
    const again = await greet(shop, { token, lastSeq: 0, newest: 40, conversation });
    const all = shop.host.storedThreads.get(shop.host.thread1())?.messages.map(({ seq }) => seq) ?? [];
    const { after, lastSeq } = again.ready;
    expect([after, lastSeq]).toEqual([lastSeq - 40, all.at(-1)]);
    // Numbers can have holes.
    const newest = all.filter((seq) => seq > after);
    for (const seq of newest) expect(await again.next("message")).toMatchObject({ seq });
    const seqs: number[] = [];
    for (let before = after + 1; before > 1;) {
      again.send({ kind: "older", before });
      const older = await again.next("older");
      expect([older.before, older.after]).toEqual([before, Math.max(0, before - 31)]);
      seqs.unshift(...older.messages.map(({ seq }) => seq));
      before = older.after + 1;
    }
    expect([...seqs, ...newest]).toEqual(all);
    // New messages arrive once, at the end.
    shop.host.say(shop.host.thread1(), { role: "assistant", markdown: "new" });
    expect(await again.next("message")).toMatchObject({ prev: lastSeq });
  });

  it("sends no older messages to a visitor whose conversation became a user's", async () => {
    const shop = await site();
    const client = await greet(shop);
    client.send({ kind: "send", clientId: newClientId(), text: "Mine" });
    await client.next("message");
    const thread = shop.host.storedThreads.get(shop.host.thread1());
    if (thread === undefined) throw new Error("there is no thread");
    thread.userId = "somebody";
    client.send({ kind: "older", before: 2 });
    expect(await client.closed).toBe(4401);
    expect(client.frames.some(({ kind }) => kind === "older")).toBe(false);
  });
});

if (noBrowser === undefined) describe("a long conversation in a browser", { timeout: 60_000 }, inBrowser);
else skipped("a long conversation in a browser", noBrowser);

function inBrowser(): void {
  let browser: Browser;
  beforeAll(async () => {
    await buildBrowserCode();
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
  });

  it("shows the newest messages at once, and older ones on scrolling or on request", async () => {
    const { host, origin, pages } = await site();
    pages.set("/", embedding(origin, "", ""));
    const context = await browser.newContext({ locale: "en-GB" });
    const { page, errors } = await openPage(context, origin);
    const log = page.getByRole("log", { name: "Messages" });
    await page.getByRole("button", { name: /^Open chat/u }).click();
    const composer = page.getByRole("textbox", { name: "Write a message…" });
    await composer.fill("Hello");
    await composer.press("Enter");
    await expect.poll(() => host.events.length).toBe(1);
    for (let index = 1; index < 120; index += 1)
      host.say(host.thread1(), { role: index % 2 === 0 ? "user" : "assistant", markdown: `This is line ${index}.` });
    await page.reload();
    const bubbles = log.locator(".row:not(.typing):not(.greeting) .bubble");
    await log.getByText("This is line 119.", { exact: true }).waitFor();
    const newest = await bubbles.count();
    expect(newest).toBeLessThanOrEqual(40);
    const earlier = log.getByRole("button", { name: "Earlier messages" });
    // With the keyboard: scrolling up loads older messages, and the visible ones stay in place.
    await log.focus();
    const line = log.getByText("This is line 110.", { exact: true });
    await line.waitFor();
    await page.keyboard.press("Home");
    await expect.poll(() => bubbles.count()).toBeGreaterThan(newest + 10);
    await expect.poll(() => log.getAttribute("aria-live")).toBe("polite");
    expect(await line.evaluate((node) => node.getBoundingClientRect().top)).toBeGreaterThan(0);
    await expect
      .poll(async () => {
        if ((await earlier.count()) > 0) await earlier.press("Enter", { timeout: 1_000 }).catch(() => undefined);
        return bubbles.count();
      })
      .toBe(120);
    await expect.poll(() => earlier.count()).toBe(0);
    await expect.poll(() => bubbles.first().textContent()).toBe("Hello");
    const shown = await bubbles.allTextContents();
    expect(shown.slice(1)).toEqual(Array.from({ length: 119 }, (_, index) => `This is line ${index + 1}.`));
    // The focus is still in the conversation, not lost to the page.
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("PARLEY-CHAT");
    expect(errors).toEqual([]);
  });
}
