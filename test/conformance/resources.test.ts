import { expect, it } from "vitest";
import { channels } from "#channels/catalog.ts";
import { agent, eachContract, humanPlease, idPattern, shownNow, timestampPattern } from "../support/http/contract.ts";

eachContract("2 resources", (at) => {
  const handbook = "# Parcels\n\n## Delivery\n\nA parcel is delivered within three working days.";
  const question = "Within how many days is a parcel delivered?";

  it("2.1 forms the ids of every resource by prefix and shape", async () => {
    const { client } = at;
    const id = await client.begin(humanPlease);
    const note = await client.post(`/v1/conversations/${id}/notes`, { content: "A note" });
    const conversation = await client.single(id);
    expect(id).toMatch(idPattern("conv"));
    expect(note.body.id).toMatch(idPattern("note"));
    expect(note.body.request_id).toBeUndefined();
    expect(note.headers.get("x-request-id")).toMatch(idPattern("req"));
    expect(conversation.contact_id).toMatch(idPattern("con"));
    expect(conversation.messages.length).toBeGreaterThan(1);
    for (const message of conversation.messages) expect(message.id).toMatch(idPattern("msg"));
    for (const entry of conversation.audit_log) expect(entry).toHaveProperty("id", expect.stringMatching(/^aud_/));
    expect((await client.list("&limit=1")).body.pagination.next_cursor).toMatch(/^cur_[A-Za-z0-9_-]+$/);
    expect(await at.app.learn("ids.md", handbook)).toMatch(idPattern("doc"));
  });

  it("2.1 creates ids of one kind that sort by creation", async () => {
    const client = await at.fresh();
    const ids = [await client.begin(), await client.begin(), await client.begin()];
    expect(ids.toSorted()).toEqual(ids);
    const { messages } = await client.single(ids[0] ?? "");
    const messageIds = messages.map(({ id }) => id);
    expect(messageIds.toSorted()).toEqual(messageIds);
  });

  it("2.1 creates workspace ids of wt_, six characters and ten or more", () => {
    expect(at.client.id).toMatch(/^wt_[a-z0-9]{6}_[a-z0-9]{10,}$/);
  });

  it("2.1 creates keys with the workspace's short id and 32 characters", () => {
    expect(at.client.key).toMatch(/^ak_[a-z0-9]{6}_[A-Za-z0-9]{32}$/);
    expect(at.client.key.slice(3, 9)).toBe(at.client.id.slice(3, 9));
  });

  it("2.1 accepts ws_ for wt_ in every workspace id, and returns wt_", async () => {
    const { client } = at;
    const alias = client.id.replace("wt_", "ws_");
    const asked = await client.ask({ workspace_id: alias });
    expect(asked.status).toBe(200);
    expect((await client.single(asked.body.conversation_id)).workspace_id).toBe(client.id);
    const list = await client.get(`/v1/conversations?workspace_id=${alias}`);
    expect(list.body.conversations.map((each) => Reflect.get(each, "workspace_id"))).toContain(client.id);
    expect(list.text).not.toContain(alias);
    const documents = await client.get(`/v1/documents?workspace_id=${alias}`);
    expect([documents.status, documents.text.includes(alias)]).toEqual([200, false]);
  });

  it("2.1 writes every time in UTC with three decimals, also a whole second", async () => {
    const { client } = at;
    at.app.clock.advance(1_000 - (at.app.clock.now() % 1_000));
    const id = await client.begin();
    const note = await client.post(`/v1/conversations/${id}/notes`, { content: "A note" });
    await client.patch(id, { status: "resolved" });
    const conversation = await client.single(id);
    const times = [...JSON.stringify([conversation, note.body]).matchAll(/"[a-z_]+_at":"([^"]+)"/g)].map(([, t]) => t);
    expect(times.length).toBeGreaterThan(6);
    for (const time of times) expect(time).toMatch(timestampPattern);
    expect(conversation.started_at.endsWith(".000Z")).toBe(true);
  });

  it("2.2 returns a list item with all its fields and none of the single fetch", async () => {
    const client = await at.fresh();
    await client.begin();
    const { body } = await client.list();
    expect(body.conversations).toEqual([
      {
        id: expect.stringMatching(/^conv_/),
        workspace_id: client.id,
        channel: "api",
        status: "open",
        started_at: shownNow(at.app),
        last_message_at: expect.stringMatching(timestampPattern),
        message_count: 2,
        customer: { email: null, name: null, phone: null },
        tags: [],
        sla_state: "in_compliance",
        assigned_to: null,
        priority: "normal",
        contact_id: expect.stringMatching(/^con_/),
        previous_conversation_id: null,
      },
    ]);
  });

  it("2.2 names the channel of a query api, one of eleven", async () => {
    const { channel } = await at.client.single(await at.client.begin());
    expect(channel).toBe("api");
    expect([...channels].toSorted()).toEqual(
      // oxfmt-ignore
      ["widget", "whatsapp", "telegram", "slack", "discord", "email", "voice", "sms", "intercom", "hosted", "api"].toSorted(),
    );
  });

  it("2.2 returns one of six statuses, and filters by each", async () => {
    const client = await at.fresh();
    for (const status of ["open", "claimed", "escalated", "snoozed", "resolved", "archived"]) {
      const id = await client.in(status);
      expect((await client.single(id)).status).toBe(status);
      expect(await client.found(`&status=${status}`)).toEqual([id]);
    }
  });

  it("2.2 starts with the first message, and updates last_message_at and message_count with each message", async () => {
    const { client } = at;
    const id = await client.begin();
    const first = await client.single(id);
    expect(first.started_at).toBe(shownNow(at.app));
    expect(first.last_message_at >= first.started_at).toBe(true);
    at.app.clock.advance(61_000);
    await client.ask({ conversation_id: id });
    const second = await client.single(id);
    expect(second.started_at).toBe(first.started_at);
    expect(second.last_message_at).toBe(shownNow(at.app));
    expect([first.message_count, second.message_count]).toEqual([2, 4]);
    expect(second.messages).toHaveLength(4);
  });

  it("2.2 counts neither notes nor changes as messages", async () => {
    const { client } = at;
    const id = await client.begin();
    const before = await client.single(id);
    at.app.clock.advance(61_000);
    await client.patch(id, { tags: ["x"], internal_notes: [{ content: "A note" }] });
    const { message_count, last_message_at } = await client.single(id);
    expect({ message_count, last_message_at }).toEqual({ message_count: 2, last_message_at: before.last_message_at });
  });

  it("2.2 has resolved_at on the single fetch of a resolved conversation only", async () => {
    const { client } = at;
    const id = await client.begin();
    expect(await client.single(id)).not.toHaveProperty("resolved_at");
    at.app.clock.advance(5_000);
    const resolved = await client.patch(id, { status: "resolved" });
    expect(resolved.body).toHaveProperty("resolved_at", shownNow(at.app));
    expect(await client.single(id)).toHaveProperty("resolved_at", shownNow(at.app));
    at.app.clock.advance(5_000);
    await client.ask({ conversation_id: id });
    expect(await client.single(id)).not.toHaveProperty("resolved_at");
  });

  it("2.2 names a verified customer, and leaves the fields of others null", async () => {
    const { client } = at;
    const person = { user_id: "ada", name: "Ada", email: "ada@example.com" };
    const proven = await client.begin("Hello", { user: { ...person, hash: client.mac("ada") } });
    expect(await client.single(proven)).toMatchObject({
      customer: { name: "Ada", email: "ada@example.com", phone: null },
    });
    const claimed = await client.begin("Hello", { user: person });
    expect(await client.single(claimed)).toMatchObject({ customer: { name: null, email: null, phone: null } });
  });

  it("2.2 names the assignee after a claim, and the normal priority by default", async () => {
    const { client } = at;
    const id = await client.begin();
    expect(await client.single(id)).toMatchObject({ assigned_to: null, priority: "normal" });
    await client.patch(id, { status: "claimed", assigned_to: agent, priority: "urgent" });
    expect(await client.single(id)).toMatchObject({ assigned_to: agent, priority: "urgent" });
    expect((await client.list("&limit=1")).body.conversations[0]).toMatchObject({
      id,
      assigned_to: agent,
      priority: "urgent",
    });
  });

  it("2.2 links a verified customer's previous conversation", async () => {
    const { client } = at;
    const user = { user_id: "grace", hash: client.mac("grace") };
    const [first, second] = [await client.begin("Hello", { user }), await client.begin("Hello", { user })];
    const [one, two] = [await client.single(first), await client.single(second)];
    expect([one.previous_conversation_id, two.previous_conversation_id]).toEqual([null, first]);
    expect(two.contact_id).toBe(one.contact_id);
  });

  it("2.3 returns messages of the customer, the bot and agents in one array, in order", async () => {
    const { client } = at;
    const id = await client.begin("Hello there");
    at.app.clock.advance(1_000);
    await client.post(`/v1/conversations/${id}/messages`, { content: "I am here", author_email: agent });
    const { messages } = await client.single(id);
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "agent"]);
    expect([messages[0]?.content, messages[2]?.content]).toEqual(["Hello there", "I am here"]);
    for (const message of messages) {
      expect(message).toMatchObject({ created_at: expect.stringMatching(timestampPattern) });
    }
  });

  it("2.3 has sources, tokens_used and confidence on the bot's messages only", async () => {
    const { client } = at;
    await at.app.learn("parcels.md", handbook);
    const asked = await client.ask({ query: question });
    const { messages } = await client.single(asked.body.conversation_id);
    expect(messages[1]).toMatchObject({
      role: "assistant",
      content: asked.body.answer,
      sources: asked.body.sources,
      tokens_used: expect.any(Number),
      confidence: expect.stringMatching(/^(high|medium|low)$/),
    });
    for (const name of ["sources", "tokens_used", "confidence"]) expect(messages[0]).not.toHaveProperty(name);
  });

  it("2.3 keeps texts unchanged", async () => {
    const { client } = at;
    const text = "  <b>Grüße</b> 'quoted' \\ \u202e ‮ 日本語 👩‍👩‍👧 \n\t second line\u0000!";
    const id = await client.begin(text);
    expect((await client.single(id)).messages[0]?.content).toBe(text);
  });

  it("2.4 shows a note with its conversation, its author and its time", async () => {
    const { client } = at;
    const id = await client.begin();
    const { body } = await client.post(`/v1/conversations/${id}/notes`, { content: "Look at the order" });
    expect(body).toEqual({
      id: expect.stringMatching(/^note_/),
      conversation_id: id,
      content: "Look at the order",
      author: "api_key:Test key",
      created_at: shownNow(at.app),
    });
    expect((await client.single(id)).internal_notes).toEqual([body]);
  });

  it("2.4 shows notes to agents only, neither among the messages nor to the bot", async () => {
    const { client } = at;
    const id = await client.begin();
    await client.post(`/v1/conversations/${id}/notes`, { content: "The parcel is in Reykjavik" });
    const asked = await client.ask({ conversation_id: id, query: "Is the parcel in Reykjavik?" });
    expect(asked.body.answer).not.toContain("Reykjavik");
    const page = await client.get(`/v1/conversations/${id}/messages`);
    expect(
      page.body.messages
        .filter(({ role }) => role !== "user")
        .map(({ content }) => content)
        .join(),
    ).not.toContain("Reykjavik");
  });

  it("2.5 returns a cursor and has_more with every page", async () => {
    const { client } = at;
    const id = await client.begin();
    for (const path of [
      `/v1/conversations?workspace_id=${client.id}`,
      `/v1/conversations/${id}/messages?`,
      "/v1/documents?",
    ]) {
      const { body } = await client.get(`${path}&limit=100`);
      expect(body.pagination).toEqual({ next_cursor: expect.stringMatching(/^cur_/), has_more: false });
    }
  });

  it("2.6 names a source's title, address, exact passage and score", async () => {
    const { client } = at;
    await at.app.learn("parcels.md", handbook);
    const { body } = await client.ask({ query: question });
    expect(body.sources.length).toBeGreaterThan(0);
    for (const source of body.sources) {
      expect(source).toEqual({
        title: expect.any(String),
        url: expect.any(String),
        chunk: expect.any(String),
        score: expect.any(Number),
      });
    }
    expect(body.sources[0]).toMatchObject({ chunk: expect.stringContaining("within three working days") });
  });

  it("2.7 answers every failure with detail, code and request id only", async () => {
    const { client } = at;
    for (const answered of [
      await client.get("/v1/conversations"),
      await client.get("/v1/conversations/conv_none"),
      await client.get("/v1/nothing"),
      await client.call("PUT", "/v1/query", { body: {} }),
      await client.post("/v1/query", "{"),
      await client.post("/v1/query", "x", { headers: { "content-type": "text/plain" } }),
      await client.ask({ top_k: 99 }),
      await client.get("/v1/documents", { key: null }),
      await client.get("/v1/documents", { key: `ak_abcdef_${"a".repeat(32)}` }),
    ]) {
      expect(answered.status).toBeGreaterThanOrEqual(400);
      expect(answered.headers.get("content-type")).toBe("application/json; charset=utf-8");
      expect(answered.body).toEqual({
        detail: expect.stringMatching(/\S/),
        code: expect.stringMatching(/^[a-z_]+$/),
        request_id: answered.headers.get("x-request-id"),
      });
      expect(answered.body.request_id).toMatch(idPattern("req"));
    }
  });
});
