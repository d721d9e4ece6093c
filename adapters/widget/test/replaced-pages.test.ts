import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { noBrowser, openBrowser } from "#test/support/browser.ts";
import { buildBrowserCode } from "#web/build.ts";
import { skipped } from "#test/support/skipped.ts";
import { userToken } from "#test/support/user-tokens.ts";
import { openPage } from "./support/browser.ts";
import type { TestSite } from "./support/site.ts";
import { embedding, startSite, workspaceId } from "./support/site.ts";

const replaceBody = (script: string): void => {
  const body = document.createElement("body");
  body.append(document.createRange().createContextualFragment(`<h1>Next</h1>${script}`));
  document.body.replaceWith(body);
};

const name = "the widget on a site that replaces its pages in place";

if (noBrowser === undefined) describe(name, inBrowser);
else skipped(name, noBrowser);

/** The ways in which sites replace a page: with a new body, new content, a restored copy, or a whole new document. */
const replacements: Readonly<Record<string, (script: string) => void>> = {
  "with another body": replaceBody,
  "with other content of the body": (script) => {
    document.body.replaceChildren(document.createRange().createContextualFragment(`<h1>Next</h1>${script}`));
  },
  "with a copy of an earlier body": () => {
    const body = document.body.cloneNode(true);
    document.body.replaceWith(body);
  },
  "with another document element": (script) => {
    const html = document.createElement("html");
    html.lang = "en";
    html.append(document.createElement("head"), document.createElement("body"));
    document.documentElement.replaceWith(html);
    document.body.append(document.createRange().createContextualFragment(`<h1>Next</h1>${script}`));
  },
  "by a framework that removes what it does not know": () => document.querySelector("parley-chat")?.remove(),
};

