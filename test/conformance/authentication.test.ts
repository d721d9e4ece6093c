import { expect, it } from "vitest";
import { revokeKey } from "#admin/api-keys.ts";
import { eachContract } from "../support/http/contract.ts";

eachContract("5 authentication", (at) => {
  const documents = (key: string | null, headers: Readonly<Record<string, string>> = {}) =>
    at.app.get("/v1/documents", { key, headers });
  const made = "ak_abcdef_0123456789abcdefghjkmnpqrstvwxyz";

  it("5.1 accepts the word Bearer, one space and the whole key", async () => {
    const answered = await documents(null, { authorization: `Bearer ${at.client.key}` });
    expect(answered.status).toBe(200);
  });

  it("5.2 answers 401 missing_auth to a request without the header", async () => {
    const { status, body } = await documents(null);
    expect([status, body.code]).toEqual([401, "missing_auth"]);
  });

  it.each([
    ["another scheme", "Basic abc"],
    ["another scheme before the key", `Token ${made}`],
    ["the scheme in lower case", `bearer ${made}`],
    ["the scheme in upper case", `BEARER ${made}`],
    ["two spaces", `Bearer  ${made}`],
    ["no space", `Bearer${made}`],
    ["a tab", `Bearer\t${made}`],
    ["the key alone", made],
    ["quotes", `Bearer "${made}"`],
    ["a key without its prefix", "Bearer abcdef_0123456789abcdefghjkmnpqrstvwxyz"],
    ["another prefix", "Bearer sk_abcdef_0123456789abcdefghjkmnpqrstvwxyz"],
    ["a key that is too short", "Bearer ak_abcdef_0123"],
    ["a key that is too long", `Bearer ${made}0`],
    ["signs that no key has", "Bearer ak_abcdef_0123456789abcdefghjkmnpqrstvwxy!"],
    ["nothing after the scheme", "Bearer"],
    ["a second word", `Bearer ${made} x`],
    ["two keys", `Bearer ${made}, Bearer ${made}`],
    ["nothing", ""],
  ])("5.2 answers 401 malformed_auth to %s", async (_name, authorization) => {
    const { status, body } = await documents(null, { authorization });
    expect([status, body.code]).toEqual([401, "malformed_auth"]);
  });

  it.each([made, `ak_live_${"a".repeat(32)}`])(
    "5.3 answers 401 invalid_key to %s, a well-formed key that does not exist",
    async (key) => {
      const { status, body } = await documents(key);
      expect([status, body.code]).toEqual([401, "invalid_key"]);
    },
  );

  it("5.3 compares keys exactly", async () => {
    const { key } = at.client;
    const last = key.endsWith("a") ? "b" : "a";
    for (const wrong of [key.slice(0, 10) + key.slice(10).toUpperCase(), `${key.slice(0, -1)}${last}`]) {
      expect((await documents(wrong)).body.code).toBe("invalid_key");
    }
  });

  it("5.4 stores a hash of a key, from which the key cannot be read", async () => {
    const row = await at.app.store.read
      .selectFrom("api_keys")
      .selectAll()
      .where("id", "=", at.client.keyId)
      .executeTakeFirstOrThrow();
    expect(JSON.stringify(row)).not.toContain(at.client.key.slice(10, -4));
    expect(row.hash).toMatch(/^[0-9a-f]{64}$/);
  });

  it("5.4 refuses the next request of a revoked key, and finishes requests in flight", async () => {
    const { id, key } = await at.app.createKey();
    expect((await documents(key)).status).toBe(200);
    await revokeKey(at.app.store, at.app.clock, id);
    const { status, body } = await documents(key);
    expect([status, body.code]).toEqual([401, "invalid_key"]);
  });

  it("5.5 limits a key to one workspace", async () => {
    const other = await at.fresh();
    const { status, body } = await at.app.get(`/v1/conversations?workspace_id=${other.id}`, { key: at.client.key });
    expect([status, body.code]).toEqual([403, "workspace_access_denied"]);
  });

  it("5.5 counts requests of concurrent callers of a key together", async () => {
    const { key } = await at.app.createKey({ limitMinute: 30 });
    const answers = await Promise.all(Array.from({ length: 20 }, () => documents(key)));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect((await documents(key)).headers.get("x-ratelimit-remaining-minute")).toBe("9");
  });

  it("5.7 answers 401 expired_key once a key has expired", async () => {
    const { id: workspaceId } = await at.fresh({ plan: "enterprise" });
    const { key } = await at.app.createKey({ workspaceId, expiresAt: at.app.clock.now() + 1_000 });
    at.app.clock.advance(999);
    expect((await documents(key)).status).toBe(200);
    at.app.clock.advance(1);
    const { status, body } = await documents(key);
    expect([status, body.code]).toEqual([401, "expired_key"]);
  });

  it("5.7 reports a key that is both expired and revoked as revoked", async () => {
    const { id: workspaceId } = await at.fresh({ plan: "enterprise" });
    const { id, key } = await at.app.createKey({ workspaceId, expiresAt: at.app.clock.now() + 1_000 });
    at.app.clock.advance(1_000);
    await revokeKey(at.app.store, at.app.clock, id);
    expect((await documents(key)).body.code).toBe("invalid_key");
  });

  it("5.8 reads the key from the header alone", async () => {
    const { key, id } = at.client;
    for (const answered of [
      await at.app.get(`/v1/conversations?workspace_id=${id}&api_key=${key}&access_token=${key}`, { key: null }),
      await documents(null, { "x-api-key": key }),
      await documents(null, { cookie: `authorization=Bearer ${key}` }),
      await documents(null, { "proxy-authorization": `Bearer ${key}` }),
    ]) {
      expect([answered.status, answered.body.code]).toEqual([401, "missing_auth"]);
    }
  });

  it("5.9 allows no other origin to read an answer", async () => {
    for (const method of ["GET", "OPTIONS"]) {
      const { headers } = await at.client.call(method, "/v1/documents", {
        headers: { origin: "https://evil.test", "access-control-request-method": "GET" },
      });
      expect(headers.get("access-control-allow-origin")).toBeNull();
    }
  });

  it("5.10 accepts two keys of a workspace at the same time", async () => {
    const [one, two] = [await at.app.createKey(), await at.app.createKey()];
    const id = await at.client.begin();
    for (const { key } of [one, two]) {
      expect((await at.app.get(`/v1/conversations/${id}`, { key })).status).toBe(200);
    }
    await revokeKey(at.app.store, at.app.clock, one.id);
    expect((await at.app.get(`/v1/conversations/${id}`, { key: two.key })).status).toBe(200);
  });

  it("7 answers 404 workspace_not_found to the key of a deleted workspace", async () => {
    const gone = await at.fresh();
    await at.app.store.write((tx) =>
      tx.updateTable("workspaces").set({ deleted_at: at.app.clock.now() }).where("id", "=", gone.id).execute(),
    );
    for (const answered of [await gone.list(), await gone.get("/v1/documents"), await gone.ask()]) {
      expect([answered.status, answered.body.code]).toEqual([404, "workspace_not_found"]);
    }
    expect((await at.client.get(`/v1/conversations?workspace_id=${gone.id}`)).body.code).toBe("workspace_not_found");
  });

  it("5 checks the key first, also on unknown paths and with any method", async () => {
    for (const [method, path] of [
      ["GET", "/v1/nothing"],
      ["GET", "/v1"],
      ["DELETE", "/v1/query"],
      ["OPTIONS", "/v1/query"],
      ["POST", "/v1/query"],
    ] as const) {
      const { status, body } = await at.app.call(method, path, { key: null });
      expect([method, path, status, body.code]).toEqual([method, path, 401, "missing_auth"]);
    }
  });

  it("5 never logs a key or a query string", async () => {
    const unknown = `ak_live_${"b".repeat(32)}`;
    await at.app.get(`/v1/conversations?workspace_id=${at.client.id}&q=my-secret-words`, { key: unknown });
    await at.client.list("&q=my-secret-words");
    const log = at.app.logged.join("");
    expect(log).toContain("/v1/conversations");
    for (const secret of [at.client.key, unknown, "b".repeat(32), "workspace_id=", "my-secret-words"]) {
      expect(log).not.toContain(secret);
    }
  });
});
