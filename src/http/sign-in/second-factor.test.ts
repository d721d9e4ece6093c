import { afterAll, beforeAll, expect, it } from "vitest";
import { createAgent } from "#admin/team/agents.ts";
import { totpCode } from "#admin/sign-in/totp.ts";
import { createLoginToken } from "#admin/team/login-links.ts";
import type { AgentRole } from "#domain/workspace/agent-role.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import { callAdmin, dashboardUser } from "#test/support/http/administrators.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { cookieOf, password } from "#test/support/http/inbox.ts";

eachDatabase("signing in with a second factor", (open) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp(open, { trustedProxies: ["127.0.0.1"] });
  });
  afterAll(() => app.close());

  const form = (fields: Readonly<Record<string, string>>, from = "192.0.2.1", query = "") =>
    fetch(`${app.url}/inbox/login${query}`, {
      method: "POST",
      headers: { origin: app.url, "x-forwarded-for": from },
      body: new URLSearchParams(fields),
      redirect: "manual",
    });
  const stepOf = async (answer: Response): Promise<string> =>
    /name="step" value="([\w-]+)"/u.exec(await answer.text())?.[1] ?? "";
  const call = (cookie: string, method: string, path: string, body?: unknown) =>
    callAdmin(app, method, path, body, { cookie, "sec-fetch-site": "same-origin" });

  /** An agent with a password, in a session. */
  async function addPerson(name: string, role: AgentRole = "agent", workspaceId = app.workspace.id) {
    const email = `${name}@shop.example`;
    const { id } = await createAgent(app.store, app.clock, { workspaceId, email, name, role, password });
    const session = cookieOf(await form({ email, password }));
    return { id, email, session };
  }

  /** Turns the second factor on, and moves the clock past the code that was used for it. */
  async function enroll(session: string) {
    const begun = await call(session, "POST", "me/second-factor", { password });
    const {
      secret,
      setup,
      uri,
      qr_svg: picture,
    } = begun.body as Readonly<Record<string, string>> & {
      readonly secret: string;
    };
    const code = totpCode(secret, app.clock.now());
    const on = await call(session, "POST", "me/second-factor/confirm", { setup, code });
    expect([begun.status, on.status]).toEqual([200, 200]);
    app.clock.advance(30_000);
    return {
      secret,
      uri,
      picture,
      recovery: (on.body as { readonly recovery_codes: readonly string[] }).recovery_codes,
    };
  }

  it("shows a QR code and ten recovery codes when it is set up, and stores neither secret nor codes in clear", async () => {
    const { id, session } = await addPerson("ada");
    expect((await call(session, "POST", "me/second-factor", { password: "guess" })).status).toBe(422);
    const { secret, uri, picture, recovery } = await enroll(session);
    expect(uri).toBe(`otpauth://totp/Test:ada%40shop.example?secret=${secret}&issuer=Test`);
    expect(picture).toMatch(/^<svg /u);
    expect(new Set(recovery).size).toBe(10);
    const agents = app.store.read.selectFrom("agents").selectAll().where("id", "=", id);
    const codes = app.store.read.selectFrom("recovery_codes").selectAll().where("agent_id", "=", id);
    const stored = JSON.stringify([await agents.execute(), await codes.execute()]);
    for (const each of [secret, ...recovery, ...recovery.map((code) => code.replace("-", ""))]) {
      expect(stored).not.toContain(each);
    }
    expect((await call(session, "GET", "me/second-factor")).body).toEqual({
      on: true,
      has_password: true,
      recovery_codes_left: 10,
    });
  });

  it("is on only after a right code, within 30 minutes, for the agent who began", async () => {
    const [bea, ben] = [await addPerson("bea"), await addPerson("ben")];
    const begin = async () =>
      (await call(bea.session, "POST", "me/second-factor", { password })).body as Readonly<Record<string, string>>;
    const { secret = "", setup = "" } = await begin();
    const confirm = (session: string, code: string, given = setup) =>
      call(session, "POST", "me/second-factor/confirm", { setup: given, code });
    expect((await confirm(bea.session, "000000")).status).toBe(422);
    expect((await confirm(ben.session, totpCode(secret, app.clock.now()))).status).toBe(422);
    expect((await confirm(bea.session, totpCode(secret, app.clock.now()), "v1.forged")).status).toBe(422);
    app.clock.advance(31 * 60_000);
    expect((await confirm(bea.session, totpCode(secret, app.clock.now()))).status).toBe(422);
    expect((await call(bea.session, "GET", "me/second-factor")).body).toMatchObject({ on: false });
  });

  it("asks for a code after the password, and accepts each code once", async () => {
    const { email, session } = await addPerson("cleo");
    const { secret } = await enroll(session);
    const asked = await form({ email, password }, "192.0.2.1", "?to=/dashboard/team");
    expect([asked.status, asked.headers.get("set-cookie")]).toEqual([200, null]);
    const step = await stepOf(asked);
    const wrong = await form({ step, code: "000000" });
    expect([wrong.status, await stepOf(wrong)]).toEqual([401, step]);

    const code = totpCode(secret, app.clock.now());
    const entered = await form(
      { step, code: `${code.slice(0, 3)} ${code.slice(3)}` },
      "192.0.2.1",
      "?to=/dashboard/team",
    );
    expect([entered.status, entered.headers.get("location")]).toEqual([303, "/dashboard/team"]);
    expect((await call(cookieOf(entered), "GET", "me")).body).toMatchObject({ agent: { email } });

    // The page is used up, and so is the code.
    expect((await form({ step, code: totpCode(secret, app.clock.now() + 30_000) })).status).toBe(401);
    const again = await stepOf(await form({ email, password }));
    expect((await form({ step: again, code })).status).toBe(401);
    app.clock.advance(30_000);
    const both = await Promise.all(
      [again, await stepOf(await form({ email, password }))].map((each) =>
        form({ step: each, code: totpCode(secret, app.clock.now()) }),
      ),
    );
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([303, 401]));
  });

  it("asks anew when the page is older than ten minutes", async () => {
    const { email, session } = await addPerson("dan");
    const { secret } = await enroll(session);
    const step = await stepOf(await form({ email, password }));
    app.clock.advance(11 * 60_000);
    const late = await form({ step, code: totpCode(secret, app.clock.now()) });
    expect(late.status).toBe(401);
    expect(await late.text()).toContain("This page has expired");
  });

  it("accepts each recovery code once", async () => {
    const { email, session } = await addPerson("eva");
    const { recovery } = await enroll(session);
    const use = async (code: string) =>
      (await form({ step: await stepOf(await form({ email, password })), code })).status;
    const [first = "", second = ""] = recovery;
    expect(await use(first)).toBe(303);
    expect(await use(first)).toBe(401);
    expect(await use(second.toUpperCase().replace("-", " "))).toBe(303);
    expect((await call(session, "GET", "me/second-factor")).body).toMatchObject({ recovery_codes_left: 8 });
    const renewed = await call(session, "POST", "me/second-factor/recovery-codes", { password });
    expect((renewed.body as { readonly recovery_codes: readonly string[] }).recovery_codes).toHaveLength(10);
    expect(await use(recovery[2] ?? "")).toBe(401);
  });

  it("holds guesses of codes back, and keeps the network that the agent uses open", async () => {
    const { email, session } = await addPerson("finn");
    const { secret } = await enroll(session);
    const guess = async (from: string, step: string) => (await form({ step, code: "000000" }, from)).status;
    const step = await stepOf(await form({ email, password }, "198.51.100.1"));
    // The agent's own network is known by a sign-in with a code.
    const code = totpCode(secret, app.clock.now());
    expect((await form({ step: await stepOf(await form({ email, password })), code })).status).toBe(303);
    const statuses: number[] = [];
    for (let i = 0; i < 9; i += 1) statuses.push(await guess("198.51.100.1", step));
    expect(statuses).toEqual([...Array.from({ length: 8 }, () => 401), 429]);
    for (let i = 0; i < 8; i += 1) await guess(`198.51.100.${10 + i}`, step);
    expect(await guess("198.51.100.99", step)).toBe(429);
    app.clock.advance(30_000);
    const again = await stepOf(await form({ email, password }));
    expect((await form({ step: again, code: totpCode(secret, app.clock.now()) })).status).toBe(303);
  });

  it("holds guesses of recovery codes back, together with those of the app's codes", async () => {
    const { email, session } = await addPerson("gina");
    await enroll(session);
    app.clock.advance(15 * 60_000);
    const step = await stepOf(await form({ email, password }, "198.51.100.7"));
    const statuses: number[] = [];
    for (let i = 0; i < 9; i += 1) {
      const code = i % 2 === 0 ? "00000-00000" : "000000";
      statuses.push((await form({ step, code }, "198.51.100.7")).status);
    }
    expect(statuses).toEqual([...Array.from({ length: 8 }, () => 401), 429]);
  });

  it("is turned off with the password, or by an administrator for a colleague", async () => {
    const admin = await dashboardUser(app, "admin", { name: "root" });
    const { id, email, session } = await addPerson("gil");
    await enroll(session);
    expect((await call(session, "POST", "me/second-factor/remove", {})).status).toBe(422);
    expect((await call(session, "POST", "me/second-factor/remove", { password })).status).toBe(204);
    expect((await form({ email, password })).status).toBe(303);
    await enroll(session);
    expect((await call(session, "DELETE", `agents/${id}/second-factor`)).status).toBe(403);
    expect((await admin.call("DELETE", `agents/${admin.id}/second-factor`)).status).toBe(422);
    expect((await admin.call("DELETE", `agents/${id}/second-factor`)).status).toBe(204);
    expect((await form({ email, password })).status).toBe(303);
    const stranger = await dashboardUser(app, "admin", {
      name: "other",
      workspaceId: (await app.createWorkspace()).id,
    });
    expect((await stranger.call("DELETE", `agents/${id}/second-factor`)).status).toBe(404);
    const entries = await app.store.read
      .selectFrom("audit")
      .select(["actor_id", "to_value"])
      .where("action", "=", "sign_in_changed")
      .where("detail", "=", `second factor of ${email}`)
      .orderBy("id")
      .execute();
    expect(entries).toEqual([
      { actor_id: email, to_value: "on" },
      { actor_id: email, to_value: "off" },
      { actor_id: email, to_value: "on" },
      { actor_id: admin.email, to_value: "off" },
    ]);
  });

  it("is not asked for after a link that was made on the command line", async () => {
    const { id, session } = await addPerson("hal");
    await enroll(session);
    const token = await createLoginToken(app.store, app.clock, id);
    const headers = { origin: app.url };
    const entered = await fetch(`${app.url}/inbox/login/${token}`, { method: "POST", headers, redirect: "manual" });
    expect(entered.status).toBe(303);
  });

  it("is required of every role where the workspace says so, and leads to their own account only", async () => {
    const { id: workspaceId } = await app.createWorkspace();
    const admin = await addPerson("ida", "admin", workspaceId);
    const agent = await addPerson("jan", "agent", workspaceId);
    expect((await call(agent.session, "PUT", "sign-in", { second_factor_required: true })).status).toBe(403);
    expect((await call(admin.session, "GET", "sign-in")).body).toEqual({
      second_factor_required: false,
      managed_by_file: false,
    });
    expect((await call(admin.session, "PUT", "sign-in", { second_factor_required: true })).status).toBe(200);
    for (const path of ["agents", "overview", "settings", "analytics?from=2031-05-01&to=2031-05-02"]) {
      const refused = await call(admin.session, "GET", path);
      expect([path, refused.status, refused.body]).toMatchObject([path, 403, { code: "second_factor_required" }]);
    }
    expect((await call(admin.session, "GET", "me")).body).toMatchObject({ agent: { lacks_second_factor: true } });
    const viewer = await addPerson("jo", "viewer", workspaceId);
    for (const { session } of [agent, viewer, admin]) {
      expect((await call(session, "GET", "me")).body).toMatchObject({ agent: { lacks_second_factor: true } });
      const inbox = (path: string) =>
        fetch(`${app.url}/inbox${path}`, { headers: { cookie: session }, redirect: "manual" });
      const shell = await inbox("/");
      expect([shell.status, shell.headers.get("location")]).toEqual([303, "/dashboard/account"]);
      const refused = await inbox("/api/me");
      expect([refused.status, await refused.json()]).toMatchObject([403, { code: "second_factor_required" }]);
      if (session === admin.session) continue;
      const { recovery } = await enroll(session);
      expect(recovery).toHaveLength(10);
      expect([(await inbox("/")).status, (await inbox("/api/me")).status]).toEqual([200, 200]);
      const renewed = await call(session, "POST", "me/second-factor/recovery-codes", { password });
      expect((renewed.body as { readonly recovery_codes: readonly string[] }).recovery_codes).toHaveLength(10);
      expect((await call(session, "POST", "me/second-factor/remove", { password })).status).toBe(204);
      expect((await inbox("/api/me")).status).toBe(403);
    }
    await enroll(admin.session);
    expect((await call(admin.session, "GET", "agents")).status).toBe(200);
    expect((await call(admin.session, "GET", "sign-in")).body).toMatchObject({ second_factor_required: true });
    expect((await call(admin.session, "GET", "me")).body).toMatchObject({ agent: { lacks_second_factor: false } });
  });
});
