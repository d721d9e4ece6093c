import { afterAll, beforeAll, expect, it } from "vitest";
import type { Rule } from "#domain/workspace/automation.ts";
import { defaultSettings } from "#domain/workspace/settings.ts";
import type { ConversationChange } from "#conversations/agents/requests.ts";
import { createAgent } from "#admin/team/agents.ts";
import { readConfigFile } from "#config/file.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { EngineBench } from "#test/support/engine-bench.ts";
import { anna, answerOf, heldAnswers, hourMs, minuteMs, openBench } from "#test/support/engine-bench.ts";

const rules = `
- name: refunds
  when: {message: customer}
  if: {words: [refund, money back], channels: telegram}
  then: [{tag: [refund, money]}, {priority: high}, {note: Look at the order first.}]
- name: refunds are followed
  when: {tagged: refund}
  then: [{tag: never}]
- name: press
  when: {message: customer}
  if: {words: journalist}
  then: [{escalate: somebody of the press}]
- name: hours
  when: {message: customer}
  if: {words: visit}
  then: [{reply: "Come by any day, **9 to 5**."}]
- name: promise
  when: {message: customer}
  if: {words: complaint}
  then: [{reply: Anna looks at it.}, {assign: anna@test.example}]
- name: farewell
  when: {message: customer}
  if: {words: farewell}
  then: [{reply: Come back soon.}, {resolve: true}]
- name: important
  when: {message: customer}
  if: {words: important person}
  then: [{escalate: somebody important}, {assign: ben@test.example}]
- name: german
  when: {message: customer}
  if: {languages: de, without_tags: german}
  then: [{tag: german}]
- name: doubt
  when: {message: bot}
  if: {confidences: low}
  then: [{tag: doubt}]
- name: agents take turns
  when: {message: customer}
  if: {words: turn}
  then: [{assign: round_robin, max_claimed: 2}]
- name: to ben
  when: {message: customer}
  if: {words: ben}
  then: [{assign: ben@test.example}, {resolve: true}]
- name: spam
  when: {tagged: spam}
  then: [{resolve: true}]
- name: no spam
  when: {untagged: vip}
  then: [{priority: low}]
- name: breach
  when: {sla: breached}
  then: [{priority: urgent}, {notify: The target was missed.}]
- name: nobody replies
  when: {minutes: 30, since: last_message}
  if: {statuses: escalated, unanswered: true}
  then: [{note: Half an hour.}, {reply: We are still here.}]
- name: snooze again
  when: {status: open}
  if: {tags: sleepy}
  then: [{snooze_hours: 1}]
- name: was escalated
  when: {tagged: escalated}
  if: {without_tags: silent}
  then: [{tag: once}]
- name: told to nobody
  when: {status: escalated}
  if: {tags: silent}
  then: [{untag: [escalated, silent]}]
- name: from the spring sale
  when: {message: customer}
  if: {metadata: [start=spring-sale, campaign=spring]}
  then: [{tag: spring}]
- name: off
  enabled: false
  when: {message: customer}
  then: [{tag: off}]
`;

const [workspace] = readConfigFile(
  "rules.yaml",
  `workspaces:\n  - name: T\n    rules:\n${rules.replaceAll(/^/gm, "      ")}`,
  {},
).workspaces;
const declared: readonly Rule[] = workspace?.rules ?? [];

