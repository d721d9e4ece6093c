import { afterAll, beforeAll, expect, it } from "vitest";
import { systemActor } from "#domain/conversation/message.ts";
import { createPasswordLink } from "#admin/sign-in/password-reset.ts";
import { createLoginToken } from "#admin/team/login-links.ts";
import { eventually } from "#test/support/eventually.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { DashboardUser } from "#test/support/http/administrators.ts";
import { dashboardUser } from "#test/support/http/administrators.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { addAgent, cookieOf, password } from "#test/support/http/inbox.ts";
import { inTime } from "#test/support/in-time.ts";
import type { MailServer } from "#test/support/servers/mail-server.ts";
import { mailConfigOf, openMailServer } from "#test/support/servers/mail-server.ts";

eachDatabase("setting a forgotten password", (open) => {
  let app: TestApp;
  let server: MailServer;
  beforeAll(async () => {
    server = await openMailServer();
    app = await startApp(open, { mail: mailConfigOf(server), trustedProxies: ["127.0.0.1"] });
  });
  afterAll(async () => {
    await app.close();
    await server.close();
  });

  const form = (path: string, fields: Readonly<Record<string, string>>, from = "192.0.2.1") =>
    fetch(`${app.url}/inbox/login${path}`, {
      method: "POST",
      headers: { origin: app.url, "x-forwarded-for": from },
      body: new URLSearchParams(fields),
      redirect: "manual",
    });
  const signIn = (email: string, given: string) => form("", { email, password: given });
  const me = async (cookie: string) => (await fetch(`${app.url}/inbox/api/me`, { headers: { cookie } })).status;
  const settled = () =>
    inTime(
      app.clock,
      eventually(async () => {
        const work = app.store.read.selectFrom("outbox").select("id").where("kind", "in", ["password-reset", "mail"]);
        expect(await work.execute()).toEqual([]);
      }),
    );
  /** The path of the newest link, after `/inbox/login`. */
  const linkFor = async (email: string, from?: string): Promise<string> => {
    expect((await form("/forgot", { email }, from)).status).toBe(200);
    await settled();
    const mail = server.received.findLast(({ to }) => to.includes(email.trim().toLowerCase()));
    return /http:\/\/parley\.test\/inbox\/login(\/reset\/[\w-]{43})\n/u.exec(mail?.text ?? "")?.[1] ?? "";
  };

  it("mails a link that works once and ends all sessions", async () => {
    const ada = await addAgent(app, "Ada");
    const session = cookieOf(await signIn(ada.email, password));
    expect(await me(session)).toBe(200);
    const link = await linkFor("ADA@shop.example ");
    expect((await fetch(`${app.url}/inbox/login${link}`)).status).toBe(200);
    const short = await form(link, { password: "short" });
    expect([short.status, await short.text()]).toEqual([422, expect.stringContaining("at least 10 characters")]);
    const next = "a brand new passphrase";
    expect((await form(link, { password: next })).status).toBe(200);
    expect(await me(session)).toBe(401);
    expect((await signIn(ada.email, password)).status).toBe(401);
    expect((await signIn(ada.email, next)).status).toBe(303);
    expect((await form(link, { password: "yet another passphrase" })).status).toBe(404);
    expect((await signIn(ada.email, next)).status).toBe(303);
  });

  it("sets the password in all workspaces that have an agent with the address, and in no deleted one", async () => {
    const other = await app.createWorkspace();
    const bea = await addAgent(app, "Bea");
    await addAgent(app, "Bea", other.id, bea.email);
    const link = await linkFor(bea.email);
    const next = "the same in both places";
    expect((await form(link, { password: next })).status).toBe(200);
    const answer = await signIn(bea.email, next);
    expect(await answer.text()).toContain("You can sign in to 2 workspaces");
  });

  it("gives the same answer for an unknown address, and sends nothing to it", async () => {
    const cleo = await addAgent(app, "Cleo");
    const known = await form("/forgot", { email: cleo.email }, "192.0.2.9");
    const unknown = await form("/forgot", { email: "nobody@shop.example" }, "192.0.2.9");
    expect([unknown.status, await unknown.text()]).toEqual([known.status, await known.text()]);
    await settled();
    expect(server.received.flatMap(({ to }) => to)).not.toContain("nobody@shop.example");
  });

  it("makes links that end after an hour, or when a newer one is sent", async () => {
    const dan = await addAgent(app, "Dan");
    const first = await linkFor(dan.email, "192.0.2.20");
    const second = await linkFor(dan.email, "192.0.2.20");
    expect((await form(first, { password: "a brand new passphrase" })).status).toBe(404);
    app.clock.advance(3_600_000);
    expect((await form(second, { password: "a brand new passphrase" })).status).toBe(404);
    expect((await fetch(`${app.url}/inbox/login${second}`)).status).toBe(404);
    expect((await signIn(dan.email, password)).status).toBe(303);
  });

  it("limits requests by address and by network, whether the address is known or not", async () => {
    for (const email of ["eva@shop.example", "nobody-else@shop.example"]) {
      const statuses: number[] = [];
      for (let i = 0; i < 4; i += 1) statuses.push((await form("/forgot", { email }, "198.51.100.7")).status);
      expect(statuses).toEqual([200, 200, 200, 429]);
    }
    const many: number[] = [];
    for (let i = 0; i < 11; i += 1)
      many.push((await form("/forgot", { email: `x${i}@y.example` }, "198.51.100.8")).status);
    expect(many.filter((status) => status === 429)).toHaveLength(1);
  });

  it("holds guesses of links back, by network and by account", async () => {
    const guesses: number[] = [];
    for (let i = 0; i < 31; i += 1) {
      guesses.push((await form(`/reset/guess${i}`, { password: "short" }, "203.0.113.40")).status);
    }
    expect([guesses.slice(0, 30).includes(429), guesses[30]]).toEqual([false, 429]);
    const { email } = await addAgent(app, "Gus");
    const link = await linkFor(email);
    const tries: number[] = [];
    for (let i = 0; i < 11; i += 1) tries.push((await form(link, { password: "short" }, "203.0.113.50")).status);
    expect(tries).toEqual([...Array.from({ length: 10 }, () => 422), 429]);
  });

  it("is offered only where the program can send mails", async () => {
    const login = (of: TestApp) => fetch(`${of.url}/inbox/login`).then((answer) => answer.text());
    expect(await login(app)).toContain("/inbox/login/forgot");
    const without = await startApp(open);
    try {
      expect(await login(without)).not.toContain("/inbox/login/forgot");
    } finally {
      await without.close();
    }
  });
});

