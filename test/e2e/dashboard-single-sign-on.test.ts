import { createServer, request as forward } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { buildBrowserCode } from "#web/build.ts";
import { accessibilityViolations } from "../support/accessibility.ts";
import { noBrowser, openBrowser } from "../support/browser.ts";
import { newSqlite } from "../support/database/databases.ts";
import { dashboardUser } from "../support/http/administrators.ts";
import type { TestApp } from "../support/http/app.ts";
import { startApp } from "../support/http/app.ts";
import { createDashboardPages, phone } from "../support/http/dashboard-pages.ts";
import type { OpenIdProvider } from "../support/servers/openid-provider.ts";
import { startOpenIdProvider } from "../support/servers/openid-provider.ts";
import { skipped } from "../support/skipped.ts";

const name = "single sign-on in the dashboard";

if (noBrowser === undefined) describe(name, inTheBrowser);
else skipped(name, noBrowser);

function inTheBrowser(): void {
  let app: TestApp;
  let proxy: Server;
  let provider: OpenIdProvider;
  let browser: Browser;
  const contexts: BrowserContext[] = [];
  const pages = createDashboardPages(
    () => browser,
    () => app,
  );

  beforeAll(async () => {
    await buildBrowserCode();
    // The provider leads browsers back to PUBLIC_URL, which is known before the app has a port.
    let target = "";
    proxy = createServer((request, response) => {
      const { url = "/", method, headers } = request;
      const onward = forward(`${target}${url}`, { method, headers }, (answer) => {
        // The app's keep-alive is longer than this server's: a client that believed it would use a closed connection.
        const { "keep-alive": _keepAlive, ...answered } = answer.headers;
        response.writeHead(answer.statusCode ?? 502, answered);
        answer.pipe(response);
      });
      request.pipe(onward);
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    const publicUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const started = await startApp(newSqlite, { publicUrl, file: { workspaces: [], allowPrivate: ["127.0.0.1"] } });
    target = started.url;
    app = { ...started, url: publicUrl };
    provider = await startOpenIdProvider({
      callbacks: [`${publicUrl}/inbox/login/provider/${app.workspace.id}/callback`],
    });
    browser = await openBrowser();
  });
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
    expect(await pages.close()).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
    await provider?.close();
    proxy?.closeAllConnections();
    proxy?.close();
  });

  /** The sign-in pages work without JavaScript. */
  async function newPage(): Promise<Page> {
    const context = await browser.newContext({ javaScriptEnabled: false });
    contexts.push(context);
    return context.newPage();
  }

  it("is set up by an administrator, and leads a colleague through the provider to their role", async () => {
    const admin = await dashboardUser(app, "admin", { name: "rosa" });
    await admin.call("POST", "teams", { name: "Billing" });
    const page = await pages.open(admin, "/sign-in");
    const uri = await page.getByLabel("Redirect URI").inputValue();
    expect(uri).toBe(`${app.url}/inbox/login/provider/${app.workspace.id}/callback`);
    await page.getByLabel("Issuer").fill(`${provider.issuer}/elsewhere`);
    await page.getByLabel("Client id").fill("parley");
    await page.getByLabel("Client secret").fill("the client's secret");
    await page.getByLabel("Text of the button").fill("Sign in with Shop");
    await page.getByLabel("Scopes").fill("groups");
    await page.getByRole("button", { name: "Add a group" }).click();
    const group = page.getByRole("group", { name: "Group 1" });
    await group.getByLabel("Group", { exact: true }).fill("billing");
    await group.getByLabel("Team").selectOption("Billing");
    await page.getByRole("switch", { name: "Make agents of new people" }).check();
    await page.getByRole("button", { name: "Turn on single sign-on" }).click();
    // The provider is asked for its description.
    await page.locator('[data-field="issuer"]').getByText("unexpected HTTP response").waitFor();
    await page.getByLabel("Issuer").fill(provider.issuer);
    await page.getByRole("button", { name: "Turn on single sign-on" }).click();
    await page.getByText("Single sign-on saved.").waitFor();
    await page.getByLabel("Address of your sign-in").waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);

    provider.people.set("finn", {
      email: "finn@shop.example",
      email_verified: true,
      name: "Finn",
      groups: ["billing"],
    });
    const other = await newPage();
    await other.goto(`${app.url}/inbox/login?to=/dashboard/account`);
    await other.getByRole("link", { name: "Sign in with Shop" }).click();
    await other.getByLabel("Name").fill("finn");
    await other.getByRole("button", { name: "Sign in" }).click();
    expect(other.url()).toBe(`${app.url}/dashboard/account`);
    const { body } = await admin.call("GET", "agents");
    expect((body as { readonly agents: readonly object[] }).agents).toContainEqual(
      expect.objectContaining({ email: "finn@shop.example", name: "Finn", role: "agent" }),
    );

    // Required without an administrator who came through the provider, everybody would be locked out.
    await page.getByRole("switch", { name: "Required", exact: true }).check();
    await page.getByRole("button", { name: "Save single sign-on" }).click();
    await page.locator('[data-field="required"]').getByText("an administrator has to sign in").waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole("switch", { name: "Required", exact: true }).uncheck();
    await page.getByRole("button", { name: "Turn single sign-on off" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Turn off" }).click();
    await page.getByText("Single sign-on is off.").waitFor();
  });

  it("shows a person why the provider's answer was refused, on a phone in the dark too", async () => {
    const admin = await dashboardUser(app, "admin", { name: "otto" });
    const given = { issuer: provider.issuer, client_id: "parley", client_secret: "the client's secret" };
    expect((await admin.call("PUT", "sign-in/provider", given)).status).toBe(200);
    provider.people.set("stranger", { email: "stranger@else.example", email_verified: true });
    const context = await browser.newContext({ viewport: phone, colorScheme: "dark" });
    contexts.push(context);
    const page = await context.newPage();
    await page.goto(`${app.url}/inbox/login`);
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole("link", { name: "Sign in with single sign-on" }).click();
    await page.getByLabel("Name").fill("stranger");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").getByText("You are not an agent of this workspace yet.").waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    const dashboard = await pages.open(admin, "/sign-in", { viewport: phone, colorScheme: "dark" });
    await dashboard.getByRole("button", { name: "Add a group" }).click();
    expect(await accessibilityViolations(dashboard)).toEqual([]);
    expect(await dashboard.evaluate(() => document.documentElement.scrollWidth)).toBe(phone.width);
  });
}
