import { afterAll, beforeAll, expect, it } from "vitest";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import type { AdminAnswer, DashboardUser } from "#test/support/http/administrators.ts";
import { callAdmin, dashboardUser } from "#test/support/http/administrators.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import { asked, cookieOf } from "#test/support/http/inbox.ts";
import { eventually } from "#test/support/eventually.ts";
import { inTime } from "#test/support/in-time.ts";
import { addDeadLetter } from "#test/support/queue/dead-letters.ts";
import { mailConfigOf, openMailServer } from "#test/support/servers/mail-server.ts";

interface AgentBody {
  readonly id: string;
  readonly email: string;
  readonly invited_until: string | null;
  readonly conversations: number;
}

eachDatabase("agents of a workspace", (open) => {
  let app: TestApp;
  let admin: DashboardUser;
  beforeAll(async () => {
    app = await startApp(open);
    admin = await dashboardUser(app, "admin");
  });
  afterAll(() => app.close());

  const day = 86_400_000;
  const invite = async (name: string, more: object = {}) => {
    const answer = await admin.call("POST", "agents", { email: `${name}@shop.example`, name, ...more });
    expect(answer.status).toBe(201);
    const { agent, invitation_url: url } = answer.body as {
      readonly agent: AgentBody;
      readonly invitation_url: string;
    };
    return { id: agent.id, path: new URL(url).pathname };
  };
  const openLink = (path: string) => fetch(`${app.url}${path}`);
  const accept = (path: string, password: string) =>
    fetch(`${app.url}${path}`, {
      method: "POST",
      headers: { origin: app.url },
      body: new URLSearchParams({ password }),
      redirect: "manual",
    });
  const pathOf = ({ body }: AdminAnswer) =>
    new URL((body as { readonly invitation_url: string }).invitation_url).pathname;
  const read = async (id: string) => (await admin.call("GET", `agents/${id}`)).body as AgentBody;
  const audited = async (subject: string) =>
    app.store.read
      .selectFrom("audit")
      .select(["action", "from_value", "to_value"])
      .where("detail", "=", subject)
      .where("workspace_id", "=", app.workspace.id)
      .orderBy("id")
      .execute();

  it("get another address, which they sign in with and their conversations follow", async () => {
    const { id, path } = await invite("olga");
    expect((await admin.call("PATCH", `agents/${id}`, { email: "olga.k@shop.example" })).status).toBe(422);
    await accept(path, "olga's long password");
    const { conversation_id: conversationId } = (
      await app.post("/v1/query", { workspace_id: app.workspace.id, query: "Hello" })
    ).body;
    const given = { status: "claimed", assigned_to: "olga@shop.example" };
    expect((await app.call("PATCH", `/v1/conversations/${conversationId}`, { body: given })).status).toBe(200);

    const taken = await admin.call("PATCH", `agents/${id}`, { email: admin.email });
    expect([taken.status, (taken.body as { readonly code: string }).code]).toEqual([409, "already_exists"]);
    const assigning = {
      name: "to olga",
      when: { message: "customer" },
      if: { words: ["refund"] },
      // oxlint-disable-next-line unicorn/no-thenable -- a key of the API.
      then: [{ assign: "olga@shop.example" }],
    };
    expect((await admin.call("POST", "rules", assigning)).status).toBe(201);
    const used = await admin.call("PATCH", `agents/${id}`, { email: "olga.k@shop.example" });
    expect((used.body as { readonly detail: string }).detail).toContain("the rule “to olga” assigns");
    await admin.call("DELETE", "rules/to%20olga");

    const changed = await admin.call("PATCH", `agents/${id}`, { email: " Olga.K@shop.example" });
    expect([changed.status, changed.body]).toMatchObject([200, { email: "olga.k@shop.example" }]);
    await eventually(async () => {
      app.clock.advance(100);
      const { body } = await app.get(`/v1/conversations/${conversationId}`);
      expect(body).toMatchObject({ status: "claimed", assigned_to: "olga.k@shop.example" });
    });
    const signIn = (email: string) =>
      fetch(`${app.url}/inbox/login`, {
        method: "POST",
        headers: { origin: app.url },
        body: new URLSearchParams({ email, password: "olga's long password" }),
        redirect: "manual",
      });
    expect((await signIn("olga@shop.example")).status).not.toBe(303);
    expect((await signIn("olga.k@shop.example")).status).toBe(303);
    // Two changes in a row lead to the last address, and a snoozed conversation stays so.
    const snooze = { status: "snoozed", snooze_hours: 24 };
    expect((await app.call("PATCH", `/v1/conversations/${conversationId}`, { body: snooze })).status).toBe(200);
    await admin.call("PATCH", `agents/${id}`, { email: "olgak@shop.example" });
    await admin.call("PATCH", `agents/${id}`, { email: "ok@shop.example" });
    await eventually(async () => {
      app.clock.advance(100);
      const { body } = await app.get(`/v1/conversations/${conversationId}`);
      expect(body).toMatchObject({ status: "snoozed", assigned_to: "ok@shop.example" });
    });
    expect(await audited("olga@shop.example")).toContainEqual({
      action: "agent_changed",
      from_value: "olga@shop.example",
      to_value: "olga.k@shop.example",
    });
  });

  it("join by an invitation, which asks for a password and signs in once", async () => {
    const { id, path } = await invite("ines", { role: "viewer" });
    expect(await read(id)).toMatchObject({ role: "viewer", has_password: false, last_seen_at: null });
    expect((await read(id)).invited_until).toBe(new Date(app.clock.now() + 7 * day).toISOString());
    expect(await (await openLink(path)).text()).toContain("ines@shop.example");

    const short = await accept(path, "too short");
    expect([short.status, await short.text()]).toEqual([422, expect.stringContaining("at least 10 characters")]);
    const joined = await accept(path, "long enough to join");
    expect([joined.status, joined.headers.get("location")]).toEqual([303, "/inbox"]);
    const me = await callAdmin(app, "GET", "me", undefined, { cookie: cookieOf(joined) });
    expect(me.body).toMatchObject({ agent: { id, role: "viewer" } });
    expect(await read(id)).toMatchObject({ has_password: true, invited_until: null });
    expect((await accept(path, "another password")).status).toBe(404);
    const signedIn = await fetch(`${app.url}/inbox/login`, {
      method: "POST",
      headers: { origin: app.url },
      body: new URLSearchParams({ email: "ines@shop.example", password: "long enough to join" }),
      redirect: "manual",
    });
    expect(signedIn.status).toBe(303);
    expect((await audited("ines@shop.example")).map(({ action }) => action)).toEqual([
      "agent_added",
      "invitation_accepted",
    ]);
  });

  it("join in seven days, and by the newest link only", async () => {
    const late = await invite("lars");
    app.clock.advance(7 * day);
    expect((await accept(late.path, "long enough to join")).status).toBe(404);
    const again = pathOf(await admin.call("POST", `agents/${late.id}/invitation`));
    const newest = pathOf(await admin.call("POST", `agents/${late.id}/invitation`));
    expect((await openLink(again)).status).toBe(404);
    expect((await accept(newest, "long enough to join")).status).toBe(303);
    const { status, body } = await admin.call("POST", `agents/${late.id}/invitation`);
    expect([status, body]).toMatchObject([409, { code: "invalid_transition" }]);
  });

  it("cannot join once the invitation is revoked", async () => {
    const { id, path } = await invite("rita");
    expect((await admin.call("DELETE", `agents/${id}/invitation`)).status).toBe(204);
    expect((await openLink(path)).status).toBe(404);
    expect((await admin.call("GET", `agents/${id}`)).status).toBe(404);
    expect((await admin.call("DELETE", `agents/${admin.id}/invitation`)).status).toBe(409);
  });

  it("get their invitation by mail where the installation can send it", async () => {
    const server = await openMailServer();
    const mailing = await startApp(open, { mail: mailConfigOf(server) });
    try {
      const { call } = await dashboardUser(mailing, "admin");
      const { body } = await call("POST", "agents", { email: "mia@shop.example", name: "Mia" });
      const { invitation_url: url } = body as { readonly invitation_url: string };
      const [mail] = await inTime(mailing.clock, server.mails(1));
      expect(mail).toMatchObject({ to: ["mia@shop.example"], text: expect.stringContaining(url) as string });
    } finally {
      await mailing.close();
      await server.close();
    }
  });

  it("have an address of their own in the workspace", async () => {
    await invite("emma");
    const twice = await admin.call("POST", "agents", { email: "EMMA@shop.example", name: "Emma" });
    expect([twice.status, twice.body]).toMatchObject([409, { code: "already_exists" }]);
    expect((await admin.call("POST", "agents", { email: "no address", name: "Emma" })).status).toBe(422);
  });

  it("are listed in pages, by address", async () => {
    const emails: string[] = [];
    for (let cursor = ""; ;) {
      const { body } = await admin.call("GET", `agents?limit=2${cursor}`);
      const { agents, pagination } = body as {
        readonly agents: readonly AgentBody[];
        readonly pagination: { readonly next_cursor: string; readonly has_more: boolean };
      };
      emails.push(...agents.map(({ email }) => email));
      if (!pagination.has_more) break;
      cursor = `&cursor=${pagination.next_cursor}`;
    }
    const all = await app.store.read
      .selectFrom("agents")
      .select("email")
      .where("workspace_id", "=", app.workspace.id)
      .execute();
    expect(emails).toEqual(all.map(({ email }) => email).toSorted());
  });

  it("change their name, role and teams, and are away, with an entry for each in the audit log", async () => {
    const { id } = await dashboardUser(app, "agent", { name: "carla" });
    const { email } = await read(id);
    const made = await admin.call("POST", "teams", { name: "Billing" });
    const { id: teamId } = made.body as { readonly id: string };
    const change = { name: "Carla B.", role: "viewer", away: true, team_ids: [teamId] };
    const { body } = await admin.call("PATCH", `agents/${id}`, change);
    expect(body).toMatchObject({ name: "Carla B.", role: "viewer", away: true, teams: [{ name: "Billing" }] });
    expect(await audited(email)).toMatchObject([
      { action: "agent_changed", from_value: "agent", to_value: "viewer" },
      { from_value: "carla", to_value: "Carla B." },
      { from_value: "here", to_value: "away" },
      { from_value: "teams: none", to_value: "teams: Billing" },
    ]);
    const refused = await admin.call("PATCH", `agents/${id}`, { name: "X", team_ids: ["team_none"] });
    expect([refused.status, await read(id)]).toMatchObject([422, { name: "Carla B." }]);
  });

  it("keep what two administrators change at once, and lose their access tokens with the role admin", async () => {
    const user = await dashboardUser(app, "admin", { name: "dora" });
    const expires_at = new Date(app.clock.now() + 86_400_000).toISOString();
    const made = await user.call("POST", "access-tokens", { name: "Script", scope: "write", expires_at });
    expect(made.status).toBe(201);
    const path = `agents/${user.id}`;
    await Promise.all([
      admin.call("PATCH", path, { role: "viewer" }),
      admin.call("PATCH", path, { name: "Dora D." }),
      admin.call("PATCH", path, { away: true }),
    ]);
    expect(await read(user.id)).toMatchObject({ name: "Dora D.", role: "viewer", away: true });
    const tokens = app.store.read.selectFrom("access_tokens").select("id").where("agent_id", "=", user.id);
    expect(await tokens.execute()).toEqual([]);
  });

  it("include one admin at least, who has joined", async () => {
    const { id: workspaceId } = await app.createWorkspace();
    const first = await dashboardUser(app, "admin", { name: "ada", workspaceId });
    const invited = await first.call("POST", "agents", { email: "next@shop.example", name: "Next", role: "admin" });
    expect(invited.status).toBe(201);
    for (const [method, body] of [["PATCH", { role: "agent" }], ["DELETE"]] as const) {
      const { status, body: problem } = await first.call(method, `agents/${first.id}`, body);
      expect([status, problem]).toMatchObject([409, { code: "last_admin" }]);
    }
    const second = await dashboardUser(app, "admin", { name: "bea", workspaceId });
    const demote = (by: DashboardUser, who: DashboardUser) => by.call("PATCH", `agents/${who.id}`, { role: "agent" });
    const both = await Promise.all([demote(first, second), demote(second, first)]);
    expect(both.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it("leave their conversations to the queue or to a colleague when they are removed", async () => {
    const leaving = [
      await dashboardUser(app, "agent", { name: "leo" }),
      await dashboardUser(app, "agent", { name: "lea" }),
    ];
    const heir = await dashboardUser(app, "agent", { name: "hans" });
    const viewer = await dashboardUser(app, "viewer", { name: "vic" });
    for (const [i, to] of [null, heir].entries()) {
      const agent = leaving[i] ?? admin;
      const author = { email: agent.email, name: "Leaving" };
      const held: string[] = [];
      for (const snooze of [false, true]) {
        const { conversationId } = await asked(app, `left-${i}-${snooze}`);
        await app.engine.applyAction(app.workspace.id, conversationId, { kind: "claim" }, author);
        if (snooze) {
          const until = { kind: "snooze", snooze: { kind: "until_reply" } } as const;
          await app.engine.applyAction(app.workspace.id, conversationId, until, author);
        }
        held.push(conversationId);
      }
      expect((await read(agent.id)).conversations).toBe(2);
      for (const wrong of [viewer.id, agent.id, "agt_none"]) {
        const { status } = await admin.call("DELETE", `agents/${agent.id}?reassign_to=${wrong}`);
        expect([404, 422]).toContain(status);
      }
      const query = to === null ? "" : `?reassign_to=${to.id}`;
      expect((await admin.call("DELETE", `agents/${agent.id}${query}`)).status).toBe(204);
      expect((await agent.call("GET", "me")).body).toMatchObject({ code: "signed_out" });
      app.clock.advance(1_000);
      const states = () =>
        app.store.read.selectFrom("conversations").select(["status", "assigned_to"]).where("id", "in", held).execute();
      const expected = to === null ? ["escalated", null] : ["claimed", to.email];
      await expect
        .poll(async () => (await states()).map(({ status, assigned_to: of }) => [status, of]))
        .toEqual([expected, expected]);
    }
  });

  it("keep their conversations when they have the address again, or are new, before a move of it was done", async () => {
    const lane = `hand-on:${app.workspace.id}`;
    const [back, moved, next] = [await invite("mira"), await invite("moss"), await invite("milo")];
    const by = { type: "system", id: "test", name: null };
    const address = (name: string) => `${name}@shop.example`;
    const talks = {
      mira: (await asked(app, "of-mira")).conversationId,
      milo: (await asked(app, "of-milo")).conversationId,
    };
    for (const [name, id] of Object.entries(talks)) {
      await app.engine.applyAction(app.workspace.id, id, { kind: "claim" }, { email: address(name), name });
    }
    // Mira got her address back, and Milo has the one that Moss had before.
    for (const [agentId, name] of [
      [back.id, "mira"],
      [moved.id, "milo"],
    ]) {
      const payload = { workspaceId: app.workspace.id, from: address(name ?? ""), to: null, agentId, by };
      await addDeadLetter(app, { lane, kind: "hand-on", payload });
    }
    expect(next.id).not.toBe(moved.id);
    expect((await admin.call("POST", "dead-letters/retry")).body).toEqual({ retried: 2 });
    const queued = app.store.read.selectFrom("outbox").select("id").where("lane", "=", lane);
    await eventually(async () => expect(await queued.execute()).toEqual([]));
    const rows = app.store.read.selectFrom("conversations").select("assigned_to");
    const ownerOf = async (id: string) => (await rows.where("id", "=", id).executeTakeFirstOrThrow()).assigned_to;
    expect([await ownerOf(talks.mira), await ownerOf(talks.milo)]).toEqual([address("mira"), address("milo")]);
  });

  it("keep their conversations when they are added again before these were handed on", async () => {
    const lane = `hand-on:${app.workspace.id}`;
    const removed = ["leila@shop.example", "levi@shop.example"];
    const { conversationId } = await asked(app, "kept");
    const { conversationId: left } = await asked(app, "left-late");
    for (const from of removed) {
      const payload = { workspaceId: app.workspace.id, from, to: null, by: { type: "system", id: "test", name: null } };
      await addDeadLetter(app, { lane, kind: "hand-on", payload });
    }
    app.clock.advance(1_000);
    await invite("leila");
    for (const [id, email = ""] of [
      [conversationId, removed[0]],
      [left, removed[1]],
    ] as const) {
      await app.engine.applyAction(app.workspace.id, id, { kind: "claim" }, { email, name: "Le" });
    }
    expect((await admin.call("POST", "dead-letters/retry")).body).toEqual({ retried: 2 });
    const queued = app.store.read.selectFrom("outbox").select("id").where("lane", "=", lane);
    await eventually(async () => expect(await queued.execute()).toEqual([]));
    const rows = app.store.read.selectFrom("conversations").select("assigned_to");
    const ownerOf = async (id: string) => (await rows.where("id", "=", id).executeTakeFirstOrThrow()).assigned_to;
    expect([await ownerOf(conversationId), await ownerOf(left)]).toEqual(["leila@shop.example", null]);
  });

  it("are unknown to admins of other workspaces", async () => {
    const { id: workspaceId } = await app.createWorkspace();
    const stranger = await dashboardUser(app, "admin", { name: "stranger", workspaceId });
    for (const method of ["GET", "PATCH", "DELETE"]) {
      const { status } = await stranger.call(
        method,
        `agents/${admin.id}`,
        method === "PATCH" ? { name: "x" } : undefined,
      );
      expect(status).toBe(404);
    }
  });
});
