import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { totpCode } from "#admin/sign-in/totp.ts";
import { openGuardedFetch } from "#outbound/guarded-fetch.ts";
import { buildBrowserCode } from "#web/build.ts";
import { accessibilityViolations } from "../support/accessibility.ts";
import { noBrowser, openBrowser } from "../support/browser.ts";
import { isShownAs, writtenDialogs } from "../support/dashboard/dialogs.ts";
import type { FilledWorkspace } from "../support/dashboard/filled-workspace.ts";
import { fillWorkspace, longName } from "../support/dashboard/filled-workspace.ts";
import { newSqlite } from "../support/database/databases.ts";
import { eventually } from "../support/eventually.ts";
import type { TestApp } from "../support/http/app.ts";
import { startApp } from "../support/http/app.ts";
import { createDashboardPages, phone } from "../support/http/dashboard-pages.ts";
import { password } from "../support/http/inbox.ts";
import { skipped } from "../support/skipped.ts";
import { isFullTier } from "../support/tier.ts";

const name = "pages of the dashboard have no barriers that a program can find";
const desktop = { width: 1280, height: 900 };

if (noBrowser === undefined) describe(name, { timeout: 300_000 }, inTheBrowser);
else skipped(name, noBrowser);

function inTheBrowser(): void {
  let app: TestApp;
  let browser: Browser;
  let filled: FilledWorkspace;
  let page: Page;
  const pages = createDashboardPages(
    () => browser,
    () => app,
  );
  /** Titles of the dialogs that were looked at, by the file of their component. */
  const seen = new Map<string, string[]>();

  beforeAll(async () => {
    await buildBrowserCode();
    const allowPrivate = ["127.0.0.1"];
    app = await startApp(newSqlite, {
      file: { workspaces: [], allowPrivate },
      outbound: openGuardedFetch({ allowPrivate }),
    });
    filled = await fillWorkspace(app);
    browser = await openBrowser();
    page = await pages.open(filled.admin, "", { viewport: desktop });
  });
  afterAll(async () => {
    await browser?.close();
    await filled?.close();
    await app?.close();
  });

  /** Opens a page, and waits until its data is there. */
  async function go(path: string): Promise<void> {
    await page.goto(`${app.url}/dashboard${path}`);
    await loaded();
  }
  async function loaded(): Promise<void> {
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.locator(".page [aria-busy=true], .page .skeleton").first().waitFor({ state: "detached" });
  }
  async function expectNoBarriers(what: string): Promise<void> {
    await page.emulateMedia({ colorScheme: "light" });
    expect([what, await accessibilityViolations(page)]).toEqual([what, []]);
    await page.emulateMedia({ colorScheme: "dark" });
    expect([what, "dark", await accessibilityViolations(page, "colours")]).toEqual([what, "dark", []]);
  }
  async function expectNoSidewaysScrolling(what: string): Promise<void> {
    const sideways = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    expect([what, sideways <= 0]).toEqual([what, true]);
  }
  const button = (label: string, of: Page | Locator = page): Locator =>
    of.getByRole("button", { name: label, exact: true });
  const shown = (title: string): Locator => page.getByRole("dialog", { name: title, exact: true });

  /** The event of a closed dialog, which returns the focus, follows its disappearance. */
  const gainsFocus = (element: Locator) =>
    eventually(() => element.evaluate((each) => each === document.activeElement));

  async function lookAt(file: string, title: string): Promise<Locator> {
    const opened = shown(title);
    await opened.waitFor();
    await page.locator("dialog .skeleton").first().waitFor({ state: "detached" });
    await expectNoBarriers(title);
    seen.set(file, [...(seen.get(file) ?? []), title]);
    return opened;
  }
  /** Opens a dialog, looks at it, and closes it by keyboard: the focus returns to its button. */
  async function dialog(file: string, title: string, opener: Locator): Promise<void> {
    await opener.click();
    const opened = await lookAt(file, title);
    await page.keyboard.press("Escape");
    await opened.waitFor({ state: "detached" });
    await gainsFocus(opener);
  }
  /** Looks at a dialog that shows a secret after another one, and closes it. */
  async function shownOnce(file: string, title: string, returnsTo: Locator): Promise<void> {
    const opened = await lookAt(file, title);
    await page.mouse.click(2, 2);
    await page.keyboard.press("Escape");
    await button("Done", opened).click();
    await opened.waitFor({ state: "detached" });
    await gainsFocus(returnsTo);
  }

  /** Pages of the menu, so that new ones are included, and what they lead to. */
  async function paths(): Promise<readonly string[]> {
    await go("");
    const menu = page.getByRole("navigation", { name: "Dashboard" });
    const links = await menu.getByRole("link").evaluateAll((all) => all.map((each) => each.getAttribute("href") ?? ""));
    const listed = links.filter((link) => link.startsWith("/dashboard")).map((link) => link.slice("/dashboard".length));
    await go("/channels");
    const kinds = await page.getByRole("region", { name: "Connect a channel" }).getByRole("link").all();
    const connect = await Promise.all(kinds.map((each) => each.getAttribute("href")));
    const { article, website, channel, colleague, invited, webhook, customerEmail } = filled;
    await go("/answers");
    const question = await page.getByRole("table").getByRole("link").first().getAttribute("href");
    const details = [
      "/documents/new",
      `/documents/${article}`,
      `/documents/${article}?edit=1`,
      `/documents/${website}?tab=pages`,
      `/channels/${channel}`,
      `/team/${colleague.id}`,
      `/team/${invited}`,
      "/team?tab=teams",
      `/webhooks/${webhook}`,
      "/automation/%20new",
      "/automation/Money",
      "/skills/%20new",
      "/skills/order_status",
      ...["texts", "escalation", "hours", "limits", "audiences"].map((tab) => `/settings?tab=${tab}`),
      `/customers?q=${customerEmail}`,
      "/nowhere",
      (question ?? "").slice("/dashboard".length),
    ];
    return [...listed, ...details, ...connect.map((link) => (link ?? "").slice("/dashboard".length))];
  }

  it("in light and dark, on a wide screen and on a phone, without scrolling sideways", async () => {
    for (const path of await paths()) {
      await go(path);
      await expectNoSidewaysScrolling(path);
      await expectNoBarriers(path);
      await page.setViewportSize(phone);
      await expectNoSidewaysScrolling(path);
      if (isFullTier) {
        expect([path, "phone", await accessibilityViolations(page, "layout")]).toEqual([path, "phone", []]);
      }
      await page.setViewportSize(desktop);
    }
    await page.setViewportSize(phone);
    await button("Menu").click();
    await lookAt("dashboard.tsx", "Menu");
    await page.setViewportSize(desktop);
  });

  it("in dialogs of the overview, documents, channels and customers", async () => {
    await go("");
    const dismiss = page.getByRole("button", { name: /^Dismiss/u }).first();
    await dialog("pages/home/dead-letters.tsx", "Dismiss this work?", dismiss);
    const documents = "pages/documents/dialogs.tsx";
    await go("/documents");
    await dialog("pages/documents/manual.tsx", "Remove the built-in manual?", button("Remove the built-in manual"));
    await dialog(documents, "Add a website", button("Add a website"));
    for (const title of ["Shipping", "Returns"]) await page.getByRole("checkbox", { name: `Select ${title}` }).check();
    await dialog(documents, "Delete 2 documents?", button("Delete"));
    await go(`/documents/${filled.article}`);
    await dialog(documents, "Title and audience", button("Title and audience"));
    await dialog(documents, "Delete this document?", button("Delete"));
    await go(`/channels/${filled.channel}`);
    await dialog("pages/channels/account.tsx", "Pause Text messages?", button("Pause"));
    await dialog("pages/channels/account.tsx", "Remove Text messages?", button("Remove"));
    await dialog("pages/channels/trials.tsx", "Send a test message", button("Send a test message"));
    await go(`/customers?q=${filled.customerEmail}`);
    await dialog("pages/customers/page.tsx", `Erase all data of ${filled.customerEmail}?`, button("Erase…"));
  });

  it("in dialogs of keys, clients and webhooks", async () => {
    const keys = "pages/api-keys/page.tsx";
    await go("/api-keys");
    await dialog(keys, "Change Shop server", button("Change Shop server"));
    await dialog(keys, `Revoke ${longName}?`, button(`Revoke ${longName}`));
    await dialog(keys, "Rotate Shop server?", button("Rotate Shop server"));
    await button("Create a key").click();
    await (await lookAt(keys, "Create an API key")).getByLabel("Name").fill("Another");
    await button("Create").click();
    await shownOnce(keys, "The key of Another", button("Create a key"));
    const clients = "pages/api-keys/oauth-clients.tsx";
    await dialog(clients, "Revoke Shop?", button("Revoke Shop"));
    await button("Create a client").click();
    await (await lookAt(clients, "Create an OAuth client")).getByLabel("Name").fill("Another");
    await button("Create").click();
    await shownOnce(clients, "The secret of Another", button("Create a client"));
    const identity = "pages/settings/parts/identity-secret.tsx";
    await go("/settings");
    await button("Make an identity secret").click();
    await lookAt(identity, "Make an identity secret?");
    await button("Make it").click();
    await shownOnce(identity, "The identity secret", button("Make an identity secret"));
    await go("/webhooks");
    await button("Add a webhook").click();
    await (
      await lookAt("pages/webhooks/page.tsx", "Add a webhook")
    )
      .getByLabel("Address")
      .fill("https://shop.example/");
    await button("Add").click();
    await shownOnce("pages/webhooks/page.tsx", "The secret of the webhook", button("Add a webhook"));
    const webhook = "pages/webhooks/webhook.tsx";
    await go(`/webhooks/${filled.webhook}`);
    await dialog(webhook, "Change the webhook", button("Change"));
    await dialog(webhook, "Remove the webhook?", button("Remove"));
    await button("Rotate secret").click();
    await lookAt(webhook, "Rotate the secret?");
    await button("Make a new secret").click();
    await shownOnce(webhook, "The new secret", button("Rotate secret"));
    const attempt = page.getByRole("button", { name: /^Show attempt/u }).first();
    await dialog("pages/webhooks/deliveries.tsx", "Delivery attempt", attempt);
    await dialog("pages/webhooks/deliveries.tsx", "Send a period again", button("Send a period again"));
  });

  it("in dialogs of rules, macros, replies and skills", async () => {
    await go("/automation");
    await dialog("pages/automation/rules/page.tsx", "Delete Money?", button("Delete Money"));
    await go("/skills");
    await dialog("pages/automation/skills/page.tsx", "Delete order_status?", button("Delete order_status"));
    const macros = "pages/automation/macros/page.tsx";
    await go("/macros");
    await dialog(macros, "Add a macro", button("Add a macro"));
    await dialog(macros, "Edit the macro", button("Edit Refund"));
    await dialog(macros, "Delete Refund?", button("Delete Refund"));
    const replies = "pages/automation/replies/page.tsx";
    await go("/replies");
    await dialog(replies, "Add a reply", button("Add a reply"));
    await dialog(replies, "Edit the reply", button("Edit hello"));
    await dialog(replies, "Delete hello?", button("Delete hello"));
  });

  it("in dialogs of the team and of the sign-in", async () => {
    await go("/team");
    await button("Invite a colleague").click();
    const invite = await lookAt("pages/team/agents.tsx", "Invite a colleague");
    await invite.getByLabel("E-mail address").fill("vera@shop.example");
    await invite.getByLabel("Name", { exact: true }).fill("Vera");
    await button("Invite").click();
    await shownOnce("pages/team/agents.tsx", "The invitation of Vera", button("Invite a colleague"));
    await go("/team?tab=teams");
    await dialog("pages/team/teams.tsx", "Create a team", button("Create a team"));
    await dialog("pages/team/teams.tsx", "Change Billing", button("Change Billing"));
    await dialog("pages/team/teams.tsx", "Remove the team Billing?", button("Remove Billing"));
    await go(`/team/${filled.invited}`);
    const revoke = button("Revoke the invitation");
    await dialog("pages/team/agent.tsx", `Revoke the invitation of ${longName}?`, revoke);
    await go(`/team/${filled.colleague.id}`);
    await dialog("pages/team/credentials.tsx", "Remove the picture?", button("Remove the picture"));
    const link = button("Make a link for a new password");
    await link.click();
    await shownOnce("pages/team/credentials.tsx", "A new password for Ben", link);
    await dialog("pages/team/sessions.tsx", "Sign out everywhere?", button("Sign out everywhere"));
    const session = page.getByRole("button", { name: /^End the session of/u }).first();
    await dialog("pages/team/sessions.tsx", `${await session.getAttribute("aria-label")}?`, session);
    await dialog("pages/account/access-tokens.tsx", "Revoke Terraform?", button("Revoke Terraform"));
    await dialog("pages/team/agent.tsx", "Remove Ben?", button("Remove Ben"));
    await go("/sign-in");
    const off = button("Turn single sign-on off");
    await dialog("pages/sign-in/single-sign-on.tsx", "Turn single sign-on off?", off);
  });

  it("in dialogs of the account", async () => {
    await go("/account");
    const tokens = "pages/account/access-tokens.tsx";
    await button("Create a token").click();
    const create = await lookAt(tokens, "Create an access token");
    await create.getByLabel("Name").fill("Another");
    const tomorrow = new Date(app.clock.now() + 86_400_000).toISOString().slice(0, 10);
    await create.getByLabel("Last day").fill(tomorrow);
    await button("Create").click();
    await shownOnce(tokens, "The token of Another", button("Create a token"));

    const factor = "pages/account/second-factor.tsx";
    await button("Set up").click();
    await (await lookAt(factor, "Set up a second factor")).getByLabel("Your password").fill(password);
    await button("Continue").click();
    const scan = await lookAt(factor, "Scan the code");
    const secret = await scan.getByLabel("Or type this key").inputValue();
    await scan.getByLabel("Six digits").fill(totpCode(secret, app.clock.now()));
    await button("Turn on").click();
    await shownOnce(factor, "Your recovery codes", page.getByRole("heading", { level: 1 }));
    await dialog(factor, "Make new recovery codes", button("New recovery codes"));
    await dialog(factor, "Turn the second factor off", button("Turn off"));
  });

  it("in any dialog that the source has", async () => {
    const missed = writtenDialogs().filter(
      (written) => !(seen.get(written.file) ?? []).some((title) => isShownAs(written, title)),
    );
    expect(missed).toEqual([]);
    expect(await pages.close()).toEqual([]);
  });
}
