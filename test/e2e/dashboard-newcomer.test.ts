import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { buildBrowserCode } from "#web/build.ts";
import type { FakeTelegram } from "../../adapters/telegram/test/support/fake-telegram.ts";
import { startFakeTelegram } from "../../adapters/telegram/test/support/fake-telegram.ts";
import { messageUpdate } from "../../adapters/telegram/test/support/updates.ts";
import { noBrowser, openBrowser } from "../support/browser.ts";
import { freePort } from "../support/servers/free-port.ts";
import type { Gateway } from "../support/program/program.ts";
import { startGateway } from "../support/program/program.ts";
import type { FakeSite } from "../support/servers/fake-site.ts";
import { startSite } from "../support/servers/fake-site.ts";
import type { Receiver } from "../support/servers/webhook-receiver.ts";
import { openReceiver } from "../support/servers/webhook-receiver.ts";
import { skipped } from "../support/skipped.ts";

const name = "a newcomer with a browser and no shell";

if (noBrowser === undefined) describe(name, inTheBrowser);
else skipped(name, noBrowser);

function inTheBrowser(): void {
  let folder: string;
  let gateway: Gateway;
  let browser: Browser;
  let telegram: FakeTelegram;
  let receiver: Receiver;
  let site: FakeSite;
  let page: Page;
  let clicks = 0;
  let fields = 0;
  let began = 0;

  beforeAll(async () => {
    await buildBrowserCode();
    folder = await mkdtemp(join(tmpdir(), "parley-newcomer-"));
    const config = join(folder, "parley.yaml");
    // The webhook's server and the fake Telegram are on this machine.
    await writeFile(config, "outbound:\n  allow_private: [127.0.0.1]\n");
    telegram = await startFakeTelegram();
    receiver = await openReceiver(() => Date.now());
    site = await startSite();
    // The widget's code has the public address in it, which has the port.
    const port = String(await freePort());
    gateway = await startGateway({ PARLEY_DATA_DIR: join(folder, "data"), PARLEY_CONFIG: config, PORT: port });
    browser = await openBrowser();
    page = await (await browser.newContext({ locale: "en-GB", reducedMotion: "reduce" })).newPage();
    await eventually(() => gateway.printed().includes("Set it up"));
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.stop();
    await telegram?.close();
    await receiver?.close();
    await site?.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function click(what: Locator): Promise<void> {
    await what.click();
    clicks += 1;
  }
  async function fill(field: Locator, text: string): Promise<void> {
    await field.fill(text);
    fields += 1;
  }
  const button = (label: string, of: Page | Locator = page) => of.getByRole("button", { name: label, exact: true });
  const menu = (label: string) => page.getByRole("navigation").getByRole("link", { name: label, exact: true });
  const heading = (label: string | RegExp) => page.getByRole("heading", { level: 1, name: label }).waitFor();
  const step = (label: string) => page.getByRole("listitem").filter({ hasText: label });

  it("signs in by the link of the first start, and reaches the dashboard", async () => {
    const link = /\/inbox\/login\/[\w-]{43}/.exec(gateway.printed())?.[0] ?? "";
    began = performance.now();
    await page.goto(gateway.url + link);
    await click(button("Sign in"));
    await click(page.getByRole("link", { name: "Dashboard" }));
    await heading("Overview");
    // The built-in manual is not one of the newcomer's documents.
    await step("Add documents").getByText("To do", { exact: true }).waitFor();
  });

  it("adds ten documents, and tries a question", { timeout: 120_000 }, async () => {
    await click(page.getByRole("link", { name: "Add documents" }));
    const files = Array.from({ length: 10 }, (_, at) => ({
      name: `planet-${at + 1}.md`,
      mimeType: "text/markdown",
      buffer: Buffer.from(`# Planet ${at + 1}\n\n## How many moons has planet ${at + 1}?\n\nIt has ${at + 20} moons.`),
    }));
    await page.getByLabel("Files", { exact: true }).setInputFiles(files);
    clicks += 1;
    // Shows the new documents only, which a person tells apart without it.
    await page.getByLabel("Search documents").fill("planet");
    await expect
      .poll(() => page.getByRole("row").filter({ hasText: "Planet" }).filter({ hasText: "In use" }).count())
      .toBe(10);
    await click(menu("Try a question"));
    await fill(page.getByLabel("Question", { exact: true }), "How many moons has planet 7?");
    await click(button("Ask"));
    await page.getByText("It has 26 moons.").first().waitFor();
  });

  it("puts the widget on another site, where a customer gets an answer with its source", async () => {
    await click(menu("Overview"));
    const code = await page.getByRole("textbox", { name: "Code for your pages" }).inputValue();
    clicks += 1;
    site.pages.set("/", `<!doctype html><title>A shop</title><h1>A shop</h1>${code}`);
    const shop = await (await browser.newContext({ locale: "en-GB" })).newPage();
    await shop.goto(`${site.origin}/`);
    await shop.getByRole("button", { name: /^Open chat/u }).click();
    await shop.getByRole("textbox", { name: "Write a message…" }).fill("How many moons has planet 3?");
    await shop.keyboard.press("Enter");
    await shop.getByText("It has 22 moons.").first().waitFor();
    await shop.getByRole("group", { name: "Sources" }).getByText("Planet 3").first().waitFor();
    await shop.context().close();
  });

  it("connects Telegram with the token alone", async () => {
    await click(menu("Channels"));
    await click(page.getByRole("link", { name: "Telegram" }));
    await fill(page.getByLabel("Bot token"), telegram.token);
    // Only the address of the fake platform needs more than the token.
    await page.getByText("Advanced", { exact: true }).click();
    await page.getByLabel("Server of the Bot API").fill(telegram.url);
    await click(button("Connect"));
    await page.getByText("Connected", { exact: true }).first().waitFor();
    telegram.queue(messageUpdate({ chatId: 79, messageId: 1, text: "How many moons has planet 9?" }));
    await expect.poll(() => telegram.shown.some(({ text }) => text.includes("It has 28 moons."))).toBe(true);
  });

  it("adds a webhook and an API key", async () => {
    await click(menu("Webhooks"));
    await click(button("Add a webhook"));
    await fill(page.getByRole("dialog").getByRole("textbox", { name: "Address" }), receiver.url);
    await click(button("Add", page.getByRole("dialog")));
    await click(button("Done"));
    await click(menu("API keys"));
    await click(button("Create a key"));
    await fill(page.getByRole("dialog").getByRole("textbox", { name: "Name" }), "Shop server");
    await click(button("Create", page.getByRole("dialog")));
    const key = await page.getByRole("textbox", { name: "API key" }).inputValue();
    await click(button("Done"));
    const answer = await fetch(`${gateway.url}/v1/query`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({
        workspace_id: /wt_\w+/.exec(gateway.printed())?.[0],
        query: "How many moons has planet 5?",
      }),
    });
    expect(await answer.text()).toContain("24 moons");
    await expect.poll(() => receiver.types()).toContain("conversation.started");
  });

  it("invites two colleagues of different roles, who join by their links", async () => {
    await click(menu("Team"));
    for (const [colleague, role] of [
      ["Mia", "agent"],
      ["Vera", "viewer"],
    ] as const) {
      await click(button("Invite a colleague"));
      const dialog = page.getByRole("dialog");
      const address = dialog.getByRole("textbox", { name: "E-mail address" });
      await fill(address, `${colleague.toLowerCase()}@shop.example`);
      await fill(dialog.getByRole("textbox", { name: "Name", exact: true }), colleague);
      await dialog.getByRole("combobox", { name: "Role" }).selectOption(role);
      fields += 1;
      await click(button("Invite", dialog));
      const link = await page.getByRole("textbox", { name: "Link" }).inputValue();
      await click(button("Done"));
      const theirs = await (await browser.newContext({ locale: "en-GB" })).newPage();
      await theirs.goto(gateway.url + new URL(link).pathname);
      await theirs.getByLabel("Password").fill(`a password of ${colleague}`);
      await theirs.getByRole("button", { name: "Join" }).click();
      await theirs.waitForURL(`${gateway.url}/inbox`);
      await theirs.context().close();
    }
  });

  it("has finished the first steps, with at most 27 clicks and ten fields", async () => {
    await click(menu("Overview"));
    await heading("Overview");
    for (const each of ["Add documents", "Ask a first question", "Put the widget", "Connect a channel", "Invite"]) {
      await step(each).getByText("Done", { exact: true }).waitFor();
    }
    const seconds = ((performance.now() - began) / 1_000).toFixed(1);
    process.stdout.write(`A newcomer needs ${clicks} clicks and ${fields} fields; a script needs ${seconds} s.\n`);
    expect(clicks).toBeLessThanOrEqual(27);
    expect(fields).toBeLessThanOrEqual(10);
  });
}