function inBrowser(): void {
  let browser: Browser;
  let site: TestSite;
  let page: Page;
  let sockets: number;

  beforeAll(async () => {
    await buildBrowserCode();
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
  });
  afterEach(async () => {
    await page.context().close();
    await site.close();
  });

  async function visit(): Promise<void> {
    site = await startSite();
    site.pages.set("/", embedding(site.origin));
    const context = await browser.newContext({ locale: "en-GB" });
    sockets = 0;
    context.on("page", (opened) => opened.on("websocket", () => (sockets += 1)));
    ({ page } = await openPage(context, site.origin));
    await page.getByRole("button", { name: /^Open chat/u }).waitFor();
  }
  const script = (attributes = ""): string =>
    `<script src="${site.origin}/widget.js" data-workspace="${workspaceId}" ${attributes}></script>`;
  let lifetime = 600;
  /** The script of a page for this user: each page has a token of its own. */
  const signedIn = (user: string): string => {
    lifetime += 1;
    const claims = { sub: user, exp: Math.floor(Date.now() / 1_000) + lifetime };
    return script(`data-user-token="${userToken(site.host.secret, claims)}"`);
  };
  const follow = (html: string): Promise<void> => page.evaluate(replaceBody, html);
  const log = (label = "Messages") => page.getByRole("log", { name: label });
  const ask = (text: string) =>
    page.evaluate((detail) => document.dispatchEvent(new CustomEvent("parley:ask", { detail })), text);
  const questions = () => site.host.events.flatMap((event) => (event.kind === "message" ? [event.text] : []));
  const elements = () => page.locator("parley-chat").count();

  for (const [how, replace] of Object.entries(replacements)) {
    it(`is there once, with one connection, ${how}`, async () => {
      await visit();
      await ask("Before");
      await expect.poll(questions).toEqual(["Before"]);
      for (let time = 0; time < 3; time += 1) {
        await page.evaluate(replace, script());
        await expect.poll(elements).toBe(1);
        await page.getByRole("log", { name: "Messages" }).getByText("Before").waitFor();
      }
      await ask("After");
      await expect.poll(questions).toEqual(["Before", "After"]);
      await page.getByRole("log", { name: "Messages" }).getByText("After").waitFor();
      expect(sockets).toBe(1);
    });
  }

  it("ends when the site says so, and starts again with the next script", async () => {
    await visit();
    await ask("Before");
    await expect.poll(questions).toEqual(["Before"]);
    await expect.poll(() => site.host.watchers()).toBe(1);
    await page.evaluate(() => window.parley?.destroy());
    expect(await elements()).toBe(0);
    await expect.poll(() => site.host.watchers()).toBe(0);
    await ask("Nobody listens");
    await page.evaluate(() => document.body.append("changed"));
    expect(await elements()).toBe(0);
    await page.evaluate(
      (html) => document.body.append(document.createRange().createContextualFragment(html)),
      script(),
    );
    await expect.poll(elements).toBe(1);
    await page
      .getByRole("button", { name: /^(?:Open|Close) chat/u })
      .first()
      .waitFor();
    await ask("After");
    await expect.poll(questions).toEqual(["Before", "After"]);
  });

  it("shows a user's messages to no other user, and to nobody who has signed out", async () => {
    await visit();
    await follow(signedIn("ada"));
    await ask("From Ada");
    await log().getByText("From Ada").waitFor();
    await expect.poll(questions).toEqual(["From Ada"]);
    await follow(signedIn("bob"));
    await page.getByRole("button", { name: "Open chat" }).waitFor();
    await ask("From Bob");
    await log().getByText("From Bob").waitFor();
    expect(await log().getByText("From Ada").count()).toBe(0);
    await expect.poll(() => site.host.storedThreads.size).toBe(2);
    await follow(script());
    await page.getByRole("button", { name: "Open chat" }).waitFor();
    await ask("From a visitor");
    await log().getByText("From a visitor").waitFor();
    expect(
      await log()
        .getByText(/From (?:Ada|Bob)/u)
        .count(),
    ).toBe(0);
    await expect.poll(() => site.host.storedThreads.size).toBe(3);
    await follow(signedIn("ada"));
    await log().getByText("From Ada").waitFor();
    expect(await elements()).toBe(1);
    expect(site.host.watchers()).toBe(1);
  });

  it("keeps its connection when the same user gets a newer token", async () => {
    await visit();
    await follow(signedIn("ada"));
    await ask("Before");
    await expect.poll(questions).toEqual(["Before"]);
    // The browser reports it later than the message arrives.
    await expect.poll(() => sockets).toBe(1);
    await follow(signedIn("ada"));
    await ask("After");
    await expect.poll(questions).toEqual(["Before", "After"]);
    await log().getByText("After").waitFor();
    expect(sockets).toBe(1);
  });

  it("takes the language and colour of the next page", async () => {
    await visit();
    await follow(script('data-lang="de" data-color="#b00020"'));
    const launcher = page.getByRole("button", { name: "Chat öffnen" });
    await launcher.waitFor();
    await expect
      .poll(() => launcher.evaluate((node) => getComputedStyle(node).backgroundColor))
      .toBe("rgb(176, 0, 32)");
    expect(await elements()).toBe(1);
  });

  it("keeps the place in the log and the focus when the site replaces the body", async () => {
    await visit();
    await ask("Before");
    await expect.poll(questions).toEqual(["Before"]);
    for (let line = 1; line <= 60; line += 1)
      site.host.say(site.host.thread1(), { role: "assistant", markdown: `Line ${line}` });
    await log().getByText("Line 60", { exact: true }).waitFor({ state: "attached" });
    // Lines that arrive together, and are higher than the chat, are shown from the first one.
    await log().evaluate((node) => (node.scrollTop = node.scrollHeight));
    const composer = page.getByRole("textbox", { name: "Write a message…" });
    await composer.fill("half a tho");
    await follow(script());
    await page.keyboard.type("ught");
    expect(await composer.inputValue()).toBe("half a thought");
    const top = () => log().evaluate((node) => node.scrollTop);
    const end = await top();
    expect(end).toBeGreaterThan(400);
    await log().evaluate((node) => (node.scrollTop -= 300));
    await expect.poll(top).toBe(end - 300);
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
    await follow(script());
    expect(await top()).toBe(end - 300);
  });

  it("opens no connection when it is ended while its texts are loaded", async () => {
    await visit();
    await page.getByRole("button", { name: "Open chat" }).click();
    await expect.poll(() => sockets).toBe(1);
    let deliver: (() => void) | undefined;
    const asked = new Promise<void>((resolve) => {
      deliver = resolve;
    });
    const loaded = page.waitForResponse(/texts\/de/u);
    await page.route(/texts\/de/u, async (route) => {
      await asked;
      await route.continue();
    });
    await page.evaluate(() => window.parley?.destroy());
    await follow(script('data-lang="de"'));
    await expect.poll(() => sockets).toBe(2);
    await page.evaluate(() => window.parley?.destroy());
    deliver?.();
    await (await loaded).finished();
    expect(await elements()).toBe(0);
    await follow(script('data-lang="de"'));
    await page.getByRole("button", { name: "Chat schließen" }).first().waitFor();
    await ask("After");
    await log("Nachrichten").getByText("After").waitFor();
    await expect.poll(questions).toEqual(["After"]);
    expect(sockets).toBe(3);
  });
}
