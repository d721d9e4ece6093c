import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { createAgent } from "#admin/team/agents.ts";
import { openGuardedFetch } from "#outbound/guarded-fetch.ts";
import { newSqlite } from "#test/support/database/databases.ts";
import type { DashboardUser } from "#test/support/http/administrators.ts";
import { dashboardUser } from "#test/support/http/administrators.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { cookieOf } from "#test/support/http/inbox.ts";
import { createProviderBrowser } from "#test/support/http/provider-browser.ts";
import type { Claims, OpenIdProvider } from "#test/support/servers/openid-provider.ts";
import { startOpenIdProvider } from "#test/support/servers/openid-provider.ts";

let app: TestApp;
let provider: OpenIdProvider;
let admin: DashboardUser;
const guard = openGuardedFetch({ allowPrivate: ["127.0.0.1"] });
/** Requests that left the program. */
const fetched: string[] = [];

beforeAll(async () => {
  app = await startApp(newSqlite, {
    trustedProxies: ["127.0.0.1"],
    outbound: {
      fetch(url, request) {
        fetched.push(url);
        // Time limits are tried with a fraction of the time.
        return guard.fetch(url, { ...request, timeoutMs: request.timeoutMs / 20 });
      },
      close: () => guard.close(),
    },
  });
  provider = await startOpenIdProvider({
    callbacks: [`http://parley.test/inbox/login/provider/${app.workspace.id}/callback`],
  });
  provider.people.set("ada", { email: "ada@shop.example", email_verified: true, name: "Ada" });
  const ada = { workspaceId: app.workspace.id, email: "ada@shop.example", name: "Ada", role: "agent" } as const;
  await createAgent(app.store, app.clock, ada);
  admin = await dashboardUser(app, "admin");
  await configure(provider.issuer);
});
afterEach(() => {
  provider.tamper = undefined;
  app.clock.advance(16 * 60_000);
});
afterAll(async () => {
  await app.close();
  await provider.close();
});

const configure = (issuer: string) =>
  admin.call("PUT", "sign-in/provider", { issuer, client_id: "parley", client_secret: "the client's secret" });

async function outcome(answer: Response | Promise<Response>) {
  const answered = await answer;
  return { status: answered.status, isSignedIn: cookieOf(answered) !== "" };
}
const signIn = () => createProviderBrowser(app).signIn("ada");
const refused = (status: number) => ({ status, isSignedIn: false });
const isLogged = (part: string): boolean => app.logged.some((line) => line.includes(part));

it("signs in when nothing is tampered with", async () => {
  expect(await outcome(signIn())).toEqual({ status: 303, isSignedIn: true });
});

it("refuses an answer that another browser asked for, or that comes twice or too late", async () => {
  const [victim, attacker] = [createProviderBrowser(app), createProviderBrowser(app)];
  const forged = await attacker.authorize("ada");
  // The attacker's answer in the victim's browser, without and with a sign-in of its own.
  expect(await outcome(victim.open(forged))).toEqual(refused(400));
  await victim.authorize("ada");
  expect(await outcome(victim.open(forged))).toEqual(refused(502));
  expect(isLogged(String.raw`unexpected \"state\" response parameter value`)).toBe(true);

  const twice = createProviderBrowser(app);
  const back = await twice.authorize("ada");
  const cookie = twice.cookies.get("parley_provider") ?? "";
  expect((await twice.open(back)).status).toBe(303);
  expect(await outcome(twice.open(back))).toEqual(refused(400));
  // With the cookie of before, the provider refuses the code.
  twice.cookies.set("parley_provider", cookie);
  expect(await outcome(twice.open(back))).toEqual(refused(502));

  const slow = createProviderBrowser(app);
  const late = await slow.authorize("ada");
  app.clock.advance(15 * 60_000);
  expect(await outcome(slow.open(late))).toEqual(refused(400));
});

it("refuses a changed state, a foreign code and an answer without a code", async () => {
  for (const change of [
    (url: URL) => url.searchParams.set("state", "another"),
    (url: URL) => url.searchParams.delete("state"),
    (url: URL) => url.searchParams.append("state", url.searchParams.get("state") ?? ""),
    (url: URL) => url.searchParams.set("code", "guessed"),
    (url: URL) => url.searchParams.delete("code"),
    (url: URL) => url.searchParams.set("iss", "https://evil.example"),
  ]) {
    const browser = createProviderBrowser(app);
    const url = new URL(await browser.authorize("ada"));
    change(url);
    expect(await outcome(browser.open(url.href))).toEqual(refused(502));
  }
  const browser = createProviderBrowser(app);
  const url = new URL(await browser.authorize("ada"));
  url.searchParams.delete("code");
  url.searchParams.set("error", "access_denied");
  expect(await outcome(browser.open(url.href))).toEqual(refused(403));
});

it("refuses a cookie of another workspace and a forged one", async () => {
  const browser = createProviderBrowser(app);
  const back = await browser.authorize("ada");
  browser.cookies.set("parley_provider", "v1.forged");
  expect(await outcome(browser.open(back))).toEqual(refused(400));
  const other = await app.createWorkspace();
  const owner = await dashboardUser(app, "admin", { workspaceId: other.id });
  const same = { issuer: provider.issuer, client_id: "parley", client_secret: "the client's secret" };
  expect((await owner.call("PUT", "sign-in/provider", same)).status).toBe(200);
  const second = createProviderBrowser(app);
  const own = await second.authorize("ada");
  expect(await outcome(second.open(own.replace(app.workspace.id, other.id)))).toEqual(refused(400));
  expect((await owner.call("DELETE", "sign-in/provider")).status).toBe(204);
});

