import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ModelSink } from "./language-model.ts";
import { ModelFailure } from "./language-model.ts";
import { checkModel, createModel } from "./model.ts";
import type { RetryingModel } from "./retrying-model.ts";
import type { ModelConfig } from "#config/models.ts";
import type { HandMovedClock } from "#test/support/hand-moved-clock.ts";
import { createHandMovedClock } from "#test/support/hand-moved-clock.ts";
import { inTime } from "#test/support/in-time.ts";
import type { Behaviour, ModelServer } from "#test/support/servers/model-server.ts";
import { calls, says, startModelServer } from "#test/support/servers/model-server.ts";

const key = "sk-test-5f1e0c9b7a";
const request = { system: "Be brief.", user: "Say it.", temperature: 0.3, budgetMs: 25_000 };
const silence: Behaviour = { kind: "silence", after: null };
const never = new AbortController().signal;

let server: ModelServer;
let clock: HandMovedClock;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());
beforeEach(() => {
  clock = createHandMovedClock(Date.UTC(2031, 0, 1));
});

const configOf = (provider: ModelConfig["provider"], more: Partial<ModelConfig> = {}): ModelConfig => ({
  provider,
  baseUrl: server.url,
  name: "test-model",
  apiKey: key,
  ...more,
});

/** Uses the behaviours in order, and then the last one for all further requests. */
function script(...behaviours: Behaviour[]): { readonly count: () => number } {
  let at = -1;
  server.answer = () => {
    at = Math.min(at + 1, behaviours.length - 1);
    return behaviours[at] ?? silence;
  };
  const before = server.requests.length;
  return { count: () => server.requests.length - before };
}

function gather(restarts = true): ModelSink & { readonly text: (delta: string) => void; said: string } {
  const sink = {
    said: "",
    text(delta: string) {
      sink.said += delta;
    },
    restart() {
      if (restarts) sink.said = "";
      return restarts;
    },
  };
  return sink;
}

async function failureOf(promise: Promise<unknown>): Promise<ModelFailure> {
  const error = await promise.then(
    () => new Error("it did not fail"),
    (reason: unknown) => reason,
  );
  if (!(error instanceof ModelFailure)) throw error;
  return error;
}

describe.each(["openai", "anthropic", "openai-compatible"] as const)("a model of %s", (provider) => {
  it("receives the request, and returns text, finish reason and tokens", async () => {
    script({ kind: "text", pieces: ["One ", "two"], tokens: { input: 40, output: 7 } });
    const sink = gather();
    const written = await createModel(configOf(provider), clock).write(request, sink, never);
    expect(sink.said).toBe("One two");
    expect(written).toEqual({ finish: "complete", tokensUsed: 47 });
    const last = server.requests.at(-1);
    expect(last).toMatchObject({
      system: "Be brief.",
      user: "Say it.",
      body: { model: "test-model", temperature: 0.3 },
    });
    const sent = provider === "anthropic" ? last?.headers["x-api-key"] : last?.headers.authorization;
    expect(sent).toBe(provider === "anthropic" ? key : `Bearer ${key}`);
    expect(last?.path).toBe(provider === "anthropic" ? "/v1/messages" : "/v1/chat/completions");
  });

  it("reports a refusal and a cut-off text", async () => {
    for (const [finish, expected] of [
      ["refused", "refused"],
      ["length", "length"],
    ] as const) {
      script({ kind: "text", pieces: ["Some text"], finish });
      const written = await createModel(configOf(provider), clock).write(request, gather(), never);
      expect(written.finish).toBe(expected);
    }
  });

  it.each<[string, Behaviour, string]>([
    ["a wrong key", { kind: "status", status: 401 }, "key"],
    ["an unknown model", { kind: "status", status: 404 }, "model"],
    ["a request it does not take", { kind: "status", status: 400 }, "rejected"],
  ])("are not retried after %s", async (_what, behaviour, kind) => {
    const asked = script(behaviour, says("never"));
    expect((await failureOf(createModel(configOf(provider), clock).write(request, gather(), never))).kind).toBe(kind);
    expect(asked.count()).toBe(1);
  });

  it.each<[string, Behaviour, string]>([
    ["an error of the server", { kind: "status", status: 500 }, "server"],
    ["a limit", { kind: "status", status: 429 }, "limited"],
    ["a stream that is no JSON", { kind: "broken" }, "broken"],
    ["a connection that breaks", { kind: "hang_up", after: "One " }, "broken"],
    ["a stream that ends too early", { kind: "end_early", after: "One " }, "broken"],
    ["an empty answer", says(""), "empty"],
    ["a page instead of a stream", { kind: "status", status: 200, body: "<html>" }, "broken"],
  ])("make three attempts after %s, each from the beginning", async (_what, behaviour, kind) => {
    const sink = gather();
    script(behaviour, behaviour, says("Well"));
    const written = await inTime(clock, createModel(configOf(provider), clock).write(request, sink, never));
    expect([sink.said, written.finish]).toEqual(["Well", "complete"]);
    const asked = script(behaviour);
    const failure = await failureOf(
      inTime(clock, createModel(configOf(provider), clock).write(request, gather(), never)),
    );
    expect([failure.kind, asked.count()]).toEqual([kind, 3]);
  });

  it("reveals neither the provider's text nor the key in a failure", async () => {
    const body = JSON.stringify({
      error: { message: `Bad key ${key}, you wrote: Say it.`, type: "invalid_key", code: key },
    });
    script({ kind: "status", status: 401, body, headers: { "x-echo": key } });
    const failure = await failureOf(createModel(configOf(provider), clock).write(request, gather(), never));
    expect(failure.message).toContain("401 (invalid_key)");
    expect(failure.cause).toBeUndefined();
    const revealed = `${failure.message}\n${failure.stack}\n${JSON.stringify(failure)}`;
    expect(revealed).not.toContain(key);
    expect(revealed).not.toContain("Say it");
  });
});

