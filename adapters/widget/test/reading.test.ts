import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { buildBrowserCode } from "#web/build.ts";
import { skipped } from "#test/support/skipped.ts";
import { noBrowser, openBrowser } from "#test/support/browser.ts";
import { openPage } from "./support/browser.ts";
import type { TestSite } from "./support/site.ts";
import { embedding, startSite, workspaceId } from "./support/site.ts";

const name = "the chat for every reader";
if (noBrowser === undefined) describe(name, { timeout: 60_000 }, inBrowser);
else skipped(name, noBrowser);

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

  async function site(channel: "widget" | "hosted", attributes = "", body = ""): Promise<TestSite> {
    const started = await startSite({ channel });
    open.push(started);
    started.pages.set("/", embedding(started.origin, attributes, body));
    return started;
  }
  async function context(options: Parameters<Browser["newContext"]>[0] = {}): Promise<BrowserContext> {
    const made = await browser.newContext({ locale: "en-GB", reducedMotion: "reduce", ...options });
    open.push(made);
    return made;
  }
  const log = (page: Page) => page.getByRole("log");
  async function write(page: Page, text: string): Promise<void> {
    const field = page.locator("textarea");
    await field.fill(text);
    await field.press("Enter");
  }
  const box = async (page: Page, selector: string) => {
    const found = await page.locator(selector).first().boundingBox();
    if (found === null) throw new Error(`${selector} is not shown`);
    return found;
  };

  it.each([
    ["ar-EG", "فتح المحادثة", "اكتب رسالة…", "تم الحل"],
    ["he", "פתיחת הצ׳אט", "כתיבת הודעה…", "טופל"],
    ["fa", "باز کردن گفتگو", "پیام خود را بنویسید…", "حل شد"],
    ["ur", "چیٹ کھولیں", "پیغام لکھیں…", "حل ہو گیا"],
  ])("uses %s, from right to left, in the widget and on the hosted page", async (lang, opener, field, ended) => {
    for (const channel of ["widget", "hosted"] as const) {
      const { host, origin } = await site(channel, `data-lang="${lang}"`);
      host.answer = (thread) =>
        host.say(thread, {
          role: "assistant",
          markdown: "مرحبا، هذا هو الرابط إلى الصفحة التي سألت عنها أمس.\n\nPlease read the *manual*.\n\n- שלום\n- one",
        });
      const address = channel === "hosted" ? `${origin}/chat/${workspaceId}` : origin;
      const { page, errors } = await openPage(await context({ locale: lang }), address);
      if (channel === "widget") await page.getByRole("button", { name: opener }).click();
      else expect(await page.evaluate(() => document.documentElement.dir)).toBe("rtl");
      const composer = page.getByRole("textbox", { name: field });
      // The placeholder begins at the right, and what is written where its own language begins.
      expect(await composer.evaluate((node) => getComputedStyle(node).direction)).toBe("rtl");
      await composer.fill("Hello");
      expect(await composer.evaluate((node) => getComputedStyle(node).direction)).toBe("ltr");
      await composer.press("Enter");
      const answer = log(page).locator(".bot:not(.greeting):not(.typing) .bubble");
      await answer.getByText("Please read").waitFor();
      const sides = await answer.locator(":scope > p, ul").evaluateAll((all) =>
        all.map((node) => {
          const words = document.createRange();
          words.selectNodeContents(node.querySelector("p") ?? node);
          const [line, around] = [words.getBoundingClientRect(), node.getBoundingClientRect()];
          return line.left - around.left < around.right - line.right ? "left" : "right";
        }),
      );
      expect(sides.slice(1)).toEqual(["left", "right"]);
      // Mirrored: one's own messages are at the left.
      const [own, others] = [await box(page, ".user .bubble"), await box(page, ".bot:not(.greeting) .bubble")];
      expect(own.x).toBeLessThan(others.x);
      host.set(host.thread1(), { handledBy: "resolved" });
      await page.getByText(ended, { exact: true }).waitFor();
      const english = await page.evaluate(() => {
        const root = document.querySelector("parley-chat")?.shadowRoot;
        const labels = [...(root?.querySelectorAll("[aria-label], [placeholder], [title]") ?? [])]
          .filter((node) => node.closest(".list, .title") === null)
          .flatMap((node) => ["aria-label", "placeholder", "title"].map((each) => node.getAttribute(each) ?? ""));
        return labels.filter((label) => /[a-z]{3}/iu.test(label));
      });
      expect(english).toEqual([]);
      expect(errors).toEqual([]);
    }
  });

  it("shows that the conversation is resolved until the customer writes again", async () => {
    const { host, origin } = await site("widget");
    const { page } = await openPage(await context(), origin);
    await page.getByRole("button", { name: /^Open chat/u }).click();
    await write(page, "Thanks");
    await expect.poll(() => host.events.length).toBe(1);
    host.set(host.thread1(), { handledBy: "resolved" });
    await log(page).getByText("This conversation is resolved. You can write again at any time.").waitFor();
    await page.getByText("Resolved", { exact: true }).waitFor();
    await expect.poll(() => page.getByRole("form", { name: "Where can we reach you?" }).isVisible()).toBe(false);
    host.set(host.thread1(), { handledBy: "assistant" });
    await log(page).getByText("This conversation is resolved.").waitFor({ state: "detached" });
  });

  it("counts unread messages in the title of the hosted page", async () => {
    const { host, origin } = await site("hosted");
    const { page } = await openPage(await context(), `${origin}/chat/${workspaceId}`);
    const title = await page.title();
    await write(page, "Hello");
    await expect.poll(() => host.events.length).toBe(1);
    const look = (visible: boolean) =>
      page.evaluate((isVisible) => {
        Object.defineProperty(document, "visibilityState", {
          configurable: true,
          get: () => (isVisible ? "visible" : "hidden"),
        });
        document.dispatchEvent(new Event("visibilitychange"));
      }, visible);
    await look(false);
    host.say(host.thread1(), { role: "agent", authorName: "Anna", markdown: "One." });
    host.say(host.thread1(), { role: "agent", authorName: "Anna", markdown: "Two." });
    await expect.poll(() => page.title()).toBe(`(2) ${title}`);
    await look(true);
    await expect.poll(() => page.title()).toBe(title);
  });

  it.each(["widget", "hosted"] as const)("is readable as %s at a zoom of 400 percent", async (channel) => {
    const { host, origin } = await site(channel);
    host.answer = (thread) =>
      host.say(thread, { role: "assistant", markdown: "An answer of several words. ".repeat(8) });
    const address = channel === "hosted" ? `${origin}/chat/${workspaceId}` : origin;
    const { page } = await openPage(await context({ viewport: { width: 320, height: 256 } }), address);
    if (channel === "widget") await page.getByRole("button", { name: /^Open chat/u }).click();
    await write(page, "Hello");
    await log(page).getByText("An answer of several").waitFor();
    // Twelve lines give the field its largest height.
    await page.locator("textarea").fill("line\n".repeat(12));
    host.set(host.thread1(), { handledBy: "waiting" });
    await page.getByRole("form", { name: "Where can we reach you?" }).waitFor();
    const messages = await log(page).boundingBox();
    expect(messages?.height).toBeGreaterThanOrEqual(90);
    const form = await box(page, ".composer");
    expect(form.y + form.height).toBeLessThanOrEqual(256);
    expect(form.y).toBeGreaterThanOrEqual((messages?.y ?? 0) + (messages?.height ?? 0) - 1);
  });

  it("loads no texts for English, and only the page's language otherwise", async () => {
    const texts = async (lang: string): Promise<readonly string[]> => {
      const { origin, requested } = await site("widget", `data-lang="${lang}"`);
      const { page } = await openPage(await context(), origin);
      await page.locator("parley-chat .launcher").waitFor();
      return requested.filter((path) => path.startsWith("/widget/texts/"));
    };
    expect(await texts("en-US")).toEqual([]);
    expect(await texts("tlh")).toEqual([]);
    expect(await texts("pt-BR")).toEqual(["/widget/texts/pt.json"]);
  });

  it("opens after a click that came before its texts, in its language from the start", async () => {
    const { origin } = await site("widget", `data-lang="de"`, "<button data-parley-open>Help</button>");
    const used = await context();
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await used.route("**/widget/texts/de.json", async (route) => {
      await held;
      await route.continue();
    });
    const { page } = await openPage(used, origin);
    await page.getByRole("button", { name: "Help" }).click();
    expect(await page.evaluate(() => document.querySelector("parley-chat")?.shadowRoot)).toBeNull();
    release();
    await page.getByRole("textbox", { name: "Nachricht schreiben …" }).waitFor();
  });

  it("falls back to English when its texts cannot be loaded, below the page's own texts", async () => {
    const { origin } = await site("widget", `data-lang="de" data-strings='{"send":"Ab damit"}'`);
    const used = await context();
    await used.route("**/widget/texts/de.json", (route) => route.abort());
    const { page } = await openPage(used, origin);
    await page.getByRole("button", { name: "Open chat" }).click();
    await page.getByRole("button", { name: "Ab damit" }).waitFor();
    await page.getByRole("textbox", { name: "Write a message…" }).waitFor();
  });

  it("serves texts to every page, with 304 for unchanged ones", async () => {
    const { origin } = await site("widget");
    const address = `${origin}/widget/texts/ja.json`;
    const { status, headers } = await fetch(address);
    expect([status, headers.get("access-control-allow-origin")]).toEqual([200, "*"]);
    const again = await fetch(address, { headers: { "if-none-match": headers.get("etag") ?? "" } });
    expect(again.status).toBe(304);
    for (const language of ["en", "tlh", "constructor"]) {
      expect((await fetch(`${origin}/widget/texts/${language}.json`)).status, language).toBe(404);
    }
  });
}
