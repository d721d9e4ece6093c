import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { noBrowser, openBrowser } from "#test/support/browser.ts";
import { skipped } from "#test/support/skipped.ts";
import { openPage } from "./support/browser.ts";
import type { TestSite } from "./support/site.ts";
import { embedding, startSite, workspaceId } from "./support/site.ts";

const name = "the widget on a site that replaces its pages in place";

if (noBrowser === undefined) describe(name, inBrowser);
else skipped(name, noBrowser);

/** The ways in which sites replace a page: with a new body, new content, a restored copy, or a whole new document. */
const replacements: Readonly<Record<string, (script: string) => void>> = {
  "with another body": (script) => {
    const body = document.createElement("body");
    body.append(document.createRange().createContextualFragment(`<h1>Next</h1>${script}`));
    document.body.replaceWith(body);
  },
  "with other content of the body": (script) => {
    document.body.replaceChildren(document.createRange().createContextualFragment(`<h1>Next</h1>${script}`));
  },
  "with a copy of an earlier body": () => {
    const body = document.body.cloneNode(true);
    document.body.replaceWith(body);
  },
  "with another document element": (script) => {
    const html = document.createElement("html");
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
  const script = (): string => `<script src="${site.origin}/widget.js" data-workspace="${workspaceId}"></script>`;
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
}