eachDatabase("rules", (open) => {
  let bench: EngineBench;
  let threads = 0;
  beforeAll(async () => {
    bench = await openBench(open, { settings: { rules: declared, autoResolveDays: null } });
    for (const name of ["anna", "ben", "carl"]) {
      await createAgent(bench.store, bench.clock, {
        workspaceId: bench.workspaceId,
        email: `${name}@test.example`,
        name,
        role: "agent",
      });
    }
  });
  afterAll(() => bench.close());

  async function begin(text: string): Promise<string> {
    threads += 1;
    const id = await bench.begin(`rules ${threads}`, text);
    await bench.settle();
    return id;
  }
  const again = (text: string) => bench.say(`rules ${threads}`, text);

  const tags = async (id: string): Promise<readonly string[]> =>
    (
      await bench.store.read
        .selectFrom("conversation_tags")
        .select("tag")
        .where("conversation_id", "=", id)
        .orderBy("tag")
        .execute()
    ).map(({ tag }) => tag);

  const trace = async (id: string): Promise<readonly string[]> =>
    (
      await bench.store.read
        .selectFrom("audit")
        .select(["actor_id", "detail"])
        .where("conversation_id", "=", id)
        .where("action", "=", "rule_fired")
        .orderBy("id")
        .execute()
    ).map(({ actor_id, detail }) => `${actor_id}: ${detail}`);

  it("run their actions in order on the message that triggers them, and record the reason", async () => {
    const id = await begin("Can I have my MONEY BACK?");
    expect(await tags(id)).toEqual(["money", "refund"]);
    expect(await bench.row(id)).toMatchObject({ priority: "high", status: "open" });
    expect(await bench.notes(id)).toEqual(["Look at the order first."]);
    expect(await trace(id)).toEqual([
      'rule:refunds: because the customer has written, and the channel is telegram, and the message says "money back"; did: tag refund, money; set the priority high; add a note',
    ]);
    // The bot answers as usual.
    expect(await bench.talk(id)).toEqual([
      "user: Can I have my MONEY BACK?",
      "assistant: You asked: Can I have my MONEY BACK?",
    ]);
  });

  it("look at the metadata of the message", async () => {
    const tagsWith = async (metadata: Readonly<Record<string, unknown>>) => {
      threads += 1;
      const { conversationId } = await bench.accept({
        kind: "message",
        externalId: `with metadata ${threads}`,
        thread: `rules ${threads}`,
        sender: { key: `customer ${threads}` },
        sentAt: bench.clock.now(),
        text: "hello",
        metadata,
      });
      return tags(conversationId ?? "");
    };
    expect(await tagsWith({ start: "Spring-Sale" })).toEqual(["spring"]);
    expect(await tagsWith({ start: "autumn", campaign: "spring" })).toEqual(["spring"]);
    for (const metadata of [
      {},
      { start: "spring" },
      { other: "spring-sale" },
      { campaign: ["spring"] },
      { start: null },
    ])
      expect(await tagsWith(metadata)).toEqual([]);
  });

  it("match words, not parts of words", async () => {
    expect(await tags(await begin("I was refunded, thanks"))).toEqual([]);
  });

  it("do not trigger other rules", async () => {
    const id = await begin("a refund, please");
    expect(await tags(id)).not.toContain("never");
    await bench.engine.update(bench.workspaceId, id, { tags: [] }, anna);
    await bench.engine.update(bench.workspaceId, id, { tags: ["refund"] }, anna);
    expect(await tags(id)).toEqual(["never", "refund"]);
  });

  it("remove a tag that was added together with their trigger", async () => {
    const id = await begin("Good morning");
    await bench.engine.update(bench.workspaceId, id, { tags: ["silent"] }, anna);
    await bench.engine.update(bench.workspaceId, id, { status: "escalated" }, anna);
    expect(await trace(id)).toEqual([expect.stringContaining("did: take off the tag escalated, silent")]);
    expect(await tags(id)).toEqual([]);
  });

  it("are not triggered by an existing tag", async () => {
    const id = await begin("Good morning");
    const to = (change: ConversationChange) => bench.engine.update(bench.workspaceId, id, change, anna);
    await to({ status: "escalated" });
    expect(await tags(id)).toEqual(["escalated", "once"]);
    await to({ status: "open", tags: ["escalated"] });
    await to({ status: "escalated" });
    expect(await tags(id)).toEqual(["escalated"]);
  });

  it("skip actions that have no effect, and record it", async () => {
    const id = await begin("a refund, please");
    await again("really, a refund");
    await bench.settle();
    expect((await trace(id)).at(-1)).toContain("tag refund, money (left out: it has been tagged so already)");
  });

  it("hand over before the bot answers, with a message to the customer", async () => {
    const id = await begin("I am a journalist");
    expect(await bench.row(id)).toMatchObject({ status: "escalated" });
    expect(await tags(id)).toEqual(["escalated"]);
    expect(await bench.talk(id)).toEqual(["user: I am a journalist", `assistant: ${defaultSettings.handoverMessage}`]);
    expect(bench.sent.at(-1)?.text).toBe(defaultSettings.handoverMessage);
  });

  it("reply instead of the bot", async () => {
    const id = await begin("May I visit you?");
    expect(await bench.talk(id)).toEqual(["user: May I visit you?", "assistant: Come by any day, **9 to 5**."]);
    expect(bench.asked.map(({ text }) => text)).not.toContain("May I visit you?");
    await again("And where?");
    await bench.settle();
    expect((await bench.talk(id)).at(-1)).toBe("assistant: You asked: And where?");
  });

  it("reply to the message that triggers them, and leave an earlier question to the bot", async () => {
    const { answer } = bench.script;
    const answers = heldAnswers(bench);
    threads += 1;
    const id = await bench.begin(`rules ${threads}`, "May the bag get wet?");
    const question = await answers.question(0);
    await again("And may I visit you?");
    question.release(answerOf("It may."));
    await bench.settle();
    expect((await bench.talk(id)).slice(2).toSorted()).toEqual([
      "assistant: Come by any day, **9 to 5**.",
      "assistant: It may.",
    ]);
    // Stored in one transaction.
    await Promise.all([again("Has it a strap?"), again("When can I visit?")]);
    (await answers.question(1)).release(answerOf("It has."));
    await bench.settle();
    expect((await bench.talk(id)).slice(-2).toSorted()).toEqual([
      "assistant: Come by any day, **9 to 5**.",
      "assistant: It has.",
    ]);
    await again("Which colour?");
    (await answers.question(2)).release(answerOf("Red."));
    await bench.settle();
    expect(answers.held.at(-1)?.question.text).toBe("Which colour?");
    bench.script.answer = answer;
  });

  it("send their reply even if they then resolve or assign the conversation", async () => {
    const id = await begin("Thanks and farewell");
    expect(await bench.row(id)).toMatchObject({ status: "resolved" });
    expect(await bench.talk(id)).toEqual(["user: Thanks and farewell", "assistant: Come back soon."]);
    const other = await begin("I am an important person");
    expect(await bench.row(other)).toMatchObject({ status: "claimed", assigned_to: "ben@test.example" });
    expect((await bench.talk(other)).at(-1)).toBe(`assistant: ${defaultSettings.handoverMessage}`);
    // All agents have the same number of conversations.
    await bench.engine.update(bench.workspaceId, other, { status: "resolved" }, anna);
  });

  it("do not reply when an agent changed it first", async () => {
    threads += 1;
    // The adapter is unavailable, so the rule's reply stays queued.
    const id = await bench.begin(`rules ${threads}`, "hello");
    await bench.settle();
    const row = await bench.row(id);
    await bench.engine.reply({
      workspaceId: bench.workspaceId,
      conversationId: id,
      content: "I am here",
      authorEmail: "anna@test.example",
      actor: anna,
    });
    await bench.store.write((tx) =>
      tx
        .insertInto("outbox")
        .values({
          lane: `speak:${id}`,
          kind: "speak",
          payload: JSON.stringify({
            conversationId: id,
            rule: "hours",
            text: "too late",
            status: "open",
            seq: row.last_seq,
            answersSeq: null,
          }),
          due_at: bench.clock.now(),
          attempts: 0,
          lease_id: null,
          lease_until: null,
          dead_at: null,
          last_error: null,
          created_at: bench.clock.now(),
        })
        .execute(),
    );
    bench.clock.advance(1_000);
    await bench.settle();
    expect((await bench.talk(id)).join("\n")).not.toContain("too late");
    expect((await trace(id)).at(-1)).toContain("not said to the customer: the conversation is claimed by now");
  });

  it("know the language, and the confidence of an answer", async () => {
    expect(await tags(await begin("Wie lange dauert die Lieferung nach Österreich?"))).toEqual(["german"]);
    expect(await tags(await begin("How long does the delivery take?"))).toEqual([]);
    const { answer } = bench.script;
    bench.script.answer = async () => answerOf("Perhaps.", { confidence: "low" });
    const id = await begin("Something odd");
    bench.script.answer = answer;
    expect(await tags(id)).toEqual(["doubt"]);
  });

  it("assign to available agents in turn", async () => {
    const assigned = async (): Promise<string | null> => (await bench.row(await begin("whose turn is it"))).assigned_to;
    await bench.store.write((tx) =>
      tx.updateTable("agents").set({ away: 1 }).where("email", "=", "carl@test.example").execute(),
    );
    const counts = async () => [await assigned(), await assigned(), await assigned()];
    // Anna has one already, from the test before.
    expect(await counts()).toEqual(["anna@test.example", "ben@test.example", "ben@test.example"]);
    // Both have two now.
    const last = await begin("whose turn is it");
    expect(await bench.row(last)).toMatchObject({ assigned_to: null, status: "open" });
    expect(await trace(last)).toEqual([expect.stringContaining("(left out: no agent is available)")]);
    await bench.store.write((tx) => tx.updateTable("agents").set({ away: 0 }).execute());
    expect(await assigned()).toBe("carl@test.example");
  });

  it("assign to a named agent, and run the next actions", async () => {
    const id = await begin("something for ben");
    expect(await bench.row(id)).toMatchObject({ status: "resolved", assigned_to: "ben@test.example" });
  });

  it("are triggered by tags that people add and remove", async () => {
    const id = await begin("Hello");
    await bench.engine.update(bench.workspaceId, id, { tags: ["vip"] }, anna);
    await bench.engine.update(bench.workspaceId, id, { tags: [] }, anna);
    expect(await bench.row(id)).toMatchObject({ priority: "low" });
    await bench.engine.update(bench.workspaceId, id, { tags: ["spam"] }, anna);
    expect(await bench.row(id)).toMatchObject({ status: "resolved" });
  });

  it("fire once on a missed SLA and on a due time", async () => {
    const id = await begin("I am a journalist too");
    await bench.advance(30 * minuteMs);
    expect(await bench.notes(id)).toEqual(["Half an hour."]);
    await bench.advance(30 * minuteMs);
    expect(await bench.row(id)).toMatchObject({ priority: "urgent", sla_state: "breached" });
    await bench.advance(3 * hourMs);
    expect(await bench.notes(id)).toEqual(["Half an hour.", "The target was missed."]);
    expect((await bench.talk(id)).filter((line) => line.includes("still here"))).toHaveLength(1);
    await again("Anybody?");
    await bench.advance(31 * minuteMs);
    expect(await bench.notes(id)).toEqual(["Half an hour.", "The target was missed.", "Half an hour."]);
  });

  it("do not trigger themselves again through a timer", async () => {
    const id = await begin("Hello");
    await bench.engine.update(bench.workspaceId, id, { status: "resolved", tags: ["sleepy"] }, anna);
    await bench.engine.update(bench.workspaceId, id, { status: "open" }, anna);
    expect(await bench.row(id)).toMatchObject({ status: "snoozed" });
    await bench.advance(2 * hourMs);
    expect(await bench.row(id)).toMatchObject({ status: "open" });
    await bench.advance(5 * hourMs);
    expect((await trace(id)).filter((line) => line.startsWith("rule:snooze again"))).toHaveLength(1);
  });

  it("stop for the day when another system triggers them in a loop", async () => {
    const id = await begin("Hello");
    for (let round = 0; round < 55; round += 1) {
      await bench.engine.update(bench.workspaceId, id, { tags: ["vip", `n${round}`], priority: "high" }, anna);
      await bench.engine.update(bench.workspaceId, id, { tags: [] }, anna);
    }
    const lines = (await trace(id)).filter((line) => line.startsWith("rule:no spam"));
    expect(lines).toHaveLength(51);
    expect(lines.at(-1)).toContain("not fired any more today");
    expect(await bench.row(id)).toMatchObject({ priority: "high" });
  });

  it("do nothing if disabled, and lose their data with the conversation", async () => {
    const id = await begin("a refund, please");
    expect(await tags(id)).not.toContain("off");
    await bench.engine.remove(bench.workspaceId, id, anna);
    const left = await bench.store.read
      .selectFrom("rule_firings")
      .selectAll()
      .where("conversation_id", "=", id)
      .execute();
    expect(left).toEqual([]);
  });

  it("reply and then assign", async () => {
    const id = await begin("I have a complaint");
    expect(await bench.row(id)).toMatchObject({ status: "claimed", assigned_to: "anna@test.example" });
    expect(await bench.talk(id)).toEqual(["user: I have a complaint", "assistant: Anna looks at it."]);
    expect(bench.sent.at(-1)?.text).toBe("Anna looks at it.");
  });
});
