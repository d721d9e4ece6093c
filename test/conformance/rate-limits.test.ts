import { expect, it } from "vitest";
import type { Answered } from "../support/http/app.ts";
import { eachContract } from "../support/http/contract.ts";

const minuteMs = 60_000;
const dayMs = 86_400_000;

eachContract("8.1 rate limits", (at) => {
  const rate = ({ headers }: Answered) =>
    ["limit-minute", "remaining-minute", "limit-day", "remaining-day"].map((name) =>
      Number(headers.get(`x-ratelimit-${name}`) ?? Number.NaN),
    );
  const documents = (key: string | null) => at.app.get("/v1/documents", { key });
  const toNextDay = () => at.app.clock.advance(dayMs - (at.app.clock.now() % dayMs));

  it.each([
    ["free" as const, 10, 100],
    ["starter" as const, 60, 3_000],
    ["growth" as const, 200, 15_000],
    ["business" as const, 1_000, 50_000],
  ])("8.1 allows the plan %s %i requests a minute and %i a day", async (plan, minute, day) => {
    const { key } = await at.fresh({ plan });
    expect(rate(await documents(key))).toEqual([minute, minute - 1, day, day - 1]);
  });

  it("8.1 counts requests per key, not per workspace", async () => {
    const [one, two] = [await at.app.createKey({ limitMinute: 2 }), await at.app.createKey({ limitMinute: 2 })];
    for (let i = 0; i < 2; i += 1) await documents(one.key);
    expect([(await documents(one.key)).status, (await documents(two.key)).status]).toEqual([429, 200]);
  });

  it("8.1.1 counts minutes and days separately: a new minute restores nothing of the day", async () => {
    const { key } = await at.app.createKey({ limitMinute: 2, limitDay: 3 });
    await documents(key);
    await documents(key);
    const full = await documents(key);
    expect([full.status, full.body.code]).toEqual([429, "rate_limit_minute"]);
    at.app.clock.advance(minuteMs);
    expect((await documents(key)).status).toBe(200);
    const over = await documents(key);
    expect([over.status, over.body.code]).toEqual([429, "rate_limit_day"]);
    toNextDay();
    expect((await documents(key)).status).toBe(200);
  });

  it("8.1.1 ends the day at midnight UTC", async () => {
    const { key } = await at.app.createKey({ limitDay: 1 });
    await documents(key);
    const refused = await documents(key);
    const left = dayMs - (at.app.clock.now() % dayMs);
    expect(refused.headers.get("retry-after")).toBe(String(Math.ceil(left / 1_000)));
    at.app.clock.advance(left - 1);
    expect((await documents(key)).body.code).toBe("rate_limit_day");
    at.app.clock.advance(1);
    expect((await documents(key)).status).toBe(200);
  });

  it("8.1.2 counts successful requests only", async () => {
    const { key } = await at.app.createKey({ limitMinute: 5 });
    for (const answered of [
      await at.app.get("/v1/documents/doc_none", { key }),
      await at.app.get("/v1/nothing", { key }),
      await at.app.post("/v1/query", "{", { key }),
      await at.app.post("/v1/query", "x", { key, headers: { "content-type": "text/plain" } }),
      await at.app.call("OPTIONS", "/v1/documents", { key }),
      await at.app.call("PUT", "/v1/query", { key, body: {} }),
      await at.app.get("/v1/conversations", { key }),
    ]) {
      expect([answered.status >= 400, rate(answered)[1]]).toEqual([true, 5]);
    }
    expect(rate(await documents(key))[1]).toBe(4);
  });

  it("8.1.2 counts every status of success", async () => {
    const { key } = await at.app.createKey({ limitMinute: 50 });
    const id = await at.client.begin();
    const left = [];
    for (const answered of [
      await at.app.get("/v1/documents", { key }),
      await at.app.call("HEAD", "/v1/documents", { key }),
      await at.app.post("/v1/query", { workspace_id: at.client.id, query: "Hello" }, { key }),
      await at.app.post(`/v1/conversations/${id}/notes`, { content: "x" }, { key }),
      await at.app.call("DELETE", `/v1/conversations/${id}`, { key }),
    ]) {
      left.push(rate(answered)[1]);
    }
    expect(left).toEqual([49, 48, 47, 46, 45]);
  });

  it("4.8 counts a stream as one request", async () => {
    const { key } = await at.app.createKey({ limitMinute: 50 });
    const body = { workspace_id: at.client.id, query: "Hello" };
    expect(rate(await at.app.post("/v1/query/stream", body, { key }))[1]).toBe(49);
    expect(rate(await documents(key))[1]).toBe(48);
  });

  it("8.1.3 allows a key's own limits to lower the plan's, never to raise them", async () => {
    const { key, id } = await at.app.createKey({ limitMinute: 5, limitDay: 7 });
    expect(rate(await documents(key))).toEqual([5, 4, 7, 6]);
    await at.app.store.write((tx) =>
      tx.updateTable("api_keys").set({ limit_minute: 9_999_999, limit_day: 9_999_999 }).where("id", "=", id).execute(),
    );
    const [minute, , day] = rate(await documents(key));
    expect([minute, day]).toEqual([1_000, 50_000]);
  });

  it("8.1.4 returns the limits, the remaining requests and the end of the day with every response", async () => {
    const { key } = await at.app.createKey({ limitMinute: 3 });
    const midnight = (Math.floor(at.app.clock.now() / dayMs) + 1) * (dayMs / 1_000);
    for (const answered of [
      await documents(key),
      await at.app.call("HEAD", "/v1/documents", { key }),
      await at.app.get("/v1/nothing", { key }),
      await at.app.call("OPTIONS", "/v1/documents", { key }),
      await at.app.post("/v1/query", "{", { key }),
      await at.app.post("/v1/query", "x".repeat(1_200_000), { key }),
      await at.app.post("/v1/query/stream", { workspace_id: at.client.id, query: "Hello" }, { key }),
      await documents(key),
    ]) {
      expect([answered.status, ...rate(answered)]).toEqual([
        answered.status,
        3,
        expect.toSatisfy((left) => Number(left) >= 0 && Number(left) <= 3),
        50_000,
        expect.toSatisfy((left) => Number(left) > 49_990),
      ]);
      expect(answered.headers.get("x-ratelimit-reset-day")).toBe(String(midnight));
    }
    expect((await documents(key)).status).toBe(429);
  });

  it("8.1.4 returns zeros without a valid key", async () => {
    for (const key of [null, `ak_live_${"c".repeat(32)}`, "nonsense"]) {
      const answered = await documents(key);
      expect(rate(answered)).toEqual([0, 0, 0, 0]);
      expect(answered.headers.get("x-ratelimit-reset-day")).toMatch(/^\d{10}$/);
    }
  });

  it("8.1.5 answers 429 with Retry-After above the minute's limit, until the minute ends", async () => {
    const { key } = await at.app.createKey({ limitMinute: 3 });
    for (let i = 0; i < 3; i += 1) expect((await documents(key)).status).toBe(200);
    const refused = await documents(key);
    const left = minuteMs - (at.app.clock.now() % minuteMs);
    expect([refused.status, refused.body.code, rate(refused)[1]]).toEqual([429, "rate_limit_minute", 0]);
    expect(refused.headers.get("retry-after")).toBe(String(Math.ceil(left / 1_000)));
    at.app.clock.advance(left - 1);
    expect((await documents(key)).status).toBe(429);
    at.app.clock.advance(1);
    expect((await documents(key)).status).toBe(200);
  });

  it("8.1.5 allows exactly the limit of concurrent requests", async () => {
    const { key } = await at.app.createKey({ limitMinute: 20 });
    const all = await Promise.all(Array.from({ length: 45 }, () => documents(key)));
    expect(all.filter(({ status }) => status === 200)).toHaveLength(20);
    expect(all.filter(({ status }) => status === 429)).toHaveLength(25);
  });

  it("4.7.3 refuses queries above the month's quota with 429 quota_exhausted, and no other requests", async () => {
    const client = await at.fresh({ plan: "free" });
    const now = new Date(at.app.clock.now());
    const month = Date.UTC(now.getUTCFullYear(), now.getUTCMonth());
    await at.app.store.write((tx) =>
      tx
        .insertInto("counters")
        .values({ name: `queries:${client.id}`, window_start: month, value: 99 })
        .execute(),
    );
    expect((await client.ask()).status).toBe(200);
    const refused = await client.ask();
    expect([refused.status, refused.body.code]).toEqual([429, "quota_exhausted"]);
    const next = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
    expect(refused.headers.get("retry-after")).toBe(String(Math.ceil((next - at.app.clock.now()) / 1_000)));
    expect((await client.get("/v1/documents")).status).toBe(200);
    at.app.clock.advance(next - at.app.clock.now());
    expect((await client.ask()).status).toBe(200);
  });
});
