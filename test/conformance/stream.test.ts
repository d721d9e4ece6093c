import { beforeAll, expect, it } from "vitest";
import { eachContract, humanPlease } from "../support/http/contract.ts";

interface ServerEvent {
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Parses server-sent events as a client does; fails on any other text. */
function read(text: string): readonly ServerEvent[] {
  if (!text.endsWith("\n\n")) throw new Error("the stream is incomplete");
  return text
    .slice(0, -2)
    .split("\n\n")
    .map((block) => {
      const match = /^event: (token|done|error)\ndata: (\{.*\})$/.exec(block);
      if (match === null) throw new Error(`not an event: ${block}`);
      return { event: match[1] ?? "", data: JSON.parse(match[2] ?? "") as ServerEvent["data"] };
    });
}

eachContract("4.8 the streamed query", (at) => {
  beforeAll(async () => {
    await at.app.learn("hours.md", "# Opening hours\n\nThe shop is open from nine to five on weekdays.");
  });
  const stream = (body: object = {}, headers: Readonly<Record<string, string>> = {}) =>
    at.client.post(
      "/v1/query/stream",
      { workspace_id: at.client.id, query: "When is the shop open?", ...body },
      { headers },
    );
  const deltas = (events: readonly ServerEvent[]) =>
    events
      .filter(({ event }) => event === "token")
      .map(({ data }) => data["delta"])
      .join("");

  it("4.8 streams the answer's tokens, and ends with the whole response of a query", async () => {
    const { status, headers, text } = await stream();
    expect([status, headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
    const events = read(text);
    expect(events.filter(({ event }) => event === "token").length).toBeGreaterThan(1);
    expect(events.map(({ event }) => event).lastIndexOf("token")).toBe(events.length - 2);
    const { event, data } = events.at(-1) ?? { event: "", data: {} };
    expect([event, deltas(events)]).toEqual(["done", data["answer"]]);
    expect(data["answer"]).toContain("nine to five");
    expect(Object.keys(data).toSorted()).toEqual(Object.keys((await at.client.ask()).body).toSorted());
  });

  it("4.8 stores the streamed answer", async () => {
    const data = read((await stream()).text).at(-1)?.data ?? {};
    const { messages } = await at.client.single(String(data["conversation_id"]));
    expect(messages.map(({ role, content }) => [role, content])).toEqual([
      ["user", "When is the shop open?"],
      ["assistant", data["answer"]],
    ]);
  });

  it("4.8 sends the rate-limit headers and the request's id, and forbids caching", async () => {
    const { headers } = await stream();
    expect(headers.get("x-ratelimit-limit-minute")).toBe("1000");
    expect(headers.get("x-request-id")).toMatch(/^req_/);
    expect(headers.get("cache-control")).toBe("no-store");
  });

  it.each([
    [400, "missing_field", { query: null }],
    [400, "invalid_workspace_id", { workspace_id: "x" }],
    [400, "message_too_long", { query: "x".repeat(1_001) }],
    [422, "invalid_top_k", { top_k: 99 }],
    [422, "invalid_audience", { audience: ["nobody-has-this"] }],
    [404, "conversation_not_found", { conversation_id: "conv_none" }],
    [403, "verification_required", { user: { user_id: "u", hash: "00" } }],
  ])("4.8 answers %i %s as an ordinary error, before the first token, to %j", async (status, code, body) => {
    const answered = await stream(body);
    expect([answered.status, answered.body.code]).toEqual([status, code]);
    expect(answered.headers.get("content-type")).toBe("application/json; charset=utf-8");
  });

  it("4.8 streams the handover text and the waiting text like any answer", async () => {
    const handover = read((await stream({ query: humanPlease })).text);
    const data = handover.at(-1)?.data ?? {};
    expect([deltas(handover), data["answer"]]).toEqual([data["answer"], expect.stringContaining("person will reply")]);
    const waiting = read((await stream({ conversation_id: data["conversation_id"] })).text);
    expect(deltas(waiting)).toContain("person will reply");
    expect(waiting.at(-1)).toMatchObject({ event: "done", data: { sources: [] } });
  });

  it("4.8 repeats a stored stream for the same Idempotency-Key", async () => {
    const headers = { "idempotency-key": "stream" };
    const first = read((await stream({}, headers)).text);
    const again = await stream({}, headers);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(read(again.text).at(-1)).toEqual(first.at(-1));
    expect(deltas(read(again.text))).toBe(deltas(first));
    expect((await stream({ query: "Other" }, headers)).body.code).toBe("duplicate_request_id");
  });

  it("4.8 counts a stream as one query of the month's quota", async () => {
    const client = await at.fresh({ plan: "free" });
    await client.post("/v1/query/stream", { workspace_id: client.id, query: "Hello" });
    const used = await at.app.store.read
      .selectFrom("counters")
      .select("value")
      .where("name", "=", `queries:${client.id}`)
      .executeTakeFirst();
    expect(used?.value).toBe(1);
  });

  it("4.8 makes no second answer for a client that has disconnected", async () => {
    const gone = new AbortController();
    const response = await fetch(`${at.app.url}/v1/query/stream`, {
      method: "POST",
      headers: { authorization: `Bearer ${at.client.key}`, "content-type": "application/json" },
      body: JSON.stringify({ workspace_id: at.client.id, query: "When is the shop open?" }),
      signal: gone.signal,
    });
    gone.abort();
    expect(response.status).toBe(200);
    expect((await at.client.get("/v1/documents")).status).toBe(200);
  });
});
