import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "#domain/ids.ts";
import { buildBrowserCode } from "#web/build.ts";
import { accessibilityViolations } from "../support/accessibility.ts";
import { noBrowser, openBrowser } from "../support/browser.ts";
import { newSqlite } from "../support/database/databases.ts";
import type { DashboardUser } from "../support/http/administrators.ts";
import { dashboardUser } from "../support/http/administrators.ts";
import type { TestApp } from "../support/http/app.ts";
import { startApp } from "../support/http/app.ts";
import { createDashboardPages, phone } from "../support/http/dashboard-pages.ts";
import { skipped } from "../support/skipped.ts";

const name = "the page of questions that need a better answer";

if (noBrowser === undefined) describe(name, inTheBrowser);
else skipped(name, noBrowser);

function inTheBrowser(): void {
  let app: TestApp;
  let browser: Browser;
  let admin: DashboardUser;
  const pages = createDashboardPages(
    () => browser,
    () => app,
  );

  beforeAll(async () => {
    await buildBrowserCode();
    app = await startApp(newSqlite);
    await app.learn("shipping.md", "# Shipping\n\nStandard delivery takes 3 to 5 working days.\n");
    for (const query of ["Is there a discount for students?", "discount for a student", "Who won the cup in 1998?"]) {
      await app.post("/v1/query", { workspace_id: app.workspace.id, query });
    }
    admin = await dashboardUser(app, "admin");
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  it("leads from the most frequent question to an article that answers it", { timeout: 60_000 }, async () => {
    const page = await pages.open(admin, "/answers");
    const rows = page.getByRole("table", { name: "Questions, most frequent first" }).getByRole("row");
    await rows.nth(1).getByText("No answer: 2").waitFor();
    await rows.nth(1).getByRole("link", { name: "discount for a student" }).click();
    await page.getByRole("heading", { level: 1, name: "discount for a student" }).waitFor();
    await page.getByRole("link", { name: "Is there a discount for students?" }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);

    await page.getByRole("textbox", { name: "Title" }).fill("Discount for students");
    await page.getByRole("textbox", { name: "Text" }).fill("Students get a discount of 15 percent with their card.");
    await page.getByRole("button", { name: "Save and try" }).click();
    await page.getByText("The bot answers now").waitFor();
    await page.locator(".tried-reply").getByText("15 percent").waitFor();
    await page.getByText("Answered in").waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);

    await page.getByRole("link", { name: "Answers" }).first().click();
    await page.getByRole("link", { name: "Who won the cup in 1998?" }).waitFor();
    await expect.poll(() => page.getByRole("link", { name: "discount for a student" }).count()).toBe(0);
    expect(await pages.close()).toEqual([]);
  });

  it("keeps a question open that the article does not answer", async () => {
    const page = await pages.open(admin, "/answers");
    await page.getByRole("link", { name: "Who won the cup in 1998?" }).click();
    await page.getByRole("textbox", { name: "Title" }).fill("Parking");
    await page.getByRole("textbox", { name: "Text" }).fill("Parking is free behind the house.");
    await page.getByRole("button", { name: "Save and try" }).click();
    await page.getByText("The bot does not answer it yet").waitFor();
    await page.getByRole("button", { name: "Mark as answered" }).waitFor();
    expect(await page.getByRole("textbox", { name: "Text" }).inputValue()).toBe("Parking is free behind the house.");
    // A second save changes the same article.
    await page.getByRole("textbox", { name: "Text" }).fill("The team from Oslo won the cup in 1998.");
    await page.getByRole("button", { name: "Save and try" }).click();
    await page.getByText("The bot answers now").waitFor();
    await page.getByText("Answered in").waitFor();
    const titles = app.store.read.selectFrom("documents").select("title").where("title", "=", "Parking");
    expect(await titles.execute()).toHaveLength(1);
    await page.getByRole("button", { name: "Open again" }).click();
    await page.getByText("Question opened.").waitFor();
    expect(await pages.close()).toEqual([]);
  });

  it("finds the document to extend by its title, however many newer ones there are", async () => {
    await app.learn("old-returns.md", "# Returns\n\nReturns are free for 30 days.\n");
    const old = await app.store.read
      .selectFrom("documents")
      .selectAll()
      .where("file_name", "=", "old-returns.md")
      .executeTakeFirstOrThrow();
    const copies = Array.from({ length: 100 }, (_, i) => ({
      ...old,
      id: newId("doc", old.created_at + 1 + i),
      origin_key: `copy ${i}`,
      title: `Copy ${i}`,
      file_name: `copy-${i}.md`,
      created_at: old.created_at + 1 + i,
    }));
    await app.store.write((tx) => tx.insertInto("documents").values(copies).execute());
    const page = await pages.open(admin, "/answers");
    await page.getByRole("link", { name: "Who won the cup in 1998?" }).click();
    const choice = page.getByRole("combobox", { name: "Article" });
    await choice.getByRole("option", { name: "Extend: Copy 99" }).waitFor({ state: "attached" });
    await page.getByRole("searchbox", { name: "Search an article to extend" }).fill(old.title);
    await choice.getByRole("option", { name: `Extend: ${old.title}` }).waitFor({ state: "attached" });
    await choice.selectOption({ label: `Extend: ${old.title}` });
    await expect.poll(() => page.getByRole("textbox", { name: "Text" }).inputValue()).toContain("free for 30 days");
    await page.getByRole("searchbox", { name: "Search an article to extend" }).fill("Copy 7");
    await choice.getByRole("option", { name: "Extend: Copy 77" }).waitFor({ state: "attached" });
    await expect.poll(() => choice.inputValue()).toBe(old.id);
    expect(await accessibilityViolations(page)).toEqual([]);
    await app.store.write((tx) => tx.deleteFrom("documents").where("title", "like", "Copy %").execute());
    expect(await pages.close()).toEqual([]);
  });

  it("is read by viewers, who cannot change it, on a phone and in the dark too", async () => {
    const viewer = await dashboardUser(app, "viewer");
    const page = await pages.open(viewer, "/answers", { viewport: phone, colorScheme: "dark" });
    const question = page.getByRole("link", { name: "Who won the cup in 1998?" });
    await question.waitFor();
    await question.click();
    await page.getByRole("heading", { level: 2, name: "Asked" }).waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Ignore" }).count()).toBe(0);
    await expect.poll(() => page.getByRole("textbox").count()).toBe(0);
    expect(await accessibilityViolations(page)).toEqual([]);
    expect(await pages.close()).toEqual([]);
  });
}
