import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { accessibilityViolations } from "#test/support/accessibility.ts";
import { noBrowser, openBrowser } from "#test/support/browser.ts";
import type { KitServer } from "#test/support/dashboard/kit-server.ts";
import { startKitServer } from "#test/support/dashboard/kit-server.ts";
import { skipped } from "#test/support/skipped.ts";

const name = "the components of the dashboard";

if (noBrowser === undefined) describe(name, inTheBrowser);
else skipped(name, noBrowser);

function inTheBrowser(): void {
  let kit: KitServer;
  let browser: Browser;
  const complaints: string[] = [];

  beforeAll(async () => {
    kit = await startKitServer();
    browser = await openBrowser();
  });
  beforeEach(() => {
    kit.answer = () => undefined;
    kit.role = "admin";
    kit.changes.splice(0);
  });
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
    expect(complaints.splice(0)).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await kit?.close();
  });

  async function open(part: string, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({ reducedMotion: "reduce", locale: "en-GB", ...options });
    const page = await context.newPage();
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => {
      // Tests cause refused requests on purpose.
      if (message.type() === "error" && !message.text().includes("status of")) complaints.push(message.text());
    });
    await page.goto(`${kit.url}/dashboard/kit?part=${part}`);
    await page.getByRole("tabpanel").getByRole("heading", { level: 2 }).first().waitFor();
    return page;
  }
  const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent ?? "");
  const sideways = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);

  describe("lists", () => {
    it("are tables with a caption, also on phones, where a cell names its column", async () => {
      const page = await open("lists", { viewport: { width: 390, height: 780 } });
      const table = page.getByRole("table", { name: "Shops" });
      const row = table.getByRole("row").filter({ has: page.getByRole("rowheader", { name: "Shop 1", exact: true }) });
      await expect.poll(() => row.getByRole("cell").first().textContent()).toBe("Refused");
      const label = await row
        .getByRole("cell")
        .nth(1)
        .evaluate((cell) => getComputedStyle(cell, "::before").content);
      expect(label).toBe('"Orders"');
    });

    it("show more until the end, and keep their filters in the address", async () => {
      const page = await open("lists");
      const rows = page.getByRole("rowheader");
      await page.getByRole("button", { name: "Show more" }).click();
      await expect.poll(() => rows.count()).toBe(20);
      await page.getByRole("button", { name: "Show more" }).click();
      await expect.poll(() => rows.count()).toBe(30);
      await expect.poll(() => page.getByRole("button", { name: "Show more" }).count()).toBe(0);
      await page.getByLabel("State").selectOption("Waiting");
      await expect.poll(() => rows.count()).toBe(10);
      await page.getByLabel("Search shops").fill("Shop 2");
      await page.waitForURL(/state=wait&q=Shop\+2$/);
      await expect.poll(() => rows.allTextContents()).toEqual(["Shop 2", "Shop 20", "Shop 23", "Shop 26", "Shop 29"]);
    });

    it("keep their rows when loading again fails, and try again", async () => {
      const page = await open("lists");
      await page.getByRole("rowheader").first().waitFor();
      kit.answer = ({ path }) =>
        path === "shops" ? { status: 503, body: { detail: "The server restarts." } } : undefined;
      await page.getByRole("button", { name: "Load again" }).click();
      await page.getByRole("alert").getByText("The server restarts.").waitFor();
      await expect.poll(() => page.getByRole("rowheader").count()).toBe(10);
      kit.answer = () => undefined;
      await page.getByRole("button", { name: "Try again" }).click();
      await page.getByRole("alert").waitFor({ state: "detached" });
    });

    it("show the answer to the last request, whichever comes last", async () => {
      const page = await open("marks");
      await page.getByText("The number is 1.").waitFor();
      const late = Promise.withResolvers<void>();
      let asked = 0;
      kit.answer = async ({ path }) => {
        asked += 1;
        const number = asked + 1;
        if (number === 2) await late.promise;
        return { status: 200, body: path === "number" ? { number } : {} };
      };
      const next = page.getByRole("button", { name: "Next number" });
      await next.click();
      await expect.poll(() => asked).toBe(1);
      await next.click();
      await page.getByText("The number is 3.").waitFor();
      const answered = page.waitForResponse(/number/);
      late.resolve();
      await (await answered).finished();
      await page.evaluate(async () => new Promise((resolve) => requestAnimationFrame(resolve)));
      await expect.poll(() => page.getByText("The number is 3.").count()).toBe(1);
    });
  });

  describe("forms", () => {
    it("show a refusal at the field that it names, and move the focus there", async () => {
      kit.answer = ({ method }) =>
        method === "PUT" ? { status: 422, body: { code: "invalid", detail: "email: is taken." } } : undefined;
      const page = await open("fields");
      await page.getByRole("button", { name: "Save" }).click();
      const field = page.getByRole("textbox", { name: "E-mail address (optional)" });
      await page.getByText("is taken.").waitFor();
      expect(await field.evaluate((input) => input === document.activeElement)).toBe(true);
      await expect.poll(() => field.getAttribute("aria-invalid")).toBe("true");
      expect(await field.evaluate((input) => input.ariaDescribedByElements?.map((each) => each.textContent))).toEqual([
        "Is taken.",
      ]);
      expect(await accessibilityViolations(page)).toEqual([]);
    });

    it("show other refusals above the fields", async () => {
      kit.answer = ({ method }) =>
        method === "PUT"
          ? { status: 409, body: { code: "conflict", detail: "nowhere: somebody else saved." } }
          : undefined;
      const page = await open("fields");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByRole("alert").getByText("nowhere: somebody else saved.").waitFor();
      expect(await focused(page)).toBe("nowhere: somebody else saved.");
    });

    it("send what their fields hold", async () => {
      const page = await open("fields");
      await page.getByLabel("Name").fill("Harbour shop");
      await page.getByLabel("Chairs").fill("");
      await page.getByLabel("Kind").selectOption("Stall");
      await page.getByRole("switch", { name: "Open" }).click();
      await page.getByRole("checkbox", { name: "Tuesday" }).check();
      await page.getByRole("textbox", { name: "Tags" }).fill("new");
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "Remove old" }).click();
      await page.getByLabel("Keep orders", { exact: true }).fill("2");
      await page.getByLabel("Keep orders: unit").selectOption("hours");
      await page.getByRole("textbox", { name: "Colour", exact: true }).fill("#aa0000");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("Saved.").waitFor();
      expect(kit.changes.map(({ body }) => body)).toEqual([
        {
          name: "Harbour shop",
          email: "",
          count: null,
          text: "Open **daily**.",
          kind: "stall",
          isOpen: false,
          days: ["mon", "tue"],
          tags: ["new"],
          colour: "#aa0000",
          opens: "09:30",
          keep: 7_200,
        },
      ]);
    });

    it("write secrets, and never show them", async () => {
      const page = await open("fields");
      await page.getByRole("button", { name: "Replace Token" }).click();
      const field = page.getByLabel("Token", { exact: true });
      await expect.poll(() => field.getAttribute("type")).toBe("password");
      await field.fill("abc");
      await page.getByRole("button", { name: "Token: keep the old one" }).click();
      await page.getByRole("button", { name: "Replace Token" }).click();
      await expect.poll(() => field.inputValue()).toBe("");
      await field.fill("def");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("Saved.").waitFor();
      expect(kit.changes.map(({ body }) => body)).toMatchObject([{ token: "def" }]);
    });

    it("show Markdown as customers will see it", async () => {
      const page = await open("fields");
      const preview = page.getByRole("region", { name: "Preview of the text" });
      await preview.getByText("daily").and(page.locator("strong")).waitFor();
      await page.getByLabel("Text", { exact: true }).fill("[here](javascript:alert(1)) <b>raw</b>");
      await preview.getByText("<b>raw</b>").waitFor();
      await expect.poll(() => preview.getByRole("link").count()).toBe(0);
    });

    it("are read-only where the configuration file declares them, and for viewers", async () => {
      const managed = await open("managed");
      await managed.getByText("Managed by the configuration file").waitFor();
      await expect.poll(() => managed.getByLabel("Name").isDisabled()).toBe(true);
      await expect.poll(() => managed.getByRole("button", { name: "Save" }).count()).toBe(0);
      kit.role = "viewer";
      const viewed = await open("fields");
      await expect.poll(() => viewed.getByLabel("Name").isDisabled()).toBe(true);
      await expect.poll(() => viewed.getByRole("button", { name: "Save" }).count()).toBe(0);
      await expect.poll(() => viewed.getByText("You can read this page.").count()).toBe(1);
    });

    it("are made of a schema, and send no empty members", async () => {
      const page = await open("schema");
      await page.getByLabel("Token").fill("123:abc");
      await page.getByLabel("Transport").selectOption("Polling");
      await page.getByLabel("Plus addressing").selectOption("No");
      await page.getByLabel("Sent folder (optional)").selectOption("No");
      await page.getByLabel("Parameters").fill("colour=red\nsize = large");
      await page.getByRole("group", { name: "SMTP" }).getByLabel("Host").fill("mail.shop.example");
      await page.getByRole("button", { name: "Connect" }).click();
      await expect.poll(() => kit.changes.length).toBe(1);
      expect(kit.changes[0]?.body).toEqual({
        config: {
          token: "123:abc",
          port: 993,
          transport: "polling",
          plus_addressing: false,
          sent_folder: false,
          parameters: { colour: "red", size: "large" },
          smtp: { host: "mail.shop.example" },
        },
      });
    });

    it("show a refusal of a nested member at its field", async () => {
      kit.answer = ({ method }) =>
        method === "PUT"
          ? { status: 422, body: { code: "invalid", detail: "smtp.host: does not answer." } }
          : undefined;
      const page = await open("schema");
      await page.getByLabel("Token").fill("123:abc");
      await page.getByRole("button", { name: "Connect" }).click();
      const group = page.getByRole("group", { name: "SMTP" });
      await group.getByText("does not answer.").waitFor();
      await expect.poll(() => group.getByLabel("Host").getAttribute("aria-invalid")).toBe("true");
    });
  });

  describe("dialogs", () => {
    it("ask for a name before something is deleted", async () => {
      const page = await open("lists");
      await page.getByRole("button", { name: "Delete Shop 1", exact: true }).click();
      const dialog = page.getByRole("dialog", { name: "Delete Shop 1?" });
      const button = dialog.getByRole("button", { name: "Delete" });
      await expect.poll(() => button.isDisabled()).toBe(true);
      await dialog.getByLabel("Type Shop 1 to confirm").fill("Shop 1");
      await button.click();
      await page.getByText("Shop deleted.").waitFor();
      expect(kit.changes.map(({ method, path }) => [method, path])).toEqual([["DELETE", "shops/shop_1"]]);
    });

    it("stay open with the reason when the server refuses", async () => {
      kit.answer = ({ method }) =>
        method === "POST" ? { status: 422, body: { code: "invalid", detail: "email: is taken." } } : undefined;
      const page = await open("lists");
      await page.getByRole("button", { name: "Add a shop" }).click();
      const dialog = page.getByRole("dialog", { name: "Add a shop" });
      await dialog.getByLabel("Name").fill("Harbour");
      await dialog.getByLabel("E-mail address").fill("harbour@shop.example");
      await page.keyboard.press("Enter");
      await dialog.getByText("is taken.").waitFor();
      expect(await accessibilityViolations(page)).toEqual([]);
    });

    it("ask before they lose what was typed", async () => {
      const page = await open("lists");
      await page.getByRole("button", { name: "Add a shop" }).click();
      const dialog = page.getByRole("dialog", { name: "Add a shop" });
      await dialog.getByLabel("Name").fill("Harbour");
      const answers = [false, true];
      page.on("dialog", (question) => void (answers.shift() === true ? question.accept() : question.dismiss()));
      await page.keyboard.press("Escape");
      await expect.poll(() => answers).toEqual([true]);
      await expect.poll(() => dialog.getByLabel("Name").inputValue()).toBe("Harbour");
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
      expect(await focused(page)).toBe("Add a shop");
    });
  });

  it("tabs are moved between by keys, and named in the address", async () => {
    const page = await open("lists");
    await page.getByRole("tab", { name: "Lists" }).focus();
    await page.keyboard.press("ArrowRight");
    await page.getByRole("tabpanel", { name: "Fields" }).waitFor();
    await page.keyboard.press("End");
    await page.waitForURL(/part=marks/);
    expect(await focused(page)).toBe("Marks");
    await page.keyboard.press("ArrowRight");
    expect(await focused(page)).toBe("Lists");
  });

  it("the chosen tab is in view on a phone", async () => {
    const page = await open("marks", { viewport: { width: 390, height: 780 } });
    const tab = await page.getByRole("tab", { name: "Marks" }).boundingBox();
    expect((tab?.x ?? 0) + (tab?.width ?? 0)).toBeLessThanOrEqual(390);
  });

  it("a text is copied, or selected where the page may not copy", async () => {
    const page = await open("marks", { permissions: ["clipboard-read", "clipboard-write"] });
    await page.getByRole("button", { name: "Copy", exact: true }).click();
    await page.getByText("Copied.").waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("https://shop.example/webhooks/telegram");
    const other = await open("marks", { permissions: [] });
    await other.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
    await other.getByRole("button", { name: "Copy", exact: true }).click();
    await other.getByText("Select the text and copy it.").waitFor();
    expect(await other.evaluate(() => document.getSelection()?.toString())).toBe(
      "https://shop.example/webhooks/telegram",
    );
  });

  it("a page of one thing has a link to its list", async () => {
    const page = await open("lists");
    await page.getByRole("link", { name: "Shop 1", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Shop shop_1" }).waitFor();
    expect(page.url()).toBe(`${kit.url}/dashboard/kit/shop_1`);
    await page.getByRole("link", { name: "Components" }).last().click();
    await page.getByRole("heading", { level: 1, name: "Components" }).waitFor();
  });

  describe.each(["light", "dark"] as const)("without barriers that a program can find, %s", (colorScheme) => {
    it.each(["lists", "fields", "managed", "schema", "marks"])(
      "%s, wide, on a phone and from right to left",
      async (part) => {
        for (const viewport of [
          { width: 1280, height: 800 },
          { width: 390, height: 780 },
        ]) {
          const page = await open(part, { colorScheme, viewport });
          expect(await accessibilityViolations(page)).toEqual([]);
          expect(await sideways(page)).toBeLessThanOrEqual(0);
          await page.evaluate(() => (document.documentElement.dir = "rtl"));
          expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBe(0);
        }
      },
    );
  });
}
