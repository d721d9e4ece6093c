import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { messagesShownMax } from "#http/inbox/wire.ts";
import { buildBrowserCode } from "#web/build.ts";
import type { TestApp } from "../support/http/app.ts";
import { startApp } from "../support/http/app.ts";
import { noBrowser, openBrowser } from "../support/browser.ts";
import { messageRow } from "../support/database/conversation-rows.ts";
import { newSqlite } from "../support/database/databases.ts";
import type { Customer } from "../support/http/inbox.ts";
import { addAgent, asked, customerWrites } from "../support/http/inbox.ts";
import { createInboxPages } from "../support/http/inbox-pages.ts";
import { skipped } from "../support/skipped.ts";

const name = "a long conversation in the inbox";
const total = 2_000;
const minuteMs = 60_000;

if (noBrowser === undefined) describe(name, inTheBrowser);
else skipped(name, noBrowser);

function inTheBrowser(): void {
  let app: TestApp;
  let browser: Browser;
  let customer: Customer;
  const pages = createInboxPages(
    () => browser,
    () => app,
  );

  beforeAll(async () => {
    await buildBrowserCode();
    app = await startApp(newSqlite);
    await addAgent(app, "Anna");
    await addAgent(app, "Ben");
    browser = await openBrowser();
    customer = await asked(app, "long", "These are the first words.", "Ada Byron");
    const begun = app.clock.now();
    const { conversationId: id } = customer;
    const rows = Array.from({ length: total - 2 }, (_, index) => {
      const seq = index + 3;
      return messageRow(id, seq, `This is line ${seq}.`, begun + seq * 10 * minuteMs);
    });
    app.clock.advance(total * 10 * minuteMs);
    await app.store.write(async (tx) => {
      for (let at = 0; at < rows.length; at += 500)
        await tx
          .insertInto("messages")
          .values(rows.slice(at, at + 500))
          .execute();
      await tx
        .updateTable("conversations")
        .set({ status: "escalated", last_seq: total, last_customer_seq: total, settled_seq: total })
        .set({ last_message_at: app.clock.now(), message_count: total })
        .where("id", "=", id)
        .execute();
    });
  });
  afterEach(async () => {
    expect(await pages.close()).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  const log = (page: Page) => page.getByRole("log", { name: "Messages, notes and events" });
  const line = (page: Page, seq: number) => log(page).getByText(`This is line ${seq}.`, { exact: true });
  const drawn = (page: Page) => log(page).locator("article").count();
  const top = (page: Page, seq: number) =>
    line(page, seq).evaluate((node) => Math.round(node.getBoundingClientRect().top));
  const focused = (page: Page) => page.evaluate(() => document.activeElement?.tagName ?? "");
  async function open(): Promise<Page> {
    const page = await pages.open("anna", {}, `#/escalated/${customer.conversationId}`);
    await line(page, total).waitFor();
    return page;
  }

  it.each([1_280, 1_180, 800, 390, 320])("shows the SLA beside the status at a width of %i pixels", async (width) => {
    const page = await pages.open(
      "anna",
      { viewport: { width, height: 800 } },
      `#/escalated/${customer.conversationId}`,
    );
    await line(page, total).waitFor();
    const badge = page.getByRole("region", { name: "Conversation" }).getByText(/^SLA /);
    const isSeen = await badge.evaluate((node) => {
      const box = node.getBoundingClientRect();
      const corners = [
        document.elementFromPoint(box.left + 4, box.top + 4),
        document.elementFromPoint(box.right - 4, box.bottom - 4),
      ];
      return corners.every((corner) => corner === node);
    });
    expect(isSeen).toBe(true);
    const claim = await page.getByRole("button", { name: "Claim" }).boundingBox();
    const goTo = await page.getByRole("button", { name: "Go to" }).boundingBox();
    expect((goTo?.y ?? 0) - (claim?.y ?? 0)).toBeLessThan(claim?.height ?? 0);
  });

  it("jumps to the first message, to a date and back by keyboard, with a bounded number of messages in the page", async () => {
    const page = await open();
    await log(page).focus();
    await page.keyboard.press("Home");
    await log(page).getByText("These are the first words.").waitFor();
    await page.waitForFunction(() => document.activeElement?.tagName === "ARTICLE");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain("These are the first words.");

    await page.keyboard.press("g");
    await page.getByRole("menuitem", { name: "A date…" }).press("Enter");
    const day = new Date(app.clock.now() - 7 * 86_400_000);
    const text = await page.evaluate((at) => {
      const date = new Date(at);
      const two = (value: number) => String(value).padStart(2, "0");
      return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
    }, day.getTime());
    await page.getByLabel("First message on or after this day").fill(text);
    await page.getByRole("button", { name: "Go", exact: true }).click();
    await expect.poll(() => log(page).locator("article").first().textContent()).toContain("This is line");
    const first = await log(page).locator("article time").first().getAttribute("datetime");
    const midnight = await page.evaluate((date) => new Date(`${date}T00:00`).getTime(), text);
    expect(Date.parse(first ?? "") - midnight).toBeGreaterThanOrEqual(0);
    expect(Date.parse(first ?? "") - midnight).toBeLessThan(10 * minuteMs);
    await expect.poll(() => focused(page)).toBe("ARTICLE");

    await page.keyboard.press("End");
    await line(page, total).waitFor();
    expect(await focused(page)).toBe("DIV");
    // The page does not grow when older messages are loaded page by page.
    for (let step = 0; step < 8; step += 1) {
      const before = await log(page).locator("article").first().textContent();
      await log(page).evaluate((node) => {
        node.scrollTop = 600;
        node.scrollTop = 100;
      });
      await expect.poll(() => log(page).locator("article").first().textContent()).not.toBe(before);
    }
    expect(await drawn(page)).toBeLessThanOrEqual(messagesShownMax);
    await expect.poll(() => line(page, total).count()).toBe(0);
    await page.getByRole("button", { name: "Latest messages" }).click();
    await line(page, total).waitFor();
  });

  it("keeps the reading position and the focus when messages are loaded and when they arrive", async () => {
    const page = await open();
    await log(page).evaluate((node) => (node.scrollTop = 2_000));
    const seen = await log(page).evaluate((node) => {
      const rows = [...node.querySelectorAll("article")];
      const view = node.getBoundingClientRect();
      const row = rows.find((each) => each.getBoundingClientRect().top > view.top + 100);
      return Number(/line (\d+)\./u.exec(row?.textContent ?? "")?.[1]);
    });
    const was = await top(page, seen);
    const count = await drawn(page);
    await page.getByRole("button", { name: "Earlier messages" }).evaluate((button) => (button as HTMLElement).click());
    await expect.poll(() => drawn(page)).toBeGreaterThan(count);
    expect(Math.abs((await top(page, seen)) - was)).toBeLessThanOrEqual(1);

    await customer.write("Is anybody there?");
    await page.getByRole("button", { name: "New messages" }).waitFor();
    expect(Math.abs((await top(page, seen)) - was)).toBeLessThanOrEqual(1);

    // The focused message is dropped at the far end of the loaded range.
    const last = log(page).locator("article").last();
    await last.evaluate((node) => {
      node.tabIndex = -1;
      node.focus({ preventScroll: true });
    });
    while (await log(page).getByText("Is anybody there?").count()) {
      const first = await log(page).locator("article").first().textContent();
      await page.getByRole("button", { name: "Earlier messages" }).evaluate((node) => (node as HTMLElement).click());
      await expect.poll(() => log(page).locator("article").first().textContent()).not.toBe(first);
    }
    expect(await focused(page)).toBe("DIV");
    await page.getByRole("button", { name: "New messages" }).click();
    await log(page).getByText("Is anybody there?").waitFor();
  });

  it("shows a reply that is sent while the agent reads the first messages", async () => {
    const other = await customerWrites(app, "short", "Hello", "Short");
    expect(other.conversationId).not.toBe(customer.conversationId);
    const page = await open();
    await log(page).focus();
    await page.keyboard.press("Home");
    await log(page).getByText("These are the first words.").waitFor();
    const field = page.getByRole("textbox", { name: "Reply to Ada Byron" });
    await field.fill("I am here.");
    await field.press("Control+Enter");
    await log(page).getByText("I am here.").waitFor();
    await expect.poll(() => log(page).getByText("These are the first words.").count()).toBe(0);
    expect(await focused(page)).toBe("TEXTAREA");
  });
}
