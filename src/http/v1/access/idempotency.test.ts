import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { Updateable } from "kysely";
import type { Engine } from "#conversations/contract.ts";
import type { QueryResult } from "#conversations/answering/query.ts";
import { heartbeatsBeside } from "#database/clock-skew.ts";
import { createProcessWatch } from "#database/process-heartbeat.ts";
import type { IdempotencyTable } from "#database/schema/tables.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { TestHttp } from "#test/support/http/http-server.ts";
import { startHttp } from "#test/support/http/http-server.ts";

const hourMs = 3_600_000;

eachDatabase("idempotency", (open) => {
  let http: TestHttp;
  const watch = createProcessWatch();
  let calls = 0;
  let query: Engine["query"];
  const answer = (text: string): QueryResult => ({
    answer: text,
    sources: [],
    conversationId: `conv_${text}`,
    messageId: null,
    skillsFired: [],
    tokensUsed: 0,
    confidence: null,
  });
  beforeAll(async () => {
    http = await startHttp(open, { query: (given, signal) => query(given, signal), watch });
  });
  afterAll(() => http.close());
  beforeEach(() => {
    calls = 0;
    query = async () => {
      calls += 1;
      return answer(String(calls));
    };
  });

  const ask = (key: string, text = "Hello?") =>
    http.post("/v1/query", { workspace_id: http.workspaceId, query: text }, { "idempotency-key": key });
  const used = async () => {
    const row = await http.store.read
      .selectFrom("counters")
      .select("value")
      .where("name", "like", "queries:%")
      .executeTakeFirst();
    return row?.value ?? 0;
  };

  it("returns the stored response to the same request, and counts no query", async () => {
    const first = await ask("a");
    const before = await used();
    const second = await ask("a");
    expect(second.body).toEqual(first.body);
    expect([first.headers.get("idempotency-replayed"), second.headers.get("idempotency-replayed")]).toEqual([
      null,
      "true",
    ]);
    expect([calls, await used()]).toEqual([1, before]);
  });

  it("refuses the key with another body", async () => {
    await ask("b");
    expect(await ask("b", "Other")).toMatchObject({ status: 409, body: { code: "duplicate_request_id" } });
  });

  it("answers one of many concurrent requests, and refuses the others until it is done", async () => {
    const release = Promise.withResolvers<void>();
    query = async () => {
      calls += 1;
      await release.promise;
      return answer("late");
    };
    const statuses: number[] = [];
    const all = Array.from({ length: 10 }, async () => statuses.push((await ask("c")).status));
    await expect.poll(() => statuses).toEqual(Array.from({ length: 9 }, () => 409));
    release.resolve();
    await Promise.all(all);
    expect([statuses.at(-1), calls]).toEqual([200, 1]);
    expect((await ask("c")).headers.get("idempotency-replayed")).toBe("true");
  });

  it("stores no failed response", async () => {
    query = async () => {
      throw new Error("once");
    };
    expect((await ask("d")).status).toBe(500);
    query = async () => answer("fine");
    expect((await ask("d")).body.answer).toBe("fine");
  });

  it("expires after 24 hours", async () => {
    await ask("e");
    http.clock.advance(24 * hourMs - 1);
    expect((await ask("e")).headers.get("idempotency-replayed")).toBe("true");
    http.clock.advance(1);
    expect((await ask("e")).headers.get("idempotency-replayed")).toBeNull();
    expect(calls).toBe(2);
  });

  const abandon = (row: Updateable<IdempotencyTable>) =>
    http.store.write((tx) =>
      tx
        .updateTable("idempotency")
        .set({ status: null, response: null, ...row })
        .where("created_at", "=", http.clock.now())
        .execute(),
    );

  it("takes over from a process that died during the request, and continues under the same id", async () => {
    const ids: (string | undefined)[] = [];
    query = async ({ clientId }) => {
      ids.push(clientId);
      return answer("again");
    };
    await ask("f");
    await abandon({ process_id: null });
    expect(await ask("f")).toMatchObject({ status: 200, body: { answer: "again" } });
    expect(ids).toEqual([expect.stringMatching(/^req_/), ids[0]]);
    expect((await ask("f")).headers.get("idempotency-replayed")).toBe("true");
  });

  const beat = (id: string, at = http.clock.now()) =>
    http.store.write(async (tx) => {
      await tx.deleteFrom("processes").where("id", "=", id).execute();
      const row = { id, host: "elsewhere", pid: 1, started_at: at, heartbeat_at: at };
      await tx.insertInto("processes").values(row).execute();
    });
  const look = async () => watch.look(await heartbeatsBeside(http.store, null));

  it("takes over at once from a process that stopped properly", async () => {
    http.clock.advance(1);
    await ask("f2");
    await abandon({ process_id: "ses_elsewhere" });
    expect((await ask("f2")).status).toBe(200);
    expect(calls).toBe(2);
  });

  it("takes over from a process without heartbeats, but not from one whose clock is slow", async () => {
    http.clock.advance(1);
    await ask("f3");
    await abandon({ process_id: "ses_elsewhere" });
    const refused = async () => {
      const answered = await ask("f3");
      expect([answered.status, answered.headers.get("retry-after")]).toEqual([409, "1"]);
    };
    for (let beats = 0; beats < 10; beats += 1) {
      await beat("ses_elsewhere", http.clock.now() - 3_600_000 + beats);
      await look();
      await refused();
    }
    for (let looks = 0; looks < 3; looks += 1) await look();
    await refused();
    await look();
    expect((await ask("f3")).status).toBe(200);
    expect(calls).toBe(2);
  });

  it("waits for a running process no longer than a request can take", async () => {
    http.clock.advance(1);
    await ask("f4");
    await abandon({ process_id: "ses_beside" });
    for (let waited = 0; waited < 90_000; waited += 15_000) {
      await beat("ses_beside");
      expect((await ask("f4")).status).toBe(409);
      http.clock.advance(15_000);
    }
    expect((await ask("f4")).status).toBe(200);
    expect(calls).toBe(2);
  });

  it("treats another body as a new request if the key's request was never answered", async () => {
    const ids: (string | undefined)[] = [];
    query = async ({ clientId }) => {
      ids.push(clientId);
      if (ids.length === 1) throw new Error("once");
      return answer("fine");
    };
    expect((await ask("h")).status).toBe(500);
    expect((await ask("h", "Another question")).status).toBe(200);
    expect(ids[1]).not.toBe(ids[0]);
  });

  it("separates keys by path and by API key", async () => {
    await ask("g");
    const streamed = await http.post(
      "/v1/query/stream",
      { workspace_id: http.workspaceId, query: "Hello?" },
      { "idempotency-key": "g" },
    );
    expect([streamed.status, streamed.headers.get("idempotency-replayed")]).toEqual([200, null]);
  });

  it.each(["", " ", "x".repeat(256), "with space", "grüße"])("refuses the key %j", async (key) => {
    const encoded = Buffer.from(key).toString("latin1");
    const answered = await ask(encoded);
    // An empty header counts as sent.
    expect(answered).toMatchObject({ status: 422, body: { code: "invalid_parameter" } });
  });

  it("accepts a key of 255 characters", async () => {
    expect((await ask("~".repeat(255))).status).toBe(200);
  });
});
