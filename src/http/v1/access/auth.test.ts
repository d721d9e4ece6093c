import { afterAll, beforeAll, expect, it } from "vitest";
import type { Answer } from "#answering/contract.ts";
import { revokeKey } from "#admin/api-keys.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { eachDatabase } from "#test/support/database/databases.ts";

eachDatabase("authentication", (open) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp(open);
  });
  afterAll(() => app.close());

  const list = (key?: string | null, headers: Readonly<Record<string, string>> = {}) =>
    app.get(`/v1/conversations?workspace_id=${app.workspace.id}`, { ...(key === undefined ? {} : { key }), headers });

  it("accepts a key of the workspace", async () => {
    expect((await list()).status).toBe(200);
  });

  it("refuses a request without the header", async () => {
    expect(await list(null)).toMatchObject({ status: 401, body: { code: "missing_auth" } });
  });

  it.each([
    ["another scheme", "Basic abc"],
    ["the scheme in lower case", "bearer ak_abcdef_0123456789abcdefghjkmnpqrstvwxyz"],
    ["two spaces", "Bearer  ak_abcdef_0123456789abcdefghjkmnpqrstvwxyz"],
    ["a key in quotes", 'Bearer "ak_abcdef_0123456789abcdefghjkmnpqrstvwxyz"'],
    ["a key without its prefix", "Bearer abcdef_0123456789abcdefghjkmnpqrstvwxyz"],
    ["a key that is too short", "Bearer ak_abcdef_0123"],
    ["nothing after the scheme", "Bearer"],
    ["a second word", "Bearer ak_abcdef_0123456789abcdefghjkmnpqrstvwxyz x"],
  ])("reports %s as malformed", async (_name, authorization) => {
    expect(await list(null, { authorization })).toMatchObject({ status: 401, body: { code: "malformed_auth" } });
  });

  it("refuses a well-formed unknown key", async () => {
    expect(await list(`ak_live_${"a".repeat(32)}`)).toMatchObject({ status: 401, body: { code: "invalid_key" } });
  });

  it("refuses a key with different capitals", async () => {
    const wrong = app.workspace.key.slice(0, 10) + app.workspace.key.slice(10).toUpperCase();
    expect(await list(wrong)).toMatchObject({ status: 401, body: { code: "invalid_key" } });
  });

  it("refuses a revoked key from the next request on", async () => {
    const { id, key } = await app.createKey();
    expect((await list(key)).status).toBe(200);
    await revokeKey(app.store, app.clock, id);
    expect(await list(key)).toMatchObject({ status: 401, body: { code: "invalid_key" } });
  });

  it("refuses a key past its expiry", async () => {
    const { id: workspaceId } = await app.createWorkspace({ plan: "enterprise" });
    const { key } = await app.createKey({ workspaceId, expiresAt: app.clock.now() + 1_000 });
    const ask = () => app.get("/v1/documents", { key });
    expect((await ask()).status).toBe(200);
    app.clock.advance(999);
    expect((await ask()).status).toBe(200);
    app.clock.advance(1);
    expect(await ask()).toMatchObject({ status: 401, body: { code: "expired_key" } });
  });

  it("accepts the old key and the new one until the old one is revoked", async () => {
    const [old, fresh] = [await app.createKey(), await app.createKey()];
    expect([(await list(old.key)).status, (await list(fresh.key)).status]).toEqual([200, 200]);
    await revokeKey(app.store, app.clock, old.id);
    expect([(await list(old.key)).status, (await list(fresh.key)).status]).toEqual([401, 200]);
  });

  it("finishes a request whose key is revoked meanwhile", async () => {
    const begun = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const answered: Answer = {
      text: "Late, but there.",
      sources: [],
      confidence: "high",
      answered: true,
      skillsFired: [],
      tokensUsed: 0,
    };
    const slow = await startApp(open, {
      answerer: {
        async answer() {
          begun.resolve();
          await release.promise;
          return answered;
        },
      },
    });
    const { id, key } = await slow.createKey();
    const asked = slow.post("/v1/query", { workspace_id: slow.workspace.id, query: "Hello?" }, { key });
    await begun.promise;
    await revokeKey(slow.store, slow.clock, id);
    expect((await slow.get("/v1/documents", { key })).status).toBe(401);
    release.resolve();
    expect(await asked).toMatchObject({ status: 200, body: { answer: "Late, but there." } });
    await slow.close();
  });

  it("requires a key on unknown paths as well", async () => {
    expect(await app.get("/v1/nothing", { key: null })).toMatchObject({ status: 401, body: { code: "missing_auth" } });
  });

  it("answers 404 to the key of a deleted workspace", async () => {
    const workspace = await app.createWorkspace();
    await app.store.write((tx) =>
      tx.updateTable("workspaces").set({ deleted_at: app.clock.now() }).where("id", "=", workspace.id).execute(),
    );
    const answered = await app.get(`/v1/conversations?workspace_id=${workspace.id}`, { key: workspace.key });
    expect(answered).toMatchObject({ status: 404, body: { code: "workspace_not_found" } });
  });

  it("never logs a key", async () => {
    await list(`ak_live_${"b".repeat(32)}`);
    await list();
    expect(app.logged.join("")).not.toContain(app.workspace.key);
    expect(app.logged.join("")).not.toContain("b".repeat(32));
    expect(app.logged.join("")).not.toContain("workspace_id=");
  });
});
