import { createHmac } from "node:crypto";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { buildBrowserCode } from "#web/build.ts";
import { skipped } from "#test/support/skipped.ts";
import { userToken } from "#test/support/user-tokens.ts";
import { noBrowser, openBrowser } from "#test/support/browser.ts";
import { openPage } from "./support/browser.ts";
import type { TestSite } from "./support/site.ts";
import { createTestHost, embedding, handClock, startSite, workspaceId } from "./support/site.ts";

if (noBrowser === undefined) describe("signing in, in a browser", { timeout: 60_000 }, inBrowser);
else skipped("signing in, in a browser", noBrowser);

function inBrowser(): void {
  let browser: Browser;
  const open: { close(): Promise<void> }[] = [];

  beforeAll(async () => {
    await buildBrowserCode();
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
  });
  afterEach(async () => {
    for (const each of open.splice(0).toReversed()) await each.close();
  });

  /** A site whose front page knows nobody, and whose pages below a user's name are that user's. */
  async function site(...users: readonly string[]): Promise<TestSite> {
    const started = await startSite();
    open.push(started);
    const { host, origin, pages } = started;
    pages.set("/", embedding(origin));
    for (const user of users) {
      const hash = createHmac("sha256", host.secret).update(user).digest("hex");
      pages.set(`/${user}`, embedding(origin, `data-user-id="${user}" data-user-hash="${hash}"`));
    }
    return started;
  }

  async function visit(origin: string): Promise<Page> {
    const context = await browser.newContext({ locale: "en-GB" });
    open.push(context);
    const { page } = await openPage(context, origin);
    await openChat(page);
    return page;
  }

  /** It is open already where it was left open. */
  async function openChat(page: Page): Promise<void> {
    await page.getByRole("button", { name: /chat/u }).first().waitFor();
    const launcher = page.getByRole("button", { name: /^Open chat/u });
    if (await launcher.isVisible()) await launcher.click();
  }

  async function go(page: Page, address: string): Promise<void> {
    await page.goto(address);
    await openChat(page);
  }

  const own = (page: Page, text: string) =>
    page.getByRole("log", { name: "Messages" }).locator(".user").filter({ hasText: text });

  async function ask(page: Page, text: string): Promise<void> {
    const composer = page.getByRole("textbox", { name: "Write a message…" });
    await composer.fill(text);
    await composer.press("Enter");
  }

  it("shows a signed-in user's thread to that user only, also in the same browser", async () => {
    const { host, origin } = await site("ada", "bob");
    const page = await visit(origin);
    await ask(page, "before signing in");
    await expect.poll(() => host.events.length).toBe(1);
    await go(page, `${origin}/ada`);
    await own(page, "before signing in").waitFor();
    await ask(page, "as Ada");
    await expect
      .poll(() => host.events.at(-1))
      .toMatchObject({ text: "as Ada", sender: { verified: { userId: "ada" } } });
    for (const other of ["/bob", "/"]) {
      await go(page, origin + other);
      await page.getByText("Answers from our documentation").waitFor();
      await ask(page, `hello from ${other}`);
      await own(page, `hello from ${other}`).waitFor();
      await expect.poll(() => own(page, "as Ada").count()).toBe(0);
      await expect.poll(() => own(page, "before signing in").count()).toBe(0);
    }
    await go(page, `${origin}/ada`);
    await own(page, "as Ada").waitFor();
  });

  it("moves unacknowledged messages to the user when a visitor signs in", async () => {
    const { host, origin } = await site("ada");
    const gate = Promise.withResolvers<undefined>();
    const { accept } = host;
    host.accept = async (event) => {
      await gate.promise;
      return accept(event);
    };
    const page = await visit(origin);
    await ask(page, "before signing in");
    await own(page, "before signing in").getByText("Sending…").waitFor();
    await page.goto(`${origin}/ada`);
    gate.resolve(undefined);
    await openChat(page);
    await own(page, "before signing in").waitFor();
    await expect.poll(() => own(page, "Sending…").count()).toBe(0);
    await ask(page, "as Ada");
    await own(page, "as Ada").waitFor();
    await go(page, origin);
    await page.getByText("Answers from our documentation").waitFor();
    await ask(page, "as a visitor again");
    await own(page, "as a visitor again").waitFor();
    await expect.poll(() => own(page, "before signing in").count()).toBe(0);
    await expect
      .poll(() => host.events.map((event) => (event.kind === "message" ? event.text : event.kind)))
      .toEqual(["before signing in", "as Ada", "as a visitor again"]);
    expect(host.storedThreads.size).toBe(2);
  });

  it("continues the conversation with a new token after the page's token expired", async () => {
    const clock = handClock();
    const host = createTestHost(clock);
    const started = await startSite({ host });
    open.push(started);
    const token = (claims: object = {}): string =>
      userToken(host.secret, { sub: "ada", exp: clock.now() / 1_000 + 600, email: "ada@shop.example", ...claims });
    const { origin, pages } = started;
    pages.set("/", embedding(origin, `data-user-token="${token()}" data-user-name="Ada"`));
    const page = await visit(origin);
    await ask(page, "with a token");
    await own(page, "with a token").waitFor();
    await expect
      .poll(() => host.events)
      .toMatchObject([
        { sender: { verified: { userId: "ada", email: "ada@shop.example" }, claimed: { name: "Ada" } } },
      ]);
    clock.advance(600_000);
    await page.getByText("Your sign-in has expired. Please reload the page.").waitFor();
    await ask(page, "while signed out");
    const tell = (detail: string): Promise<void> =>
      page.evaluate((each) => void document.dispatchEvent(new CustomEvent("parley:user", { detail: each })), detail);
    await tell(token({ sub: "bob" }));
    await tell("no token");
    await tell(token());
    await own(page, "while signed out").getByText("Sending…").waitFor({ state: "detached" });
    await expect.poll(() => host.events.length).toBe(2);
    expect(host.events[1]).toMatchObject({ text: "while signed out", sender: { verified: { userId: "ada" } } });
    expect(host.storedThreads.size).toBe(1);
    await own(page, "with a token").waitFor();
  });

  it("reads the token after # on the chat page, removes it from the address and keeps it for the tab", async () => {
    const clock = handClock();
    const host = createTestHost(clock);
    const started = await startSite({ host, channel: "hosted" });
    open.push(started);
    const token = userToken(host.secret, { sub: "ada", exp: clock.now() / 1_000 + 600 });
    const context = await browser.newContext({ locale: "en-GB" });
    open.push(context);
    const address = `${started.origin}/chat/${workspaceId}`;
    const { page } = await openPage(context, `${address}#user_token=${token}`);
    await ask(page, "from a link");
    await own(page, "from a link").waitFor();
    expect(page.url()).toBe(address);
    await page.reload();
    await own(page, "from a link").waitFor();
    await ask(page, "after a reload");
    await expect.poll(() => host.events.length).toBe(2);
    for (const event of host.events) expect(event).toMatchObject({ sender: { verified: { userId: "ada" } } });
    clock.advance(600_000);
    await page.getByText("Your sign-in has expired. Please reload the page.").waitFor();
    await page.reload();
    await ask(page, "as a visitor");
    await own(page, "as a visitor").waitFor();
    await expect.poll(() => own(page, "from a link").count()).toBe(0);
    await expect.poll(() => host.events.length).toBe(3);
    expect(host.events[2]).toMatchObject({ text: "as a visitor", sender: { key: expect.any(String) } });
    expect(JSON.stringify(host.events[2])).not.toContain("verified");
  });
}
