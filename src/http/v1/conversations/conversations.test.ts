import { afterAll, beforeAll, expect, it } from "vitest";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { eachDatabase } from "#test/support/database/databases.ts";

eachDatabase("conversations", (open) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp(open);
  });
  afterAll(() => app.close());

  const list = (parameters = "", workspaceId = app.workspace.id) =>
    app.get(`/v1/conversations?workspace_id=${workspaceId}${parameters}`);
  const begin = async (text = "Where is my parcel?", extra: object = {}) => {
    app.clock.advance(1_000);
    const { body } = await app.post("/v1/query", { workspace_id: app.workspace.id, query: text, ...extra });
    return body.conversation_id;
  };
  const patch = (id: string, body: unknown) => app.call("PATCH", `/v1/conversations/${id}`, { body });
  const single = (id: string) => app.get(`/v1/conversations/${id}`);
  const ids = (body: { readonly conversations: readonly { readonly id: string }[] }) =>
    body.conversations.map(({ id }) => id);

  it("lists the newest first, with the fields of a list item", async () => {
    const [first, second] = [await begin(), await begin()];
    const { status, body } = await list("&limit=2");
    expect(status).toBe(200);
    expect(ids(body)).toEqual([second, first]);
    expect(body.conversations[0]).toMatchObject({
      workspace_id: app.workspace.id,
      channel: "api",
      status: "open",
      message_count: 2,
      customer: { email: null, name: null, phone: null },
      tags: [],
      sla_state: "in_compliance",
      assigned_to: null,
      priority: "normal",
      previous_conversation_id: null,
    });
    expect(body.conversations[0]).toHaveProperty("started_at", new Date(app.clock.now()).toISOString());
  });

  it("accepts ws_ for wt_, and returns wt_", async () => {
    const { status, body } = await list("&limit=1", app.workspace.id.replace("wt_", "ws_"));
    expect(status).toBe(200);
    expect(body.conversations[0]).toHaveProperty("workspace_id", app.workspace.id);
  });

  it("requires workspace_id, with different errors for malformed, unknown and foreign ones", async () => {
    expect(await app.get("/v1/conversations")).toMatchObject({ status: 400, body: { code: "missing_field" } });
    for (const malformed of [
      "",
      "x",
      "wt_ab_0123456789",
      "wt_abcdef_short",
      "WT_abcdef_0123456789",
      "wt_abcdef_0123456789'",
    ]) {
      expect(await list("", encodeURIComponent(malformed))).toMatchObject({
        status: 400,
        body: { code: "invalid_workspace_id" },
      });
    }
    expect(await list(`&workspace_id=${app.workspace.id}`)).toMatchObject({
      status: 400,
      body: { code: "invalid_workspace_id" },
    });
    expect(await list("", "wt_zzzzzz_0123456789abcdef")).toMatchObject({
      status: 404,
      body: { code: "workspace_not_found" },
    });
    const other = await app.createWorkspace();
    expect(await list("", other.id)).toMatchObject({ status: 403, body: { code: "workspace_access_denied" } });
  });

  it.each([
    ["channel", "&channel=fax"],
    ["status", "&status=closed"],
    ["sla_state", "&sla_state=late"],
    ["limit", "&limit=0"],
    ["limit", "&limit=101"],
    ["limit", "&limit=ten"],
    ["limit", "&limit=1.5"],
    ["limit", "&limit=5&limit=6"],
    ["since", "&since=yesterday"],
    ["since", "&since=2026-02-30"],
    ["until", "&until=2026-13-01T00:00:00Z"],
    ["email", "&email="],
    ["email", "&email=%20"],
    ["q", "&q="],
    ["q", "&q=%20%20"],
    ["tag", "&tag="],
    ["status", "&status="],
    ["since", "&since="],
  ])("names the invalid parameter %s: %s", async (name, parameters) => {
    const { status, body } = await list(parameters);
    expect({ status, code: body.code }).toEqual({ status: 422, code: "invalid_parameter" });
    expect(body.detail).toContain(name);
  });

  it("filters by status, channel, tag, time, address and text", async () => {
    const id = await begin("My xylophone is broken", {
      user: { user_id: "u1", name: "Ada", email: "Ada@example.com", hash: await proof("u1") },
    });
    await patch(id, { tags: ["Music", "urgent "] });
    const started = (await single(id)).body as unknown as { readonly started_at: string };
    const found = async (parameters: string) => ids((await list(parameters)).body).includes(id);
    // Texts are indexed a moment after they are stored.
    app.clock.advance(1_000);
    await expect.poll(() => found("&q=xylophones")).toBe(true);
    for (const parameters of [
      "&channel=api",
      "&status=open",
      "&tag=music",
      "&tag=MUSIC&tag=urgent",
      "&email=ada@EXAMPLE.com",
      "&sla_state=in_compliance",
      `&until=${new Date(app.clock.now() + 1).toISOString()}`,
      "&since=2031-05-14",
      "&since=2031-05-14T12:00:00+02:00",
      "&q=broken+xylophone&status=open&tag=music",
    ]) {
      expect([parameters, await found(parameters)]).toEqual([parameters, true]);
    }
    for (const parameters of [
      "&channel=widget",
      "&status=resolved",
      "&tag=music&tag=none",
      "&email=ada",
      "&sla_state=breached",
      `&until=${started.started_at}`,
      `&since=${started.started_at}`,
      "&q=xylophone+missing",
    ]) {
      expect([parameters, await found(parameters)]).toEqual([parameters, false]);
    }
  });

  const proof = async (userId: string) => {
    const { createHmac } = await import("node:crypto");
    return createHmac("sha256", app.workspace.identitySecret).update(userId).digest("hex");
  };

  it("returns the SLA state at the time of the request", async () => {
    const id = await begin();
    app.clock.advance(48 * 60_000);
    expect(ids((await list("&sla_state=at_risk")).body)).toContain(id);
    expect((await single(id)).body).toHaveProperty("sla_state", "at_risk");
    app.clock.advance(12 * 60_000);
    expect(ids((await list("&sla_state=breached&limit=100")).body)).toContain(id);
    expect(ids((await list("&sla_state=at_risk")).body)).not.toContain(id);
  });

  it("pages without repeats or gaps while new conversations start", async () => {
    const before = ids((await list("&limit=100")).body);
    const walked: string[] = [];
    let page = await list("&limit=3");
    for (;;) {
      walked.push(...ids(page.body));
      await begin();
      if (!page.body.pagination.has_more) break;
      page = await list(`&limit=3&cursor=${page.body.pagination.next_cursor}`);
    }
    expect(walked).toEqual(before);
    const after = await list(`&cursor=${page.body.pagination.next_cursor}`);
    expect(after.body).toMatchObject({ conversations: [], pagination: { has_more: false } });
  });

  it("returns a cursor for an empty list, which yields an empty page", async () => {
    const { body } = await list("&tag=nothing-has-this");
    expect(body.pagination).toMatchObject({ has_more: false, next_cursor: expect.stringMatching(/^cur_/) });
    const after = await list(`&tag=nothing-has-this&cursor=${body.pagination.next_cursor}`);
    expect(after).toMatchObject({ status: 200, body: { conversations: [], pagination: { has_more: false } } });
  });

  it("refuses a cursor that was changed, forged, or issued for other filters", async () => {
    const cursor = (await list("&limit=1")).body.pagination.next_cursor;
    const forged = `${cursor.slice(0, -2)}${cursor.endsWith("AA") ? "BB" : "AA"}`;
    for (const parameters of [
      `&cursor=${forged}`,
      "&cursor=cur_",
      "&cursor=cur_eyJhdCI6MX0",
      "&cursor=x",
      "&cursor=",
      `&cursor=${cursor}&cursor=${cursor}`,
      `&status=open&cursor=${cursor}`,
      `&q=parcel&cursor=${cursor}`,
    ]) {
      expect([parameters, (await list(parameters)).body.code]).toEqual([parameters, "invalid_cursor"]);
    }
    const other = await app.createWorkspace();
    const foreign = await app.get(`/v1/conversations?workspace_id=${other.id}&cursor=${cursor}`, { key: other.key });
    expect(foreign).toMatchObject({ status: 422, body: { code: "invalid_cursor" } });
  });

  it("shows a single conversation with its messages, notes and audit log", async () => {
    const id = await begin("How long does delivery take?");
    await app.post(`/v1/conversations/${id}/notes`, { content: "Look at the order first" });
    const { status, body } = await single(id);
    expect(status).toBe(200);
    expect(body.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(body.messages[0]?.content).toBe("How long does delivery take?");
    expect(body.internal_notes).toMatchObject([{ content: "Look at the order first", author: "api_key:Test key" }]);
    expect(body.audit_log).toMatchObject([
      { action: "status_changed", actor: { type: "customer" }, from: null, to: "open" },
      { action: "skill_called", actor: { type: "assistant" }, to: "knowledge_search", detail: "found no answer" },
      { action: "note_added", actor: { type: "api_key", name: "Test key" } },
    ]);
    expect(body).not.toHaveProperty("resolved_at");
  });

  it("gives the same error for an unknown conversation and one of another workspace", async () => {
    const id = await begin();
    const other = await app.createWorkspace();
    for (const [method, path, body] of [
      ["GET", "", undefined],
      ["GET", "/messages", undefined],
      ["PATCH", "", { priority: "high" }],
      ["DELETE", "", undefined],
      ["POST", "/notes", { content: "Hello" }],
      ["POST", "/messages", { content: "Hello", author_email: "a@example.com" }],
      ["PUT", "/messages/msg_none/reaction", { emoji: "👍", author_email: "a@example.com" }],
    ] as const) {
      for (const [conversation, key] of [
        [id, other.key],
        ["conv_none", app.workspace.key],
        ["x".repeat(2_000), app.workspace.key],
      ] as const) {
        const answered = await app.call(method, `/v1/conversations/${conversation}${path}`, {
          key,
          ...(body === undefined ? {} : { body }),
        });
        expect([method, path, answered.status, answered.body.code]).toEqual([
          method,
          path,
          404,
          "conversation_not_found",
        ]);
      }
    }
  });

  it("adds a note under the key's name or under an agent's address", async () => {
    const id = await begin();
    const first = await app.post(`/v1/conversations/${id}/notes`, { content: "One" });
    expect(first).toMatchObject({
      status: 201,
      body: { conversation_id: id, content: "One", author: "api_key:Test key" },
    });
    expect(first.body.id).toMatch(/^note_/);
    const second = await app.post(`/v1/conversations/${id}/notes`, { content: "Two", author_email: "Kim@Example.com" });
    expect(second.body.author).toBe("kim@example.com");
  });

  it.each([
    ["missing_field", {}],
    ["missing_field", { content: null }],
    ["invalid_parameter", { content: "" }],
    ["invalid_parameter", { content: "  " }],
    ["invalid_parameter", { content: 5 }],
    ["invalid_parameter", { content: "x".repeat(20_001) }],
    ["invalid_parameter", { content: "x", author_email: "nobody" }],
    ["invalid_json", []],
    ["invalid_json", "null"],
    ["invalid_json", ""],
    ["invalid_json", "{"],
  ])("refuses a note with %s: %j", async (code, body) => {
    const id = await begin();
    expect((await app.post(`/v1/conversations/${id}/notes`, body)).body.code).toBe(code);
    expect((await single(id)).body.internal_notes).toEqual([]);
  });

  it("changes status, assignee, tags, priority and notes in one PATCH", async () => {
    const id = await begin();
    const { status, body } = await patch(id, {
      status: "claimed",
      assigned_to: "Kim@example.com",
      tags: [" VIP", "vip", "Returns"],
      priority: "high",
      internal_notes: [{ content: "Mine" }, { content: "Theirs", author_email: "lee@example.com" }],
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: "claimed",
      assigned_to: "kim@example.com",
      tags: ["returns", "vip"],
      priority: "high",
    });
    expect(body.internal_notes.map(({ content }) => content)).toEqual(["Mine", "Theirs"]);
    expect(new Set(body.audit_log.map(({ action }) => action))).toEqual(
      new Set(["status_changed", "skill_called", "assigned", "tagged", "priority_changed", "note_added"]),
    );
  });

  it("applies nothing of a PATCH if one part is impossible", async () => {
    const id = await begin();
    const refused = await patch(id, {
      status: "archived",
      tags: ["x"],
      priority: "low",
      internal_notes: [{ content: "no" }],
    });
    expect(refused).toMatchObject({ status: 409, body: { code: "invalid_transition" } });
    expect((await single(id)).body).toMatchObject({
      status: "open",
      tags: [],
      priority: "normal",
      internal_notes: [],
    });
    expect((await single(id)).body.audit_log.map(({ action }) => action)).toEqual(["status_changed", "skill_called"]);
  });

  it("counts tags after removing duplicates, and measures them without surrounding spaces", async () => {
    const id = await begin();
    const fifty = Array.from({ length: 50 }, (_, i) => `tag ${i}`);
    const { status, body } = await patch(id, { tags: [...fifty, " TAG 0 ", `${" ".repeat(20)}tag 1`] });
    expect(status).toBe(200);
    expect(body.tags.toSorted()).toEqual(fifty.toSorted());
    const bulk = { action: "tag", conversation_ids: [id], tags: [...fifty, ...fifty] };
    expect((await app.post("/v1/conversations/bulk", bulk)).body.results).toMatchObject([{ ok: true }]);
    expect((await patch(id, { tags: ["x".repeat(65)] })).status).toBe(422);
    expect((await patch(id, { tags: [` ${"x".repeat(64)} `] })).body.tags).toEqual(["x".repeat(64)]);
    expect((await app.post("/v1/conversations/bulk", { ...bulk, tags: [] })).status).toBe(422);
  });

  it("escalates a snoozed conversation, with a message if it was open before, and lets only its agent claim it", async () => {
    const id = await begin();
    await patch(id, { status: "snoozed" });
    const { status, body } = await patch(id, { status: "escalated" });
    expect({ status, now: body.status, tags: body.tags }).toEqual({
      status: 200,
      now: "escalated",
      tags: ["escalated"],
    });
    expect(body.messages.at(-1)).toMatchObject({ role: "assistant" });
    const said = body.messages.length;
    await patch(id, { status: "snoozed" });
    expect((await patch(id, { status: "escalated" })).body.messages).toHaveLength(said);
    await patch(id, { status: "claimed", assigned_to: "anna@shop.example" });
    await patch(id, { status: "snoozed" });
    const taken = await patch(id, { status: "claimed", assigned_to: "ben@shop.example" });
    expect(taken.body.code).toBe("invalid_transition");
    expect((await patch(id, { status: "claimed", assigned_to: "anna@shop.example" })).status).toBe(200);
    await patch(id, { status: "snoozed" });
    const woken = await patch(id, { status: "escalated" });
    expect([woken.body.status, woken.body.messages.length]).toEqual(["escalated", said]);
  });

  it("treats an empty PATCH and the same status as no change", async () => {
    const id = await begin();
    expect((await patch(id, {})).status).toBe(200);
    const { audit_log } = (await patch(id, { status: "open", priority: null })).body;
    expect(audit_log.map(({ action }) => action)).toEqual(["status_changed", "skill_called"]);
  });

  it("shows resolved_at of a resolved conversation, and removes it on reopening", async () => {
    const id = await begin();
    const at = new Date(app.clock.now()).toISOString();
    expect((await patch(id, { status: "resolved" })).body).toMatchObject({ status: "resolved", resolved_at: at });
    expect((await patch(id, { status: "archived" })).body.status).toBe("archived");
    expect((await patch(id, { status: "open" })).body).not.toHaveProperty("resolved_at");
  });

  it("snoozes for hours, until a time, or until the customer replies", async () => {
    const id = await begin();
    const until = new Date(app.clock.now() + 7_200_000).toISOString();
    expect((await patch(id, { status: "snoozed", snooze_hours: 2 })).body).toMatchObject({
      status: "snoozed",
      snoozed_until: until,
    });
    const later = new Date(app.clock.now() + 86_400_000).toISOString();
    expect((await patch(id, { status: "snoozed", snooze_until: later })).body).toMatchObject({ snoozed_until: later });
    expect((await patch(id, { status: "snoozed", snooze_until_reply: true })).body).toMatchObject({
      snoozed_until: null,
    });
    expect((await patch(id, { status: "open" })).body.status).toBe("open");
    expect((await patch(id, { status: "snoozed" })).body).toMatchObject({ snoozed_until: null });
  });

  it.each([
    ["missing_field", { status: "claimed" }],
    ["missing_field", { internal_notes: [{}] }],
    ["invalid_parameter", { status: "closed" }],
    ["invalid_parameter", { status: "resolved", assigned_to: "kim@example.com" }],
    ["invalid_parameter", { priority: "highest" }],
    ["invalid_parameter", { tags: "vip" }],
    ["invalid_parameter", { tags: [""] }],
    ["invalid_parameter", { tags: ["x".repeat(65)] }],
    ["invalid_parameter", { tags: Array.from({ length: 51 }, (_, i) => `t${i}`) }],
    ["invalid_parameter", { internal_notes: "a note" }],
    ["invalid_parameter", { status: "snoozed", snooze_hours: 0 }],
    ["invalid_parameter", { status: "snoozed", snooze_hours: 1, snooze_until_reply: true }],
    ["invalid_parameter", { status: "snoozed", snooze_until: "2001-01-01" }],
    ["invalid_parameter", { status: "snoozed", snooze_until: "soon" }],
    ["invalid_parameter", { status: "snoozed", snooze_until_reply: false }],
    ["invalid_parameter", { snooze_hours: 2 }],
    ["invalid_transition", { assigned_to: "kim@example.com" }],
    ["invalid_json", "[]"],
  ])("refuses a PATCH with %s: %j", async (code, body) => {
    const id = await begin();
    const answered = await patch(id, body);
    expect(answered.body.code).toBe(code);
    expect(answered.body.detail).not.toBe("");
  });

  it("reassigns a claimed conversation", async () => {
    const id = await begin();
    await patch(id, { status: "claimed", assigned_to: "kim@example.com" });
    expect((await patch(id, { assigned_to: "lee@example.com" })).body).toMatchObject({
      assigned_to: "lee@example.com",
    });
  });

  it("deletes a conversation permanently, and keeps its audit entries", async () => {
    const id = await begin();
    const deleted = await app.call("DELETE", `/v1/conversations/${id}`);
    expect([deleted.status, deleted.body]).toEqual([204, ""]);
    expect((await single(id)).body.code).toBe("conversation_not_found");
    expect((await app.call("DELETE", `/v1/conversations/${id}`)).status).toBe(404);
    expect(ids((await list("&limit=100")).body)).not.toContain(id);
    const audit = await app.store.read.selectFrom("audit").select("action").where("conversation_id", "=", id).execute();
    expect(audit.map(({ action }) => action)).toContain("deleted");
  });

  it("accepts a DELETE with a JSON content type and no body", async () => {
    const id = await begin();
    const deleted = await app.call("DELETE", `/v1/conversations/${id}`, {
      headers: { "content-type": "application/json" },
    });
    expect(deleted.status).toBe(204);
  });
});
