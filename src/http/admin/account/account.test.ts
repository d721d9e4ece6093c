import { afterAll, beforeAll, expect, it } from "vitest";
import { createAgent } from "#admin/team/agents.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { DashboardUser } from "#test/support/http/administrators.ts";
import { callAdmin, dashboardUser } from "#test/support/http/administrators.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { cookieOf, password } from "#test/support/http/inbox.ts";

interface Session {
  readonly id: string;
  readonly device: string | null;
  readonly method: string | null;
  readonly current: boolean;
}

eachDatabase("an agent's own account", (open) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp(open, { trustedProxies: ["127.0.0.1"] });
  });
  afterAll(() => app.close());

  const signIn = (email: string, given: string, from = "192.0.2.1") =>
    fetch(`${app.url}/inbox/login`, {
      method: "POST",
      headers: { origin: app.url, "x-forwarded-for": from, "user-agent": "Mozilla/5.0 (X11; Linux) Firefox/140.0" },
      body: new URLSearchParams({ email, password: given }),
      redirect: "manual",
    });
  const withPassword = async (name: string) => {
    const workspaceId = app.workspace.id;
    const email = `${name}@shop.example`;
    await createAgent(app.store, app.clock, { workspaceId, email, name, role: "viewer", password });
    const cookie = cookieOf(await signIn(email, password));
    return { email, cookie };
  };
  const call = (cookie: string, method: string, path: string, body?: unknown) =>
    callAdmin(app, method, path, body, { cookie, "sec-fetch-site": "same-origin" });
  const sessionsOf = async (user: DashboardUser): Promise<readonly Session[]> =>
    ((await user.call("GET", "me/sessions")).body as { readonly sessions: readonly Session[] }).sessions;

  it("lets every role change the name that customers see", async () => {
    const vera = await dashboardUser(app, "viewer", { name: "vera" });
    expect((await vera.call("PATCH", "me", { name: " Vera V. " })).status).toBe(204);
    expect((await vera.call("GET", "me")).body).toMatchObject({ agent: { name: "Vera V." } });
    expect((await vera.call("PATCH", "me", { name: "  " })).status).toBe(422);
  });

  it("lets an agent be away and come back, as colleagues and the audit log see it", async () => {
    const admin = await dashboardUser(app, "admin", { name: "absences" });
    const olaf = await dashboardUser(app, "agent", { name: "olaf" });
    for (const away of [true, false]) {
      expect((await olaf.call("PATCH", "me", { away })).status).toBe(204);
      expect((await olaf.call("GET", "me")).body).toMatchObject({ agent: { name: "olaf", away } });
      expect((await admin.call("GET", `agents/${olaf.id}`)).body).toMatchObject({ name: "olaf", away });
    }
    const entries = app.store.read.selectFrom("audit").select(["action", "detail", "from_value", "to_value"]);
    expect(await entries.where("actor_id", "=", olaf.email).orderBy("id").execute()).toEqual([
      { action: "agent_changed", detail: olaf.email, from_value: "here", to_value: "away" },
      { action: "agent_changed", detail: olaf.email, from_value: "away", to_value: "here" },
    ]);
  });

  it("changes the password with the current one, and ends other sessions", async () => {
    const { email, cookie } = await withPassword("paul");
    const other = cookieOf(await signIn(email, password));
    const next = "a different passphrase";
    const wrong = await call(cookie, "PUT", "me/password", { current_password: "guess", password: next });
    expect([wrong.status, wrong.body]).toMatchObject([
      422,
      { detail: "current_password: this is not your current password." },
    ]);
    expect((await call(cookie, "PUT", "me/password", { password: next })).status).toBe(422);
    const short = await call(cookie, "PUT", "me/password", { current_password: password, password: "short" });
    expect(short.status).toBe(422);
    expect((await call(other, "GET", "me")).status).toBe(200);

    const changed = await call(cookie, "PUT", "me/password", { current_password: password, password: next });
    expect(changed.status).toBe(204);
    expect((await call(cookie, "GET", "me")).status).toBe(200);
    expect((await call(other, "GET", "me")).status).toBe(401);
    expect((await signIn(email, password)).status).toBe(401);
    expect((await signIn(email, next)).status).toBe(303);
  });

  it("sets the first password without another one", async () => {
    const ola = await dashboardUser(app, "agent", { name: "ola" });
    expect((await ola.call("PUT", "me/password", { password })).status).toBe(204);
    expect((await signIn(ola.email, password)).status).toBe(303);
    expect((await ola.call("PUT", "me/password", { password: `${password}!` })).status).toBe(422);
  });

  it("limits guesses of the current password as attempts to sign in", async () => {
    const { email, cookie } = await withPassword("greta");
    const guess = () => call(cookie, "PUT", "me/password", { current_password: "guess", password });
    const statuses: number[] = [];
    for (let i = 0; i < 11; i += 1) statuses.push((await guess()).status);
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 422), 429]);
    expect((await guess()).body).toMatchObject({ code: "too_many_attempts" });
    expect((await signIn(email, password, "127.0.0.1")).status).toBe(429);
  });

  it("lists sessions with their devices, and ends one or all others", async () => {
    const sina = await dashboardUser(app, "agent", { name: "sina" });
    await sina.call("PUT", "me/password", { password });
    const others = [await signIn(sina.email, password), await signIn(sina.email, password)].map(cookieOf);
    const listed = await sessionsOf(sina);
    expect(listed.filter(({ current }) => !current).map(({ method }) => method)).toEqual(["password", "password"]);
    expect(listed.filter(({ current }) => current).map(({ method }) => method)).toEqual(["link"]);
    expect(listed.map(({ device }) => device)).toContain("Firefox on Linux");
    const one = listed.find(({ current }) => !current)?.id ?? "";
    expect((await sina.call("DELETE", `me/sessions/${one}`)).status).toBe(204);
    expect((await sina.call("DELETE", `me/sessions/${one}`)).status).toBe(404);
    expect(await sessionsOf(sina)).toHaveLength(2);
    expect((await sina.call("DELETE", "me/sessions")).status).toBe(204);
    expect(await sessionsOf(sina)).toMatchObject([{ current: true }]);
    for (const cookie of others) expect((await call(cookie, "GET", "me")).status).toBe(401);
  });

  it("does not end a colleague's session", async () => {
    const [uwe, xenia] = [
      await dashboardUser(app, "agent", { name: "uwe" }),
      await dashboardUser(app, "agent", { name: "xenia" }),
    ];
    const [theirs] = await sessionsOf(xenia);
    expect((await uwe.call("DELETE", `me/sessions/${theirs?.id ?? ""}`)).status).toBe(404);
    expect(await sessionsOf(xenia)).toHaveLength(1);
  });

  it("is closed to access tokens", async () => {
    const admin = await dashboardUser(app, "admin", { name: "adele" });
    const expires_at = new Date(app.clock.now() + 86_400_000).toISOString();
    const made = await admin.call("POST", "access-tokens", { name: "Terraform", scope: "write", expires_at });
    const { token } = made.body as { readonly token: string };
    for (const [method, path, body] of [
      ["PATCH", "me", { name: "x" }],
      ["PUT", "me/password", { password }],
      ["GET", "me/sessions", undefined],
      ["POST", "me/second-factor", {}],
    ] as const) {
      const answer = await callAdmin(app, method, path, body, { authorization: `Bearer ${token}` });
      expect([path, answer.status]).toEqual([path, 403]);
    }
  });
});
