import { afterEach, beforeEach, expect, it } from "vitest";
import type { Sender } from "#channels/contract.ts";
import type { EventType } from "#domain/event-types.ts";
import type { ConversationChange } from "#conversations/agents/requests.ts";
import { eraseCustomer } from "#conversations/retention/erase-customer.ts";
import { replayEvent } from "#admin/webhooks/replay.ts";
import { addWebhook } from "#admin/webhooks/webhooks.ts";
import { setWorkspace } from "#admin/workspaces/settings.ts";
import { createConversationSearch } from "#database/search/open.ts";
import { readWorkspace } from "#database/queries/workspaces.ts";
import { newId } from "#domain/ids.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { EngineBench } from "#test/support/engine-bench.ts";
import { anna, hourMs, minuteMs, openBench } from "#test/support/engine-bench.ts";
import type { ReceivedEvent, Receiver } from "#test/support/servers/webhook-receiver.ts";
import { openReceiver, verify } from "#test/support/servers/webhook-receiver.ts";

const allowPrivate = ["127.0.0.1"];
const types: readonly EventType[] = [
  "conversation.updated",
  "conversation.merged",
  "conversation.deleted",
  "note.created",
  "sla.at_risk",
  "sla.breached",
  "contact.updated",
];
const secretive: Sender = { key: "max", name: "Max Secret", proven: { email: "max@secret.example" } };

