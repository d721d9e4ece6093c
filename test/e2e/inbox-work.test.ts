import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { buildBrowserCode } from "#web/build.ts";
import { accessibilityViolations } from "../support/accessibility.ts";
import type { TestApp } from "../support/http/app.ts";
import { startApp } from "../support/http/app.ts";
import { noBrowser, openBrowser } from "../support/browser.ts";
import { newSqlite } from "../support/database/databases.ts";
import { addAgent, asked, password } from "../support/http/inbox.ts";
import { createInboxPages, focusIn } from "../support/http/inbox-pages.ts";
import { skipped } from "../support/skipped.ts";

const name = "a day's work in the inbox";

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

  it("shows the message that a customer answers above theirs, and who wrote a forwarded one", async () => {
    const { conversationId: id, thread: key } = await asked(app, "Una", "How long does delivery take?", "Una");
    const { account_id: accountId } = await app.store.read
      .selectFrom("conversations")
      .select("account_id")
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
    const verified = { userId: key, name: "Una", email: `${key}@customers.example` };
    const message = { kind: "message", thread: key, sender: { key, verified }, sentAt: app.clock.now() } as const;
    const first = { ...message, externalId: "una-2", text: "The red one" };
    const answer = { ...message, externalId: "una-3", text: "And in blue?" };
    await app.engine.ingest(accountId, first);
    await app.engine.ingest(accountId, { ...answer, refersTo: { externalIds: ["una-2"] } });
    await app.engine.ingest(accountId, {
      ...message,
      externalId: "una-4",
      text: "Or this?",
      refersTo: { externalIds: [], text: "A kettle with a lid. ".repeat(40) },
    });
    await app.engine.ingest(accountId, {
      ...message,
      externalId: "una-5",
      text: "It broke",
      forwarded: { from: `Bob ${"Bobson".repeat(20)}` },
    });
    const page = await open("anna", { viewport: { width: 400, height: 800 } }, `#/all/${id}`);
    const shown = thread(page).getByRole("blockquote");
    await expect
      .poll(() => shown.allInnerTexts())
      .toEqual([
        expect.stringMatching(/^In reply to:\s+Una\s+The red one$/u),
        expect.stringMatching(/^In reply to:\s+A kettle with a lid/u),
      ]);
    await thread(page).getByText("Forwarded from Bob Bobson").waitFor();
    expect(await sideways(page)).toBe(0);
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  it("opens the next conversation after Resolve, and undoes it with u", async () => {
    const made = [];
    for (const label of ["Ida One", "Ida Two", "Ida Three"]) made.push(await asked(app, label, "Hello?", label));
    const [one = "", two = ""] = made.map(({ conversationId }) => conversationId);
    await app.engine.applyAction(
      app.workspace.id,
      two,
      { kind: "claim" },
      { email: "anna@shop.example", name: "Anna" },
    );
    await app.engine.applyAction(
      app.workspace.id,
      one,
      { kind: "claim" },
      { email: "anna@shop.example", name: "Anna" },
    );
    const page = await open("anna", {}, `#/mine/${two}`);
    const heading = (label: string) => page.getByRole("heading", { name: label });
    await heading("Ida Two").waitFor();
    await page.getByRole("link", { name: "Ida One" }).waitFor();
    await page.getByRole("button", { name: "Resolve" }).focus();
    await page.keyboard.press("Enter");
    await heading("Ida One").waitFor();
    await expect.poll(() => focusIn(page)).toBe("H2 Ida One");
    expect(await statusOf(two)).toEqual({ status: "resolved", assigned_to: "anna@shop.example" });
    await page.keyboard.press("u");
    await heading("Ida Two").waitFor();
    expect(await statusOf(two)).toEqual({ status: "claimed", assigned_to: "anna@shop.example" });
    await expect.poll(() => focusIn(page)).toBe("H2 Ida Two");
    // Redrawn with another status, and hidden while it loads: the focus stays in the conversation.
    await page.getByRole("button", { name: "Resolve" }).click();
    await heading("Ida One").waitFor();
    const undo = page.getByRole("button", { name: "Undo" });
    await undo.waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await undo.click();
    await heading("Ida Two").waitFor();
    await expect.poll(() => focusIn(page)).toBe("H2 Ida Two");
    await page
      .getByText(/^Anna .*took the resolve back$/u)
      .first()
      .waitFor();
    await page.keyboard.press("u");
    await page.getByText("There is nothing to undo.").waitFor();
    // Undoes several at once, but not the conversation resolved separately before.
    await page.getByRole("button", { name: "Resolve" }).click();
    await heading("Ida One").waitFor();
    await page.getByRole("button", { name: "Choose several" }).click();
    await page.getByRole("checkbox", { name: "Choose Ida One" }).click();
    await page.getByRole("group", { name: "Chosen conversations" }).getByRole("button", { name: "Resolve" }).click();
    await page.getByText("1 conversation resolved.").waitFor();
    // The list is empty, so the focus moves to the search field, where u is a letter.
    await expect.poll(() => focusIn(page)).toContain("INPUT");
    await page.keyboard.press("Escape");
    await page.keyboard.press("u");
    await page.getByText("There is nothing to undo.").waitFor();
    expect((await statusOf(two)).status).toBe("resolved");
    await page.getByRole("link", { name: "Resolved" }).press("Enter");
    await page.waitForURL(/#\/resolved/u);
    await expect.poll(() => focusIn(page)).toContain("A Resolved");
  });

  it("removes the built-in manual by a click and a confirmation, for an admin", async () => {
    await app.learn("troubleshooting.md", "# Troubleshooting\n\nRestart the server.\n");
    const anna = "anna@shop.example";
    await app.store.write(async (tx) => {
      await tx.updateTable("documents").set({ indexed_at: 1 }).where("title", "=", "Troubleshooting").execute();
      await tx.updateTable("agents").set({ role: "admin" }).where("email", "=", anna).execute();
    });
    const page = await open("anna");
    const remove = page.getByRole("button", { name: "Remove the built-in manual" });
    const titles = async () =>
      (await app.store.read.selectFrom("documents").select("title").execute()).map(({ title }) => title);
    await remove.click();
    await page.getByRole("button", { name: "Keep it" }).click();
    expect(await titles()).toContain("Troubleshooting");
    await remove.click();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await page.getByText("The built-in manual was removed.").waitFor();
    await remove.waitFor({ state: "detached" });
    expect(await titles()).not.toContain("Troubleshooting");
    await page.reload();
    await page.getByRole("navigation", { name: "Views" }).waitFor();
    await expect.poll(() => remove.count()).toBe(0);
    await app.store.write((tx) => tx.updateTable("agents").set({ role: "agent" }).where("email", "=", anna).execute());
  });

  it("lists the most urgent first, and keeps the agent's chosen order after a reload", async () => {
    const made = [];
    for (const label of ["Uri Late", "Uri New"]) {
      made.push((await asked(app, label, "I want to talk to a human", label)).conversationId);
      app.clock.advance(61 * 60_000);
    }
    const page = await open("anna", {}, `#/escalated/${made[1]}`);
    const names = () => page.locator(".conversations .customer").allTextContents();
    const shown = async () => (await names()).filter((each) => each.startsWith("Uri"));
    await expect.poll(shown).toEqual(["Uri Late", "Uri New"]);
    await expect
      .poll(() => page.locator(".item", { hasText: "Uri New" }).locator(".preview").textContent())
      .toBe("I want to talk to a human");
    await page.getByRole("textbox", { name: /^Reply to/u }).fill("Half a sent");
    await page.locator(".item", { hasText: "Uri New" }).locator(".draft-mark").waitFor();
    await page.getByRole("button", { name: "Sorted by: Most urgent first" }).click();
    await page.getByRole("menuitemradio", { name: "Latest message first" }).press("Enter");
    await expect.poll(shown).toEqual(["Uri New", "Uri Late"]);
    await page.reload();
    await expect.poll(shown).toEqual(["Uri New", "Uri Late"]);
    await page.getByRole("button", { name: "Sorted by: Latest message first" }).click();
    await page.getByRole("menuitemradio", { name: "Most urgent first" }).click();
    await expect.poll(shown).toEqual(["Uri Late", "Uri New"]);
  });

  it("sends with Ctrl+Enter after a file was attached, also during the upload", async () => {
    const { conversationId: id } = await asked(app, "attached", "Where is my bill?", "Ina Clip");
    const page = await open("anna", {}, `#/all/${id}`);
    const field = page.getByRole("textbox", { name: "Reply to Ina Clip" });
    await field.fill("Here it is.");
    const attach = async (file: string) => {
      const chooser = page.waitForEvent("filechooser");
      await page.getByRole("button", { name: "Attach files" }).click();
      await (await chooser).setFiles([{ name: file, mimeType: "text/plain", buffer: Buffer.from("bill") }]);
    };
    await attach("bill.txt");
    await page.getByRole("button", { name: "Remove bill.txt" }).waitFor();
    await page.keyboard.press("Control+Enter");
    await thread(page).getByRole("link", { name: "bill.txt" }).waitFor();
    await expect.poll(() => field.inputValue()).toBe("");

    let go = (): void => undefined;
    const held = new Promise<void>((resolve) => (go = resolve));
    await page.route("**/inbox/api/conversations/*/files?*", async (route) => (await held, route.continue()));
    await attach("late.txt");
    await page.keyboard.type("And the other.");
    await page.keyboard.press("Control+Enter");
    await page.getByText("The reply is sent when its files are uploaded.").waitFor();
    go();
    await thread(page).getByText("And the other.").waitFor();
    await thread(page).getByRole("link", { name: "late.txt" }).waitFor();
    await page.keyboard.press("Escape");
    expect(await focusIn(page)).toContain("DIV");
    await field.fill("Gone");
    await attach("third.txt");
    await page.getByRole("button", { name: "Remove third.txt" }).press("Enter");
    await expect.poll(() => focusIn(page)).toContain("TEXTAREA");
  });

  it("shows what the customer gets where that differs from what is typed", async () => {
    const { conversationId: id } = await asked(app, "typed", "How do I divert calls?", "Ida Typed");
    const page = await open("anna", {}, `#/all/${id}`);
    const field = page.getByRole("textbox", { name: "Reply to Ida Typed" });
    const shown = page.getByRole("region", { name: "The customer gets" });
    await field.fill("Dial *21*number#, or **call** us:\n\n1. Wait.\n2. Say your name.");
    await shown.getByText("Dial *21*number#, or call us:").waitFor();
    expect(await shown.getByRole("listitem").allTextContents()).toEqual(["Wait.", "Say your name."]);
    // Signs that arrive as they were typed are asked about, and shown by nothing.
    const answer = page.waitForResponse(/\/preview$/u);
    await field.fill("Dial *21*number#.");
    expect(await (await answer).json()).toEqual({ blocks: null, texts: null });
    await expect.poll(() => shown.count()).toBe(0);
    await field.fill("Use **both** hands.");
    await shown.waitFor();
    await page.getByRole("button", { name: "Note", exact: true }).click();
    await expect.poll(() => shown.count()).toBe(0);
  });

  it("requests only the list that the address names", async () => {
    await asked(app, "address", "How long does delivery take?", "Ada Address");
    const page = await open("anna", {}, "#/all");
    const lists: string[] = [];
    page.on("request", (request) => {
      if (request.url().includes("/conversations?")) lists.push(new URL(request.url()).searchParams.get("view") ?? "");
    });
    await page.reload();
    await page.getByRole("link", { name: "Ada Address" }).waitFor();
    expect(new Set(lists)).toEqual(new Set(["all"]));
  });

  it("leaves room to read at a zoom of 400 percent, with a long reply", async () => {
    const { conversationId: id } = await asked(app, "zoom", "How long does delivery take?", "Zoe Zoom");
    const page = await open("anna", { viewport: { width: 320, height: 256 } }, `#/all/${id}`);
    const field = page.getByRole("textbox", { name: "Reply to Zoe Zoom" });
    await field.fill("line\n".repeat(20));
    await expect.poll(() => sideways(page)).toBeLessThanOrEqual(0);
    await expect.poll(async () => (await thread(page).boundingBox())?.height).toBeGreaterThanOrEqual(90);
    // The rest is reached by scrolling, and nothing covers the messages.
    const [messages, form] = [await thread(page).boundingBox(), await page.locator(".composer").boundingBox()];
    expect(form?.y).toBeGreaterThanOrEqual((messages?.y ?? 0) + (messages?.height ?? 0));
    await page.getByRole("button", { name: "Send reply" }).click();
    await thread(page).locator(".agent").getByText("line").first().waitFor();
  });

  it("opens a conversation from the list at a zoom of 400 percent, with a left-to-right title", async () => {
    await asked(app, "list zoom", "I want to talk to a human", "דנה כהן");
    const page = await open("anna", { viewport: { width: 320, height: 200 } });
    await page.getByRole("link", { name: "דנה כהן" }).click();
    await thread(page).getByText("I want to talk to a human").waitFor();
    await expect.poll(() => page.title()).toMatch(/^\u200e\(\d+\) דנה כהן · Test$/u);
  });

  it("replies to one message by keyboard, and shows which one", async () => {
    const { conversationId: id } = await asked(app, "Olga", "How long does delivery take?", "Olga");
    const page = await open("anna", {}, `#/all/${id}`);
    const answer = () => thread(page).getByRole("button", { name: "Reply to this message of Olga" });
    await answer().focus();
    await page.keyboard.press("Enter");
    const field = page.getByRole("textbox", { name: "Reply to Olga" });
    await expect.poll(() => focusIn(page)).toBe("TEXTAREA Reply to Olga");
    const chosen = page.locator(".composer .reference");
    expect(await chosen.textContent()).toContain("How long does delivery take?");
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Reply to no message in particular" }).click();
    expect(await chosen.count()).toBe(0);
    await answer().click();
    await page.reload();
    await field.fill("Four days, Olga.");
    await page.keyboard.press("Control+Enter");
    const sent = thread(page).getByRole("article").filter({ hasText: "Four days, Olga." });
    await sent.waitFor();
    expect(await sent.locator(".reference").textContent()).toContain("How long does delivery take?");
    expect(await chosen.count()).toBe(0);
  });

  it("shows the full names of the workspaces at sign-in", async () => {
    const other = await app.createWorkspace();
    const longName = "Kettles and Teapots of the Northern Harbour Company Limited";
    await app.store.write((tx) =>
      tx.updateTable("workspaces").set({ name: longName }).where("id", "=", other.id).execute(),
    );
    for (const id of [app.workspace.id, other.id]) await addAgent(app, "Ada", id);
    const page = await browser.newPage({ viewport: { width: 320, height: 640 } });
    await page.goto(`${app.url}/inbox`);
    await page.getByLabel("E-mail address").fill("ada@shop.example");
    await page.getByLabel("Password").fill(password);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: longName }).waitFor();
    expect(await sideways(page)).toBeLessThanOrEqual(0);
    await page.getByRole("button", { name: longName }).click();
    await page.getByRole("heading", { name: `Inbox of ${longName}` }).waitFor();
    await page.close();
  });
}