describe("calls of a provider", () => {
  const model = (more: Partial<ModelConfig> = {}): RetryingModel =>
    createModel(configOf("openai-compatible", more), clock);

  it("wait as long as a rate limit demands", async () => {
    const asked = script({ kind: "status", status: 429, headers: { "retry-after": "7" } }, says("Well"));
    const began = clock.now();
    const written = model().write(request, gather(), never);
    await inTime(clock, written);
    expect(clock.now() - began).toBeGreaterThanOrEqual(7_000);
    expect(asked.count()).toBe(2);
  });

  it("do not wait beyond the time of the answer, and report the provider's delay", async () => {
    const asked = script({ kind: "status", status: 429, headers: { "retry-after": "60" } });
    const failure = await failureOf(model().write(request, gather(), never));
    expect([failure.kind, failure.retryAfterMs, asked.count()]).toEqual(["limited", 60_000, 1]);
  });

  it("time out and are aborted if the provider accepts the request and stays silent", async () => {
    script(silence);
    const before = server.requests.length;
    const failure = await failureOf(inTime(clock, model().write(request, gather(), never)));
    expect(failure.kind).toBe("timeout");
    expect(server.requests.length - before).toBe(3);
    await server.abandoned(1);
    expect(clock.now() - Date.UTC(2031, 0, 1)).toBeLessThanOrEqual(27_000);
  });

  it("time out if the provider stalls in the middle", async () => {
    script({ kind: "silence", after: "One " });
    const failure = await failureOf(inTime(clock, model().write(request, gather(false), never)));
    expect([failure.kind, failure.message]).toEqual(["timeout", "the model was silent for 10 seconds"]);
  });

  it("are not retried when text was shown already", async () => {
    const asked = script({ kind: "hang_up", after: "One " }, says("Two"));
    const failure = await failureOf(model().write(request, gather(false), never));
    expect([failure.kind, asked.count()]).toEqual(["broken", 1]);
  });

  it("are aborted when the caller aborts", async () => {
    script({ kind: "silence", after: "One " });
    const gone = new AbortController();
    const reason = new Error("the client went away");
    const begun = server.requests.length;
    const written = model().write(request, gather(), gone.signal);
    await server.asked(begun + 1);
    gone.abort(reason);
    await expect(written).rejects.toBe(reason);
  });

  it("end with what to check when nothing listens at the address", async () => {
    const failure = await failureOf(
      inTime(clock, model({ baseUrl: "http://127.0.0.1:1/v1" }).write(request, gather(), never)),
    );
    expect(failure.kind).toBe("unreachable");
    expect(failure.message).toContain("127.0.0.1:1 cannot be reached");
    expect(failure.message).toContain("MODEL_BASE_URL");
  });

  it("follow no redirect, which would receive the key", async () => {
    const asked = script({ kind: "status", status: 307, headers: { location: `${server.url}/elsewhere` } });
    await failureOf(inTime(clock, model().write(request, gather(), never)));
    expect(server.requests.slice(-asked.count()).map(({ path }) => path)).not.toContain("/v1/elsewhere");
  });

  it("work without a key", async () => {
    script(says("Well"));
    await model({ apiKey: undefined }).write(request, gather(), never);
    expect(server.requests.at(-1)?.headers.authorization).toBeUndefined();
  });

  it("leave out the model's reasoning", async () => {
    script(says("<think>They want ", "a word.</think>", "Well"));
    const sink = gather();
    await model().write(request, sink, never);
    expect(sink.said.trim()).toBe("Well");
  });

  it("are paused after repeated failures, and resume with a single question", async () => {
    const retrying = model();
    const rejected: Behaviour = { kind: "status", status: 401 };
    const asked = script(rejected);
    expect(retrying.trouble()).toBeNull();
    for (let count = 0; count < 3; count += 1) await failureOf(retrying.write(request, gather(), never));
    expect(retrying.trouble()).toContain("401");
    const resting = await failureOf(retrying.write(request, gather(), never));
    expect([resting.kind, resting.retryAfterMs, asked.count()]).toEqual(["resting", 30_000, 3]);
    clock.advance(30_000);
    // One of two concurrent requests probes the provider; the other does not wait for it.
    const [first, second] = [retrying.write(request, gather(), never), retrying.write(request, gather(), never)];
    expect([(await failureOf(second)).kind, (await failureOf(first)).kind]).toEqual(["resting", "key"]);
    expect((await failureOf(retrying.write(request, gather(), never))).retryAfterMs).toBe(60_000);
    clock.advance(60_000);
    script(says("Well"));
    await retrying.write(request, gather(), never);
    expect(retrying.trouble()).toBeNull();
    await retrying.write(request, gather(), never);
  });

  it("are not paused because of one question that the provider rejects", async () => {
    const retrying = model();
    script({ kind: "status", status: 400 });
    for (let count = 0; count < 5; count += 1) {
      expect((await failureOf(retrying.write(request, gather(), never))).kind).toBe("rejected");
    }
    expect(retrying.trouble()).toBeNull();
  });

  it("cut off an endless text", async () => {
    script({
      kind: "text",
      pieces: Array.from({ length: 60 }, () => "word ".repeat(200)),
      hold: new Promise(() => undefined),
    });
    const sink = gather();
    expect((await model().write(request, sink, never)).finish).toBe("length");
    expect(sink.said.length).toBeLessThan(40_000);
  });

  it("are checked with one small call", async () => {
    script(says("ready"));
    expect(await checkModel(configOf("openai"), clock)).toBe("test-model of openai answers");
    script({ kind: "status", status: 401 });
    expect((await failureOf(checkModel(configOf("openai"), clock))).message).toContain("check MODEL_API_KEY");
  });
});