eachDatabase("events of changes", (open) => {
  let bench: EngineBench;
  let receiver: Receiver;
  let secret: string;
  let made = 0;
  beforeEach(async () => {
    bench = await openBench(open, {
      file: { workspaces: [], allowPrivate },
      settings: {
        autoResolveDays: null,
        rules: [
          {
            name: "no spam",
            when: { kind: "tagged", tag: "spam" },
            conditions: {},
            actions: [{ kind: "untag", tags: ["spam"] }],
          },
          {
            name: "note it",
            when: { kind: "tagged", tag: "noted" },
            conditions: {},
            actions: [{ kind: "note", text: "Look" }],
          },
        ],
      },
    });
    receiver = await openReceiver(() => bench.clock.now());
    const { store, clock } = bench;
    const { secrets } = bench.app.services;
    ({ secret } = await addWebhook(
      { store, clock, secrets, allowPrivate },
      { workspaceId: bench.workspaceId, url: receiver.url, events: types },
    ));
  });
  afterEach(async () => {
    await bench.close();
    await receiver.close();
  });

  async function begin(sender?: Sender): Promise<string> {
    made += 1;
    const { conversationId } = await bench.say(`thread ${made}`, "Hello", sender === undefined ? {} : { sender });
    await bench.settle();
    return conversationId ?? "";
  }
  const update = (id: string, change: ConversationChange) => bench.engine.update(bench.workspaceId, id, change, anna);
  /** The events since the last call. */
  async function received(): Promise<readonly ReceivedEvent[]> {
    bench.clock.advance(1_000);
    await bench.settle();
    return receiver.received.splice(0).map((request) => {
      expect(verify(secret, request)).toEqual(request.event);
      return request.event;
    });
  }
  /** The events of a merge, and those of the later pass that looks for conversations which it missed. */
  async function withSecondPass(): Promise<readonly ReceivedEvent[]> {
    const first = await received();
    await bench.advance(minuteMs);
    return [...first, ...(await received())];
  }
  const changes = async () => (await received()).map(({ type, data }) => [type, data.changed ?? null, data.actor.id]);

  it("names changed tags and priority in one event, and emits none where nothing changes", async () => {
    const id = await begin();
    expect(await changes()).toEqual([]);
    await update(id, { tags: ["vip", "late"], priority: "high", status: "snoozed" });
    const [updated, ...more] = await received();
    expect(more).toEqual([]);
    expect(updated).toMatchObject({
      type: "conversation.updated",
      data: {
        changed: ["priority", "tags"],
        actor: anna,
        previous_status: null,
        sequence: 1,
        conversation: { id, status: "snoozed", priority: "high", tags: ["late", "vip"] },
      },
    });
    await update(id, { tags: ["late", "vip"], priority: "high" });
    await update(id, { addTags: ["vip"], removeTags: ["unknown"] });
    await update(id, { addTags: ["spam"] });
    await bench.engine.applyAction(bench.workspaceId, id, { kind: "describe", tags: ["late", "vip"] }, agent);
    expect(await changes()).toEqual([]);
    await bench.engine.applyAction(bench.workspaceId, id, { kind: "describe", removeTags: ["late"] }, agent);
    expect(await changes()).toEqual([["conversation.updated", ["tags"], agent.email]]);
  });

  it("names a changed customer, and emits the contact's event with it", async () => {
    const id = await begin();
    const { context_key: thread, contact_id: contactId } = await bench.row(id);
    const claim = (email: string) =>
      bench.accept({
        kind: "contact",
        externalId: newId("evt", bench.clock.now()),
        thread,
        sender: { key: `customer of ${thread}` },
        sentAt: bench.clock.now(),
        contact: { email },
      });
    await claim("ada@shop.example");
    const events = await received();
    expect(events.map(({ type }) => type).toSorted()).toEqual(["contact.updated", "conversation.updated"]);
    const actor = { type: "customer", id: contactId };
    expect(events.find(({ type }) => type === "conversation.updated")?.data).toMatchObject({
      actor,
      changed: ["customer"],
      conversation: { id, customer: { email: "ada@shop.example" } },
    });
    const { data } = events.find(({ type }) => type === "contact.updated") ?? {};
    expect(data).toMatchObject({
      actor,
      previous_status: null,
      sequence: null,
      contact: { id: contactId, email: "ada@shop.example", verified: [], user_id: null },
    });
    expect(data).not.toHaveProperty("conversation");
    await claim("ada@shop.example");
    expect(await received()).toEqual([]);
  });

  it("emits a note once, by whoever writes it", async () => {
    const id = await begin();
    const note = { content: "Call back", authorEmail: null, clientId: newId("req", bench.clock.now()) };
    for (let i = 0; i < 2; i += 1) await bench.engine.addNote(bench.workspaceId, id, note, anna);
    const [created, ...more] = await received();
    expect(more).toEqual([]);
    expect(created).toMatchObject({
      type: "note.created",
      data: { actor: anna, note: { conversation_id: id, content: "Call back", author: anna.id }, conversation: { id } },
    });
    await update(id, { tags: ["noted"], notes: [{ content: "Two", authorEmail: null }] });
    expect((await received()).map(({ type, data }) => [type, data.note?.["content"], data.actor.id])).toEqual([
      ["note.created", "Two", anna.id],
      ["note.created", "Look", "rule:note it"],
      ["conversation.updated", undefined, anna.id],
    ]);
  });

  it("emits a deletion with the id alone, which can be replayed, and drops everything else", async () => {
    const id = await begin(secretive);
    await update(id, { tags: ["vip"] });
    receiver.behave((_, response) => void response.writeHead(500).end());
    await update(id, { priority: "urgent" });
    await received();
    receiver.behave((_, response) => void response.writeHead(204).end());
    await bench.engine.remove(bench.workspaceId, id, anna);
    const [deleted, ...more] = await received();
    expect(more).toEqual([]);
    expect(deleted?.data).toEqual({
      event_id: expect.any(String) as string,
      workspace_id: bench.workspaceId,
      conversation: { id },
      previous_status: null,
      actor: anna,
      sequence: 3,
    });
    expect(deleted?.type).toBe("conversation.deleted");
    await replayEvent(bench.store, bench.clock, deleted?.data.event_id ?? "", undefined);
    expect(await received()).toEqual([deleted]);
    await expect(bench.engine.remove(bench.workspaceId, id, anna)).rejects.toThrow("no conversation");
    expect(await received()).toEqual([]);
  });

  it("emits deletions by an erasure, and keeps no event with the customer's data", async () => {
    const id = await begin(secretive);
    await begin({ key: "max elsewhere", name: "Max Secret", proven: secretive.proven ?? {} });
    const other = await begin({ key: "max again", name: "Max Secret" });
    await bench.app.services.customers.merge(
      bench.workspaceId,
      (await bench.row(other)).contact_id,
      (await bench.row(id)).contact_id,
      anna,
    );
    expect((await received()).map(({ type }) => type)).toContain("contact.updated");
    const { store, clock } = bench;
    const workspace = await readWorkspace(store.read, bench.workspaceId);
    if (workspace === undefined) throw new Error("no workspace");
    await eraseCustomer({ store, clock, search: createConversationSearch(store) }, workspace, {
      email: "max@secret.example",
    });
    const events = await received();
    expect(events.map(({ type, data }) => [type, data.actor.type])).toEqual(
      Array.from({ length: 3 }, () => ["conversation.deleted", "system"]),
    );
    const stored = await store.read.selectFrom("events").select("payload").execute();
    expect(stored).toHaveLength(3);
    expect(JSON.stringify(stored)).not.toMatch(/secret/i);
  });

  it("emits a merge once for each moved conversation, and its undo as another customer", async () => {
    const [first, second, kept] = [
      await begin({ key: "a" }),
      await begin({ key: "a" }),
      await begin({ key: "b", name: "Bea" }),
    ];
    const source = (await bench.row(first)).contact_id;
    const target = (await bench.row(kept)).contact_id;
    const { customers } = bench.app.services;
    await customers.merge(bench.workspaceId, source, target, anna);
    const events = await withSecondPass();
    const of = (id: string) => events.filter(({ data }) => data.conversation?.id === id);
    for (const id of [first, second]) {
      expect(of(id)).toMatchObject([
        {
          type: "conversation.merged",
          data: {
            actor: { type: "agent", id: anna.id },
            merge: { source_contact_id: source, target_contact_id: target },
            conversation: { id, contact_id: target, customer: { name: "Bea" } },
          },
        },
        { type: "conversation.updated", data: { changed: ["customer"], actor: { type: "agent", id: anna.id } } },
      ]);
    }
    expect(of(kept)).toEqual([]);
    expect(events.filter(({ type }) => type === "contact.updated").map(({ data }) => data.contact?.["id"])).toEqual([
      target,
    ]);
    await customers.unmerge(bench.workspaceId, source, anna);
    const undone = await withSecondPass();
    expect(undone.map(({ type }) => type).toSorted()).toEqual([
      "contact.updated",
      "contact.updated",
      "conversation.updated",
      "conversation.updated",
    ]);
  });

  it("emits a merge by an identity that a customer proves", async () => {
    const known = await begin({ key: "phone", proven: { phone: "+49170555000" } });
    const id = await begin({ key: "chat" });
    const [target, source] = [(await bench.row(known)).contact_id, (await bench.row(id)).contact_id];
    await received();
    const { context_key: thread } = await bench.row(id);
    await bench.say(thread, "It is me", { sender: { key: "chat", proven: { phone: "+49170555000" } } });
    const events = (await withSecondPass()).filter(({ data }) => data.conversation?.id === id);
    expect(events.map(({ type }) => type)).toEqual(["conversation.merged", "conversation.updated"]);
    expect(events[0]?.data).toMatchObject({
      merge: { source_contact_id: source, target_contact_id: target },
      actor: { type: "system", id: "identity" },
    });
  });

  it("emits the SLA's risk and breach once per target, at their times", async () => {
    const id = await begin();
    const startedAt = (await bench.row(id)).started_at;
    const times = async () =>
      (await received()).flatMap(({ type, timestamp, data }) =>
        data.sla === undefined ? [] : [[type, data.sla["target_minutes"], Date.parse(timestamp) - startedAt]],
      );
    const at = (minutes: number) => bench.advance(startedAt + minutes * minuteMs - bench.clock.now());
    await at(49);
    const [risk, ...more] = await received();
    expect(more).toEqual([]);
    expect(risk).toMatchObject({
      type: "sla.at_risk",
      timestamp: new Date(startedAt + 48 * minuteMs).toISOString(),
      data: {
        actor: { type: "system", id: "sla" },
        conversation: { id, sla_state: "at_risk" },
        sla: { target_minutes: 60, due_at: new Date(startedAt + 60 * minuteMs).toISOString() },
      },
    });
    // A snooze stops the clock, and another priority has another target.
    await update(id, { status: "snoozed" });
    await update(id, { status: "open" });
    await update(id, { priority: "low" });
    await update(id, { priority: "normal" });
    expect(await times()).toEqual([]);
    await update(id, { priority: "high" });
    await update(id, { priority: "normal" });
    await update(id, { priority: "high" });
    expect((await times()).map(([type, target]) => [type, target])).toEqual([["sla.breached", 30]]);
    await update(id, { priority: "normal" });
    await at(70);
    await update(id, { tags: ["late"] });
    expect(await times()).toEqual([["sla.breached", 60, 60 * minuteMs]]);
    // Reopening starts a new clock.
    await update(id, { status: "resolved" });
    await update(id, { status: "open" });
    const reopenedAt = bench.clock.now() - startedAt;
    await bench.advance(2 * hourMs);
    expect(await times()).toEqual([
      ["sla.at_risk", 60, reopenedAt + 48 * minuteMs],
      ["sla.breached", 60, reopenedAt + 60 * minuteMs],
    ]);
  });

  it("emits no risk after the breach, and none for a target that settings make longer", async () => {
    const late = await begin();
    // The worker finds both times past.
    bench.clock.advance(2 * hourMs);
    await bench.settle();
    expect((await received()).map(({ type, data }) => [type, data.conversation.id])).toEqual([["sla.breached", late]]);
    const id = await begin();
    const { store, clock } = bench;
    await setWorkspace(store, clock, bench.workspaceId, ["sla.normal=600"]);
    await bench.advance(2 * hourMs);
    expect(await received()).toEqual([]);
    await bench.advance(6 * hourMs);
    const events = (await received()).filter(({ data }) => data.conversation.id === id);
    expect(events.map(({ type, data }) => [type, data.sla?.["target_minutes"]])).toEqual([["sla.at_risk", 600]]);
  });
});

const agent = { email: "anna@test.example", name: "Anna" };
