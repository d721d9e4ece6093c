import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { buildBrowserCode } from "#web/build.ts";
import { openGuardedFetch } from "#outbound/guarded-fetch.ts";
import { noBrowser, openBrowser } from "../support/browser.ts";
import { newSqlite } from "../support/database/databases.ts";
import type { DashboardUser } from "../support/http/administrators.ts";
import { dashboardUser } from "../support/http/administrators.ts";
import type { TestApp } from "../support/http/app.ts";
import { startApp } from "../support/http/app.ts";
import { createDashboardPages } from "../support/http/dashboard-pages.ts";
import { pdfOf } from "../support/knowledge/file-builders.ts";
import { htmlPage, startSite } from "../support/servers/fake-site.ts";
import { skipped } from "../support/skipped.ts";

const name = "documents in the dashboard";

if (noBrowser === undefined) describe(name, { timeout: 90_000 }, inTheBrowser);
else skipped(name, noBrowser);

function inTheBrowser(): void {
  let app: TestApp;
  let browser: Browser;
  let admin: DashboardUser;
  let viewer: DashboardUser;
  const pages = createDashboardPages(
    () => browser,
    () => app,
  );

  beforeAll(async () => {
    await buildBrowserCode();
    app = await startApp(newSqlite, { outbound: openGuardedFetch({ allowPrivate: ["127.0.0.1"] }) });
    admin = await dashboardUser(app, "admin");
    viewer = await dashboardUser(app, "viewer");
    browser = await openBrowser();
  });
  afterEach(async () => {
    expect(await pages.close()).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  const open = (path: string, user = admin, width = 1_280): Promise<Page> =>
    pages.open(user, `/${path}`, { viewport: { width, height: 860 } });
  const row = (page: Page, title: string) => page.getByRole("row").filter({ hasText: title });

  /** Drops files on the page as a file manager does. */
  async function drop(page: Page, files: readonly (readonly [name: string, content: Uint8Array])[]): Promise<void> {
    const sent = files.map(([fileName, content]) => [fileName, Buffer.from(content).toString("base64")] as const);
    const dropped = await page.evaluateHandle((given) => {
      const transfer = new DataTransfer();
      for (const [fileName, base64] of given) {
        const bytes = Uint8Array.from(atob(base64), (letter) => letter.codePointAt(0) ?? 0);
        transfer.items.add(new File([bytes], fileName));
      }
      return transfer;
    }, sent);
    await page.locator(".drop-zone").dispatchEvent("drop", { dataTransfer: dropped });
  }

  it("takes ten dropped files, and says what to do with the broken one", async () => {
    const page = await open("documents");
    await page.getByText("No documents yet").waitFor();
    const texts = Array.from({ length: 9 }, (_, at): readonly [string, Uint8Array] => [
      `planet-${at + 1}.md`,
      Buffer.from(`# Planet ${at + 1}\n\n## How many moons are there?\n\nPlanet ${at + 1} has ${at + 20} moons.`),
    ]);
    await drop(page, [...texts, ["scan.pdf", pdfOf([[]])]]);
    for (let at = 1; at <= 9; at += 1) await row(page, `Planet ${at}`).getByText("In use").waitFor();
    const scan = row(page, "Scan");
    await scan.getByText("Failed").waitFor();
    await scan.getByText(/Run text recognition \(OCR\) on it and add it again\./).waitFor();
    await drop(page, [["film.mp4", Buffer.from("no text")]]);
    await page.getByText(/Files of this type cannot be added/).waitFor();
    await page.getByRole("button", { name: "Dismiss film.mp4" }).click();

    await page.getByLabel("State", { exact: true }).selectOption("failed");
    await row(page, "Planet 1").waitFor({ state: "detached" });
    await expect.poll(() => page.getByRole("row").count()).toBe(2);
    await page.getByLabel("State", { exact: true }).selectOption("");
    await page.getByRole("searchbox", { name: "Search documents" }).fill("planet-7");
    await row(page, "Planet 6").waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Planet 7" }).click();
    await page.getByRole("heading", { level: 1, name: "Planet 7" }).waitFor();
    await page.getByText("Planet 7 has 26 moons.").waitFor();
  });

  it("writes an article, tries a question on it, and deletes it", async () => {
    const page = await open("documents");
    await page.getByRole("link", { name: "Write an article" }).click();
    await page.getByLabel("Title").fill("Moon base");
    await page
      .getByRole("textbox", { name: "Text" })
      .fill("## Who runs the moon base?\n\nThe **robots** run the moon base.");
    await page
      .getByRole("region", { name: "Preview" })
      .getByRole("heading", { name: "Who runs the moon base?" })
      .waitFor();

    let asked = "";
    page.once("dialog", (dialog) => {
      asked = dialog.message();
      void dialog.dismiss();
    });
    await page.getByRole("link", { name: "Overview" }).click();
    await expect.poll(() => asked).toContain("Leave without saving?");
    expect(page.url()).toBe(`${app.url}/dashboard/documents/new`);
    page.once("dialog", (dialog) => void dialog.dismiss());
    await page.goBack();
    await expect.poll(() => page.url()).toBe(`${app.url}/dashboard/documents/new`);
    await expect.poll(() => page.getByLabel("Title").inputValue()).toBe("Moon base");

    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { level: 1, name: "Moon base" }).waitFor();
    await page.getByText("In use").waitFor();
    await page.getByRole("list").getByRole("heading", { name: "Moon base › Who runs the moon base?" }).waitFor();

    await page.getByRole("link", { name: "Try a question" }).first().click();
    await page.getByRole("textbox", { name: "Question" }).fill("Who runs the moon base?");
    await page.getByRole("button", { name: "Ask" }).click();
    await page.locator(".reply").getByText("run the moon base").waitFor();
    await page.getByText("High confidence").waitFor();
    await page.getByText(/The passages answer the question/).waitFor();
    const best = page.locator(".passage").first();
    await best.getByText("Used").waitFor();
    await best.getByRole("link", { name: "Moon base › Who runs the moon base?" }).click();

    await page.getByRole("heading", { level: 1, name: "Moon base" }).waitFor();
    await page.getByRole("link", { name: "Edit" }).click();
    await page
      .getByRole("textbox", { name: "Text" })
      .fill("## Who runs the moon base?\n\nPeople run the moon base again.");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("People run the moon base again.").waitFor();

    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { level: 1, name: "Documents" }).waitFor();
    await page.getByText("Document deleted.").waitFor();
    await expect.poll(() => row(page, "Moon base").count()).toBe(0);
  });

  it("adds a website, and shows its pages", async () => {
    const site = await startSite(app.clock.now);
    site.pages.set("/", htmlPage("Comet club", "The comet club meets on Fridays.", ["/rules", "/gone"]));
    site.pages.set("/rules", htmlPage("Comet rules", "Members of the comet club bring a telescope."));
    const moving = setInterval(() => app.clock.advance(300), 50);
    try {
      const page = await open("documents");
      await page.getByRole("button", { name: "Add a website" }).click();
      const dialog = page.getByRole("dialog", { name: "Add a website" });
      await dialog.getByLabel("Address of the first page").fill(`${site.origin}/`);
      await dialog.getByRole("button", { name: "Add website" }).click();
      await row(page, "Comet club").getByText("In use").waitFor();
      await page.getByRole("link", { name: "Comet club" }).click();
      await page.getByRole("tab", { name: "Pages" }).click();
      await row(page, "Comet rules").getByText("In use").waitFor();
      await row(page, "/gone")
        .getByText(/Failed|Gone/)
        .waitFor();
    } finally {
      clearInterval(moving);
      await site.close();
    }
  });

  it("deletes several documents at once", async () => {
    const page = await open("documents");
    for (const at of [1, 2, 3]) await page.getByRole("checkbox", { name: `Select Planet ${at}`, exact: true }).check();
    await page.getByText("3 selected").waitFor();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("3 documents deleted.").waitFor();
    await expect.poll(() => row(page, "Planet 2").count()).toBe(0);
    await row(page, "Planet 4").waitFor();
  });

  it("shows viewers documents without changing them", async () => {
    const page = await open("documents", viewer);
    await row(page, "Planet 4").waitFor();
    await expect.poll(() => page.getByRole("button", { name: /Delete|Add a website/ }).count()).toBe(0);
    await expect.poll(() => page.locator(".drop-zone").count()).toBe(0);
    await expect.poll(() => page.getByRole("link", { name: "Try a question" }).count()).toBe(0);
    await page.goto(`${app.url}/dashboard/documents/new`);
    await page.getByText("There is no document with this id.").waitFor();
  });

  it("has tabs for text and preview on phones", async () => {
    const page = await open("documents/new", admin, 390);
    await page.getByRole("textbox", { name: "Text" }).fill("Some *text*.");
    await page.getByRole("tab", { name: "Preview" }).click();
    await page.getByRole("region", { name: "Preview" }).getByText("Some text.").waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  });
}