describe("tools", () => {
  const schema = { type: "object", properties: { order: { type: "string" } }, required: ["order"] };
  const tools = [{ name: "order_status", description: "Tells an order's status.", schema }];

  async function called(provider: ModelConfig["provider"], ...behaviours: Behaviour[]) {
    const scripted = script(...behaviours);
    const got: { readonly name: string; readonly input: unknown }[] = [];
    const sink = {
      text: () => undefined,
      call: (name: string, input: unknown) => void got.push({ name, input }),
      restart: () => true,
    };
    const model = createModel(configOf(provider), clock);
    const written = await inTime(clock, model.write({ ...request, tools }, sink, never));
    return { got, written, requests: scripted.count() };
  }

  it.each(["openai", "openai-compatible", "anthropic"] as const)(
    "of %s are offered, and their calls are reported",
    async (provider) => {
      const { got, written } = await called(provider, {
        kind: "calls",
        calls: [
          { name: "order_status", arguments: { order: "A-1" } },
          { name: "order_status", arguments: { order: "A-2" } },
        ],
      });
      expect(server.requests.at(-1)?.tools).toEqual(["order_status"]);
      expect(got).toEqual([
        { name: "order_status", input: { order: "A-1" } },
        { name: "order_status", input: { order: "A-2" } },
      ]);
      expect(written).toEqual({ finish: "complete", tokensUsed: 50 });
    },
  );

  it.each(["openai", "anthropic"] as const)(
    "of %s: a call with invalid JSON is ignored and retried",
    async (provider) => {
      const broken = calls("order_status", '{"order": "A-');
      const { got, requests } = await called(provider, broken, broken, says("NONE"));
      expect(got).toEqual([]);
      expect(requests).toBe(3);
    },
  );

  it("are retried when the connection breaks in the middle", async () => {
    const { got, requests } = await called(
      "openai",
      { kind: "hang_up", after: "" },
      calls("order_status", { order: "A-1" }),
    );
    expect(got).toEqual([{ name: "order_status", input: { order: "A-1" } }]);
    expect(requests).toBe(2);
  });

  it("wait as long as the provider demands", async () => {
    const { got, requests } = await called(
      "openai",
      { kind: "status", status: 429, headers: { "retry-after": "3" } },
      calls("order_status", { order: "A-1" }),
    );
    expect(got).toHaveLength(1);
    expect(requests).toBe(2);
  });
});
