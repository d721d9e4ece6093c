import { expect, it } from "vitest";
import type { Conversation } from "../support/http/contract.ts";
import { agent, eachContract, humanPlease } from "../support/http/contract.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

const states = ["open", "claimed", "escalated", "snoozed", "resolved", "archived"] as const;

/**
 * The transitions that a client may request. A transition to the same status changes nothing; all others are refused.
 */
const allowed: Readonly<Record<(typeof states)[number], readonly string[]>> = {
  open: ["claimed", "escalated", "snoozed", "resolved"],
  claimed: ["open", "snoozed", "resolved"],
  escalated: ["claimed", "open", "snoozed", "resolved"],
  // Snoozed from open, where it returns; agents may also choose another status.
  snoozed: ["open", "escalated", "claimed", "resolved"],
  resolved: ["archived", "open", "snoozed"],
  archived: ["open", "snoozed", "resolved"],
};

eachContract("3 the lifecycle", (at) => {
  const statusOf = async (id: string) => (await at.client.single(id)).status;
  const changes = ({ audit_log }: Conversation) =>
    audit_log
      .filter(({ action }) => action === "status_changed")
      .map((entry) => [Reflect.get(entry, "from"), Reflect.get(entry, "to")]);
  const roles = ({ messages }: Conversation) => messages.map(({ role }) => role);
  const handedOver = ({ messages }: Conversation) =>
    messages.filter(({ role, content }) => role === "assistant" && content.includes("A person will reply")).length;

  it("3 opens with the customer's first message, and the bot answers it", async () => {
    const id = await at.client.begin("Hello");
    const conversation = await at.client.single(id);
    expect([conversation.status, changes(conversation), roles(conversation)]).toEqual([
      "open",
      [[null, "open"]],
      ["user", "assistant"],
    ]);
  });

  it("3 escalates when the customer asks for a person, adds a tag, and notifies the customer once", async () => {
    const id = await at.client.begin();
    await at.client.ask({ conversation_id: id, query: humanPlease });
    const conversation = await at.client.single(id);
    expect(conversation).toMatchObject({ status: "escalated", tags: ["escalated"] });
    expect(handedOver(conversation)).toBe(1);
    await at.client.ask({ conversation_id: id, query: humanPlease });
    expect(handedOver(await at.client.single(id))).toBe(1);
  });

  it("3 recognises the workspace's own phrases for asking for a person", async () => {
    const client = await at.fresh({ settings: { escalationPhrases: ["bring me the captain"] } });
    const id = await client.begin("Please, bring me the Captain!");
    expect((await client.single(id)).status).toBe("escalated");
    expect((await client.single(await client.begin(humanPlease))).status).toBe("open");
  });

  it("3 uses the workspace's own handover text", async () => {
    const client = await at.fresh({ settings: { handoverMessage: "The crew has been called." } });
    const { body } = await client.ask({ query: humanPlease });
    expect(body.answer).toBe("The crew has been called.");
  });

  it("3 escalates at the second consecutive answer of low confidence, and not at the first", async () => {
    const client = await at.fresh();
    const id = await client.begin("Which herbs does the zeppelin eat?");
    expect((await client.single(id)).status).toBe("open");
    await client.ask({ conversation_id: id, query: "Where does the submarine sleep?" });
    expect((await client.single(id)).status).toBe("escalated");
  });

  it("3 restarts the count of low answers after a better one", async () => {
    const client = await at.fresh();
    const id = await client.begin("Which herbs does the zeppelin eat?");
    await client.ask({ conversation_id: id, query: "Thank you" });
    await client.ask({ conversation_id: id, query: "Where does the submarine sleep?" });
    expect((await client.single(id)).status).toBe("open");
  });

  it.each(["open", "escalated"])("3 lets an agent claim %s conversations, and stops the bot", async (from) => {
    const id = await at.client.in(from);
    const claimed = await at.client.patch(id, { status: "claimed", assigned_to: agent });
    expect(claimed.body).toMatchObject({ status: "claimed", assigned_to: agent });
    const before = await at.client.single(id);
    await at.client.ask({ conversation_id: id, query: "Is somebody there?" });
    expect(roles(await at.client.single(id)).slice(roles(before).length)).toEqual(["user"]);
  });

  for (const from of states) {
    for (const to of states) {
      const body = { status: to, ...(to === "claimed" ? { assigned_to: agent } : {}) };
      if (from === to) {
        it(`3 treats ${from} to ${to} as no change`, async () => {
          const id = await at.client.in(from);
          const before = await at.client.single(id);
          const answered = await at.client.patch(id, body);
          expect([answered.status, changes(answered.body as Conversation)]).toEqual([200, changes(before)]);
        });
      } else if (allowed[from].includes(to)) {
        it(`3 allows ${from} to ${to}`, async () => {
          const id = await at.client.in(from);
          const answered = await at.client.patch(id, body);
          expect([answered.status, answered.body.status]).toEqual([200, to]);
          expect(changes(answered.body as Conversation).at(-1)).toEqual([from, to]);
        });
      } else {
        it(`3 refuses ${from} to ${to}, and changes nothing`, async () => {
          const id = await at.client.in(from);
          const before = await at.client.single(id);
          const refused = await at.client.patch(id, { ...body, tags: ["x"] });
          expect([refused.status, refused.body.code]).toEqual([409, "invalid_transition"]);
          expect(await at.client.single(id)).toEqual(before);
        });
      }
    }
  }

  it("3 snoozes for a number of hours, and returns to the previous status on time", async () => {
    const id = await at.client.in("open");
    await at.client.patch(id, { status: "snoozed", snooze_hours: 1.5 });
    at.app.clock.advance(1.5 * hourMs - 1);
    expect(await statusOf(id)).toBe("snoozed");
    at.app.clock.advance(1);
    await expect.poll(() => statusOf(id)).toBe("open");
  });

  it.each(["open", "claimed", "escalated"])(
    "3 returns a conversation snoozed from %s to that status at the given time",
    async (from) => {
      const id = await at.client.in(from);
      const until = new Date(at.app.clock.now() + hourMs).toISOString();
      const snoozed = await at.client.patch(id, { status: "snoozed", snooze_until: until });
      expect(snoozed.body).toMatchObject({ status: "snoozed", snoozed_until: until });
      at.app.clock.advance(hourMs);
      await expect.poll(() => statusOf(id)).toBe(from);
      expect(await at.client.single(id)).toMatchObject({ assigned_to: from === "claimed" ? agent : null });
    },
  );

  it.each(["resolved", "archived"])("3 returns a conversation snoozed from %s to open", async (from) => {
    const id = await at.client.in(from);
    await at.client.patch(id, { status: "snoozed", snooze_hours: 1 });
    at.app.clock.advance(hourMs);
    await expect.poll(() => statusOf(id)).toBe("open");
  });

  it("3 ends any snooze when the customer writes, a timed one included", async () => {
    for (const snooze of [{}, { snooze_until_reply: true }, { snooze_hours: 10 }]) {
      const id = await at.client.in("open");
      await at.client.patch(id, { status: "snoozed", ...snooze });
      await at.client.ask({ conversation_id: id });
      expect(await statusOf(id)).toBe("open");
    }
  });

  it("3 returns to the previous status when the customer writes, in which the bot may have to be silent", async () => {
    const id = await at.client.in("claimed");
    await at.client.patch(id, { status: "snoozed" });
    await at.client.ask({ conversation_id: id, query: "Anybody?" });
    const conversation = await at.client.single(id);
    expect(conversation.status).toBe("claimed");
    expect(roles(conversation).at(-1)).toBe("user");
  });

  it("3 resolves an open conversation after seven days without a message", async () => {
    const client = await at.fresh();
    const id = await client.begin();
    at.app.clock.advance(7 * dayMs - 1);
    await client.get("/v1/documents");
    expect((await client.single(id)).status).toBe("open");
    at.app.clock.advance(1);
    await expect.poll(async () => (await client.single(id)).status).toBe("resolved");
    const { audit_log } = await client.single(id);
    expect(audit_log.at(-1)).toMatchObject({ actor: { type: "system" }, from: "open", to: "resolved" });
  });

  it.each([1, 10])("3 resolves after %i days if the workspace sets that", async (autoResolveDays) => {
    const client = await at.fresh({ settings: { autoResolveDays } });
    const id = await client.begin();
    at.app.clock.advance(autoResolveDays * dayMs - 1);
    expect((await client.single(id)).status).toBe("open");
    at.app.clock.advance(1);
    await expect.poll(async () => (await client.single(id)).status).toBe("resolved");
  });

  it("3 resolves nothing automatically if that is switched off", async () => {
    const client = await at.fresh({ settings: { autoResolveDays: null } });
    const [id, control] = [await client.begin(), await at.client.begin()];
    at.app.clock.advance(9 * dayMs);
    // Once the other workspace's conversation is resolved, this one would have been resolved too.
    await expect.poll(() => statusOf(control)).not.toBe("open");
    expect((await client.single(id)).status).toBe("open");
  });

  it.each(["claimed", "escalated"])(
    "3 resolves only open conversations automatically, and no %s ones",
    async (status) => {
      const [id, control] = [await at.client.in(status), await at.client.in("open")];
      at.app.clock.advance(8 * dayMs);
      await expect.poll(() => statusOf(control)).toBe("resolved");
      expect(await statusOf(id)).toBe(status);
    },
  );

  it("3 archives thirty days after the resolution", async () => {
    const id = await at.client.in("resolved");
    at.app.clock.advance(30 * dayMs - 1);
    expect(await statusOf(id)).toBe("resolved");
    at.app.clock.advance(1);
    await expect.poll(() => statusOf(id)).toBe("archived");
  });

  it("3 archives nothing automatically if that is switched off", async () => {
    const client = await at.fresh({ settings: { autoArchiveDays: null } });
    const id = await client.in("resolved");
    const control = await at.client.in("resolved");
    at.app.clock.advance(31 * dayMs);
    await expect.poll(() => statusOf(control)).toBe("archived");
    expect((await client.single(id)).status).toBe("resolved");
  });

  it("3 finds archived conversations by their words", async () => {
    const client = await at.fresh();
    const id = await client.begin("The walrus is in the lighthouse");
    await client.patch(id, { status: "resolved" });
    await client.patch(id, { status: "archived" });
    at.app.clock.advance(1_000);
    await expect.poll(() => client.found("&q=walrus")).toEqual([id]);
  });

  it.each(["resolved", "archived"])(
    "3 reopens %s conversations when the customer writes, and the bot knows their history",
    async (from) => {
      const client = await at.fresh();
      const id = await client.in(from);
      const before = await client.single(id);
      const answered = await client.ask({ conversation_id: id, query: "Hello again" });
      const after = await client.single(id);
      expect(answered.body.conversation_id).toBe(id);
      expect([after.status, roles(after)]).toEqual(["open", [...roles(before), "user", "assistant"]]);
      expect(changes(after).at(-1)).toEqual([from, "open"]);
    },
  );

  it("3 starts another conversation in another context, linked to the same customer", async () => {
    const { client } = at;
    const user = { user_id: "linus", hash: client.mac("linus") };
    const first = await client.begin("Hello", { user });
    await client.patch(first, { status: "resolved" });
    const second = await client.single(await client.begin("Hello", { user }));
    expect(second.id).not.toBe(first);
    expect(second).toMatchObject({
      status: "open",
      previous_conversation_id: first,
      contact_id: (await client.single(first)).contact_id,
    });
    expect((await client.single(first)).status).toBe("resolved");
  });

  it("3 releases to open, and the bot answers the next message", async () => {
    const id = await at.client.in("claimed");
    expect((await at.client.patch(id, { status: "open" })).body.status).toBe("open");
    const before = await at.client.single(id);
    await at.client.ask({ conversation_id: id });
    expect(roles(await at.client.single(id))).toEqual([...roles(before), "user", "assistant"]);
  });

  it("3.1 answers every message while open, however old the conversation is", async () => {
    const client = await at.fresh({ settings: { autoResolveDays: null } });
    const id = await client.begin();
    at.app.clock.advance(20 * dayMs);
    await client.ask({ conversation_id: id });
    expect(roles(await client.single(id))).toEqual(["user", "assistant", "user", "assistant"]);
  });

  it.each(["claimed", "escalated"])("3.2 does not answer automatically while %s", async (status) => {
    const id = await at.client.in(status);
    const before = await at.client.single(id);
    const { body } = await at.client.ask({ conversation_id: id, query: "How are you?" });
    expect(body).toMatchObject({ sources: [], skills_fired: [] });
    expect(roles(await at.client.single(id))).toEqual([...roles(before), "user"]);
  });

  it("3.3 runs the SLA clock while open and escalated, and pauses it while snoozed, claimed or resolved", async () => {
    const state = async (id: string) => (await at.client.single(id)).sla_state;
    for (const running of ["open", "escalated"]) {
      const id = await at.client.in(running);
      at.app.clock.advance(48 * minuteMs - 1);
      expect([running, await state(id)]).toEqual([running, "in_compliance"]);
      at.app.clock.advance(1);
      expect([running, await state(id)]).toEqual([running, "at_risk"]);
      at.app.clock.advance(12 * minuteMs - 1);
      expect([running, await state(id)]).toEqual([running, "at_risk"]);
      at.app.clock.advance(1);
      expect([running, await state(id)]).toEqual([running, "breached"]);
    }
    for (const halted of ["snoozed", "claimed", "resolved"]) {
      const id = await at.client.in(halted);
      at.app.clock.advance(5 * hourMs);
      expect([halted, await state(id)]).toEqual([halted, "in_compliance"]);
    }
  });

  it("3.3 resumes the SLA clock after a pause, and restarts it when reopened", async () => {
    const id = await at.client.in("open");
    at.app.clock.advance(40 * minuteMs);
    await at.client.patch(id, { status: "claimed", assigned_to: agent });
    at.app.clock.advance(3 * hourMs);
    await at.client.patch(id, { status: "open" });
    at.app.clock.advance(8 * minuteMs);
    expect((await at.client.single(id)).sla_state).toBe("at_risk");
    await at.client.patch(id, { status: "resolved" });
    at.app.clock.advance(hourMs);
    expect((await at.client.single(id)).sla_state).toBe("at_risk");
    await at.client.ask({ conversation_id: id });
    expect((await at.client.single(id)).sla_state).toBe("in_compliance");
    at.app.clock.advance(60 * minuteMs);
    expect((await at.client.single(id)).sla_state).toBe("breached");
  });

  it.each([
    ["urgent", 15],
    ["high", 30],
    ["normal", 60],
    ["low", 240],
  ])("3.3 gives %s priority %i minutes", async (priority, minutes) => {
    const id = await at.client.in("open");
    await at.client.patch(id, { priority });
    at.app.clock.advance(minutes * minuteMs - 1);
    expect((await at.client.single(id)).sla_state).toBe("at_risk");
    at.app.clock.advance(1);
    expect((await at.client.single(id)).sla_state).toBe("breached");
  });

  it("3.3 uses the workspace's own targets", async () => {
    const client = await at.fresh({ settings: { slaTargets: { urgent: 1, high: 2, normal: 3, low: 4 } } });
    const id = await client.begin();
    at.app.clock.advance(3 * minuteMs);
    expect((await client.single(id)).sla_state).toBe("breached");
  });

  it("3.4 claims, resolves, archives and tags many conversations, each independently", async () => {
    const ids = [await at.client.begin(), await at.client.begin()];
    for (const [body, expected] of [
      [{ action: "tag", tags: ["Sale"] }, { tags: ["sale"] }],
      [
        { action: "claim", assigned_to: agent },
        { status: "claimed", assigned_to: agent },
      ],
      [{ action: "resolve" }, { status: "resolved" }],
      [{ action: "archive" }, { status: "archived" }],
    ] as const) {
      const { status, body: answer } = await at.client.post("/v1/conversations/bulk", {
        ...body,
        conversation_ids: ids,
      });
      expect([status, answer.results.map(({ ok }) => ok)]).toEqual([200, [true, true]]);
      for (const id of ids) expect(await at.client.single(id)).toMatchObject(expected);
    }
  });

  it("3.4 reports each failed change, and makes the others", async () => {
    const [open, resolved, foreign] = [
      await at.client.in("open"),
      await at.client.in("resolved"),
      await (await at.fresh()).begin(),
    ];
    const { body } = await at.client.post("/v1/conversations/bulk", {
      action: "archive",
      conversation_ids: [open, resolved, foreign, "conv_none", resolved],
    });
    expect(body.results).toMatchObject([
      { conversation_id: open, ok: false, status: "open", error: { code: "invalid_transition" } },
      { conversation_id: resolved, ok: true, status: "archived" },
      { conversation_id: foreign, ok: false, error: { code: "conversation_not_found" } },
      { conversation_id: "conv_none", ok: false, error: { code: "conversation_not_found" } },
    ]);
    expect(body.results).toHaveLength(4);
    const errors = body.results.map((result) => Reflect.get(result, "error") as unknown);
    expect(errors[2]).toEqual(errors[3]);
  });

  it("3.4 accepts a hundred changes, and refuses a hundred and one", async () => {
    const ids: string[] = [];
    for (let i = 0; i < 100; i += 25) {
      ids.push(...(await Promise.all(Array.from({ length: 25 }, () => at.client.begin()))));
    }
    const bulk = (conversation_ids: readonly string[]) =>
      at.client.post("/v1/conversations/bulk", { action: "resolve", conversation_ids });
    const refused = await bulk([...ids, "conv_none"]);
    expect([refused.status, refused.body.code]).toEqual([422, "invalid_parameter"]);
    expect(await statusOf(ids[0] ?? "")).toBe("open");
    expect((await bulk(ids)).body.results.map(({ ok }) => ok)).toEqual(ids.map(() => true));
    expect(await statusOf(ids[99] ?? "")).toBe("resolved");
  }, 60_000);

  it.each([
    ["missing_field", { action: "resolve" }],
    ["missing_field", { conversation_ids: ["conv_x"] }],
    ["missing_field", { action: "claim", conversation_ids: ["conv_x"] }],
    ["missing_field", { action: "tag", conversation_ids: ["conv_x"] }],
    ["invalid_parameter", { action: "delete", conversation_ids: ["conv_x"] }],
    ["invalid_parameter", { action: "resolve", conversation_ids: [] }],
    ["invalid_parameter", { action: "resolve", conversation_ids: "conv_x" }],
    ["invalid_parameter", { action: "resolve", conversation_ids: [5] }],
  ])("3.4 answers %s to the bulk change %j", async (code, body) => {
    expect((await at.client.post("/v1/conversations/bulk", body)).body.code).toBe(code);
  });
});
