import { afterAll, beforeAll, expect, it } from "vitest";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { DashboardUser } from "#test/support/http/administrators.ts";
import { dashboardUser } from "#test/support/http/administrators.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";

interface Key {
  readonly id: string;
  readonly name: string;
  readonly key: string;
  readonly hint: string;
  readonly limit_minute: number | null;
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
}

eachDatabase("API keys in /admin/v1", (open) => {
  let app: TestApp;
  let admin: DashboardUser;
  beforeAll(async () => {
    app = await startApp(open);
    admin = await dashboardUser(app, "admin");
  });
  afterAll(() => app.close());

  const create = async (body: object): Promise<Key> => {
    const made = await admin.call("POST", "keys", body);
    expect(made.status).toBe(201);
    return made.body as Key;
  };
  const listed = async (id: string): Promise<Key | undefined> => {
    const { body } = await admin.call("GET", "keys");
    return (body as { readonly keys: readonly Key[] }).keys.find((each) => each.id === id);
  };
  const callV1 = (key: string) => app.get(`/v1/conversations?workspace_id=${app.workspace.id}`, { key });

  it("are shown once, work at once, and are revoked at once", async () => {
    const made = await create({ name: "Shop server" });
    expect(JSON.stringify((await admin.call("GET", "keys")).body)).not.toContain(made.key);
    expect((await callV1(made.key)).status).toBe(200);
    expect((await admin.call("DELETE", `keys/${made.id}`)).status).toBe(204);
    expect((await callV1(made.key)).body.code).toBe("invalid_key");
    expect((await listed(made.id))?.revoked_at).not.toBeNull();
  });

  it("show when they were used last, to the minute", async () => {
    const made = await create({ name: "Used" });
    expect((await listed(made.id))?.last_used_at).toBeNull();
    await callV1(made.key);
    const first = (await listed(made.id))?.last_used_at;
    expect(first).toBe(new Date(app.clock.now()).toISOString());
    app.clock.advance(59_000);
    await callV1(made.key);
    expect((await listed(made.id))?.last_used_at).toBe(first);
    app.clock.advance(1_000);
    await callV1(made.key);
    expect((await listed(made.id))?.last_used_at).toBe(new Date(app.clock.now()).toISOString());
  });

  it("are limited below the plan, and by a change at once", async () => {
    const made = await create({ name: "Slow", limit_minute: 2 });
    expect((await callV1(made.key)).headers.get("x-ratelimit-limit-minute")).toBe("2");
    const changed = await admin.call("PATCH", `keys/${made.id}`, { limit_minute: "plan", name: "Fast" });
    expect(changed.body).toMatchObject({ name: "Fast", limit_minute: null });
    expect((await callV1(made.key)).headers.get("x-ratelimit-limit-minute")).toBe("1000");
    const above = await admin.call("PATCH", `keys/${made.id}`, { limit_minute: 1_001 });
    expect([above.status, above.body]).toMatchObject([422, { code: "invalid_parameter" }]);
  });

  it("expire on Enterprise only", async () => {
    const end = new Date(app.clock.now() + 60_000).toISOString();
    const refused = await admin.call("POST", "keys", { name: "Short", expires_at: end });
    expect([refused.status, refused.body]).toMatchObject([403, { code: "feature_not_in_plan" }]);
  });

  it("are rotated by a second key with the same name and limits, while the first goes on", async () => {
    const made = await create({ name: "Rotated", limit_minute: 7 });
    const second = (await admin.call("POST", `keys/${made.id}/rotate`)).body as Key;
    expect(await listed(second.id)).toMatchObject({ name: "Rotated", limit_minute: 7 });
    expect((await callV1(made.key)).status).toBe(200);
    expect((await callV1(second.key)).status).toBe(200);
  });

  it("are not rotated once they have expired", async () => {
    const made = await create({ name: "Old" });
    await app.store.write((tx) =>
      tx.updateTable("api_keys").set({ expires_at: app.clock.now() }).where("id", "=", made.id).execute(),
    );
    const refused = await admin.call("POST", `keys/${made.id}/rotate`);
    expect([refused.status, refused.body]).toMatchObject([422, { code: "invalid_parameter" }]);
  });

  it("keep both of two changes that are made at once", async () => {
    const made = await create({ name: "Shared" });
    const path = `keys/${made.id}`;
    await Promise.all([admin.call("PATCH", path, { name: "Renamed" }), admin.call("PATCH", path, { limit_day: 9 })]);
    expect(await listed(made.id)).toMatchObject({ name: "Renamed", limit_day: 9 });
  });

  it("of another workspace are unknown", async () => {
    const other = await app.createWorkspace();
    for (const [method, path, body] of [
      ["PATCH", "", { name: "Mine" }],
      ["POST", "/rotate", undefined],
      ["DELETE", "", undefined],
    ] as const) {
      expect((await admin.call(method, `keys/${other.keyId}${path}`, body)).status).toBe(404);
    }
    expect(await listed(other.keyId)).toBeUndefined();
    expect((await app.get(`/v1/conversations?workspace_id=${other.id}`, { key: other.key })).status).toBe(200);
  });

  it("leave a trace of each change in the audit log, without the key", async () => {
    const made = await create({ name: "Traced" });
    await admin.call("PATCH", `keys/${made.id}`, { name: "Traced twice" });
    await admin.call("DELETE", `keys/${made.id}`);
    const entries = await app.store.read
      .selectFrom("audit")
      .select(["action", "detail", "actor_id", "to_value"])
      .where("detail", "like", "Traced%")
      .orderBy("id")
      .execute();
    expect(entries.map(({ action }) => action)).toEqual(["api_key_added", "api_key_changed", "api_key_revoked"]);
    expect(new Set(entries.map(({ actor_id }) => actor_id))).toEqual(new Set([admin.email]));
    expect(JSON.stringify(entries)).not.toContain(made.key);
  });
});
