import { expect, it } from "vitest";
import { agent, eachContract, idPattern, shownNow, timestampPattern } from "../support/http/contract.ts";

eachContract("4.2 one conversation", (at) => {
  it("4.2 has all fields of a list item, and the messages, notes and audit log", async () => {
    const { client } = at;
    const id = await client.begin("How long does delivery take?");
    await client.post(`/v1/conversations/${id}/notes`, { content: "Look at the order first" });
    const [item] = (await client.list("&limit=1")).body.conversations;
    const single = await client.single(id);
    expect(single).toMatchObject({ ...item });
    expect(Object.keys(single).toSorted()).toEqual(
      [...Object.keys(item ?? {}), "messages", "internal_notes", "audit_log"].toSorted(),
    );
    expect(single.messages[0]).toMatchObject({ role: "user", content: "How long does delivery take?" });
    expect(single.internal_notes).toMatchObject([{ content: "Look at the order first" }]);
  });

  it("4.2 returns the full history in order, whatever its length", async () => {
    const { client } = at;
    const id = await client.begin("Turn 0");
    for (let turn = 1; turn <= 55; turn += 1) {
      await client.post(`/v1/conversations/${id}/messages`, { content: `Turn ${turn}`, author_email: agent });
    }
    const { messages } = await client.single(id);
    expect(messages.filter(({ role }) => role !== "assistant").map(({ content }) => content)).toEqual(
      Array.from({ length: 56 }, (_, turn) => `Turn ${turn}`),
    );
  });

  it("4.2 shows actors, changes and times in the audit log", async () => {
    const { client } = at;
    const id = await client.begin();
    await client.patch(id, { tags: ["a"], priority: "high" });
    await client.patch(id, { tags: [] });
    await client.patch(id, { status: "claimed", assigned_to: agent });
    await client.post(`/v1/conversations/${id}/notes`, { content: "A note" });
    const { audit_log } = await client.single(id);
    const actor = { type: "api_key", id: client.keyId, name: "Test key" };
    const common = { id: expect.stringMatching(idPattern("aud")), created_at: expect.stringMatching(timestampPattern) };
    const entry = (action: string, from: string | null, to: string | null) => ({ ...common, action, actor, from, to });
    expect(audit_log[0]).toEqual({
      ...entry("status_changed", null, "open"),
      actor: { type: "customer", id: expect.stringMatching(idPattern("con")), name: null },
      detail: null,
    });
    for (const expected of [
      entry("priority_changed", "normal", "high"),
      { ...common, action: "tagged", actor },
      { ...common, action: "untagged", actor },
      entry("status_changed", "open", "claimed"),
      entry("assigned", null, agent),
      { ...common, action: "note_added", actor },
    ]) {
      expect(audit_log).toContainEqual(expect.objectContaining(expected));
    }
    expect(audit_log.at(-1)).toMatchObject({ created_at: shownNow(at.app) });
    expect(JSON.stringify(audit_log)).toContain('"a"');
  });

  it.each(["conv_none", "conv_01hzzzzzzzzzzzzzzzzzzzzzzz", "x", "%00", "conv_%27%20or%201=1", "a".repeat(3_000), "💣"])(
    "4.2 answers 404 to the conversation %j",
    async (id) => {
      const { status, body } = await at.client.get(`/v1/conversations/${encodeURI(id)}`);
      expect([status, body.code]).toEqual([404, "conversation_not_found"]);
    },
  );

  it("4.2 compares ids exactly", async () => {
    const id = await at.client.begin();
    for (const other of [id.toUpperCase(), `${id}%20`, `%20${id}`, `${id}%00`, id.slice(0, -1)]) {
      expect([other, (await at.client.get(`/v1/conversations/${other}`)).status]).toEqual([other, 404]);
    }
  });

  it("4.2 has no parameters", async () => {
    const id = await at.client.begin();
    for (const parameter of ["limit=5", "cursor=cur_x", `workspace_id=${at.client.id}`]) {
      const { status, body } = await at.client.get(`/v1/conversations/${id}?${parameter}`);
      expect([parameter, status, body.code]).toEqual([parameter, 422, "invalid_parameter"]);
    }
  });
});
