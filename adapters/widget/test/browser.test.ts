import { gzipSync } from "node:zlib";
import { readFile } from "node:fs/promises";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { buildBrowserCode } from "#web/build.ts";
import { demoPage } from "#web/demo/page.ts";
import { skipped } from "#test/support/skipped.ts";
import { bundlePath } from "../site/routes.ts";
import { noBrowser, openBrowser } from "#test/support/browser.ts";
import { openPage } from "./support/browser.ts";
import { contrastsInPage } from "./support/contrasts.ts";
import { hostileTexts } from "./support/hostile-texts.ts";
import type { SiteOptions, TestSite } from "./support/site.ts";
import { createTestHost, embedding, realClock, startSite, workspaceId } from "./support/site.ts";

beforeAll(async () => {
  await buildBrowserCode();
});

describe("the script", () => {
  it("is one file under 25 KB compressed that puts no name on the page", async () => {
    const bytes = await readFile(bundlePath);
    expect(gzipSync(bytes).byteLength).toBeLessThan(25_000);
    expect(bytes.toString("utf8")).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(/u);
  });
});

if (noBrowser === undefined) describe("the widget in a browser", inBrowser);
else skipped("the widget in a browser", noBrowser);

function inBrowser(): void {
  let browser: Browser;
  const open: { close(): Promise<void> }[] = [];

  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
  });
  afterEach(async () => {
    for (const each of open.splice(0).toReversed()) await each.close();
  });

  async function site(options: SiteOptions = {}, attributes = "", body = ""): Promise<TestSite> {
    const started = await startSite(options);
    open.push(started);
    started.pages.set("/", embedding(started.origin, attributes, body));
    return started;
  }

  async function context(options: Parameters<Browser["newContext"]>[0] = {}): Promise<BrowserContext> {
    const made = await browser.newContext({ locale: "en-GB", ...options });
    open.push(made);
    return made;
  }

  const composer = (page: Page) => page.getByRole("textbox", { name: "Write a message…" });
  const launcher = (page: Page) => page.getByRole("button", { name: /^Open chat/u });
  const log = (page: Page) => page.getByRole("log", { name: "Messages" });
  const own = (page: Page, text: string) => log(page).locator(".user").filter({ hasText: text });

  async function ask(page: Page, text: string): Promise<void> {
    await composer(page).fill(text);
    await composer(page).press("Enter");
  }

  it("works with the keyboard alone, and has names for screen readers", async () => {
    const { host, origin } = await site();
    host.answer = (thread) => host.say(thread, { role: "assistant", markdown: "**Thirty** days." });
    const { page, errors } = await openPage(await context(), origin);
    await launcher(page).waitFor();
    await page.getByRole("button", { name: "Page button" }).focus();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Acme Help" });
    await dialog.waitFor();
    await page.keyboard.type("How long?");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("And why?");
    await page.keyboard.press("Enter");
    await log(page).getByText("Thirty days.").waitFor();
    expect(host.events[0]).toMatchObject({ text: "How long?\nAnd why?", metadata: { page: `${origin}/` } });
    await expect.poll(() => log(page).getAttribute("aria-live")).toBe("polite");
    await expect.poll(() => dialog.getByRole("button", { name: "Send message" }).isDisabled()).toBe(true);
    await page.keyboard.press("Escape");
    await expect.poll(() => dialog.isVisible()).toBe(false);
    // Focus is on the launcher again: the same key opens it.
    await page.keyboard.press("Enter");
    await expect.poll(() => dialog.isVisible()).toBe(true);
    // Past the buttons that react and reply to the answer, and the log.
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Enter");
    await expect.poll(() => dialog.isVisible()).toBe(false);
    expect(errors).toEqual([]);
    expect(await page.evaluate(() => Object.keys(window).filter((name) => /parley/iu.test(name)))).toEqual(["parley"]);
  });

  it("does not send on the Enter that confirms a word of an input method", async () => {
    const { host, origin } = await site();
    const { page } = await openPage(await context(), origin);
    await launcher(page).click();
    await composer(page).fill("にほん");
    await composer(page).evaluate((box) => {
      box.dispatchEvent(
        new KeyboardEvent("keydown", { key: "Enter", isComposing: true, bubbles: true, cancelable: true }),
      );
    });
    await composer(page).press("Enter");
    await own(page, "にほん").waitFor();
    await expect.poll(() => host.events.length).toBe(1);
  });

  it("shows sources as links, and passages of files without an address in place", async () => {
    const { host, origin } = await site();
    host.answer = (thread) =>
      host.say(thread, {
        role: "assistant",
        markdown: "Yes.",
        sources: [
          { title: "Returns", url: "https://docs.test/returns", chunk: "x", score: 1 },
          { title: "Returns", url: "https://docs.test/returns", chunk: "y", score: 0.9 },
          { title: "handbook.pdf", url: "", chunk: "The passage itself.", score: 0.8 },
          { title: "bad", url: "javascript:alert(1)", chunk: "z", score: 0.1 },
        ],
      });
    const { page } = await openPage(await context(), origin);
    await launcher(page).click();
    await ask(page, "May I?");
    const sources = page.getByRole("group", { name: "Sources" });
    const link = sources.getByRole("link", { name: /Returns/u });
    await link.waitFor();
    await expect.poll(() => link.count()).toBe(1);
    await expect.poll(() => link.getAttribute("href")).toBe("https://docs.test/returns");
    await expect.poll(() => link.getAttribute("rel")).toBe("noopener noreferrer nofollow");
    await expect.poll(() => link.getAttribute("target")).toBe("_blank");
    await expect.poll(() => sources.getByRole("link").count()).toBe(1);
    await sources.getByText("handbook.pdf").click();
    await sources.getByText("The passage itself.").waitFor();
  });

  it("does not label the closest matches of an uncertain answer as sources", async () => {
    const { host, origin } = await site();
    host.answer = (thread) =>
      host.say(thread, {
        role: "assistant",
        markdown: "I don't know.",
        confidence: "low",
        sources: [{ title: "Opening hours", url: "https://docs.test/hours", chunk: "x", score: 0.1 }],
      });
    const { page } = await openPage(await context(), origin);
    await launcher(page).click();
    await ask(page, "May I?");
    await page
      .getByRole("group", { name: "Perhaps related" })
      .getByRole("link", { name: /Opening hours/u })
      .waitFor();
    await expect.poll(() => page.getByRole("group", { name: "Sources" }).count()).toBe(0);
  });

  it("restores the conversation after a reload, and stays open on the next page", async () => {
    const { host, origin, pages } = await site();
    host.answer = (thread) => host.say(thread, { role: "assistant", markdown: "An answer." });
    pages.set("/next", embedding(origin));
    const { page } = await openPage(await context(), origin);
    await launcher(page).click();
    await ask(page, "A question");
    await log(page).getByText("An answer.").waitFor();
    await composer(page).fill("half a thou");
    await page.goto(`${origin}/next`);
    await log(page).getByText("An answer.").waitFor();
    await expect.poll(() => own(page, "A question").count()).toBe(1);
    await expect.poll(() => composer(page).inputValue()).toBe("half a thou");
    expect(host.storedThreads.size).toBe(1);
  });

  it("shows the same conversation in two tabs, with the messages of both", async () => {
    const { host, origin } = await site();
    const shared = await context();
    const one = (await openPage(shared, origin)).page;
    const two = (await openPage(shared, origin)).page;
    // Both open before there is a session.
    await Promise.all([launcher(one).click(), launcher(two).click()]);
    await ask(one, "From one");
    await own(two, "From one").waitFor();
    await ask(two, "From two");
    await own(one, "From two").waitFor();
    await expect.poll(() => own(one, "From one").count()).toBe(1);
    expect(host.storedThreads.size).toBe(1);
  });

  it("sends messages written while the server was down, once, also after a reload", async () => {
    const host = createTestHost(realClock);
    const first = await site({ host });
    const { page } = await openPage(await context(), first.origin);
    await launcher(page).click();
    await ask(page, "before");
    await expect.poll(() => host.events.length).toBe(1);
    await first.close();
    open.splice(open.indexOf(first), 1);
    await page.getByText("Connecting…").waitFor();
    await ask(page, "while away");
    await own(page, "while away").getByText("Sending…").waitFor();
    const again = await site({ host, port: first.port });
    await expect.poll(() => host.events.length).toBe(2);
    await page.goto(again.origin);
    await own(page, "while away").waitFor();
    await expect.poll(() => own(page, "Sending…").count()).toBe(0);
    await expect.poll(() => own(page, "while away").count()).toBe(1);
    expect(host.events.map((event) => (event.kind === "message" ? event.text : ""))).toEqual(["before", "while away"]);
  });

  it("reports that the browser is offline, and sends when it is online again", async () => {
    const { host, origin } = await site();
    const used = await context();
    const { page } = await openPage(used, origin);
    await launcher(page).click();
    await ask(page, "one");
    await expect.poll(() => host.events.length).toBe(1);
    await used.setOffline(true);
    await page.getByText("You are offline.", { exact: false }).waitFor();
    await ask(page, "two");
    await used.setOffline(false);
    await expect.poll(() => host.events.length).toBe(2);
    await expect.poll(() => page.getByText("You are offline.", { exact: false }).count()).toBe(0);
    await expect.poll(() => own(page, "two").count()).toBe(1);
  });

  it("asks for an address when a person takes over, and shows who answers and who is typing", async () => {
    const { host, origin } = await site();
    host.answer = (thread, text) => {
      if (text.includes("human")) host.set(thread, { handledBy: "waiting" });
    };
    const { page } = await openPage(await context(), origin);
    await launcher(page).click();
    await page.getByText("Answers from our documentation").waitFor();
    await ask(page, "human please");
    const form = page.getByRole("form", { name: "Where can we reach you?" });
    await form.waitFor();
    await page.getByText("Waiting for a person to join").waitFor();
    await form.getByRole("textbox", { name: "E-mail address" }).fill("nonsense");
    await form.getByRole("button", { name: "Save" }).click();
    await form.getByText("Please enter a valid e-mail address.").waitFor();
    await form.getByRole("textbox", { name: "E-mail address" }).fill("ada@example.com");
    await form.getByRole("textbox", { name: "Name (optional)" }).fill("Ada");
    await form.getByRole("button", { name: "Save" }).click();
    await page.getByText("Thank you, we have your address.").waitFor();
    await expect.poll(() => form.isVisible()).toBe(false);
    // The button that had the focus is gone: the focus is where one writes.
    await expect.poll(() => composer(page).evaluate((box) => box.matches(":focus"))).toBe(true);
    expect(host.events.at(-1)).toMatchObject({ kind: "contact", contact: { name: "Ada", email: "ada@example.com" } });
    host.set(host.thread1(), { handledBy: "agent", agentName: "Anna Berg" });
    await page.getByText("Anna Berg is helping you").waitFor();
    host.signal(host.thread1(), { kind: "typing", who: { role: "agent", name: "Anna Berg" } });
    await log(page).getByText("Anna Berg is typing…").waitFor();
    host.say(host.thread1(), { role: "agent", authorName: "Anna Berg", markdown: "Hello." });
    await log(page).locator(".agent").getByText("Hello.").waitFor();
    // An agent's edit changes the shown message, and a deletion removes it.
    const hello = host.storedThreads.get(host.thread1())?.messages.at(-1)?.id ?? "";
    host.amend(host.thread1(), hello, { markdown: "Hello **Ada**." });
    await log(page).locator(".agent").getByText("Hello Ada.").waitFor();
    await expect.poll(() => log(page).locator(".agent").getByText("Hello.").count()).toBe(0);
    host.amend(host.thread1(), hello, { markdown: "", deleted: true });
    await log(page).locator(".agent").getByText("Hello Ada.").waitFor({ state: "detached" });
    await expect.poll(() => log(page).getByText("Anna Berg is typing…").isVisible()).toBe(false);
    await composer(page).pressSequentially("thanks");
    await expect.poll(() => host.typed.length).toBeGreaterThan(0);
  });

  const showsBeginning = (page: Page, text: string): Promise<boolean> =>
    log(page).evaluate((node, said) => {
      const row = [...node.querySelectorAll(".row")].find((each) => each.textContent.includes(said));
      const [shown, at] = [node.getBoundingClientRect(), row?.getBoundingClientRect().top ?? -1];
      return at >= shown.top && at < shown.bottom;
    }, text);

  it("shows a message that is higher than the chat from its first line, also if another arrives with it", async () => {
    const { host, origin } = await site();
    const { page } = await openPage(await context(), origin);
    await launcher(page).click();
    await ask(page, "How do I begin?");
    await expect.poll(() => host.events.length).toBe(1);
    const steps = Array.from({ length: 60 }, (_, at) => `${at + 1}. Step`).join("\n");
    // Frames that follow within 16 ms are drawn together.
    host.signal(host.thread1(), { kind: "typing", who: { role: "agent", name: "Anna" } });
    host.say(host.thread1(), { role: "agent", authorName: "Anna", markdown: `The first line.\n\n${steps}` });
    host.say(host.thread1(), { role: "agent", authorName: "Anna", markdown: "Good luck!" });
    await log(page).getByText("Good luck!").waitFor({ state: "attached" });
    await expect.poll(() => showsBeginning(page, "The first line.")).toBe(true);
    // Unread, since its end was not seen.
    await page.getByRole("button", { name: "New messages" }).waitFor();
  });

  it("opens at the first unread message if the unread ones are higher than the chat", async () => {
    const { host, origin } = await site();
    const { page } = await openPage(await context(), origin);
    await launcher(page).click();
    await ask(page, "How do I begin?");
    await expect.poll(() => host.events.length).toBe(1);
    await page.getByRole("button", { name: "Close chat" }).first().click();
    const steps = Array.from({ length: 60 }, (_, at) => `${at + 1}. Step`).join("\n");
    host.say(host.thread1(), { role: "agent", authorName: "Anna", markdown: "The first line." });
    host.say(host.thread1(), { role: "agent", authorName: "Anna", markdown: steps });
    await page.getByRole("button", { name: "Open chat (2 unread)" }).click();
    await expect.poll(() => showsBeginning(page, "The first line.")).toBe(true);
    await page.getByRole("button", { name: "New messages" }).click();
    await expect.poll(() => host.events.filter((event) => event.kind === "delivery").length).toBe(2);
  });

  it("shows the first unread message where it was open on the page before", async () => {
    const { host, origin } = await site();
    const { page } = await openPage(await context(), origin);
    await launcher(page).click();
    await ask(page, "How do I begin?");
    await expect.poll(() => host.events.length).toBe(1);
    await page.goto("about:blank");
    for (let at = 1; at <= 30; at += 1)
      host.say(host.thread1(), { role: "agent", authorName: "Anna", markdown: `Line ${at} of the answer.` });
    await page.goto(origin);
    await log(page).getByText("Line 30 of the answer.").waitFor({ state: "attached" });
    await expect.poll(() => showsBeginning(page, "Line 1 of the answer.")).toBe(true);
    await page.getByRole("button", { name: "New messages" }).waitFor();
    expect(host.events.filter((event) => event.kind === "delivery")).toEqual([]);
    await page.getByRole("button", { name: "New messages" }).click();
    await expect.poll(() => host.events.filter((event) => event.kind === "delivery").length).toBe(30);
  });

  it("shows the first unread message although an own one was refused", async () => {
    const { host, origin } = await site();
    const { page } = await openPage(await context(), origin);
    await launcher(page).click();
    await ask(page, "How do I begin?");
    await expect.poll(() => host.events.length).toBe(1);
    await ask(page, "x".repeat(50_000));
    await page.getByRole("button", { name: "Close chat" }).first().click();
    for (let at = 1; at <= 30; at += 1)
      host.say(host.thread1(), { role: "agent", authorName: "Anna", markdown: `Line ${at} of the answer.` });
    await page.getByRole("button", { name: "Open chat (30 unread)" }).click();
    await expect.poll(() => showsBeginning(page, "Line 1 of the answer.")).toBe(true);
    await page.getByRole("button", { name: "New messages" }).click();
    const delivered = () => host.events.filter((event) => event.kind === "delivery").length;
    await expect.poll(delivered).toBe(30);
    // The next message does not bring the reader back.
    host.say(host.thread1(), { role: "agent", authorName: "Anna", markdown: "Line 31 of the answer." });
    await expect.poll(delivered).toBe(31);
    expect(await showsBeginning(page, "Line 31 of the answer.")).toBe(true);
  });

  it("keeps another appearance that is previewed when it is closed and opened", async () => {
    const { origin } = await site();
    const { page } = await openPage(await context(), origin);
    await launcher(page).click();
    await page.evaluate(() =>
      document.dispatchEvent(new CustomEvent("parley:preview", { detail: { title: "Another title" } })),
    );
    const title = page.getByRole("heading", { name: "Another title" });
    await title.waitFor();
    await page.getByRole("button", { name: "Close chat" }).first().click();
    await launcher(page).click();
    await page.getByRole("textbox").waitFor();
    expect(await title.isVisible()).toBe(true);
  });

  it("counts messages that arrived while it was closed", async () => {
    const { host, origin } = await site();
    const { page } = await openPage(await context(), origin);
    await launcher(page).click();
    await ask(page, "Are you there?");
    await expect.poll(() => host.events.length).toBe(1);
    await page.getByRole("button", { name: "Close chat" }).first().click();
    host.say(host.thread1(), { role: "agent", authorName: "Anna", markdown: "Yes." });
    host.say(host.thread1(), { role: "agent", authorName: "Anna", markdown: "What is it?" });
    await page.getByRole("button", { name: "Open chat (2 unread)" }).click();
    await log(page).getByText("What is it?").waitFor();
    await expect.poll(() => host.events.filter((event) => event.kind === "delivery").length).toBe(2);
    await page.reload();
    await expect.poll(() => page.getByText("What is it?").isVisible()).toBe(true);
    expect(host.events.filter((event) => event.kind === "delivery")).toHaveLength(2);
  });

  it("runs and loads nothing from hostile texts, names, titles and colours", async () => {
    const { host, origin } = await site({
      host: createTestHost(realClock, {
        title: "<img src=x onerror=alert(1)>",
        greeting: "<svg onload=alert(1)>",
        color: "red;background:url(https://evil.test/)",
      }),
    });
    const { page, dialogs, requested, errors } = await openPage(await context(), origin);
    await launcher(page).click();
    await ask(page, "<script>alert(1)</script>");
    await expect.poll(() => host.events.length).toBe(1);
    for (const [index, text] of hostileTexts.entries()) {
      host.say(host.thread1(), {
        role: index % 2 === 0 ? "assistant" : "agent",
        authorName: text.slice(0, 190),
        markdown: text,
        sources: [{ title: text, url: text, chunk: text, score: 1 }],
      });
    }
    host.say(host.thread1(), { role: "assistant", markdown: "the last one" });
    await log(page).getByText("the last one").waitFor();
    const found = await page.evaluate(() => {
      const shadow = document.querySelector("parley-chat")?.shadowRoot;
      const inside = [...(shadow?.querySelectorAll("*") ?? [])];
      return {
        tags: [...new Set(inside.map((element) => element.localName))],
        handlers: inside.flatMap((element) => element.getAttributeNames().filter((name) => name.startsWith("on"))),
        schemes: [
          ...new Set(inside.filter((element) => element instanceof HTMLAnchorElement).map((link) => link.protocol)),
        ],
        rels: [...new Set(inside.filter((element) => element instanceof HTMLAnchorElement).map((link) => link.rel))],
      };
    });
    expect(found.handlers).toEqual([]);
    expect(found.schemes.filter((scheme) => !["http:", "https:", "mailto:"].includes(scheme))).toEqual([]);
    expect(found.rels).toEqual(["noopener noreferrer nofollow"]);
    for (const tag of [
      "script",
      "img",
      "iframe",
      "style",
      "base",
      "form-action",
      "object",
      "embed",
      "video",
      "math",
      "meta",
      "link",
    ]) {
      expect(found.tags).not.toContain(tag);
    }
    expect(dialogs).toEqual([]);
    expect(requested.filter((address) => new URL(address).origin !== origin && !address.startsWith("data:"))).toEqual(
      [],
    );
    expect(errors).toEqual([]);
    await expect.poll(() => page.getByText("<script>alert(1)</script>").first().isVisible()).toBe(true);
  });

  it.each([
    [320, 568, "right", "ltr"],
    [390, 844, "left", "ltr"],
    [390, 844, "right", "rtl"],
  ])("fills a phone of %i by %i, on the %s, %s, and keeps the focus inside", async (width, height, side, dir) => {
    const written = `<script>document.documentElement.dir = "${dir}"</script>`;
    const { host, origin } = await site({}, `data-side="${side}"`, written);
    host.answer = (thread) =>
      host.say(thread, {
        role: "assistant",
        markdown: `${"unbreakable".repeat(40)}\n\n| a | b | c |\n|---|---|---|\n| ${"wide ".repeat(20)} | ${"x".repeat(80)} | c |\n\n\`\`\`\n${"code ".repeat(60)}\n\`\`\``,
        sources: [{ title: "t".repeat(300), url: "https://docs.test/", chunk: "", score: 1 }],
      });
    const { page } = await openPage(
      await context({ viewport: { width, height }, isMobile: true, hasTouch: true, reducedMotion: "reduce" }),
      origin,
    );
    await launcher(page).tap();
    await ask(page, "word ".repeat(60));
    await page.getByRole("group", { name: "Sources" }).waitFor();
    const dialog = page.getByRole("dialog");
    expect(await dialog.boundingBox()).toEqual({ x: 0, y: 0, width, height });
    await expect.poll(() => dialog.getAttribute("aria-modal")).toBe("true");
    // match-parent alone is unknown to Chromium; the widget's own language is written from left to right here.
    const title = dialog.locator(".title");
    expect(await title.evaluate((node) => getComputedStyle(node).textAlign)).toBe("left");
    const overflow = await page.evaluate(() => {
      const list = document.querySelector("parley-chat")?.shadowRoot?.querySelector(".log");
      return [document.documentElement.scrollWidth - innerWidth, (list?.scrollWidth ?? 0) - (list?.clientWidth ?? 0)];
    });
    expect(overflow).toEqual([0, 0]);
    for (let index = 0; index < 12; index += 1) {
      await page.keyboard.press("Tab");
      expect(await page.evaluate(() => document.activeElement?.localName)).toBe("parley-chat");
    }
  });

  it.each(["#1f6feb", "#ffeb3b", "#ffffff", "#000000", "#ff5a5f"])(
    "can be read in light and dark with the accent %s",
    async (color) => {
      const { host, origin } = await site({ host: createTestHost(realClock, { color }) });
      host.answer = (thread) => host.say(thread, { role: "assistant", markdown: "[a link](https://docs.test/)" });
      for (const colorScheme of ["light", "dark"] as const) {
        const { page } = await openPage(await context({ colorScheme }), origin);
        await launcher(page).click();
        await ask(page, "Question");
        await log(page)
          .getByRole("link", { name: /a link/u })
          .waitFor();
        const ratios = await page.evaluate(contrastsInPage);
        for (const [what, ratio] of Object.entries(ratios))
          expect(ratio, `${what} in ${colorScheme}`).toBeGreaterThanOrEqual(4.5);
      }
    },
  );

  it("uses the page's language, and prefers the page's own texts", async () => {
    const { origin } = await site({}, `data-lang="de-AT" data-strings='{"placeholder":"Grüß Gott …"}'`);
    const { page } = await openPage(await context(), origin);
    await page.getByRole("button", { name: "Chat öffnen" }).click();
    await page.getByRole("textbox", { name: "Grüß Gott …" }).waitFor();
    await page.getByText("Antwortet aus unserer Dokumentation").waitFor();
  });

  it("does not appear on a page whose origin is not allowed", async () => {
    const { origin } = await site({ host: createTestHost(realClock, { allowedOrigins: ["https://shop.example"] }) });
    const elsewhere = await site();
    elsewhere.pages.set("/", embedding(origin));
    const used = await context();
    const refused = used.waitForEvent("response", (response) => response.url().includes("/face"));
    const { page } = await openPage(used, elsewhere.origin);
    expect((await refused).status()).toBe(403);
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => resolve(undefined))));
    await expect.poll(() => launcher(page).isVisible()).toBe(false);
  });

  it("works on a page whose policy allows only the widget's own server", async () => {
    const { host, origin } = await site();
    const elsewhere = await site();
    const socketOrigin = origin.replace("http", "ws");
    const policy = `default-src 'none'; script-src ${origin}; connect-src ${origin} ${socketOrigin}; require-trusted-types-for 'script'`;
    elsewhere.pages.set(
      "/",
      embedding(origin).replace("<title>", `<meta http-equiv="Content-Security-Policy" content="${policy}"><title>`),
    );
    host.answer = (thread) => host.say(thread, { role: "assistant", markdown: "**Yes.**" });
    const { page, errors } = await openPage(await context(), elsewhere.origin);
    await launcher(page).click();
    await ask(page, "Does it?");
    await log(page).getByText("Yes.").waitFor();
    await expect.poll(async () => (await page.getByRole("dialog").boundingBox())?.width).toBe(400);
    expect(errors.filter((error) => !error.includes("favicon"))).toEqual([]);
  });

  it("shows messages that were not sent, and sends them on request", async () => {
    const { host, origin } = await site();
    const { page } = await openPage(await context(), origin);
    await launcher(page).click();
    await ask(page, "one");
    await expect.poll(() => host.events.length).toBe(1);
    // Simulates a reached limit in every minute.
    host.allow = (name) => !name.startsWith("message:");
    await ask(page, "two");
    await own(page, "two").getByText("Too many messages at once.", { exact: false }).waitFor();
    host.allow = () => true;
    await own(page, "two").getByRole("button", { name: "Try again" }).click();
    await expect.poll(() => host.events.length).toBe(2);
    await expect.poll(() => own(page, "two").getByRole("button").count()).toBe(0);
    await composer(page).fill("x".repeat(4_001));
    await page.getByText("Too long: please write at most 4000 characters.").waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Send message" }).isDisabled()).toBe(true);
  });

  it("fills the hosted page, under a policy that allows no inline script", async () => {
    const { host, origin } = await site({ channel: "hosted" });
    host.answer = (thread) => host.say(thread, { role: "assistant", markdown: "An answer." });
    const { page, errors } = await openPage(await context(), `${origin}/chat/${workspaceId}`);
    expect(await page.title()).toBe("Acme Help");
    await ask(page, "A question");
    await log(page).getByText("An answer.").waitFor();
    expect(errors).toEqual([]);
    const policy = (await fetch(`${origin}/chat/${workspaceId}`)).headers.get("content-security-policy");
    expect(policy).toContain("script-src 'self';");
    const alias = await fetch(`${origin}/chat/${workspaceId.replace("wt_", "ws_")}`);
    expect(alias.status).toBe(200);
    const unknown = await fetch(`${origin}/chat/wt_zzzzzz_0123456789abcdef`);
    expect(unknown.status).toBe(404);
    expect(await unknown.text()).toContain("There is no chat at this address");
  });

  it("sends the questions of the demo page's buttons", async () => {
    const { host, origin, pages } = await site();
    pages.set("/demo", demoPage({ workspaceId, questions: ["What's <new>?"] }));
    const { page, errors } = await openPage(await context(), `${origin}/demo`);
    await launcher(page).waitFor();
    await page.getByRole("button", { name: "What's <new>?" }).click();
    await own(page, "What's <new>?").waitFor();
    await expect.poll(() => host.events).toMatchObject([{ text: "What's <new>?" }]);
    expect(errors).toEqual([]);
  });
}
