import type { Browser, Page, Request } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { ListPage } from "#http/inbox/wire.ts";
import { buildBrowserCode } from "#web/build.ts";
import type { TestApp } from "../support/http/app.ts";
import { startApp } from "../support/http/app.ts";
import { noBrowser, openBrowser } from "../support/browser.ts";
import { newSqlite } from "../support/database/databases.ts";
import { seedConversations } from "../support/database/conversation-rows.ts";
import { addAgent, asked, password } from "../support/http/inbox.ts";
import { createInboxPages, focusIn } from "../support/http/inbox-pages.ts";
import { skipped } from "../support/skipped.ts";

const name = "two agents in their browsers";

if (noBrowser === undefined) describe(name, inTheirBrowsers);
else skipped(name, noBrowser);

function inTheirBrowsers(): void {
  let app: TestApp;
  let browser: Browser;
  const pages = createInboxPages(
    () => browser,
    () => app,
  );

  beforeAll(async () => {
    await buildBrowserCode();
    app = await startApp(newSqlite, {
      settings: {
        savedReplies: {
          refund: "Hello {customer}, your money is on its way. {agent}",
          bye: "All the best, {agent}",
          ...Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`many-${i}`, "{customer}, one of many."])),
        },
      },
    });
    await addAgent(app, "Anna");
    await addAgent(app, "Ben");
    browser = await openBrowser();
  });
  afterEach(async () => expect(await pages.close()).toEqual([]));
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  const stateOf = (id: string) =>
    app.store.read
      .selectFrom("conversations")
      .select(["status", "assigned_to"])
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
  const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent.trim());

  it("assigns a conversation to a colleague by keyboard, who gets a notice with a link", async () => {
    const { conversationId: id } = await asked(app, "given", "How long does delivery take?", "Ada Byron");
    const [anna, ben] = [await pages.open("anna", {}, `#/all/${id}`), await pages.open("ben")];
    await anna.getByRole("button", { name: "Assigned to: Nobody" }).waitFor();
    await anna.keyboard.press("a");
    await anna.getByRole("menuitemradio", { name: "Nobody", checked: true }).waitFor();
    await anna.keyboard.press("b");
    expect(await focused(anna)).toBe("Ben");
    await anna.keyboard.press("Enter");
    await anna.getByText("Assigned to Ben, who is told of it.").waitFor();
    expect(await focused(anna)).toBe("Ben");
    expect(await stateOf(id)).toEqual({ status: "claimed", assigned_to: "ben@shop.example" });
    await ben.getByText("Anna assigned the conversation with Ada Byron to you.").waitFor();
    await ben.getByRole("link", { name: "Open it" }).click();
    await ben.getByRole("heading", { name: "Ada Byron" }).waitFor();
    await ben.getByText("Anna assigned it to Ben").waitFor();
    await ben.getByRole("button", { name: "Assigned to: Ben (you)" }).waitFor();
  });

  it("inserts a saved reply by its name, with the names filled in, without sending it", async () => {
    const { conversationId: id } = await asked(app, "saved", "How long does delivery take?", "Grace Hopper");
    const page = await pages.open("anna", {}, `#/all/${id}`);
    const field = page.getByRole("textbox", { name: "Reply to Grace Hopper" });
    const choices = page.getByRole("listbox", { name: "Saved replies" }).getByRole("option");
    await field.fill("1/2 of it: ");
    await page.getByRole("button", { name: "Saved replies" }).click();
    await page.getByText("11 saved replies, the first 8 are listed").waitFor();
    await expect.poll(() => choices.count()).toBe(8);
    await page.keyboard.type("re");
    await expect.poll(() => choices.count()).toBe(1);
    await page.keyboard.press("Control+Enter");
    await expect.poll(() => field.inputValue()).toBe("1/2 of it: Hello Grace Hopper, your money is on its way. Anna");
    await expect.poll(() => choices.count()).toBe(0);
    expect((await stateOf(id)).status).toBe("open");
    await page.reload();
    await expect.poll(() => field.inputValue()).toContain("Hello Grace Hopper");
    const { conversationId: nameless } = await asked(app, "nameless");
    await page.goto(`${app.url}/inbox#/all/${nameless}`);
    const other = page.getByRole("textbox", { name: "Reply to Visitor" });
    await other.pressSequentially("/refund");
    await page.keyboard.press("Enter");
    await expect.poll(() => other.inputValue()).toBe("Hello, your money is on its way. Anna");
    await other.fill("");
    await other.pressSequentially("/many-0");
    await page.keyboard.press("Enter");
    await expect.poll(() => other.inputValue()).toBe("One of many.");
    const { conversationId: marked } = await asked(app, "marked", "How long?", "_Ann_ [x](y) {agent}");
    await page.goto(`${app.url}/inbox#/all/${marked}`);
    const third = page.getByRole("textbox", { name: "Reply to _Ann_ [x](y) {agent}" });
    await third.pressSequentially("/refund");
    await page.keyboard.press("Enter");
    const escaped = String.raw`Hello \_Ann\_ \[x\](y) {agent}, your money is on its way. Anna`;
    await expect.poll(() => third.inputValue()).toBe(escaped);
    await page.goto(`${app.url}/inbox#/all/${nameless}`);
    await other.fill("");
    await other.pressSequentially("/");
    await expect.poll(() => choices.count()).toBe(8);
    await page.keyboard.press("Escape");
    await expect.poll(() => choices.count()).toBe(0);
    expect(await other.evaluate((element) => element === document.activeElement)).toBe(true);
    await other.pressSequentially(" /");
    await expect.poll(() => choices.count()).toBe(8);
    // A click outside closes the list and does not return the focus to the field.
    await page.getByRole("heading", { name: "Details" }).click();
    await expect.poll(() => choices.count()).toBe(0);
    expect(await focusIn(page)).toBe("BODY");
  });

  it("holds a reply whose file could not be uploaded, and keeps its text", async () => {
    const { conversationId: id } = await asked(app, "upload", "How long does delivery take?", "Ida Rhodes");
    const page = await pages.open("anna", {}, `#/all/${id}`);
    const field = page.getByRole("textbox", { name: "Reply to Ida Rhodes" });
    await field.fill("It is attached.");
    await page.route("**/files?*", (route) => route.abort(), { times: 1 });
    await page
      .getByLabel("Files to attach")
      .setInputFiles({ name: "plan.txt", mimeType: "text/plain", buffer: Buffer.from("plan") });
    await page.getByText("Not attached: The connection broke.").waitFor();
    pages.excuse("ERR_FAILED");
    await field.press("Control+Enter");
    await expect.poll(() => page.getByRole("button", { name: "Send reply" }).isDisabled()).toBe(true);
    await expect.poll(() => field.inputValue()).toBe("It is attached.");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("button", { name: "Remove plan.txt" }).waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Send reply" }).isEnabled()).toBe(true);
    await field.press("Control+Enter");
    await page.locator("article").getByText("plan.txt").waitFor();
    await expect.poll(() => field.inputValue()).toBe("");
  });

  it("changes several conversations by keyboard, and reports those that a colleague changed first", async () => {
    const made = [await asked(app, "many-1", "One?", "Kim One"), await asked(app, "many-2", "Two?", "Kim Two")];
    const [one = "", two = ""] = made.map(({ conversationId }) => conversationId);
    const page = await pages.open("anna", {}, "#/open");
    await page.getByRole("link", { name: "Kim One" }).waitFor();
    for (const label of ["Kim One", "Kim Two"]) {
      await page.getByRole("link", { name: label }).focus();
      await page.keyboard.press("x");
    }
    const bar = page.getByRole("group", { name: "Chosen conversations" });
    await bar.getByText("2 chosen").waitFor();
    // The action uses the list as shown, so it must not be refreshed.
    await page.route("**/inbox/api/conversations?*", () => undefined);
    await app.engine.applyAction(app.workspace.id, two, { kind: "claim" }, { email: "ben@shop.example", name: "Ben" });
    await bar.getByRole("button", { name: "Resolve" }).click();
    await page.getByText("1 conversation resolved.").waitFor();
    await bar.getByText("Kim Two: Ben already claimed this conversation.").waitFor();
    await bar.getByText("1 conversation could not be changed:").waitFor();
    expect([(await stateOf(one)).status, (await stateOf(two)).status]).toEqual(["resolved", "claimed"]);
    // An action that ends after the bar was closed is reported in a passing notice, not in the next bar.
    await page.keyboard.press("Escape");
    await expect.poll(() => bar.isVisible()).toBe(false);
    await page.getByRole("link", { name: "Kim Two" }).focus();
    await page.keyboard.press("x");
    let go = (): void => undefined;
    const held = new Promise<void>((resolve) => (go = resolve));
    await page.route("**/inbox/api/bulk", async (route) => (await held, route.continue()));
    await bar.getByRole("button", { name: "Resolve" }).click();
    await page.keyboard.press("Escape");
    await expect.poll(() => bar.isVisible()).toBe(false);
    await page.getByRole("button", { name: "Choose several" }).click();
    go();
    await page.getByText("1 conversation could not be changed.").waitFor();
    await expect.poll(() => bar.getByText("could not be changed").count()).toBe(0);
  });

  it("keeps the selection after a change, for the next one", async () => {
    const made = [await asked(app, "keep-1", "One?", "Lu One"), await asked(app, "keep-2", "Two?", "Lu Two")];
    const page = await pages.open("anna", {}, "#/open");
    for (const label of ["Lu One", "Lu Two"]) {
      await page.getByRole("link", { name: label }).focus();
      await page.keyboard.press("x");
    }
    const bar = page.getByRole("group", { name: "Chosen conversations" });
    await bar.getByRole("textbox", { name: "Add a tag" }).fill("vip");
    await page.keyboard.press("Enter");
    await page.getByText("2 conversations tagged vip.").waitFor();
    await bar.getByText("2 chosen").waitFor();
    expect(await focusIn(page)).toContain("Add a tag");
    await bar.getByRole("button", { name: "Resolve" }).press("Enter");
    await page.getByText("2 conversations resolved.").waitFor();
    // The conversations have left this view, so nothing is selected.
    await expect.poll(() => bar.isVisible()).toBe(false);
    await expect.poll(() => focusIn(page)).not.toBe("BODY");
    for (const { conversationId } of made) expect((await stateOf(conversationId)).status).toBe("resolved");
  });

  it("leaves letters to the search field, which ends the selection", async () => {
    const { conversationId: id } = await asked(app, "letters", "Seasonal offers?", "Lin Search");
    const page = await pages.open("anna", {}, `#/open/${id}`);
    await page.getByRole("link", { name: "Lin Search" }).focus();
    await page.keyboard.press("x");
    const bar = page.getByRole("group", { name: "Chosen conversations" });
    await bar.getByText("1 chosen").waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("S");
    await expect.poll(() => bar.isVisible()).toBe(false);
    await page.keyboard.type("ea");
    await expect.poll(() => page.getByRole("searchbox").inputValue()).toBe("Sea");
    expect((await stateOf(id)).status).toBe("open");
  });

  it("offers colleagues and saved replies in each window of a browser", async () => {
    const { conversationId: id } = await asked(app, "windows", "How long does delivery take?", "Wanda Two");
    const first = await pages.open("anna", {}, `#/all/${id}`);
    await first.getByRole("button", { name: "Saved replies" }).waitFor();
    const second = await first.context().newPage();
    await second.goto(`${app.url}/inbox#/all/${id}`);
    await second.getByRole("button", { name: "Saved replies" }).waitFor();
    const ben = second.getByRole("menuitemradio", { name: "Ben" });
    // Opens, closes and opens the menu: the agents may be loaded after the page is shown.
    const offered = async () => {
      await second.getByRole("button", { name: "Assigned to: Nobody" }).click();
      return ben.count();
    };
    await expect.poll(offered).toBe(1);
  });

  it("does not reassign a conversation that a colleague claimed before the assignment was chosen", async () => {
    const { conversationId: id } = await asked(app, "chosen", "How long does delivery take?", "Mary Menu");
    const page = await pages.open("anna", {}, `#/all/${id}`);
    await page.getByRole("button", { name: "Assigned to: Nobody" }).click();
    const anna = page.getByRole("menuitemradio", { name: "Anna (you)" });
    await anna.waitFor();
    await app.engine.applyAction(app.workspace.id, id, { kind: "claim" }, { email: "ben@shop.example", name: "Ben" });
    await page.getByRole("button", { name: "Assigned to: Ben" }).waitFor();
    await anna.click();
    await page.getByText("Ben already claimed this conversation.").waitFor();
    expect((await stateOf(id)).assigned_to).toBe("ben@shop.example");
  });

  it("opens a linked conversation after the sign-in, and returns to it when the session has expired", async () => {
    const { conversationId: id } = await asked(app, "linked", "How long does delivery take?", "Joan Clarke");
    const page = await pages.open("anna");
    const signInAgain = async () => {
      await page.getByLabel("E-mail address").fill("anna@shop.example");
      for (const typed of ["not this one, but as long", password]) {
        await page.getByLabel("Password").fill(typed);
        await page.getByRole("button", { name: "Sign in" }).click();
        await page.waitForLoadState();
      }
      await page.getByRole("heading", { name: "Joan Clarke" }).waitFor();
    };
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Password").waitFor();
    await page.goto("about:blank");
    await page.goto(`${app.url}/inbox#/all/${id}`);
    await signInAgain();
    const field = page.getByRole("textbox", { name: "Reply to Joan Clarke" });
    await field.fill("Written with care");
    await app.store.write((tx) => tx.deleteFrom("agent_tokens").where("kind", "=", "session").execute());
    // The first request of the page that fails may be any.
    await page.keyboard.press("Control+Enter");
    await page.getByLabel("Password").waitFor();
    await signInAgain();
    await expect.poll(() => field.inputValue()).toBe("Written with care");
    pages.excuse("401");
  });

  it("shows a draft in every window of a browser, and clears it everywhere once it is sent", async () => {
    const { conversationId: id } = await asked(app, "twice", "How long does delivery take?", "Mary Shelley");
    const one = await pages.open("anna", {}, `#/all/${id}`);
    const two = await one.context().newPage();
    await two.goto(`${app.url}/inbox#/all/${id}`);
    const field = (page: Page) => page.getByRole("textbox", { name: "Reply to Mary Shelley" });
    await field(two).waitFor();
    await field(one).fill("Three days");
    await expect.poll(() => field(two).inputValue()).toBe("Three days");
    await field(two).fill("Three days, or five.");
    await field(two).press("Control+Enter");
    await two.getByRole("log").getByText("Three days, or five.").waitFor();
    await expect.poll(() => field(one).inputValue()).toBe("");
    await expect.poll(() => one.getByRole("button", { name: "Send reply" }).isDisabled()).toBe(true);
  });

  it("truncates no text that is too long for a reply, and reports the excess", async () => {
    const { conversationId: id } = await asked(app, "long", "How long does delivery take?", "Edith Clarke");
    const page = await pages.open("anna", {}, `#/all/${id}`);
    const field = page.getByRole("textbox", { name: "Reply to Edith Clarke" });
    const paste = (text: string) => page.keyboard.insertText(text);
    await field.focus();
    await paste("x".repeat(10_000));
    await paste("yz");
    expect((await field.inputValue()).slice(-3)).toBe("xyz");
    await page.getByText("Too long by 2 characters.").waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Send reply" }).isDisabled()).toBe(true);
    await page.keyboard.press("Backspace");
    await page.keyboard.press("Backspace");
    await field.press("Control+Enter");
    await page.getByRole("button", { name: "Edit your reply" }).click();
    await paste("yz");
    await page.getByText("Too long by 2 characters.").waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Save", exact: true }).isDisabled()).toBe(true);
  });

  /**
   * A page with notifications on. The test records the notifications that the page creates, since the system does not
   * show them.
   */
  async function openNotified(hash = "") {
    const page = await pages.open("anna", {}, hash);
    const made: string[] = [];
    await page.exposeFunction("record", (text: string) => void made.push(text));
    await page.addInitScript(() => {
      const held = window as unknown as { record(text: string): void; last: Notification };
      window.Notification = class extends Notification {
        // The headless shell has no permissions.
        static override readonly permission = "granted";
        constructor(title: string, options?: NotificationOptions) {
          super(title, options);
          held.last = this;
          held.record(`${title}: ${options?.body ?? ""}`);
        }
      };
    });
    await page.clock.install();
    await page.context().grantPermissions(["notifications"], { origin: app.url });
    await page.reload();
    const bell = page.getByRole("button", { name: "Notifications" });
    await expect.poll(() => bell.getAttribute("aria-pressed")).toBe("false");
    await bell.click();
    await expect
      .poll(() => made)
      .toEqual(["Notifications are on: You are told here what waits for you while you look elsewhere."]);
    made.length = 0;
    await expect.poll(() => bell.getAttribute("aria-pressed")).toBe("true");
    // Only polls request the list of this view.
    const isPoll = (request: Request): boolean => request.url().endsWith("view=mine");
    let pollsBegun = 0;
    let polls = 0;
    page.on("request", (request) => void (pollsBegun += isPoll(request) ? 1 : 0));
    page.on("requestfinished", (request) => void (polls += isPoll(request) ? 1 : 0));
    /** Counts the page's polls, pending ones included. */
    const countPolls = async (): Promise<number> => {
      await page.clock.fastForward(2_000);
      await page.evaluate(async () => void (await fetch(location.pathname)));
      return pollsBegun;
    };
    const looksAt = (here: boolean, visible = true) =>
      page.evaluate(
        ([isHere, isVisible]) => {
          document.hasFocus = () => isHere;
          Object.defineProperty(document, "visibilityState", {
            configurable: true,
            value: isVisible ? "visible" : "hidden",
          });
          dispatchEvent(new Event(isHere ? "focus" : "blur"));
        },
        [here, visible] as const,
      );
    /** Hides the page, and waits until it has seen the current state. */
    const lookAway = async (visible = true): Promise<void> => {
      const before = polls;
      await looksAt(false, visible);
      await expect.poll(() => polls).toBe(before + 1);
      await page.evaluate(() => undefined);
    };
    return { page, bell, made, countPolls, polls: () => polls, comesBack: () => looksAt(true), lookAway };
  }

  it("notifies an agent who looks elsewhere about waiting conversations, with links", async () => {
    const customer = await asked(app, "told", "How long does delivery take?", "Ida Rhodes");
    const { page, bell, made, countPolls, comesBack, lookAway } = await openNotified();
    const writes = async (text: string): Promise<void> => {
      app.clock.advance(5_000);
      await customer.write(text);
    };
    await lookAway();
    await writes("I want to talk to a human");
    await expect.poll(() => made.length).toBe(1);
    expect(made.splice(0).join()).toContain("Ida Rhodes waits for a person: ");
    await comesBack();
    const before = await countPolls();
    await page.evaluate(() => (window as unknown as { last: Notification }).last.dispatchEvent(new Event("click")));
    await page.getByRole("heading", { name: "Ida Rhodes" }).waitFor();
    await page.getByRole("button", { name: "Claim" }).click();
    await page.getByText("The conversation is yours.").waitFor();
    await writes("Seen as it comes");
    await page.getByRole("log").getByText("Seen as it comes").waitFor();
    app.clock.advance(5_000);
    const listed = page.waitForResponse(
      async (one) => one.url().includes("view=escalated") && ((await one.json()) as ListPage).now >= app.clock.now(),
    );
    await asked(app, "later", "How long does delivery take?");
    await (await listed).finished();
    expect(await countPolls()).toBe(before);
    await lookAway();
    await writes("Are you there?");
    await expect.poll(() => made).toEqual(["Ida Rhodes wrote: Are you there?"]);
    await page.reload();
    await expect.poll(() => bell.getAttribute("aria-pressed")).toBe("true");
    await bell.click();
    await expect.poll(() => bell.getAttribute("aria-pressed")).toBe("false");
  });

  it("notifies about new conversations only, if more than a page wait, and polls rarely while hidden", async () => {
    const startedAt = app.clock.now();
    const workspaceId = app.workspace.id;
    await seedConversations(
      app.store,
      Array.from({ length: 41 }, (_, at) => ({ workspaceId, startedAt: startedAt + at, status: "escalated" })),
    );
    app.clock.advance(60_000);
    const { conversationId: id } = await asked(app, "claimed", "I want to talk to a human");
    app.clock.advance(60_000);
    const { page, made, polls, lookAway } = await openNotified();
    const now = () => page.evaluate(() => Date.now());
    await lookAway(false);
    const leftAt = await now();
    const before = polls();
    await app.engine.applyAction(workspaceId, id, { kind: "claim" }, { email: "ben@shop.example", name: "Ben" });
    const pollsInTime = async (): Promise<number> => {
      await page.clock.fastForward(1_000);
      return polls();
    };
    await expect.poll(pollsInTime).toBe(before + 1);
    expect((await now()) - leftAt).toBeGreaterThan(9_000);
    app.clock.advance(1_000);
    await asked(app, "new", "I want to talk to a human", "Nora New");
    await expect.poll(pollsInTime).toBe(before + 2);
    await expect.poll(() => made.length).toBe(1);
    expect(made.join()).toContain("Nora New waits for a person: ");
  });
}
