import { expect, it } from "vitest";
import { agent, clientOf, eachContract } from "../support/http/contract.ts";

eachContract("4.5 PATCH", (at) => {
  it("4.5 answers 200 with the same conversation as the single fetch", async () => {
    const id = await at.client.begin();
    const { status, body } = await at.client.patch(id, { priority: "low" });
    expect(status).toBe(200);
    expect(body).toEqual(await at.client.single(id));
    expect(body).toMatchObject({ priority: "low", messages: expect.any(Array), audit_log: expect.any(Array) });
  });

  it("4.5 changes status, assignee, tags, priority and notes together", async () => {
    const id = await at.client.begin();
    const { body } = await at.client.patch(id, {
      status: "claimed",
      assigned_to: "Kim@example.com",
      tags: ["VIP"],
      priority: "high",
      internal_notes: [{ content: "Mine" }, { content: "Theirs", author_email: "lee@example.com" }],
    });
    expect(body).toMatchObject({ status: "claimed", assigned_to: agent, tags: ["vip"], priority: "high" });
    expect(body.internal_notes).toMatchObject([
      { content: "Mine", author: "api_key:Test key" },
      { content: "Theirs", author: "lee@example.com" },
    ]);
  });

  it.each([
    [{ status: "archived" }],
    [{ assigned_to: agent }],
    [{ status: "claimed" }],
    [{ priority: "highest" }],
    [{ internal_notes: [{ content: "fine" }, { content: "" }] }],
    [{ tags: [""] }],
    [{ status: "snoozed", snooze_until: "2001-01-01" }],
  ])("4.5 applies nothing of a PATCH if %j is refused", async (impossible) => {
    const id = await at.client.begin();
    const before = await at.client.single(id);
    const possible = { tags: ["x"], priority: "low", internal_notes: [{ content: "no" }] };
    const { status } = await at.client.patch(id, { ...possible, ...impossible });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(await at.client.single(id)).toEqual(before);
  });

  it("4.5 applies nothing if the tags exceed fifty only together with the existing ones", async () => {
    const id = await at.client.begin();
    const many = Array.from({ length: 50 }, (_, i) => `tag ${i}`);
    expect((await at.client.patch(id, { tags: many })).body.tags).toHaveLength(50);
    const answered = await at.client.patch(id, { tags: [...many, "one more"], priority: "low" });
    expect([answered.status, answered.body.code]).toEqual([422, "invalid_parameter"]);
    expect(await at.client.single(id)).toMatchObject({ priority: "normal" });
  });

  it("4.5 replaces the set of tags: trimmed, in lower case, without duplicates", async () => {
    const id = await at.client.begin();
    expect((await at.client.patch(id, { tags: ["old"] })).body.tags).toEqual(["old"]);
    const { body } = await at.client.patch(id, { tags: [" VIP", "vip ", "Rücksendung", "a b"] });
    expect(body.tags.toSorted()).toEqual(["a b", "rücksendung", "vip"]);
    expect((await at.client.patch(id, { tags: [] })).body.tags).toEqual([]);
  });

  it("4.5 counts the characters of a tag in code points", async () => {
    const id = await at.client.begin();
    expect((await at.client.patch(id, { tags: ["🏷".repeat(64)] })).body.tags).toEqual(["🏷".repeat(64)]);
    expect((await at.client.patch(id, { tags: ["🏷".repeat(65)] })).status).toBe(422);
  });

  it("4.5 distinguishes tags that differ in an accent", async () => {
    const id = await at.client.begin();
    const { status, body } = await at.client.patch(id, { tags: ["resume", "résumé"] });
    expect([status, body.tags.toSorted()]).toEqual([200, ["resume", "résumé"]]);
  });

  it("4.5 appends notes to the existing ones", async () => {
    const id = await at.client.begin();
    await at.client.post(`/v1/conversations/${id}/notes`, { content: "First" });
    const { body } = await at.client.patch(id, { internal_notes: [{ content: "Second" }, { content: "Third" }] });
    expect(body.internal_notes.map(({ content }) => content)).toEqual(["First", "Second", "Third"]);
  });

  it.each(["low", "normal", "high", "urgent"])("4.5 accepts the priority %s", async (priority) => {
    const id = await at.client.begin();
    expect((await at.client.patch(id, { priority })).body).toMatchObject({ priority });
  });

  it("4.5 reassigns a claimed conversation to another agent, and no unclaimed one", async () => {
    const claimed = await at.client.in("claimed");
    const { status, body } = await at.client.patch(claimed, { assigned_to: "lee@example.com" });
    expect([status, body]).toMatchObject([200, { status: "claimed", assigned_to: "lee@example.com" }]);
    for (const other of ["open", "escalated", "snoozed", "resolved", "archived"]) {
      const refused = await at.client.patch(await at.client.in(other), { assigned_to: agent });
      expect([other, refused.status, refused.body.code]).toEqual([other, 409, "invalid_transition"]);
    }
  });

  it("4.5 gives the conversation to one of two claiming agents", async () => {
    const id = await at.client.begin();
    const claim = (assigned_to: string) => at.client.patch(id, { status: "claimed", assigned_to });
    const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => claim(`agent${i}@example.com`)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200, 409, 409, 409, 409, 409, 409, 409,
    ]);
    const winner = answers.findIndex(({ status }) => status === 200);
    expect(await at.client.single(id)).toMatchObject({ assigned_to: `agent${winner}@example.com` });
    expect((await claim(`agent${winner}@example.com`)).status).toBe(200);
  });

  it("4.5 treats an empty PATCH and nulls as no change, and refuses unknown fields", async () => {
    const id = await at.client.begin();
    const before = await at.client.single(id);
    for (const body of [
      {},
      { status: null, tags: null, priority: null, internal_notes: null, assigned_to: null, snooze_hours: null },
      { internal_notes: [] },
    ]) {
      const { status, body: after } = await at.client.patch(id, body);
      expect([status, after]).toEqual([200, before]);
    }
    for (const name of ["colour", "messages", "id", "workspace_id", "message_count"]) {
      const { status, body } = await at.client.patch(id, { priority: "high", [name]: before[name as "id"] ?? "red" });
      expect([name, status, body.code]).toEqual([name, 422, "invalid_parameter"]);
    }
    expect(await at.client.single(id)).toEqual(before);
  });

  it.each([
    [400, "missing_field", { status: "claimed" }],
    [400, "missing_field", { status: "claimed", assigned_to: null }],
    [400, "missing_field", { internal_notes: [{}] }],
    [400, "missing_field", { internal_notes: [{ content: null }] }],
    [422, "invalid_parameter", { status: "closed" }],
    [422, "invalid_parameter", { status: 1 }],
    [422, "invalid_parameter", { status: ["open"] }],
    [422, "invalid_parameter", { status: "resolved", assigned_to: agent }],
    [422, "invalid_parameter", { status: "claimed", assigned_to: "kim" }],
    [422, "invalid_parameter", { priority: "highest" }],
    [422, "invalid_parameter", { tags: "vip" }],
    [422, "invalid_parameter", { tags: [""] }],
    [422, "invalid_parameter", { tags: ["  "] }],
    [422, "invalid_parameter", { tags: [null] }],
    [422, "invalid_parameter", { tags: ["x".repeat(65)] }],
    [422, "invalid_parameter", { tags: Array.from({ length: 51 }, (_, i) => `t${i}`) }],
    [422, "invalid_parameter", { internal_notes: "a note" }],
    [422, "invalid_parameter", { internal_notes: ["a note"] }],
    [422, "invalid_parameter", { status: "snoozed", snooze_hours: 0 }],
    [422, "invalid_parameter", { status: "snoozed", snooze_hours: -1 }],
    [422, "invalid_parameter", { status: "snoozed", snooze_hours: "2" }],
    [422, "invalid_parameter", { status: "snoozed", snooze_hours: 1e308 }],
    [422, "invalid_parameter", { status: "snoozed", snooze_hours: 1, snooze_until_reply: true }],
    [422, "invalid_parameter", { status: "snoozed", snooze_until: "2001-01-01" }],
    [422, "invalid_parameter", { status: "snoozed", snooze_until: "soon" }],
    [422, "invalid_parameter", { status: "snoozed", snooze_until_reply: false }],
    [422, "invalid_parameter", { snooze_hours: 2 }],
    [400, "invalid_json", "[]"],
    [400, "invalid_json", ""],
  ])("4.5 answers %i %s to %j, with the reason", async (status, code, body) => {
    const id = await at.client.begin();
    const answered = await at.client.patch(id, body);
    expect([answered.status, answered.body.code]).toEqual([status, code]);
    expect(answered.body.detail).toMatch(/\S/);
  });

  it("4.5 names the missing or wrong field, with its index in a list", async () => {
    const id = await at.client.begin();
    const detail = async (body: unknown) => (await at.client.patch(id, body)).body.detail;
    expect(await detail({ status: "claimed" })).toContain("assigned_to");
    expect(await detail({ priority: "highest" })).toMatch(/priority.*low, normal, high, urgent/);
    expect(await detail({ internal_notes: [{ content: "x" }, {}] })).toContain("internal_notes[1].content");
    expect(await detail({ tags: ["a", 5] })).toContain("tags[1]");
  });

  it("4.5 shows the acting key in the audit log", async () => {
    const id = await at.client.begin();
    const { id: keyId, key } = await at.app.createKey({ name: "Night shift" });
    const { body } = await clientOf(at.app, { ...at.client, key }).patch(id, { status: "resolved" });
    expect(body.audit_log.at(-1)).toMatchObject({ actor: { type: "api_key", id: keyId, name: "Night shift" } });
  });

  it("4.5 answers 404 to an unknown conversation", async () => {
    const answered = await at.client.patch("conv_none", { priority: "low" });
    expect([answered.status, answered.body.code]).toEqual([404, "conversation_not_found"]);
  });
});
