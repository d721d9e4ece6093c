import { afterAll, beforeAll, expect, it } from "vitest";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { DashboardUser } from "#test/support/http/administrators.ts";
import { callAdmin, dashboardUser } from "#test/support/http/administrators.ts";
import type { TestApp, TestWorkspace } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";

interface Client {
  readonly client_id: string;
  readonly client_secret: string;
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: { readonly access_token: string; readonly error?: string } & Readonly<Record<string, unknown>>;
}

eachDatabase("OAuth client credentials", (open) => {
  let app: TestApp;
  let workspace: TestWorkspace;
  let admin: DashboardUser;
  let client: Client;
  beforeAll(async () => {
    app = await startApp(open);
    workspace = await app.createWorkspace({ plan: "enterprise" });
    admin = await dashboardUser(app, "admin", { workspaceId: workspace.id });
    client = (await admin.call("POST", "oauth-clients", { name: "CRM" })).body as Client;
  });
  afterAll(() => app.close());

  async function post(path: string, form: object, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const answer = await fetch(`${app.url}/oauth/${path}`, {
      method: "POST",
      headers,
      body: new URLSearchParams(form as Record<string, string>),
    });
    const text = await answer.text();
    const body = (text === "" ? {} : JSON.parse(text)) as Answer["body"];
    return { status: answer.status, headers: answer.headers, body };
  }
  const grant = { grant_type: "client_credentials" };
  const basic = ({ client_id: id, client_secret: secret }: Client) => ({
    authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}`,
  });
  const token = async (): Promise<string> => (await post("token", grant, basic(client))).body.access_token;
  const list = (key: string) => app.get(`/v1/conversations?workspace_id=${workspace.id}`, { key });

  it("issues a token for an hour, which opens /v1 like a key of the workspace", async () => {
    for (const [form, headers] of [
      [grant, basic(client)],
      [{ ...grant, ...client }, {}],
    ] as const) {
      const { status, body, headers: sent } = await post("token", form, headers);
      expect([status, body]).toMatchObject([200, { token_type: "Bearer", expires_in: 3_600 }]);
      expect(sent.get("cache-control")).toBe("no-store");
      const answer = await list(body.access_token);
      expect([answer.status, answer.headers.get("x-ratelimit-limit-minute")]).toEqual([200, "10000"]);
    }
    const issued = await token();
    expect((await app.get(`/v1/conversations?workspace_id=${app.workspace.id}`, { key: issued })).body.code).toBe(
      "workspace_access_denied",
    );
    app.clock.advance(3_600_000);
    expect((await list(issued)).body.code).toBe("expired_key");
  });

  it("refuses other grants, wrong secrets, repeated fields and two ways at once", async () => {
    const wrong = { ...client, client_secret: `ocs_${"a".repeat(40)}` };
    for (const [form, headers, error] of [
      [grant, basic(wrong), "invalid_client"],
      [grant, basic({ ...client, client_id: "key_unknown" }), "invalid_client"],
      [grant, {}, "invalid_client"],
      [grant, { authorization: "Basic %%%" }, "invalid_client"],
      [{ ...grant, ...client }, basic(client), "invalid_request"],
      [{}, basic(client), "invalid_request"],
      [{ grant_type: "password" }, basic(client), "unsupported_grant_type"],
    ] as const) {
      const { status, body } = await post("token", form, headers);
      expect([status, body.error]).toEqual([error === "invalid_client" ? 401 : 400, error]);
    }
    const twice = await fetch(`${app.url}/oauth/token`, {
      method: "POST",
      headers: { ...basic(client), "content-type": "application/x-www-form-urlencoded" },
      body: "grant_type=client_credentials&grant_type=client_credentials",
    });
    expect(await twice.json()).toMatchObject({ error: "invalid_request" });
    const large = await fetch(`${app.url}/oauth/token`, {
      method: "POST",
      headers: basic(client),
      body: new URLSearchParams({ scope: "x".repeat(10_000) }),
    });
    expect(large.status).toBe(413);
  });

  it("revokes the oldest tokens of a client that asks for more than a hundred", async () => {
    const first = await token();
    app.clock.advance(1);
    let newest = "";
    for (let i = 0; i < 100; i += 1) newest = await token();
    expect([(await list(first)).status, (await list(newest)).status]).toEqual([401, 200]);
    expect(await app.store.read.selectFrom("oauth_tokens").select("hash").execute()).toHaveLength(100);
  });

  it("revokes a token of the client, and no other client's", async () => {
    const own = await token();
    const other = (await admin.call("POST", "oauth-clients", { name: "Other" })).body as Client;
    expect((await post("revoke", { token: own }, basic(other))).status).toBe(200);
    expect((await list(own)).status).toBe(200);
    expect((await post("revoke", { token: own }, basic(client))).status).toBe(200);
    expect((await list(own)).body.code).toBe("invalid_key");
  });

  it("ends with the client, and with the plan", async () => {
    const gone = (await admin.call("POST", "oauth-clients", { name: "Gone" })).body as Client;
    const issued = (await post("token", grant, basic(gone))).body.access_token;
    expect((await admin.call("DELETE", `oauth-clients/${gone.client_id}`)).status).toBe(204);
    expect((await list(issued)).body.code).toBe("invalid_key");
    expect((await post("token", grant, basic(gone))).status).toBe(401);

    const kept = await token();
    const setPlan = (plan: "business" | "enterprise") =>
      app.store.write((tx) => tx.updateTable("workspaces").set({ plan }).where("id", "=", workspace.id).execute());
    await setPlan("business");
    expect((await list(kept)).body.code).toBe("feature_not_in_plan");
    expect((await post("token", grant, basic(client))).status).toBe(401);
    await setPlan("enterprise");
    expect((await list(kept)).status).toBe(200);
  });

  it("needs Enterprise, never opens /admin/v1, and is no API key", async () => {
    const business = await dashboardUser(app, "admin");
    const { status, body } = await business.call("POST", "oauth-clients", { name: "CRM" });
    expect([status, body]).toMatchObject([403, { code: "feature_not_in_plan" }]);
    const refused = await callAdmin(app, "GET", "keys", undefined, { authorization: `Bearer ${await token()}` });
    expect(refused.body).toMatchObject({ code: "malformed_auth" });
    const { body: keys } = await admin.call("GET", "keys");
    expect(JSON.stringify(keys)).not.toContain(client.client_id);
    expect((await admin.call("DELETE", `keys/${client.client_id}`)).status).toBe(404);
    expect(JSON.stringify((await admin.call("GET", "oauth-clients")).body)).not.toContain(client.client_secret);
  });

  it("describes itself", async () => {
    const answer = await fetch(`${app.url}/.well-known/oauth-authorization-server`);
    const described = (await answer.json()) as { readonly token_endpoint: string };
    expect(described).toMatchObject({ grant_types_supported: ["client_credentials"] });
    expect(new URL(described.token_endpoint).pathname).toBe("/oauth/token");
  });
});
