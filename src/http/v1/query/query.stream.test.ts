import { afterAll, beforeAll, expect, it } from "vitest";
import { Problem } from "#domain/problem.ts";
import type { Engine } from "#conversations/contract.ts";
import type { QueryResult } from "#conversations/answering/query.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { TestHttp } from "#test/support/http/http-server.ts";
import { startHttp } from "#test/support/http/http-server.ts";

interface ServerEvent {
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

function parseEvents(text: string): ServerEvent[] {
  return text
    .split("\n\n")
    .filter((block) => block !== "")
    .map((block) => {
      const [event = "", data = ""] = block.split("\n");
      return {
        event: event.replace("event: ", ""),
        data: JSON.parse(data.replace("data: ", "")) as ServerEvent["data"],
      };
    });
}

const result: QueryResult = {
  answer: "One two",
  sources: [],
  conversationId: "conv_1",
  messageId: "msg_1",
  skillsFired: [],
  tokensUsed: 3,
  confidence: "high",
};

eachDatabase("the streamed query", (open) => {
  let http: TestHttp;
  let query: Engine["query"];
  beforeAll(async () => {
    http = await startHttp(open, { query: (given, signal) => query(given, signal) });
  });
  afterAll(() => http.close());

  const stream = (signal?: AbortSignal, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${http.url}/v1/query/stream`, {
      method: "POST",
      headers: { authorization: `Bearer ${http.key}`, "content-type": "application/json", ...headers },
      body: JSON.stringify({ workspace_id: http.workspaceId, query: "Hello?" }),
      ...(signal === undefined ? {} : { signal }),
    });

  it("sends each token before the next one is produced", async () => {
    const steps = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    query = async ({ onToken }) => {
      onToken?.("One ");
      await steps[0]?.promise;
      onToken?.("two");
      await steps[1]?.promise;
      return result;
    };
    const response = await stream();
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toContain('{"delta":"One "}');
    steps[0]?.resolve();
    expect((await reader?.read())?.value).toContain('{"delta":"two"}');
    steps[1]?.resolve();
    expect((await reader?.read())?.value).toContain("event: done");
    expect((await reader?.read())?.done).toBe(true);
  });

  it("responds with an ordinary error before the first token", async () => {
    query = async () => {
      throw new Problem("provider_down", "No provider answers.");
    };
    const response = await stream();
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).not.toBeNull();
    expect(await response.json()).toMatchObject({ code: "provider_down" });
    for (const [body, code] of [
      [{ workspace_id: http.workspaceId }, "missing_field"],
      [{ workspace_id: http.workspaceId, query: "x", top_k: 99 }, "invalid_top_k"],
    ] as const) {
      expect((await http.post("/v1/query/stream", body)).body.code).toBe(code);
    }
  });

  it("ends with an error event after the first token, without internal details", async () => {
    query = async ({ onToken }) => {
      onToken?.("One ");
      throw new Error("the password is hunter2");
    };
    const text = await (await stream()).text();
    expect(parseEvents(text).at(-1)).toMatchObject({
      event: "error",
      data: { code: "internal_error", request_id: expect.stringMatching(/^req_/) },
    });
    expect(text).not.toContain("hunter2");
  });

  it("ends with query_timeout after 30 seconds", async () => {
    query = ({ onToken }) => {
      onToken?.("One ");
      return new Promise(() => undefined);
    };
    const response = await stream();
    http.clock.advance(30_000);
    expect(parseEvents(await response.text()).at(-1)).toMatchObject({
      event: "error",
      data: { code: "query_timeout" },
    });
  });

  it("stops the generation when the client disconnects", async () => {
    const stopped = Promise.withResolvers<void>();
    query = ({ onToken }, signal) => {
      onToken?.("One ");
      return new Promise((_, reject) => {
        signal.addEventListener("abort", () => {
          stopped.resolve();
          reject(signal.reason as Error);
        });
      });
    };
    const client = new AbortController();
    await stream(client.signal);
    client.abort();
    await stopped.promise;
    const quota = await http.store.read
      .selectFrom("counters")
      .select("value")
      .where("name", "like", "queries:%")
      .execute();
    await expect.poll(async () => (await quotaValue()) <= (quota[0]?.value ?? 0)).toBe(true);
  });

  const quotaValue = async () => {
    const row = await http.store.read
      .selectFrom("counters")
      .select("value")
      .where("name", "like", "queries:%")
      .executeTakeFirstOrThrow();
    return row.value;
  };

  it("stops the generation before the first token too", async () => {
    const begun = Promise.withResolvers<void>();
    const stopped = Promise.withResolvers<void>();
    query = (_query, signal) => {
      signal.addEventListener("abort", () => stopped.resolve());
      begun.resolve();
      return new Promise(() => undefined);
    };
    const client = new AbortController();
    const response = stream(client.signal);
    await begun.promise;
    client.abort();
    await expect(response).rejects.toThrow("aborted");
    await stopped.promise;
  });

  it("replays a stored answer as one token", async () => {
    let calls = 0;
    query = async ({ onToken }) => {
      calls += 1;
      onToken?.("One two");
      return result;
    };
    const headers = { "idempotency-key": "stream-1" };
    const first = await (await stream(undefined, headers)).text();
    const replayed = await stream(undefined, headers);
    expect(replayed.headers.get("idempotency-replayed")).toBe("true");
    expect(parseEvents(await replayed.text())).toEqual(parseEvents(first));
    expect(calls).toBe(1);
  });
});
