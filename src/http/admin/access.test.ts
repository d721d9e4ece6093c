import { afterAll, beforeAll, expect, it } from "vitest";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import type { DashboardUser } from "#test/support/http/administrators.ts";
import { callAdmin, dashboardUser } from "#test/support/http/administrators.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import { systemActor } from "#domain/conversation/message.ts";
import { removeAgent } from "#admin/team/agents.ts";

eachDatabase("access to /admin/v1", (open) => {
  let app: TestApp;
  let admin: DashboardUser;
  beforeAll(async () => {
    app = await startApp(open);
    admin = await dashboardUser(app, "admin");
  });
  afterAll(() => app.close());

  const withToken = (token: string, method = "GET", path = "me", body?: unknown) =>
    callAdmin(app, method, path, body, { authorization: `Bearer ${token}` });
  const inDays = (days: number): string => new Date(app.clock.now() + days * 86_400_000).toISOString();
  const newToken = async (scope: "read" | "write", by = admin, expires_at = inDays(30)): Promise<string> => {
    const made = await by.call("POST", "access-tokens", { name: "Terraform", scope, expires_at });
    expect(made.status).toBe(201);
    return (made.body as { readonly token: string }).token;
  };

  it("tells the signed-in agent who they are, whatever their role", async () => {
    for (const role of ["viewer", "agent"] as const) {
      const user = await dashboardUser(app, role);
      const { status, body } = await user.call("GET", "me");
      expect([status, body]).toMatchObject([200, { agent: { role }, workspace: { id: app.workspace.id } }]);
    }
  });

  it("refuses requests without a session or a token, and API keys", async () => {
    expect((await callAdmin(app, "GET", "me", undefined, {})).body).toMatchObject({ code: "signed_out" });
    const { status, body } = await withToken(app.workspace.key);
    expect([status, body]).toMatchObject([401, { code: "malformed_auth" }]);
    expect((await withToken(`pat_${"a".repeat(40)}`)).body).toMatchObject({ code: "invalid_key" });
  });

  it("limits the requests of an agent in their sessions, whatever the plan, apart from colleagues", async () => {
    const { id: workspaceId } = await app.createWorkspace();
    await app.store.write((tx) =>
      tx.updateTable("workspaces").set({ plan: "free" }).where("id", "=", workspaceId).execute(),
    );
    const busy = await dashboardUser(app, "admin", { name: "busy", workspaceId });
    const other = await dashboardUser(app, "admin", { name: "calm", workspaceId });
    const first = await busy.call("GET", "me");
    expect(first.headers.get("x-ratelimit-limit-minute")).toBe("600");
    expect(first.headers.get("x-ratelimit-remaining-minute")).toBe("599");
    // Refused requests do not count.
    expect((await busy.call("GET", "agents/nobody")).status).toBe(404);
    for (let left = 599; left > 0; left -= 40) {
      const answers = await Promise.all(Array.from({ length: Math.min(40, left) }, () => busy.call("GET", "me")));
      expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    }
    const refused = await busy.call("GET", "me");
    expect([refused.status, refused.body]).toMatchObject([429, { code: "rate_limit_minute" }]);
    expect(refused.headers.get("x-ratelimit-remaining-minute")).toBe("0");
    const retryAfter = Number(refused.headers.get("retry-after"));
    expect(retryAfter).toBeGreaterThan(0);
    expect((await other.call("GET", "me")).status).toBe(200);
    app.clock.advance(retryAfter * 1_000);
    expect((await busy.call("GET", "me")).status).toBe(200);
  });

  it("refuses changes that another site's page requests", async () => {
    const body = { name: "x", scope: "read" };
    for (const headers of [{ "sec-fetch-site": "cross-site" }, { "sec-fetch-site": "same-site" }]) {
      const answer = await admin.call("POST", "access-tokens", body, headers);
      expect([answer.status, answer.body]).toMatchObject([403, { code: "cross_site" }]);
    }
    const bare = await callAdmin(app, "POST", "access-tokens", body, { cookie: admin.cookie });
    expect(bare.body).toMatchObject({ code: "cross_site" });
  });

  it("needs the role admin where a route names no other", async () => {
    const viewer = await dashboardUser(app, "viewer", { name: "vera" });
    const { status, body } = await viewer.call("GET", "access-tokens");
    expect([status, body]).toMatchObject([403, { code: "insufficient_role" }]);
  });

  it("lets a token read or write, until it expires or is revoked", async () => {
    const reading = await newToken("read");
    expect((await withToken(reading)).status).toBe(200);
    const refused = await withToken(reading, "POST", "teams", { name: "x" });
    expect([refused.status, refused.body]).toMatchObject([403, { code: "insufficient_scope" }]);

    const end = new Date(app.clock.now() + 60_000).toISOString();
    const writing = await newToken("write", admin, end);
    expect((await withToken(writing, "POST", "teams", { name: "x" })).status).toBe(201);
    app.clock.advance(60_000);
    expect((await withToken(writing)).body).toMatchObject({ code: "expired_key" });

    const { body } = await admin.call("GET", "access-tokens");
    const listed = (body as { readonly access_tokens: readonly { id: string; hint: string }[] }).access_tokens;
    expect(JSON.stringify(body)).not.toContain(reading);
    const { id = "" } = listed.find(({ hint }) => reading.endsWith(hint)) ?? {};
    expect((await admin.call("DELETE", `access-tokens/${id}`)).status).toBe(204);
    expect((await withToken(reading)).body).toMatchObject({ code: "invalid_key" });
    expect((await admin.call("DELETE", `access-tokens/${id}`)).status).toBe(404);
  });

  it("makes tokens in a session only, for a year at most", async () => {
    const token = await newToken("write");
    const body = { name: "x", scope: "write", expires_at: inDays(365) };
    for (const [method, path] of [
      ["POST", "access-tokens"],
      ["DELETE", "access-tokens/pat_none"],
      ["DELETE", `agents/${admin.id}/access-tokens/pat_none`],
    ] as const) {
      const refused = await withToken(token, method, path, method === "POST" ? body : undefined);
      expect([refused.status, refused.body]).toMatchObject([403, { code: "insufficient_scope" }]);
    }
    const endless = await admin.call("POST", "access-tokens", { name: "x", scope: "write" });
    expect([endless.status, endless.body]).toMatchObject([400, { code: "missing_field" }]);
    const late = await admin.call("POST", "access-tokens", { ...body, expires_at: inDays(400) });
    expect([late.status, late.body]).toMatchObject([422, { code: "invalid_parameter" }]);
  });

  it("counts a token's requests against the plan's limits, and says so in headers", async () => {
    const { headers } = await withToken(await newToken("read"));
    expect(headers.get("x-ratelimit-limit-minute")).toBe("1000");
    expect(headers.get("x-ratelimit-remaining-minute")).toBe("999");
  });

  it("ends the tokens of an agent who is removed or is no longer admin", async () => {
    const other = await dashboardUser(app, "admin", { name: "olga" });
    const token = await newToken("write", other);
    const setRole = (role: "admin" | "agent") =>
      app.store.write((tx) => tx.updateTable("agents").set({ role }).where("id", "=", other.id).execute());
    await setRole("agent");
    expect((await withToken(token, "GET", "access-tokens")).body).toMatchObject({ code: "insufficient_role" });
    await setRole("admin");
    const by = systemActor("test");
    await removeAgent(app.store, app.clock, { workspaceId: app.workspace.id, agentId: other.id, by, to: null });
    expect((await withToken(token)).body).toMatchObject({ code: "invalid_key" });
    expect((await other.call("GET", "me")).body).toMatchObject({ code: "signed_out" });
  });

  it("lists and revokes the tokens of a colleague, with an entry in the audit log", async () => {
    const other = await dashboardUser(app, "admin", { name: "otto" });
    const [token, kept] = [await newToken("write", other), await newToken("read", other)];
    const tokensOf = async (by: DashboardUser) => {
      const { status, body } = await by.call("GET", `agents/${other.id}/access-tokens`);
      return {
        status,
        tokens: (body as { readonly access_tokens?: readonly { id: string; hint: string }[] }).access_tokens,
      };
    };
    const { tokens = [] } = await tokensOf(admin);
    expect([tokens.length, JSON.stringify(tokens).includes(token)]).toEqual([2, false]);
    const path = (of: string) => `agents/${of}/access-tokens/${tokens.find(({ hint }) => token.endsWith(hint))?.id}`;

    const { id: workspaceId } = await app.createWorkspace();
    const stranger = await dashboardUser(app, "admin", { name: "stranger", workspaceId });
    expect((await tokensOf(stranger)).status).toBe(404);
    expect((await stranger.call("DELETE", path(other.id))).status).toBe(404);
    expect((await admin.call("DELETE", path(admin.id))).status).toBe(404);
    expect((await withToken(token)).status).toBe(200);

    expect((await admin.call("DELETE", path(other.id))).status).toBe(204);
    expect((await withToken(token)).body).toMatchObject({ code: "invalid_key" });
    expect((await withToken(kept)).status).toBe(200);
    expect((await admin.call("DELETE", path(other.id))).status).toBe(404);
    const entries = app.store.read.selectFrom("audit").select(["action", "actor_id", "detail"]);
    expect(await entries.where("from_value", "=", other.email).execute()).toEqual([
      { action: "access_token_revoked", actor_id: admin.email, detail: "Terraform" },
    ]);
  });

  it("answers unknown paths with 404, and other methods with 405", async () => {
    expect((await admin.call("GET", "nothing")).status).toBe(404);
    const { status, headers } = await admin.call("PUT", "access-tokens", {});
    expect([status, headers.get("allow")]).toEqual([405, "GET, HEAD, POST"]);
  });

  it("records who made and revoked a token", async () => {
    const entries = await app.store.read
      .selectFrom("audit")
      .select(["action", "actor_id", "detail"])
      .where("action", "in", ["access_token_added", "access_token_revoked"])
      .where("actor_id", "=", admin.email)
      .execute();
    expect(entries).toContainEqual({ action: "access_token_revoked", actor_id: admin.email, detail: "Terraform" });
  });
});