it("refuses ID tokens with wrong claims, with a wrong signature and without one", async () => {
  const now = Math.floor(Date.now() / 1_000);
  const forgeries: readonly [Claims, Claims?][] = [
    [{ nonce: "another" }],
    [{ nonce: undefined }],
    [{ aud: "another-client" }],
    [{ aud: ["parley", "another"], azp: "another" }],
    [{ iss: "https://evil.example" }],
    [{ exp: now - 600, iat: now - 1_200 }],
    [{ exp: undefined }],
    [{ sub: undefined }],
    [{}, { alg: "none" }],
    [{}, { alg: "HS256" }],
    [{}, { alg: "RS256", kid: "unknown" }],
  ];
  for (const [claims, header] of [[{}] as const, ...forgeries]) {
    provider.tamper = (path, body) => {
      if (path !== "/token") return undefined;
      const tokens = JSON.parse(body) as { readonly id_token: string };
      return { body: JSON.stringify({ ...tokens, id_token: provider.resign(tokens.id_token, claims, header) }) };
    };
    const isForged = Object.keys({ ...claims, ...header }).length > 0;
    const expected = isForged ? refused(502) : { status: 303, isSignedIn: true };
    expect([claims, header, await outcome(signIn())]).toEqual([claims, header, expected]);
  }
  expect(isLogged(String.raw`unexpected JWT \"aud\" (audience) claim value`)).toBe(true);
  // Claims that were changed after the signature.
  provider.tamper = (path, body) => {
    if (path !== "/token") return undefined;
    const tokens = JSON.parse(body) as { readonly id_token: string };
    const [head, , signature] = tokens.id_token.split(".");
    const [, payload] = provider.resign(tokens.id_token, { sub: "boss" }).split(".");
    return { body: JSON.stringify({ ...tokens, id_token: `${head}.${payload}.${signature}` }) };
  };
  expect(await outcome(signIn())).toEqual(refused(502));
  // Claims about another person.
  provider.tamper = (path, body) =>
    path === "/me" ? { body: JSON.stringify({ ...(JSON.parse(body) as object), sub: "boss" }) } : undefined;
  expect(await outcome(signIn())).toEqual(refused(502));
});

it("survives answers that are huge, slow, redirected or nonsense, and a person who was removed", async () => {
  for (const path of ["/token", "/me"]) {
    for (const answer of [
      { body: "x".repeat(300_000) },
      { body: "[]" },
      { body: "<html>", headers: { "content-type": "text/html" } },
      { status: 302, headers: { location: "http://169.254.169.254/latest/meta-data/" }, body: "" },
      { status: 500, body: "{}" },
    ]) {
      provider.tamper = (at) => (at === path ? answer : undefined);
      expect(await outcome(signIn())).toEqual(refused(502));
    }
    const gone = Promise.withResolvers<undefined>();
    provider.tamper = (at) => (at === path ? gone.promise : undefined);
    expect(await outcome(signIn())).toEqual(refused(502));
    gone.resolve(undefined);
  }
  provider.tamper = undefined;
  const browser = createProviderBrowser(app);
  const back = await browser.authorize("ada");
  const claims = provider.people.get("ada") ?? {};
  provider.people.delete("ada");
  expect(await outcome(browser.open(back))).toEqual(refused(502));
  provider.people.set("ada", claims);
  expect(fetched.filter((url) => url.includes("169.254"))).toEqual([]);
});

it("takes no address that is not a provider's, and reaches no private one", async () => {
  const silent = createServer();
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const { port } = silent.address() as AddressInfo;
  for (const issuer of [
    "https://169.254.169.254",
    "https://10.0.0.1/realm",
    `http://127.0.0.1:${port}`,
    `${provider.issuer}/elsewhere`,
    "https://nowhere.invalid",
  ]) {
    const { status, body } = await configure(issuer);
    expect([issuer, status, (body as { readonly detail: string }).detail]).toEqual([
      issuer,
      422,
      expect.stringMatching(/^issuer: /u),
    ]);
  }
  silent.close();
  for (const issuer of ["http://login.example.com", "ftp://login.example.com", "https://u:p@login.example.com", "x"]) {
    expect((await configure(issuer)).status).toBe(422);
  }
});

it("refuses a description whose issuer or endpoints are elsewhere", async () => {
  const description = (change: object) => {
    provider.tamper = (path, body) =>
      path.startsWith("/.well-known/")
        ? { body: JSON.stringify({ ...(JSON.parse(body) as object), ...change }) }
        : undefined;
  };
  // Descriptions are kept for ten minutes.
  description({ issuer: "https://evil.example" });
  expect((await fetch(`${app.url}/inbox/login/provider/${app.workspace.id}`)).status).toBe(502);
  description({ authorization_endpoint: "javascript:alert(1)" });
  expect((await fetch(`${app.url}/inbox/login/provider/${app.workspace.id}`)).status).toBe(502);
  description({ token_endpoint: "http://169.254.169.254/token" });
  expect(await outcome(signIn())).toEqual(refused(502));
  expect(isLogged("169.254.169.254 is not a public address")).toBe(true);
});

it("holds a network back that goes to the provider too often", async () => {
  const statuses: number[] = [];
  for (let i = 0; i < 62; i += 1) {
    const headers = { "x-forwarded-for": "192.0.2.77" };
    const path = `/inbox/login/provider/${app.workspace.id}`;
    statuses.push((await fetch(`${app.url}${path}`, { headers, redirect: "manual" })).status);
  }
  expect([statuses[59], statuses[60]]).toEqual([303, 429]);
});

it("logs neither tokens, nor codes, nor secrets", () => {
  const log = app.logged.join("\n");
  expect(log).toContain("sign-in: provider failed");
  expect(log).not.toMatch(/eyJ|the client's secret|code=[\w-]{20}|[?&]state=/u);
});
