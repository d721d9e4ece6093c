import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { buildBrowserCode } from "#web/build.ts";
import { accessibilityViolations } from "../support/accessibility.ts";
import { noBrowser, openBrowser } from "../support/browser.ts";
import { newSqlite } from "../support/database/databases.ts";
import type { DashboardUser } from "../support/http/administrators.ts";
import { dashboardUser } from "../support/http/administrators.ts";
import type { TestApp } from "../support/http/app.ts";
import { startApp } from "../support/http/app.ts";
import { createDashboardPages, phone } from "../support/http/dashboard-pages.ts";
import { asked } from "../support/http/inbox.ts";
import { skipped } from "../support/skipped.ts";

const name = "the team in the dashboard";

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
    admin = await dashboardUser(app, "admin");
    browser = await openBrowser();
  });
  afterEach(async () => {
    expect(await pages.close()).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  it("invites a colleague, who joins by the link with the role and team that were chosen", async () => {
    const page = await pages.open(admin, "/team?tab=teams");
    await page.getByRole("button", { name: "Create a team" }).click();
    await page.getByRole("dialog").getByRole("textbox", { name: "Name" }).fill("Billing");
    await page.getByRole("dialog").getByRole("button", { name: "Create", exact: true }).click();
    await page.getByRole("rowheader", { name: "Billing" }).waitFor();

    await page.getByRole("tab", { name: "Agents" }).click();
    await page.getByRole("button", { name: "Invite a colleague" }).click();
    const dialog = page.getByRole("dialog", { name: "Invite a colleague" });
    await dialog.getByRole("textbox", { name: "E-mail address" }).fill("vera@shop.example");
    await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("Vera Vogel");
    await dialog.getByRole("combobox", { name: "Role" }).selectOption("viewer");
    await dialog.getByRole("checkbox", { name: "Billing" }).check();
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Invite" }).click();
    const link = page
      .getByRole("dialog", { name: "The invitation of Vera Vogel" })
      .getByRole("textbox", { name: "Link" });
    const path = new URL(await link.inputValue()).pathname;
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Done" }).click();
    await expect.poll(() => page.getByRole("row", { name: /Vera Vogel/ }).textContent()).toContain("Invited");

    const theirs = await (await browser.newContext()).newPage();
    await theirs.goto(`${app.url}${path}`);
    expect(await accessibilityViolations(theirs)).toEqual([]);
    await theirs.getByLabel("Password").fill("a password of Vera");
    await theirs.getByRole("button", { name: "Join" }).click();
    await theirs.waitForURL(`${app.url}/inbox`);

    // A viewer reads conversations, and is offered nothing that would be refused.
    const { conversationId } = await asked(app, "viewed");
    await theirs.goto(`${app.url}/inbox#/all/${conversationId}`);
    await theirs.getByText("Your role is viewer: you can read conversations, and change nothing.").waitFor();
    await expect.poll(() => theirs.getByRole("textbox", { name: /Reply|tag/ }).count()).toBe(0);
    await expect
      .poll(() => theirs.getByRole("button", { name: /^(?:Claim|Resolve|Snooze|Send|Choose several)/ }).count())
      .toBe(0);
    await expect.poll(() => theirs.getByRole("combobox", { name: "Priority" }).isDisabled()).toBe(true);
    expect(await accessibilityViolations(theirs)).toEqual([]);
    await theirs.context().close();
    await page.reload();
    const row = page.getByRole("row", { name: /Vera Vogel/ });
    await expect.poll(() => row.textContent()).toMatch(/Viewer.*Billing.*Here/);
  });

  it("changes an agent, signs them out, and removes them with their conversations given away", async () => {
    const leaving = await dashboardUser(app, "agent", { name: "leo" });
    const { conversationId } = await asked(app, "held");
    const author = { email: leaving.email, name: "Leo" };
    await app.engine.applyAction(app.workspace.id, conversationId, { kind: "claim" }, author);
    const page = await pages.open(admin, `/team/${leaving.id}`, { viewport: phone });
    await page.getByRole("switch", { name: "Away" }).check();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);

    await page.getByRole("button", { name: "Sign out everywhere" }).click();
    await page.getByRole("button", { name: "Sign out", exact: true }).click();
    await page.getByText("Not signed in anywhere.").waitFor();
    expect((await leaving.call("GET", "me")).body).toMatchObject({ code: "signed_out" });

    await page.getByRole("button", { name: "Remove leo" }).click();
    const dialog = page.getByRole("dialog", { name: "Remove leo?" });
    await dialog.getByRole("combobox", { name: "Their conversations: 1" }).selectOption({ label: "Go to admin" });
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("heading", { name: "Team", level: 1 }).waitFor();
    await expect.poll(() => page.getByRole("row", { name: /leo@/ }).count()).toBe(0);
    app.clock.advance(1_000);
    const holder = () =>
      app.store.read
        .selectFrom("conversations")
        .select("assigned_to")
        .where("id", "=", conversationId)
        .executeTakeFirstOrThrow();
    await expect.poll(async () => (await holder()).assigned_to).toBe(admin.email);
  });

  it("revokes an access token of a colleague", async () => {
    const other = await dashboardUser(app, "admin", { name: "olga" });
    const expires_at = new Date(app.clock.now() + 86_400_000).toISOString();
    await other.call("POST", "access-tokens", { name: "Terraform", scope: "write", expires_at });
    const page = await pages.open(admin, `/team/${other.id}`);
    await page.getByRole("button", { name: "Revoke Terraform" }).click();
    await page.getByRole("button", { name: "Revoke", exact: true }).click();
    await page.getByText("No access tokens.").waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    expect((await other.call("GET", "access-tokens")).body).toEqual({ access_tokens: [] });
    await admin.call("DELETE", `agents/${other.id}`);
  });

  it("says why the only admin cannot be demoted", async () => {
    const page = await pages.open(admin, `/team/${admin.id}`);
    await page.getByRole("combobox", { name: "Role" }).selectOption("agent");
    expect(await page.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
    await page.getByLabel("I give up the role of an administrator").check();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("This is the only admin of the workspace.").waitFor();
  });
}