eachDatabase("a link for a new password by an administrator", (open) => {
  let app: TestApp;
  let admin: DashboardUser;
  beforeAll(async () => {
    // Without a mail server.
    app = await startApp(open);
    admin = await dashboardUser(app, "admin");
  });
  afterAll(() => app.close());

  const post = (path: string, fields: Readonly<Record<string, string>>) =>
    fetch(`${app.url}${path}`, {
      method: "POST",
      headers: { origin: app.url },
      body: new URLSearchParams(fields),
      redirect: "manual",
    });
  const signIn = async (email: string, given: string) => post("/inbox/login", { email, password: given });
  const create = (id: string) => admin.call("POST", `agents/${id}/password-link`);
  /** The cookie of a session that a sign-in link has begun. */
  const signedIn = async (id: string): Promise<string> =>
    cookieOf(await post(`/inbox/login/${await createLoginToken(app.store, app.clock, id)}`, {}));
  const me = async (cookie: string) => (await fetch(`${app.url}/inbox/api/me`, { headers: { cookie } })).status;
  const linkFor = async (id: string): Promise<string> => {
    const { status, body } = await create(id);
    expect(status).toBe(201);
    return new URL((body as { readonly password_url: string }).password_url).pathname;
  };

  it("sets the password in its workspace alone, once, and ends the sessions there", async () => {
    const other = await app.createWorkspace();
    const ada = await addAgent(app, "Ada");
    await addAgent(app, "Ada", other.id, ada.email);
    expect(await (await signIn(ada.email, password)).text()).toContain("You can sign in to 2 workspaces");
    const session = await signedIn(ada.id);
    expect(await me(session)).toBe(200);
    const path = await linkFor(ada.id);
    expect(await (await fetch(`${app.url}${path}`)).text()).toContain(ada.email);
    const next = "a brand new passphrase";
    expect((await post(path, { password: next })).status).toBe(200);
    expect(await me(session)).toBe(401);
    // One workspace each: no choice is shown.
    expect((await signIn(ada.email, next)).status).toBe(303);
    expect((await signIn(ada.email, password)).status).toBe(303);
    expect((await post(path, { password: "yet another passphrase" })).status).toBe(404);
    const entries = app.store.read.selectFrom("audit").select(["action", "actor_id"]);
    const found = await entries.where("detail", "like", `%password of ${ada.email}%`).orderBy("id").execute();
    expect(found).toEqual([
      { action: "sign_in_added", actor_id: admin.email },
      { action: "sign_in_changed", actor_id: ada.email },
    ]);
  });

  it("ends after a day, with another address, and with a newer link", async () => {
    const bea = await addAgent(app, "Bea");
    const first = await linkFor(bea.id);
    const second = await linkFor(bea.id);
    expect((await fetch(`${app.url}${first}`)).status).toBe(404);
    expect((await fetch(`${app.url}${second}`)).status).toBe(200);
    await admin.call("PATCH", `agents/${bea.id}`, { email: "bea.b@shop.example" });
    expect((await fetch(`${app.url}${second}`)).status).toBe(404);
    const third = await linkFor(bea.id);
    app.clock.advance(86_400_000);
    const spent = await post(third, { password: "a brand new passphrase" });
    expect([spent.status, await spent.text()]).toEqual([404, expect.stringContaining("Ask an administrator")]);
    expect((await signIn("bea.b@shop.example", password)).status).toBe(303);
  });

  it("ends with all sessions of the agent, and with the role of an administrator", async () => {
    const eva = await addAgent(app, "Eva");
    const first = await linkFor(eva.id);
    expect((await admin.call("DELETE", `agents/${eva.id}/sessions`)).status).toBe(204);
    expect((await fetch(`${app.url}${first}`)).status).toBe(404);
    const colleague = await dashboardUser(app, "admin", { name: "colleague" });
    const other = await dashboardUser(app, "admin", { name: "other" });
    for (const change of [
      () => admin.call("PATCH", `agents/${colleague.id}`, { role: "agent" }),
      () => admin.call("DELETE", `agents/${other.id}`),
    ]) {
      const link = await linkFor(eva.id);
      expect((await change()).status).toBeLessThan(300);
      expect((await fetch(`${app.url}${link}`)).status).toBe(404);
    }
    const late = { workspaceId: app.workspace.id, agentId: eva.id, makerId: colleague.id, by: systemActor("late") };
    await expect(createPasswordLink(app.store, app.clock, late)).rejects.toMatchObject({ code: "insufficient_role" });
  });

  it("is refused to oneself, and to access tokens", async () => {
    expect(await create(admin.id)).toMatchObject({ status: 422 });
    const expiresAt = new Date(app.clock.now() + 86_400_000).toISOString();
    const made = await admin.call("POST", "access-tokens", { name: "CI", scope: "write", expires_at: expiresAt });
    const { token } = made.body as { readonly token: string };
    const fay = await addAgent(app, "Fay");
    const refused = await fetch(`${app.url}/admin/v1/agents/${fay.id}/password-link`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
    });
    expect([refused.status, await refused.json()]).toMatchObject([403, { code: "insufficient_scope" }]);
  });

  it("is refused for agents of other workspaces, and for those who have not joined", async () => {
    const elsewhere = await addAgent(app, "Cleo", (await app.createWorkspace()).id);
    expect((await create(elsewhere.id)).status).toBe(404);
    const invited = await admin.call("POST", "agents", { email: "dan@shop.example", name: "Dan" });
    const { agent } = invited.body as { readonly agent: { readonly id: string } };
    const refused = await create(agent.id);
    expect([refused.status, refused.body]).toMatchObject([
      409,
      { code: "invalid_transition", detail: expect.stringContaining("Make a new invitation link") as string },
    ]);
  });
});
