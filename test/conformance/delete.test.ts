import { expect, it } from "vitest";
import { agent, eachContract } from "../support/http/contract.ts";

eachContract("4.6 DELETE", (at) => {
  it("4.6 answers 204 without a body, and 404 to later requests for the conversation", async () => {
    const { client } = at;
    const id = await client.begin();
    const deleted = await client.remove(id);
    expect([deleted.status, deleted.text, deleted.headers.get("content-type")]).toEqual([204, "", null]);
    for (const [method, path, body] of [
      ["GET", "", undefined],
      ["GET", "/messages", undefined],
      ["PATCH", "", { priority: "high" }],
      ["DELETE", "", undefined],
      ["POST", "/notes", { content: "Hello" }],
      ["POST", "/messages", { content: "Hello", author_email: agent }],
    ] as const) {
      const after = await client.call(method, `/v1/conversations/${id}${path}`, body === undefined ? {} : { body });
      expect([method, path, after.status, after.body.code]).toEqual([method, path, 404, "conversation_not_found"]);
    }
    const asked = await client.ask({ conversation_id: id });
    expect([asked.status, asked.body.code]).toEqual([404, "conversation_not_found"]);
  });

  it("4.6 removes the conversation's messages, notes and tags from every list and search", async () => {
    const client = await at.fresh();
    const id = await client.begin("The bassoon is lost");
    await client.patch(id, { tags: ["music"], internal_notes: [{ content: "The oboe as well" }] });
    at.app.clock.advance(1_000);
    await expect.poll(() => client.found("&q=bassoon")).toEqual([id]);
    await client.remove(id);
    for (const parameters of ["", "&q=bassoon", "&tag=music", "&status=open"]) {
      expect([parameters, await client.found(parameters)]).toEqual([parameters, []]);
    }
    for (const table of ["messages", "notes", "conversation_tags"] as const) {
      const left = await at.app.store.read.selectFrom(table).selectAll().where("conversation_id", "=", id).execute();
      expect([table, left]).toEqual([table, []]);
    }
  });

  it("4.6 keeps the audit log, with the key that deleted it", async () => {
    const { client } = at;
    const id = await client.begin();
    await client.patch(id, { status: "resolved" });
    await client.remove(id);
    const kept = await at.app.store.read
      .selectFrom("audit")
      .select(["action", "actor_type", "actor_id"])
      .where("conversation_id", "=", id)
      .orderBy("id")
      .execute();
    expect(kept.map(({ action }) => action)).toEqual(["status_changed", "status_changed", "deleted"]);
    expect(kept.at(-1)).toMatchObject({ actor_type: "api_key", actor_id: client.keyId });
  });

  it.each(["claimed", "escalated", "snoozed", "resolved", "archived"])(
    "4.6 deletes %s conversations",
    async (status) => {
      expect((await at.client.remove(await at.client.in(status))).status).toBe(204);
    },
  );

  it("4.6 leaves the next conversation without a previous one", async () => {
    const { client } = at;
    const user = { user_id: "ada", hash: client.mac("ada") };
    const [first, second] = [await client.begin("Hello", { user }), await client.begin("Hello", { user })];
    expect((await client.single(second)).previous_conversation_id).toBe(first);
    await client.remove(first);
    expect((await client.single(second)).previous_conversation_id).toBeNull();
  });

  it("4.6 accepts a JSON content type without a body", async () => {
    const id = await at.client.begin();
    const headers = { "content-type": "application/json" };
    expect((await at.client.call("DELETE", `/v1/conversations/${id}`, { headers })).status).toBe(204);
  });

  it("4.6 succeeds for one of several concurrent requests", async () => {
    const id = await at.client.begin();
    const answers = await Promise.all(Array.from({ length: 6 }, () => at.client.remove(id)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([204, 404, 404, 404, 404, 404]);
  });
});
