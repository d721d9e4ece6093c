import { afterEach, expect, it } from "vitest";
import type { Answer, Answerer } from "#answering/contract.ts";
import { defaultTimeouts } from "#http/dependencies.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { eachDatabase } from "#test/support/database/databases.ts";

const made: Answer = {
  text: "Here it is.",
  sources: [],
  confidence: "high",
  answered: true,
  skillsFired: ["knowledge_search"],
  tokensUsed: 7,
};

/** A model that answers when the test releases it, and records its calls. `deaf`: it ignores its abort signal. */
function createHeld() {
  const calls: { readonly signal: AbortSignal; release(): void; say(token: string): void }[] = [];
  const answerer: Answerer = {
    answer(question, signal) {
      const { promise, resolve } = Promise.withResolvers<Answer>();
      calls.push({
        signal,
        release: () => resolve(made),
        say: (token) => question.onToken?.(token),
      });
      return promise;
    },
  };
  return { answerer, calls };
}

eachDatabase("a slow question", (open) => {
  let app: TestApp | undefined;
  afterEach(async () => {
    await app?.close();
    app = undefined;
  });

  async function start() {
    const held = createHeld();
    app = await startApp(open, { answerer: held.answerer, http: { timeouts: { ...defaultTimeouts, closeMs: 200 } } });
    const running = app;
    const body = { workspace_id: running.workspace.id, query: "Hello?" };
    const ask = (path = "/v1/query", options: Parameters<TestApp["post"]>[2] = {}) => running.post(path, body, options);
    const next = async (count = 1): Promise<void> => {
      await expect.poll(() => held.calls.length).toBe(count);
    };
    const conversation = async () => {
      const [item] = (await running.get(`/v1/conversations?workspace_id=${running.workspace.id}`)).body.conversations;
      return (await running.get(`/v1/conversations/${item?.id ?? ""}`)).body;
    };
    const roles = async () => (await conversation()).messages.map(({ role }) => role);
    return { app: running, ask, next, roles, calls: held.calls };
  }
  it("is answered within 30 seconds or not at all, and a late answer is discarded", async () => {
    const { app: running, ask, next, roles, calls } = await start();
    const inTime = ask();
    await next();
    running.clock.advance(29_999);
    calls[0]?.release();
    expect((await inTime).status).toBe(200);
    const late = ask();
    await next(2);
    running.clock.advance(30_000);
    expect(await late).toMatchObject({ status: 504, body: { code: "query_timeout" } });
    expect(calls[1]?.signal.aborted).toBe(true);
    calls[1]?.release();
    // The question is not retried either.
    running.clock.advance(120_000);
    expect(await roles()).toEqual(["user"]);
    expect(calls).toHaveLength(2);
  });

  it("is answered as the same question by a retry with its Idempotency-Key", async () => {
    const { app: running, ask, next, roles, calls } = await start();
    const options = { headers: { "idempotency-key": "patient" } };
    const first = ask("/v1/query", options);
    await next();
    running.clock.advance(30_000);
    expect((await first).status).toBe(504);
    const second = ask("/v1/query", options);
    await next(2);
    calls[1]?.release();
    expect(await second).toMatchObject({ status: 200, body: { answer: made.text } });
    expect(await roles()).toEqual(["user", "assistant"]);
  });

  it("ends its stream after 30 seconds, and ignores later output of the model", async () => {
    const { app: running, ask, next, calls } = await start();
    const streamed = ask("/v1/query/stream");
    await next();
    calls[0]?.say("Here ");
    running.clock.advance(30_000);
    calls[0]?.say("it is.");
    const { text } = await streamed;
    expect(text).toContain("query_timeout");
    expect(text).not.toContain("it is.");
    calls[0]?.say("And more.");
    calls[0]?.release();
    expect((await running.get("/v1/documents")).status).toBe(200);
  });

  it.each(["/v1/query", "/v1/query/stream"])("stops when the client of %s goes away", async (path) => {
    const { app: running, ask, next, roles, calls } = await start();
    const client = new AbortController();
    const asked = ask(path, { signal: client.signal });
    await next();
    expect(calls[0]?.signal.aborted).toBe(false);
    client.abort();
    await expect(asked).rejects.toThrow("aborted");
    await expect.poll(() => calls[0]?.signal.aborted).toBe(true);
    calls[0]?.release();
    const counted = async () => {
      const rows = await running.store.read.selectFrom("counters").selectAll().where("value", ">", 0).execute();
      return rows.map(({ name }) => name);
    };
    await expect.poll(counted).toEqual([]);
    expect(await roles()).toEqual(["user"]);
    expect(running.logged.filter((line) => line.includes('"level":50'))).toEqual([]);
  });

  it("is refused with 503 when the server stops, and can be retried", async () => {
    const { app: running, ask, next, calls } = await start();
    const asked = ask();
    await next();
    const closed = running.app.close();
    const answered = await asked;
    expect(answered).toMatchObject({ status: 503, body: { code: "deploying" } });
    expect(answered.headers.get("retry-after")).toBe("30");
    expect(answered.headers.get("x-ratelimit-limit-minute")).toBe("1000");
    expect(calls[0]?.signal.aborted).toBe(true);
    await closed;
  });

  it("finishes during the shutdown if it is in time", async () => {
    const { app: running, ask, next, calls } = await start();
    const asked = ask();
    await next();
    const closed = running.app.close();
    calls[0]?.release();
    expect(await asked).toMatchObject({ status: 200 });
    await closed;
  });
});
