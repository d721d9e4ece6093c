import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { newId } from "#domain/ids.ts";
import { buildBrowserCode } from "#web/build.ts";
import type { TestApp } from "../support/http/app.ts";
import { startApp } from "../support/http/app.ts";
import { noBrowser, openBrowser } from "../support/browser.ts";
import { newSqlite } from "../support/database/databases.ts";
import { png } from "../support/channels/file-channel.ts";
import { addAgent, customerWrites, settled } from "../support/http/inbox.ts";
import { createInboxPages } from "../support/http/inbox-pages.ts";
import { skipped } from "../support/skipped.ts";

const name = "the inbox in a browser";

if (noBrowser === undefined) describe(name, inTheBrowser);
else skipped(name, noBrowser);

function inTheBrowser(): void {
  let app: TestApp;
  let browser: Browser;
  const pages = createInboxPages(
    () => browser,
    () => app,
  );
  const { open } = pages;

  beforeAll(async () => {
    await buildBrowserCode();
    app = await startApp(newSqlite);
    await app.learn("shipping.md", "# Shipping\n\nStandard delivery takes 3 to 5 working days.\n");
    await addAgent(app, "Anna");
    await addAgent(app, "Ben");
    browser = await openBrowser();
  });
  afterEach(async () => {
    expect(await pages.close()).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  const thread = (page: Page) => page.getByRole("log", { name: "Messages, notes and events" });
  const sideways = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  const statusOf = (id: string) =>
    app.store.read
      .selectFrom("conversations")
      .select(["status", "assigned_to"])
      .where("id", "=", id)
      .executeTakeFirstOrThrow();

  it("works by keyboard alone, and shows customers' messages at once", async () => {
    const customer = await customerWrites(app, "keys", "How long does delivery take?", "Ada Byron");
    await settled(app);
    const page = await open("anna");
    await page.getByText("Ada Byron").first().waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await thread(page).getByText("3 to 5 working days").first().waitFor();
    await thread(page)
      .getByText(/confidence/)
      .first()
      .waitFor();
    await page.keyboard.press("c");
    await page.getByText("The conversation is yours.").waitFor();
    expect(await statusOf(customer.conversationId)).toEqual({ status: "claimed", assigned_to: "anna@shop.example" });

    await customer.write("And to Spain?");
    await thread(page).getByText("And to Spain?").waitFor();

    await page.keyboard.press("r");
    const field = page.getByRole("textbox", { name: "Reply to Ada Byron" });
    await field.fill("The **same**: 3 to 5 days.");
    await field.press("Control+Enter");
    await thread(page).locator("article strong", { hasText: "same" }).waitFor();
    await settled(app);
    await thread(page)
      .getByText(/^(Sent|Delivered)$/)
      .last()
      .waitFor();
    await expect.poll(() => field.inputValue()).toBe("");

    await page.keyboard.press("Escape");
    await page.keyboard.press("e");
    await page.getByText("Resolved.", { exact: true }).waitFor();
    expect((await statusOf(customer.conversationId)).status).toBe("resolved");
  });

  it("shows all conversations again when the search is left by keyboard", async () => {
    await customerWrites(app, "spain", "Do you ship to Spain?", "Sol Ruiz");
    await settled(app);
    const page = await open("anna");
    const entry = page.getByRole("list", { name: "Conversations" }).getByText("Sol Ruiz");
    await entry.waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("xylophone");
    await page.getByText("Nothing found").waitFor();
    await page.keyboard.press("Escape");
    await entry.waitFor();
    await expect.poll(() => page.getByRole("searchbox").inputValue()).toBe("");
  });

  it("edits and deletes a reply by keyboard, and keeps the focus at the place of work", async () => {
    const question = await app.post("/v1/query", {
      workspace_id: app.workspace.id,
      query: "How long does delivery take?",
    });
    const { conversation_id: id } = question.body as { readonly conversation_id: string };
    const page = await open("anna", {}, `#/all/${id}`);
    const field = page.getByRole("textbox", { name: /^Reply to/ });
    await field.fill("Thre days.");
    await field.press("Control+Enter");
    await page.getByRole("button", { name: "Edit your reply" }).focus();
    await page.keyboard.press("Enter");
    const editor = page.getByRole("textbox", { name: "Your reply, as it is to be" });
    await editor.fill("Nothing of this is kept.");
    await page.keyboard.press("Escape");
    await thread(page).getByText("Thre days.").waitFor();
    await page.getByRole("button", { name: "Edit your reply" }).focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => editor.inputValue()).toBe("Thre days.");
    await editor.fill("Three days.");
    await editor.press("Control+Enter");
    await thread(page).getByText("Three days.").waitFor();
    await page.waitForFunction(() => document.activeElement?.getAttribute("aria-label") === "Edit your reply");
    const stored = () =>
      app.store.read
        .selectFrom("messages")
        .select(["content", "deleted_at"])
        .where("conversation_id", "=", id)
        .where("role", "=", "agent")
        .executeTakeFirstOrThrow();
    expect((await stored()).content).toBe("Three days.");

    await page.getByRole("button", { name: "Delete your reply" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Delete your reply?" }).getByRole("button", { name: "Delete" }).click();
    await thread(page).getByText("This reply was deleted.").waitFor();
    expect((await stored()).deleted_at).not.toBeNull();
    await page.waitForFunction(() => document.activeElement?.getAttribute("role") === "log");
    await expect.poll(() => page.getByRole("button", { name: "Edit your reply" }).count()).toBe(0);
  });

  it("asks what to do with a reply in a colleague's conversation", async () => {
    const customer = await customerWrites(app, "theirs", "Hello?", "Mary Shelley");
    await settled(app);
    const bens = await open("ben", {}, `#/all/${customer.conversationId}`);
    await bens.getByRole("button", { name: "Claim" }).click();
    await bens.getByText("The conversation is yours.").waitFor();
    const page = await open("anna", {}, `#/all/${customer.conversationId}`);
    const field = page.getByRole("textbox", { name: "Reply to Mary Shelley" });
    const held = page.getByRole("dialog", { name: "Your reply was not sent" });
    await field.fill("I know her.");
    await field.press("Control+Enter");
    await held.getByText("Ben has this conversation").waitFor();
    await held.getByRole("button", { name: "Keep as note" }).click();
    await thread(page).getByRole("article").filter({ hasText: "Internal note" }).getByText("I know her.").waitFor();
    await page.getByRole("button", { name: "Reply", exact: true }).click();
    await field.fill("I take it from here.");
    await field.press("Control+Enter");
    await held.getByRole("button", { name: "Take over and send" }).click();
    await thread(page).getByText("I take it from here.").waitFor();
    expect(await statusOf(customer.conversationId)).toEqual({ status: "claimed", assigned_to: "anna@shop.example" });
    const said = await app.store.read
      .selectFrom("messages")
      .select("content")
      .where("conversation_id", "=", customer.conversationId)
      .where("role", "=", "agent")
      .execute();
    expect(said.map(({ content }) => content)).toEqual(["I take it from here."]);
  });

  it("marks notes as internal while they are written and read", async () => {
    const customer = await customerWrites(app, "notes", "Hello?", "Grace Hopper");
    await settled(app);
    const page = await open("anna", {}, `#/all/${customer.conversationId}`);
    await thread(page).getByText("Hello?").waitFor();
    await page.keyboard.press("n");
    await page.getByText("Only your team sees notes.").waitFor();
    await page.getByRole("textbox", { name: "Internal note" }).fill("She is a **VIP**.");
    await page.getByRole("button", { name: "Add note" }).click();
    const note = thread(page).getByRole("article").filter({ hasText: "Internal note" });
    await note.getByText("VIP").waitFor();
    const customerSees = await app.store.read
      .selectFrom("deliveries")
      .select("payload")
      .where("conversation_id", "=", customer.conversationId)
      .execute();
    expect(JSON.stringify(customerSees)).not.toContain("VIP");
  });

  it("keeps a draft over a reload, and separates replies from notes", async () => {
    const customer = await customerWrites(app, "drafts", "Hi", "Joan Clarke");
    await settled(app);
    const page = await open("anna", {}, `#/all/${customer.conversationId}`);
    const reply = page.getByRole("textbox", { name: "Reply to Joan Clarke" });
    await reply.fill("Half a sent");
    await page.getByRole("button", { name: "Note", exact: true }).click();
    await page.getByRole("textbox", { name: "Internal note" }).fill("remember this");
    await page.reload();
    const note = page.getByRole("textbox", { name: "Internal note" });
    await note.waitFor();
    await expect.poll(() => note.inputValue()).toBe("remember this");
    await page.getByRole("button", { name: "Reply", exact: true }).click();
    await expect.poll(() => reply.inputValue()).toBe("Half a sent");
  });

  it("sends files with a reply, shows pictures, and offers other files as downloads only", async () => {
    const { conversationId } = await customerWrites(app, "files-1", "Where is my bill?");
    await settled(app);
    const page = await open("anna", {}, `#/unassigned/${conversationId}`);
    await thread(page).getByText("Where is my bill?").waitFor();
    await page.locator("input[type=file]").setInputFiles([
      { name: "photo.png", mimeType: "image/png", buffer: png },
      { name: "page.html", mimeType: "text/html", buffer: Buffer.from("<script>document.title='hacked'</script>") },
    ]);
    const tray = page.getByRole("list", { name: "Files to send" });
    await tray.getByText("photo.png").waitFor();
    // Dropped anywhere on the conversation: the browser would open the file in place of the inbox.
    const stopped = await thread(page).evaluate((log) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(["hi"], "dropped.txt"));
      return ["dragover", "drop"].map((kind) => {
        const event = new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true });
        log.dispatchEvent(event);
        return event.defaultPrevented;
      });
    });
    expect(stopped).toEqual([true, true]);
    await tray.getByRole("button", { name: "Remove dropped.txt" }).click();
    await tray.getByRole("button", { name: "Remove page.html" }).waitFor();
    await expect.poll(() => tray.locator("progress").count()).toBe(0);
    // Unsent files are kept over a reload.
    await page.reload();
    await tray.getByText("photo.png").waitFor();
    await page.getByRole("button", { name: "Send reply" }).click();
    const picture = thread(page).getByRole("img", { name: "photo.png" });
    await picture.waitFor();
    await expect.poll(() => picture.evaluate((img) => (img as HTMLImageElement).naturalWidth)).toBe(1);
    const download = page.waitForEvent("download");
    await thread(page).getByRole("link", { name: "page.html" }).click();
    expect((await download).suggestedFilename()).toBe("page.html");
    expect(await page.title()).not.toContain("hacked");
    await expect.poll(() => tray.isVisible()).toBe(false);
    expect(await sideways(page)).toBeLessThanOrEqual(0);

    // A picture that loads late does not move the view away from the end.
    let come = (): void => undefined;
    const late = new Promise<void>((resolve) => (come = resolve));
    await page.route("**/inbox/api/files/**", async (route) => {
      await late;
      await route.continue();
    });
    await page.setViewportSize({ width: 1280, height: 480 });
    await page.reload();
    const fromEnd = () => thread(page).evaluate((log) => log.scrollHeight - log.scrollTop - log.clientHeight);
    await picture.waitFor({ state: "attached" });
    await expect.poll(fromEnd).toBeLessThan(2);
    come();
    await expect.poll(() => picture.evaluate((img) => (img as HTMLImageElement).naturalWidth)).toBe(1);
    await expect.poll(fromEnd).toBeLessThan(2);

    // A reader who has scrolled up is moved to the message they send.
    await thread(page).evaluate((log) => void (log.scrollTop = 0));
    await expect.poll(fromEnd).toBeGreaterThan(90);
    await page.getByRole("textbox", { name: /^Reply to/u }).fill("That was your bill.");
    await page.getByRole("button", { name: "Send reply" }).click();
    await thread(page).getByText("That was your bill.").waitFor();
    await expect.poll(fromEnd).toBeLessThan(2);
  });

  it("asks before it sends a reply after an unseen message", async () => {
    const customer = await customerWrites(app, "unseen", "Where is my parcel?", "Mary Kenneth");
    await settled(app);
    const page = await open("anna");
    // The connection for live events is down.
    await page.route("**/inbox/api/events", (route) => route.abort());
    await page.goto(`${app.url}/inbox#/all/${customer.conversationId}`);
    await page.reload();
    pages.excuse("");
    await page.getByText("Not connected").waitFor();
    const field = page.getByRole("textbox", { name: "Reply to Mary Kenneth" });
    await field.fill("I will look for it.");
    await customer.write("It has just arrived, thanks!");
    await settled(app);
    await page.getByRole("button", { name: "Send reply" }).click();
    await page.getByText("Mary Kenneth wrote while you were writing").waitFor();
    await thread(page).getByText("It has just arrived, thanks!").waitFor();
    await expect.poll(() => field.inputValue()).toBe("I will look for it.");
    await page.getByRole("button", { name: "Send anyway" }).click();
    await thread(page).getByText("I will look for it.").waitFor();
    pages.excuse("ERR_FAILED");
  });

  it("tells the second of two agents that the first claimed the conversation", async () => {
    const customer = await customerWrites(app, "race", "Anybody?", "Alan Turing");
    await settled(app);
    const [anna, ben] = [await open("anna", {}, `#/all/${customer.conversationId}`), await open("ben")];
    await ben.route("**/inbox/api/events", (route) => route.abort());
    await ben.goto(`${app.url}/inbox#/all/${customer.conversationId}`);
    await ben.reload();
    await ben.getByRole("button", { name: "Claim" }).waitFor();
    await anna.getByRole("button", { name: "Claim" }).click();
    await anna.getByText("The conversation is yours.").waitFor();
    await ben.getByRole("button", { name: "Claim" }).click();
    await ben.getByText("Anna already claimed this conversation.").waitFor();
    await ben.getByRole("button", { name: "Take over" }).click();
    await ben.getByRole("dialog").getByRole("button", { name: "Take over" }).click();
    await anna.getByText("Ben has this conversation.").waitFor();
    pages.excuse("ERR_FAILED");
  });

  it("shows a customer's message as text, whatever it contains", async () => {
    const evil = `<img src=x onerror="document.title='owned'"> [click](javascript:alert(1)) <script>document.title='owned'</script>`;
    const customer = await customerWrites(app, "evil", evil, `<b onmouseover=alert(1)>Bobby</b>`);
    await settled(app);
    const page = await open("anna", {}, `#/all/${customer.conversationId}`);
    await thread(page).getByText("onerror").first().waitFor();
    await expect
      .poll(() => page.locator("#inbox img, #inbox script, #inbox b, #inbox a[href^='javascript']").count())
      .toBe(0);
    expect(await page.title()).not.toContain("owned");
  });

  it.each([320, 390])("fits a phone of %i pixels, one pane at a time", async (width) => {
    const customer = await customerWrites(
      app,
      `phone-${width}`,
      `My address is https://shop.example/${"very-long-".repeat(30)}`,
      `Phone Customer${width} ${"of the longest name ".repeat(4)}`,
    );
    await settled(app);
    const page = await open(
      "anna",
      { viewport: { width, height: 700 }, isMobile: true, hasTouch: true },
      "#/unassigned",
    );
    const entry = page.getByRole("link").filter({ hasText: `Customer${width}` });
    await entry.waitFor();
    expect(await sideways(page)).toBeLessThanOrEqual(0);
    const written = await entry.getByRole("time").boundingBox();
    expect((written?.x ?? width) + (written?.width ?? 0)).toBeLessThanOrEqual(width);
    await entry.tap();
    await thread(page).getByText("My address is").waitFor();
    await expect.poll(() => page.getByRole("searchbox").isVisible()).toBe(false);
    expect(await sideways(page)).toBeLessThanOrEqual(0);
    await page.getByRole("button", { name: "Snooze" }).tap();
    const menu = await page.getByRole("menu").boundingBox();
    expect(menu?.x).toBeGreaterThanOrEqual(0);
    expect((menu?.x ?? 0) + (menu?.width ?? 0)).toBeLessThanOrEqual(width);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Details", exact: true }).tap();
    await page.getByRole("heading", { name: "Tags" }).waitFor();
    expect(await sideways(page)).toBeLessThanOrEqual(0);
    await page.getByRole("button", { name: "Close details" }).tap();
    await page.getByRole("button", { name: "Back to the list" }).tap();
    await page.getByRole("searchbox").waitFor();
    expect((await statusOf(customer.conversationId)).status).toBe("open");
  });

  it("updates every window of a browser, and shows the sign-in page when the session has expired", async () => {
    const customer = await customerWrites(app, "windows", "First", "Radia Perlman");
    await settled(app);
    const page = await open("anna", {}, `#/all/${customer.conversationId}`);
    const second = await page.context().newPage();
    await second.goto(`${app.url}/inbox#/all/${customer.conversationId}`);
    await thread(second).getByText("First").first().waitFor();
    await customer.write("Second message");
    await thread(page).getByText("Second message").waitFor();
    await thread(second).getByText("Second message").waitFor();
    await page.close();
    await customer.write("Third message");
    await thread(second).getByText("Third message").waitFor();
    await app.store.write((tx) => tx.deleteFrom("agent_tokens").where("kind", "=", "session").execute());
    app.clock.advance(20_000);
    // Several requests may redirect at once, and waitForURL fails on a navigation that another replaces.
    await expect.poll(() => second.url()).toBe(`${app.url}/inbox/login#/all/${customer.conversationId}`);
    pages.excuse("401");
  });

  it("names every control, and shows the focus", async () => {
    const customer = await customerWrites(app, "controls", "Hello", "Edith Clarke");
    await settled(app);
    const page = await open("anna", {}, `#/all/${customer.conversationId}`);
    await thread(page).getByText("Hello").first().waitFor();
    const nameless = await page.evaluate(() =>
      [...document.querySelectorAll("button, a[href], input, textarea, select")]
        .filter((node) => {
          const label = node.getAttribute("aria-label") ?? node.textContent ?? "";
          const labels = "labels" in node && node.labels instanceof NodeList ? node.labels.length : 0;
          return label.trim() === "" && labels === 0;
        })
        .map((node) => node.outerHTML.slice(0, 120)),
    );
    expect(nameless).toEqual([]);
    for (let step = 0; step < 12; step += 1) {
      await page.keyboard.press("Tab");
      const visible = await page.evaluate(() => {
        const node = document.activeElement;
        if (node === null || node === document.body) return true;
        const frame = node.closest(".search, .composer") ?? node;
        const { outlineStyle } = getComputedStyle(node);
        return outlineStyle !== "none" || getComputedStyle(frame).boxShadow !== "none";
      });
      expect(visible).toBe(true);
    }
  });

  it("shows how long a customer on WhatsApp can get replies, and what happens to later ones", async () => {
    const customer = await customerWrites(app, "whatsapp", "Hello by WhatsApp", "Wanda");
    const account = newId("acc", app.clock.now());
    const wrote = (at: number) =>
      app.store.write((tx) =>
        tx
          .updateTable("conversations")
          .set({ account_id: account, channel: "whatsapp", customer_wrote_at: at })
          .where("id", "=", customer.conversationId)
          .execute(),
      );
    await app.store.write((tx) =>
      tx
        .insertInto("accounts")
        .values({
          id: account,
          workspace_id: app.workspace.id,
          channel: "whatsapp",
          name: "whatsapp",
          config: JSON.stringify({
            account_sid: `AC${"0".repeat(32)}`,
            auth_token: "a".repeat(32),
            from: "+15550001111",
            base_url: "http://127.0.0.1:9",
          }),
          credentials: null,
          managed_by: "dashboard",
          enabled: 1,
          created_at: app.clock.now(),
        })
        .execute(),
    );
    await wrote(app.clock.now() - 2 * 3_600_000);
    const page = await open("anna", {}, `#/all/${customer.conversationId}`);
    await page.getByText(/Free replies: 2[12] h [0-9]+ min left/).waitFor();
    // WhatsApp is unreachable after the sent messages: waiting replies can still be edited.
    const field = page.getByRole("textbox", { name: /^Reply to/ });
    await field.fill("Thre days.");
    await field.press("Control+Enter");
    await page.getByRole("button", { name: "Delete your reply" }).waitFor();
    await page.getByRole("button", { name: "Edit your reply" }).click();
    await page.getByRole("textbox", { name: "Your reply, as it is to be" }).fill("Three days.");
    await page.keyboard.press("Control+Enter");
    await thread(page).getByText("Being changed…").waitFor();
    await wrote(app.clock.now() - 25 * 3_600_000);
    await page.reload();
    await page.getByText("it then takes a template only. A reply cannot be sent until they write again.").waitFor();
    await expect.poll(() => page.getByText("Free replies").count()).toBe(0);
  });
}
