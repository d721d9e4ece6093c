import { hash } from "node:crypto";
import { exportLines } from "#admin/export/export.ts";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { createAgent } from "#admin/team/agents.ts";
import { createLoginToken } from "#admin/team/login-links.ts";
import { createTeam } from "#admin/team/teams.ts";
import type { AgentRole } from "#domain/workspace/agent-role.ts";
import { systemActor } from "#domain/conversation/message.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { DashboardUser } from "#test/support/http/administrators.ts";
import { callAdmin, dashboardUser } from "#test/support/http/administrators.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { cookieOf, password } from "#test/support/http/inbox.ts";
import { createProviderBrowser } from "#test/support/http/provider-browser.ts";
import type { Claims, OpenIdProvider } from "#test/support/servers/openid-provider.ts";
import { startOpenIdProvider } from "#test/support/servers/openid-provider.ts";

eachDatabase("signing in through an OpenID provider", (open) => {
  let app: TestApp;
  let provider: OpenIdProvider;
  let admin: DashboardUser;
  beforeAll(async () => {
    app = await startApp(open, {
      file: { workspaces: [], allowPrivate: ["127.0.0.1"] },
      trustedProxies: ["127.0.0.1"],
    });
    provider = await startOpenIdProvider({
      callbacks: [`http://parley.test/inbox/login/provider/${app.workspace.id}/callback`],
    });
    admin = await dashboardUser(app, "admin", { name: "owner" });
  });
  afterAll(async () => {
    await app.close();
    await provider.close();
  });
  beforeEach(() => app.clock.advance(16 * 60_000));

  const settings = (more: object = {}) => ({
    issuer: provider.issuer,
    client_id: "parley",
    client_secret: "the client's secret",
    scopes: ["email", "profile", "groups"],
    ...more,
  });
  const configure = async (more: object = {}) => {
    const { status, body } = await admin.call("PUT", "sign-in/provider", settings(more));
    expect([status, body]).toEqual([200, expect.anything()]);
  };
  const person = (name: string, claims: Claims = {}) => {
    const email = `${name}@shop.example`;
    provider.people.set(name, { email, email_verified: true, name: `${name} of Shop`, ...claims });
    return email;
  };
  const agentOf = (email: string) =>
    app.store.read
      .selectFrom("agents")
      .selectAll()
      .where("email", "=", email)
      .where("workspace_id", "=", app.workspace.id)
      .executeTakeFirst();
  const add = (email: string, role: AgentRole = "agent") =>
    createAgent(app.store, app.clock, { workspaceId: app.workspace.id, email, name: email, role, password });
  const signIn = (name: string) => createProviderBrowser(app).signIn(name);
  const me = (answer: Response) => callAdmin(app, "GET", "me", undefined, { cookie: cookieOf(answer) });
  const form = (fields: Readonly<Record<string, string>>) =>
    fetch(`${app.url}/inbox/login`, {
      method: "POST",
      headers: { origin: app.url },
      body: new URLSearchParams(fields),
      redirect: "manual",
    });
  const warned = (reason: string) => app.logged.some((line) => line.includes(`"reason":"${reason}"`));

  it("signs in an agent by their verified address, with a session of a day, and leads to the page that asked", async () => {
    await configure();
    const email = person("ada");
    const { id } = await add(email);
    const answer = await createProviderBrowser(app).signIn("ada", "?to=/dashboard/team");
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/dashboard/team"]);
    expect((await me(answer)).body).toMatchObject({ agent: { id, email, role: "agent" } });
    const sessions = await callAdmin(app, "GET", "me/sessions", undefined, { cookie: cookieOf(answer) });
    expect(sessions.body).toMatchObject({
      sessions: [{ method: "provider", expires_at: new Date(app.clock.now() + 86_400_000).toISOString() }],
    });
    // The way to the provider and the way back both counted as attempts.
    const attempts = app.store.read.selectFrom("counters").select("value").where("name", "like", "provider:client:%");
    expect(await attempts.execute()).toEqual([{ value: 0 }]);
  });

  it("knows a person by the provider's subject, so that a changed address leads to no other agent", async () => {
    await configure();
    const [bob, boss] = [person("bob"), person("boss")];
    const { id } = await add(bob);
    await add(boss, "admin");
    await signIn("bob");
    // At the provider, Bob takes the address of the boss.
    person("bob", { email: boss });
    expect((await me(await signIn("bob"))).body).toMatchObject({ agent: { id, email: bob, role: "agent" } });
    // And another person gets Bob's address.
    person("eve", { email: bob });
    const refused = await signIn("eve");
    expect([refused.status, warned("other_person")]).toEqual([403, true]);
    expect((await admin.call("DELETE", `agents/${id}/identity`)).status).toBe(204);
    expect((await me(await signIn("eve"))).body).toMatchObject({ agent: { id } });
  });

  it("refuses unverified and foreign addresses, except where the provider owns the domain", async () => {
    await configure();
    for (const [name, claims] of [
      ["cy", { email_verified: false }],
      ["cyd", { email_verified: "true" }],
      ["cye", { email_verified: undefined }],
    ] as const) {
      await add(person(name, claims));
      expect((await signIn(name)).status).toBe(403);
    }
    expect(warned("unverified_email")).toBe(true);
    await configure({ domains: ["shop.example"], owns_domains: true });
    expect((await signIn("cy")).status).toBe(303);
    const foreign = person("mallory", { email: "mallory@evil.example" });
    await add(foreign);
    expect([(await signIn("mallory")).status, warned("domain")]).toEqual([403, true]);
    person("mute", { email: undefined });
    expect([(await signIn("mute")).status, warned("no_email")]).toEqual([403, true]);
  });

  it("does not accept an invitation that has expired", async () => {
    await configure();
    const email = person("finn");
    const { id } = await add(email);
    const invited = (until: number) =>
      app.store.write((tx) => tx.updateTable("agents").set({ invited_until: until }).where("id", "=", id).execute());
    await invited(app.clock.now());
    expect([(await signIn("finn")).status, warned("unknown_person")]).toEqual([403, true]);
    await invited(app.clock.now() + 60_000);
    expect((await me(await signIn("finn"))).body).toMatchObject({ agent: { id } });
  });

  it("makes agents of new people only if the settings say so", async () => {
    await configure({ without_group: "agent", domains: ["shop.example"] });
    const email = person("dan");
    expect([(await signIn("dan")).status, warned("unknown_person")]).toEqual([403, true]);
    await configure({ without_group: "agent", domains: ["shop.example"], create_agents: true });
    expect((await me(await signIn("dan"))).body).toMatchObject({
      agent: { email, role: "agent", name: "dan of Shop" },
    });
    const any = await admin.call("PUT", "sign-in/provider", settings({ without_group: "agent", create_agents: true }));
    expect([any.status, (any.body as { readonly detail: string }).detail]).toEqual([
      422,
      "create_agents: name the domains, or set without_group to refuse",
    ]);
  });

  it("gives roles and teams by groups at each sign-in, and never a role that is not mapped", async () => {
    const team = { workspaceId: app.workspace.id, by: systemActor("test"), name: "Billing" };
    const { id: teamId } = await createTeam(app.store, app.clock, team);
    const own = await createTeam(app.store, app.clock, { ...team, name: "Own" });
    await configure({
      create_agents: true,
      groups: [
        { group: "admins", role: "admin" },
        { group: "billing", role: "agent", team: "Billing" },
      ],
    });
    const email = person("fay", { groups: ["billing", "others"] });
    const cookie = cookieOf(await signIn("fay"));
    const { id = "", role } = (await agentOf(email)) ?? {};
    await admin.call("PATCH", `agents/${id}`, { team_ids: [teamId, own.id] });
    const teams = async () =>
      (await admin.call("GET", `agents/${id}`)).body as { readonly teams: readonly { readonly name: string }[] };
    expect([role, (await teams()).teams.map(({ name }) => name)]).toEqual(["agent", ["Billing", "Own"]]);
    person("fay", { groups: ["admins"] });
    await signIn("fay");
    expect([(await agentOf(email))?.role, (await teams()).teams.map(({ name }) => name)]).toEqual(["admin", ["Own"]]);
    const expires_at = new Date(app.clock.now() + 86_400_000).toISOString();
    const token = { name: "Script", scope: "write", expires_at };
    const session = { cookie: cookieOf(await signIn("fay")), "sec-fetch-site": "same-origin" };
    expect((await callAdmin(app, "POST", "access-tokens", token, session)).status).toBe(201);
    person("fay", { groups: ["billing"] });
    await signIn("fay");
    const left = app.store.read.selectFrom("access_tokens").select("id").where("agent_id", "=", id);
    expect(await left.execute()).toEqual([]);
    person("fay", { groups: ["admins"] });
    await signIn("fay");
    // Without a group she is out, in all her browsers, and with her password too.
    person("fay", { groups: ["admin", "superadmin"], role: "admin" });
    expect([(await signIn("fay")).status, warned("no_group")]).toEqual([403, true]);
    expect((await callAdmin(app, "GET", "me", undefined, { cookie })).status).toBe(401);
    await admin.call("PUT", "sign-in/provider", settings({ groups: [] }));
    person("fay", { groups: ["admins"] });
    expect((await signIn("fay")).status).toBe(303);
    expect((await agentOf(email))?.role).toBe("admin");
    expect((await admin.call("DELETE", `agents/${id}`)).status).toBe(204);
  });

  it("keeps the password from an agent whose group is gone", async () => {
    await configure({ groups: [{ group: "support", role: "agent" }] });
    const email = person("gus", { groups: ["support"] });
    await add(email);
    await signIn("gus");
    expect((await form({ email, password })).status).toBe(303);
    person("gus", { groups: [] });
    expect((await signIn("gus")).status).toBe(403);
    const refused = await form({ email, password });
    expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining("single sign-on")]);
  });

  it("does not lock the last administrator out", async () => {
    const other = await app.createWorkspace();
    const owner = await dashboardUser(app, "admin", { name: "last", workspaceId: other.id });
    const callback = `http://parley.test/inbox/login/provider/${other.id}/callback`;
    const own = await startOpenIdProvider({ callbacks: [callback], inToken: true });
    try {
      const groups = [{ group: "support", role: "agent" }];
      const given = settings({ issuer: own.issuer, groups });
      expect((await owner.call("PUT", "sign-in/provider", given)).status).toBe(200);
      own.people.set("last", { email: owner.email, email_verified: true, groups: ["support"] });
      const browser = createProviderBrowser(app, other.id);
      expect((await me(await browser.signIn("last"))).body).toMatchObject({ agent: { role: "admin" } });
      own.people.set("last", { email: owner.email, email_verified: true, groups: [] });
      const answer = await createProviderBrowser(app, other.id).signIn("last");
      expect((await me(answer)).body).toMatchObject({ agent: { role: "admin" } });
      expect((await owner.call("DELETE", "sign-in/provider")).status).toBe(204);
    } finally {
      await own.close();
    }
  });

  it("is the only way where it is required, besides the operator's link", async () => {
    await configure();
    const email = person("hal");
    const { id } = await add(email);
    const before = cookieOf(await form({ email, password }));
    const earlier = cookieOf(await form({ email, password }));
    // A session of an earlier version.
    await app.store.write((tx) =>
      tx
        .updateTable("agent_tokens")
        .set({ method: null })
        .where("hash", "=", hash("sha256", earlier.split("=")[1] ?? ""))
        .execute(),
    );
    const required = () => admin.call("PUT", "sign-in/provider", settings({ required: true }));
    const early = await required();
    expect([early.status, (early.body as { readonly detail: string }).detail]).toEqual([
      422,
      expect.stringContaining("required: an administrator has to sign in through this provider once"),
    ]);
    await add(person("ida"), "admin");
    await signIn("ida");
    expect((await required()).status).toBe(200);
    try {
      for (const cookie of [before, earlier]) {
        expect((await callAdmin(app, "GET", "me", undefined, { cookie })).status).toBe(401);
      }
      expect((await form({ email, password })).status).toBe(403);
      expect((await signIn("hal")).status).toBe(303);
      const link = await createLoginToken(app.store, app.clock, id);
      const linked = await fetch(`${app.url}/inbox/login/${link}`, {
        method: "POST",
        headers: { origin: app.url },
        redirect: "manual",
      });
      expect((await me(linked)).body).toMatchObject({ agent: { email } });
      // An invitation is accepted by signing in.
      const invited = person("jo");
      const sent = await admin.call("POST", "agents", { email: invited, name: "Jo", role: "viewer" });
      const { pathname } = new URL((sent.body as { readonly invitation_url: string }).invitation_url);
      expect(await (await fetch(`${app.url}${pathname}`)).text()).not.toContain('type="password"');
      const chosen = await fetch(`${app.url}${pathname}`, {
        method: "POST",
        headers: { origin: app.url },
        body: new URLSearchParams({ password }),
      });
      expect([chosen.status, (await agentOf(invited))?.password]).toEqual([404, null]);
      expect((await me(await signIn("jo"))).body).toMatchObject({ agent: { email: invited, role: "viewer" } });
      expect((await agentOf(invited))?.invited_until).toBeNull();
    } finally {
      await configure();
    }
  });

  it("does not ask administrators for a second factor of their own", async () => {
    await configure();
    await admin.call("PUT", "sign-in", { second_factor_required: true });
    try {
      await add(person("kim"), "admin");
      const answer = await signIn("kim");
      expect((await me(answer)).body).toMatchObject({ agent: { lacks_second_factor: false } });
      expect((await callAdmin(app, "GET", "agents", undefined, { cookie: cookieOf(answer) })).status).toBe(200);
    } finally {
      const kim = cookieOf(await signIn("kim"));
      const off = { cookie: kim, "sec-fetch-site": "same-origin" };
      await callAdmin(app, "PUT", "sign-in", { second_factor_required: false }, off);
    }
  });

  it("stores the client secret encrypted, never shows it, and sends it to no other provider", async () => {
    await configure();
    const shown = await admin.call("GET", "sign-in/provider");
    const audit = await admin.call("GET", "audit");
    const stored = await app.store.read.selectFrom("workspaces").select("settings").execute();
    const exported: object[] = [];
    for await (const line of exportLines(app.store, app.clock, app.workspace.id, undefined)) exported.push(line);
    expect(JSON.stringify(exported)).toContain('"clientSecret":null');
    for (const each of [shown.body, audit.body, stored, app.logged]) {
      expect(JSON.stringify(each)).not.toContain("the client's secret");
    }
    const { client_secret: _, ...kept } = settings({ label: "Log in with Shop" });
    expect((await admin.call("PUT", "sign-in/provider", kept)).status).toBe(200);
    expect((await signIn("ada")).status).toBe(303);
    const moved = await admin.call("PUT", "sign-in/provider", { ...kept, issuer: "https://evil.example" });
    expect(moved.body).toMatchObject({ detail: "client_secret: enter the secret of this client." });
    const page = await (await fetch(`${app.url}/inbox/login`)).text();
    expect(page).toContain(`href="/inbox/login/provider/${app.workspace.id}">Log in with Shop</a>`);
    expect((await admin.call("DELETE", "sign-in/provider")).status).toBe(204);
    expect((await fetch(`${app.url}/inbox/login/provider/${app.workspace.id}`)).status).toBe(404);
  });
});
