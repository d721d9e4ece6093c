import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { eventTypes } from "#domain/event-types.ts";
import type { Status } from "#domain/conversation/status.ts";
import { statuses, transitionEvent } from "#domain/conversation/status.ts";
import type { ConversationChange } from "#conversations/agents/requests.ts";
import { DeliveryError } from "#channels/errors.ts";
import { createKey } from "#admin/api-keys.ts";
import { addWebhook } from "#admin/webhooks/webhooks.ts";
import { createSecrets } from "#runtime/secrets.ts";
import { differencesFromDescription } from "#test/support/http/described-events.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { EngineBench } from "#test/support/engine-bench.ts";
import { anna, answerOf, dayMs, hourMs, openBench } from "#test/support/engine-bench.ts";
import { projectDir } from "#test/support/project/source-tree.ts";
import type { ReceivedEvent } from "#test/support/servers/webhook-receiver.ts";

const settings = { lowAnswersToEscalate: 2, escalationPhrases: ["a human"], autoResolveDays: 7, autoArchiveDays: 30 };

eachDatabase("webhook events", (open) => {
  let bench: EngineBench;
  let numbered = 0;
  beforeAll(async () => {
    bench = await openBench(open, { settings });
    await addEndpoint(bench, eventTypes);
    // Nothing listens at this address; the tests read the stored events.
  });
  afterAll(() => bench.close());

  const newThread = (): string => `thread ${(numbered += 1)}`;
  const eventsOf = async (id: string): Promise<ReceivedEvent[]> =>
    (
      await bench.store.read
        .selectFrom("events")
        .select("payload")
        .where("subject_id", "=", id)
        .orderBy("position")
        .execute()
    ).map(({ payload }) => JSON.parse(payload) as ReceivedEvent);
  const emittedTypes = async (id: string, after = 0): Promise<string[]> =>
    (await eventsOf(id)).slice(after).map(({ type }) => type);
  const update = (id: string, change: ConversationChange) => bench.engine.update(bench.workspaceId, id, change, anna);
  const change = (status: Status): ConversationChange =>
    status === "claimed" ? { status, assignedTo: "anna@test.example" } : { status };

  /** Returns an answered conversation in this status, with nothing queued. */
  async function conversationIn(status: Status): Promise<string> {
    const id = await bench.begin(newThread(), "Hello");
    await bench.settle();
    if (status === "archived") await update(id, change("resolved"));
    if (status !== "open") await update(id, change(status));
    return id;
  }

  const manual = statuses.flatMap((from) =>
    statuses.flatMap((to) => {
      const event = transitionEvent(from, to);
      return event === undefined ? [] : [{ from, to, event }];
    }),
  );

  for (const { from, to, event } of manual) {
    it(`emits ${event} when a conversation changes from ${from} to ${to}`, async () => {
      const id = await conversationIn(from);
      const before = (await eventsOf(id)).length;
      await update(id, change(to));
      const events = (await eventsOf(id)).slice(before);
      const extra = to === "claimed" ? ["conversation.assigned"] : [];
      // The handover message to the customer, and the tag.
      const isHandover = (from === "open" || from === "snoozed") && to === "escalated";
      const first = isHandover ? ["message.created"] : [];
      const last = isHandover ? ["conversation.updated"] : [];
      expect(events.map(({ type }) => type)).toEqual([...first, event, ...extra, ...last]);
      const found = events.find(({ type }) => type === event);
      const row = await bench.row(id);
      expect(found).toMatchObject({
        timestamp: new Date(bench.clock.now()).toISOString(),
        data: {
          workspace_id: bench.workspaceId,
          previous_status: from,
          actor: anna,
          conversation: { id, status: to, assigned_to: row.assigned_to, message_count: row.message_count },
        },
      });
    });
  }

  it.each(["open", "claimed", "escalated", "snoozed"] as const)(
    "emits one event for a resolve and one for its undo, from %s",
    async (status) => {
      const id = await conversationIn(status);
      const before = (await eventsOf(id)).length;
      const { assigned_to } = await bench.row(id);
      const agent = { email: "anna@test.example", name: "Anna" };
      await bench.engine.applyAction(bench.workspaceId, id, { kind: "resolve" }, agent);
      await bench.engine.applyAction(
        bench.workspaceId,
        id,
        { kind: "undo_resolve", snooze: { kind: "until_reply" } },
        agent,
      );
      const events = (await eventsOf(id)).slice(before);
      expect(events.map(({ type, data }) => [type, data.previous_status, data.conversation?.["status"]])).toEqual([
        ["conversation.resolved", status, "resolved"],
        ["conversation.reopened", "resolved", status],
      ]);
      expect(events[1]?.data).toMatchObject({ actor: anna, conversation: { assigned_to } });
    },
  );

  it("emits nothing for a change to the current status", async () => {
    const id = await conversationIn("claimed");
    const before = (await eventsOf(id)).length;
    await update(id, change("claimed"));
    expect(await emittedTypes(id, before)).toEqual([]);
  });

  it("emits nothing for a refused change", async () => {
    const id = await conversationIn("resolved");
    const before = (await eventsOf(id)).length;
    await expect(update(id, { ...change("claimed"), tags: ["x"] })).rejects.toThrow("cannot become claimed");
    expect(await emittedTypes(id, before)).toEqual([]);
  });

  it("emits the start of a conversation, its messages, and the bot's answer", async () => {
    const id = await bench.begin(newThread(), "Hello");
    await bench.settle();
    const events = await eventsOf(id);
    expect(events.map(({ type, data }) => [type, data.actor.type, data.sequence, data.message?.content])).toEqual([
      ["conversation.started", "customer", 1, undefined],
      ["message.created", "customer", 2, "Hello"],
      ["message.created", "assistant", 3, "You asked: Hello"],
    ]);
  });

  it("emits a handover on the customer's request and after two answers of low confidence", async () => {
    const asked = await bench.begin(newThread(), "Give me a human");
    await bench.settle();
    expect(await emittedTypes(asked, 2)).toEqual(["message.created", "conversation.escalated", "conversation.updated"]);

    const thread = newThread();
    bench.script.answer = async () => answerOf("Perhaps.", { confidence: "low" });
    const low = await bench.begin(thread, "One");
    await bench.settle();
    await bench.say(thread, "Two");
    await bench.settle();
    bench.script.answer = async ({ text }) => answerOf(`You asked: ${text}`);
    const [escalated, updated] = (await eventsOf(low)).slice(-2);
    expect([escalated?.type, updated?.type]).toEqual(["conversation.escalated", "conversation.updated"]);
    expect(escalated?.data).toMatchObject({
      previous_status: "open",
      actor: { type: "system", id: "escalation" },
      conversation: { status: "escalated", tags: ["escalated"] },
    });
  });

  it("emits the reopening of a resolved, archived or snoozed conversation by its customer", async () => {
    for (const [status, event] of [
      ["resolved", "conversation.reopened"],
      ["archived", "conversation.reopened"],
      ["snoozed", "conversation.unsnoozed"],
    ] as const) {
      const id = await conversationIn(status);
      const before = (await eventsOf(id)).length;
      const { context_key } = await bench.row(id);
      await bench.say(context_key, "Again");
      const [first, second] = (await eventsOf(id)).slice(before);
      expect(first).toMatchObject({ type: event, data: { previous_status: status, actor: { type: "customer" } } });
      expect(second).toMatchObject({ type: "message.created", data: { conversation: { status: "open" } } });
      await bench.settle();
    }
  });

  it("emits a customer's edit and deletion, with the message after the change", async () => {
    const id = await conversationIn("open");
    const { context_key: thread } = await bench.row(id);
    const before = (await eventsOf(id)).length;
    await bench.say(thread, "Five", { id: "five" });
    const base = { thread, sender: { key: thread }, sentAt: bench.clock.now(), messageExternalId: "five" };
    await bench.accept({ ...base, kind: "edit", externalId: "edit", text: "Six" });
    await bench.accept({ ...base, kind: "edit", externalId: "edit again", text: "Six" });
    await bench.accept({ ...base, kind: "delete", externalId: "delete" });
    const updates = (await eventsOf(id)).slice(before).filter(({ type }) => type === "message.updated");
    expect(updates.map(({ data }) => data)).toMatchObject([
      { actor: { type: "customer" }, message: { content: "Six", edited_at: expect.any(String) } },
      { actor: { type: "customer" }, message: { content: "", deleted_at: expect.any(String) } },
    ]);
    await bench.settle();
  });

  it("emits the claim, the assignment and the message of an agent's reply", async () => {
    const id = await conversationIn("escalated");
    const before = (await eventsOf(id)).length;
    await bench.engine.reply({
      workspaceId: bench.workspaceId,
      conversationId: id,
      content: "I am here",
      authorEmail: "anna@test.example",
      actor: anna,
    });
    expect(await emittedTypes(id, before)).toEqual([
      "conversation.claimed",
      "conversation.assigned",
      "message.created",
    ]);
    const [claimed] = (await eventsOf(id)).slice(before);
    expect(claimed?.data.conversation["assigned_to"]).toBe("anna@test.example");
    await update(id, { assignedTo: "ben@test.example" });
    expect(await emittedTypes(id, before + 3)).toEqual(["conversation.assigned"]);
  });

  it("emits a failed message, refused at once or reported as failed later", async () => {
    const { send } = bench.script;
    bench.script.send = async () => {
      throw new DeliveryError("rejected", "blocked by the customer");
    };
    const refused = await bench.begin(newThread(), "Hello");
    await bench.settle();
    bench.script.send = send;
    expect((await eventsOf(refused)).at(-1)).toMatchObject({
      type: "message.delivery_failed",
      data: { error: expect.stringContaining("blocked by the customer"), message: { content: "You asked: Hello" } },
    });

    const late = await bench.begin(newThread(), "Hello");
    await bench.settle();
    const delivery = await bench.store.read
      .selectFrom("deliveries")
      .selectAll()
      .where("conversation_id", "=", late)
      .executeTakeFirstOrThrow();
    await bench.accept({
      kind: "delivery",
      externalId: `failed ${late}`,
      partExternalId: delivery.external_id ?? "",
      state: "failed",
      error: "the number does not exist",
      sentAt: bench.clock.now(),
    });
    expect((await eventsOf(late)).at(-1)).toMatchObject({
      type: "message.delivery_failed",
      // The fourth is the note about the failure.
      data: { error: "the number does not exist", sequence: 5 },
    });
  });

  it("emits timed changes: the end of a snooze, automatic resolve, automatic archive", async () => {
    const id = await conversationIn("open");
    await update(id, { status: "snoozed", snooze: { kind: "until", at: bench.clock.now() + hourMs } });
    const before = (await eventsOf(id)).length;
    await bench.advance(hourMs);
    expect(await emittedTypes(id, before)).toEqual(["conversation.unsnoozed"]);
    await bench.advance(7 * dayMs);
    await bench.advance(30 * dayMs);
    const events = (await eventsOf(id)).slice(-2);
    expect(events.map(({ type, data }) => [type, data.previous_status, data.actor.id])).toEqual([
      ["conversation.resolved", "open", "auto-resolve"],
      ["conversation.archived", "resolved", "auto-archive"],
    ]);
  });

  it("numbers the events of each conversation from 1 without gaps, also for concurrent changes", async () => {
    const thread = newThread();
    const id = await bench.begin(thread, "First");
    await Promise.all([
      ...Array.from({ length: 20 }, (_, i) => bench.say(thread, `message ${i}`)),
      update(id, { status: "snoozed" }),
      update(id, { status: "resolved" }),
    ]);
    await bench.settle();
    const sequences = (await eventsOf(id)).map(({ data }) => data.sequence);
    expect(sequences.length).toBeGreaterThan(23);
    expect(sequences).toEqual(sequences.map((_, i) => i + 1));
  });

  it("emits an indexed document and an unreadable document", async () => {
    const { documents } = bench.app.services;
    for (const [fileName, text, type, status] of [
      ["good.md", "# Lamps\n\nLamps have a warranty of three years.", "document.indexed", "indexed"],
      ["empty.md", "", "document.failed", "failed"],
    ] as const) {
      const { id } = await documents.add({ workspaceId: bench.workspaceId, fileName, bytes: Buffer.from(text) });
      // Indexed by the program's own worker, since a second indexing here would conflict with it.
      await bench.until("the document is settled", async () => {
        const document = await documents.get(bench.workspaceId, id);
        return document?.status === "indexed" || document?.status === "failed";
      });
      // The worker delivers the event on its next poll.
      bench.clock.advance(1_000);
      await bench.settle();
      const [event, ...more] = await eventsOf(id);
      expect(more).toEqual([]);
      expect(event).toMatchObject({
        type,
        data: { document: { id, status }, sequence: null, actor: { type: "system" } },
      });
      expect(event?.data).not.toHaveProperty("conversation");
    }
  });

  it("shows a conversation as the API's list and the manual's example do", async () => {
    const id = await conversationIn("claimed");
    const event = (await eventsOf(id)).find(({ type }) => type === "conversation.claimed");
    const page = await readFile(join(projectDir, "docs/webhooks.md"), "utf8");
    const example = JSON.parse(/```json\n([\s\S]*?)```/.exec(page)?.[1] ?? "{}") as ReceivedEvent;
    const fields = (value: object): string[] => Object.keys(value).toSorted();
    expect(fields(event ?? {})).toEqual(fields(example));
    expect(fields(event?.data ?? {})).toEqual(fields(example.data));
    expect(fields(event?.data.conversation ?? {})).toEqual(fields(example.data.conversation));
    for (const type of eventTypes) expect(page).toContain(`| \`${type}\` |`);
    const { key } = await createKey(bench.store, bench.clock, { workspaceId: bench.workspaceId, name: "key" });
    const response = await fetch(`${await bench.app.listen()}/v1/conversations?workspace_id=${bench.workspaceId}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const list = (await response.json()) as { readonly conversations: readonly { readonly id: string }[] };
    expect(list.conversations.find((each) => each.id === id)).toEqual(event?.data.conversation);
  });

  it("stores no event without a subscribed endpoint, and deletes a deleted conversation's events", async () => {
    const id = await conversationIn("open");
    expect(await emittedTypes(id)).not.toEqual([]);
    await bench.engine.remove(bench.workspaceId, id, anna);
    expect(await emittedTypes(id)).toEqual(["conversation.deleted"]);
    const queue = bench.store.read.selectFrom("webhook_queue").select("event_id").where("subject_id", "=", id);
    const [deleted] = await eventsOf(id);
    expect(await queue.where("event_id", "!=", deleted?.data.event_id ?? "").execute()).toEqual([]);

    const quiet = await openBench(open, { settings });
    try {
      const nobodys = await quiet.begin("thread", "Hello");
      await quiet.settle();
      expect(await quiet.store.read.selectFrom("events").select("id").execute()).toEqual([]);
      // A later endpoint receives only later events.
      await addEndpoint(quiet, ["conversation.resolved"]);
      await quiet.engine.update(quiet.workspaceId, nobodys, { status: "resolved" }, anna);
      const [event, ...more] = await quiet.store.read.selectFrom("events").selectAll().execute();
      expect([event?.type, event?.sequence, more.length]).toEqual(["conversation.resolved", 1, 0]);
    } finally {
      await quiet.close();
    }
  });

  it("stores no event for a change that fails", async () => {
    const id = await conversationIn("open");
    const before = (await eventsOf(id)).length;
    // Violates the column's type, so the insert fails after the change of status.
    const broken = { content: null as unknown as string, authorEmail: null };
    await expect(update(id, { status: "resolved", notes: [broken] })).rejects.toThrow(/./);
    expect((await bench.row(id)).status).toBe("open");
    expect(await emittedTypes(id, before)).toEqual([]);
    expect((await bench.row(id)).event_seq).toBe(before);
  });

  it("emits events that match the API description", async () => {
    const rows = await bench.store.read.selectFrom("events").select(["type", "payload"]).execute();
    for (const { payload } of rows) expect(differencesFromDescription(JSON.parse(payload) as ReceivedEvent)).toBe("");
    expect(new Set(rows.map(({ type }) => type)).size).toBeGreaterThanOrEqual(10);
  });
});

async function addEndpoint(bench: EngineBench, events: readonly string[]) {
  return addWebhook(
    {
      store: bench.store,
      clock: bench.clock,
      secrets: createSecrets("a secret for tests, of more than thirty-two characters"),
      allowPrivate: true,
    },
    { workspaceId: bench.workspaceId, url: "http://127.0.0.1:9/hook", events },
  );
}
