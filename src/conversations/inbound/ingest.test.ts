import { afterAll, beforeAll, expect, it } from "vitest";
import type { InboundEvent, Sender } from "#channels/contract.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { EngineBench } from "#test/support/engine-bench.ts";
import { anna, openBench } from "#test/support/engine-bench.ts";

eachDatabase("ingest", (open) => {
  let bench: EngineBench;
  let numbered = 0;
  beforeAll(async () => {
    bench = await openBench(open);
  });
  afterAll(() => bench.close());

  const newThread = (): string => `thread ${(numbered += 1)}`;

  type Given = Partial<{ readonly externalId: string; readonly sender: Sender }>;
  const base = (thread: string, given: Given = {}) => ({
    externalId: given.externalId ?? `event ${(numbered += 1)}`,
    thread,
    sender: given.sender ?? { key: `customer of ${thread}` },
    sentAt: bench.clock.now(),
  });
  const message = (thread: string, text: string, given: Given = {}): InboundEvent => ({
    kind: "message",
    text,
    ...base(thread, given),
  });
  const edit = (thread: string, messageExternalId: string, text: string, laterMs = 0): InboundEvent => ({
    kind: "edit",
    messageExternalId,
    text,
    ...base(thread),
    sentAt: bench.clock.now() + laterMs,
  });
  const deletion = (thread: string, messageExternalId: string): InboundEvent => ({
    kind: "delete",
    messageExternalId,
    ...base(thread),
  });
  const conversationOf = (thread: string) =>
    bench.store.read
      .selectFrom("conversations")
      .selectAll()
      .where("account_id", "=", bench.accountId)
      .where("context_key", "=", thread)
      .executeTakeFirstOrThrow();
  const customerTexts = async (thread: string): Promise<readonly string[]> =>
    (await bench.messages((await conversationOf(thread)).id))
      .filter(({ role }) => role === "user")
      .map(({ content }) => content);

  it("stores the other events of a batch when one cannot be stored", async () => {
    const threads = Array.from({ length: 50 }, newThread);
    // MySQL's column is too short for this thread. SQLite has no such limit, but cannot store the text.
    const broken = { ...message("x".repeat(300), "broken"), text: Symbol("no text") as unknown as string };
    const events = threads.map((thread, i) => (i === 20 ? broken : message(thread, `Hello ${i}`)));
    const outcomes = await Promise.allSettled(events.map((event) => bench.accept(event)));
    expect(outcomes.map(({ status }) => status)).toEqual(threads.map((_, i) => (i === 20 ? "rejected" : "fulfilled")));
    for (const [i, thread] of threads.entries())
      if (i !== 20) expect(await customerTexts(thread)).toEqual([`Hello ${i}`]);
  });

  it("stores a repeated event once, also when deliveries are concurrent", async () => {
    const thread = newThread();
    const event = message(thread, "Once");
    const together = await Promise.all(Array.from({ length: 5 }, () => bench.accept(event)));
    const later = await bench.accept(event);
    expect(together.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
    expect(later.duplicate).toBe(true);
    const [first] = together;
    for (const each of [...together, later]) expect(each).toEqual({ ...first, duplicate: each.duplicate });
    expect(await customerTexts(thread)).toEqual(["Once"]);
  });

  it("distinguishes events, threads and customers whose ids differ only in case", async () => {
    const lower = newThread();
    const upper = lower.toUpperCase();
    await bench.accept(message(lower, "lower", { externalId: `case-${lower}`, sender: { key: `key ${lower}` } }));
    await bench.accept(message(upper, "upper", { externalId: `case-${upper}`, sender: { key: `key ${upper}` } }));
    expect(await customerTexts(lower)).toEqual(["lower"]);
    expect(await customerTexts(upper)).toEqual(["upper"]);
    expect((await conversationOf(lower)).contact_id).not.toBe((await conversationOf(upper)).contact_id);
  });

  it("numbers messages from 1 without gaps in order of arrival, also when they are concurrent", async () => {
    const thread = newThread();
    await Promise.all(Array.from({ length: 60 }, (_, i) => bench.accept(message(thread, `message ${i}`))));
    await bench.settle();
    const messages = await bench.messages((await conversationOf(thread)).id);
    expect(messages.map(({ seq }) => seq)).toEqual(messages.map((_, i) => i + 1));
    expect(await customerTexts(thread)).toEqual(Array.from({ length: 60 }, (_, i) => `message ${i}`));
  });

  it("starts one conversation when two processes receive the first messages of a thread at once", async () => {
    const other = await openBench(open, { beside: bench, clock: bench.clock });
    try {
      for (let round = 0; round < 10; round += 1) {
        const thread = newThread();
        await Promise.all(
          [bench, other].flatMap((each, p) =>
            Array.from({ length: 3 }, (_, i) => each.accept(message(thread, `${p}.${i}`))),
          ),
        );
        expect((await customerTexts(thread)).toSorted()).toEqual(["0.0", "0.1", "0.2", "1.0", "1.1", "1.2"]);
      }
      await bench.settle();
    } finally {
      await other.close();
    }
  });

  for (const how of ["one after the other", "at once"] as const) {
    const inTurn = async (...events: readonly InboundEvent[]): Promise<void> => {
      if (how === "at once") await Promise.all(events.map((event) => bench.accept(event)));
      else for (const event of events) await bench.accept(event);
    };

    it(`applies an edit that follows its message, ${how}`, async () => {
      const thread = newThread();
      await inTurn(message(thread, "before", { externalId: `m ${thread}` }), edit(thread, `m ${thread}`, "after"));
      expect(await customerTexts(thread)).toEqual(["after"]);
      const [stored] = await bench.messages((await conversationOf(thread)).id);
      expect(stored?.edited_at).toBe(bench.clock.now());
    });

    it(`applies a deletion that follows its message, ${how}`, async () => {
      const thread = newThread();
      await inTurn(message(thread, "secret", { externalId: `m ${thread}` }), deletion(thread, `m ${thread}`));
      expect(await customerTexts(thread)).toEqual([""]);
      const [stored] = await bench.messages((await conversationOf(thread)).id);
      expect(stored?.deleted_at).toBe(bench.clock.now());
    });

    it(`applies an edit that arrives before its message, ${how}`, async () => {
      const thread = newThread();
      await inTurn(edit(thread, `m ${thread}`, "after"), message(thread, "before", { externalId: `m ${thread}` }));
      expect(await customerTexts(thread)).toEqual(["after"]);
    });

    it(`keeps the newest edit when an older one arrives later, ${how}`, async () => {
      const [known, parked] = [newThread(), newThread()];
      const edits = (thread: string) => [
        edit(thread, `m ${thread}`, "third", 2_000),
        edit(thread, `m ${thread}`, "second", 1_000),
      ];
      await inTurn(message(known, "first", { externalId: `m ${known}` }), ...edits(known));
      await inTurn(...edits(parked), message(parked, "first", { externalId: `m ${parked}` }));
      expect([await customerTexts(known), await customerTexts(parked)]).toEqual([["third"], ["third"]]);
      await bench.accept(edit(known, `m ${known}`, "fourth", 2_000));
      await bench.accept(edit(known, `m ${known}`, "second again", 1_500));
      expect(await customerTexts(known)).toEqual(["fourth"]);
    });

    it(`applies a deletion that arrives before its message, ${how}`, async () => {
      const thread = newThread();
      await inTurn(deletion(thread, `m ${thread}`), message(thread, "secret", { externalId: `m ${thread}` }));
      expect(await customerTexts(thread)).toEqual([""]);
      const [stored] = await bench.messages((await conversationOf(thread)).id);
      expect(stored?.deleted_at).toBe(bench.clock.now());
    });

    it(`ignores edits of a deleted message, ${how}`, async () => {
      const thread = newThread();
      await inTurn(
        message(thread, "secret", { externalId: `m ${thread}` }),
        deletion(thread, `m ${thread}`),
        edit(thread, `m ${thread}`, "secret 2"),
      );
      expect(await customerTexts(thread)).toEqual([""]);
      const parked = newThread();
      await inTurn(
        deletion(parked, `m ${parked}`),
        edit(parked, `m ${parked}`, "secret 2"),
        message(parked, "secret", { externalId: `m ${parked}` }),
      );
      expect(await customerTexts(parked)).toEqual([""]);
    });
  }

  it("does not apply an edit to a message of another thread", async () => {
    const [mine, others] = [newThread(), newThread()];
    await bench.accept(message(mine, "mine", { externalId: `m ${mine}` }));
    await bench.accept(message(others, "others"));
    await bench.accept(edit(others, `m ${mine}`, "changed"));
    expect(await customerTexts(mine)).toEqual(["mine"]);
  });

  it("keeps one contact with the signed details for a verified user on several sessions", async () => {
    const [first, second] = [newThread(), newThread()];
    const verified = { userId: `user ${first}`, name: "Ada", email: "Ada@Shop.example" };
    await bench.accept(message(first, "Hello", { sender: { key: `key ${first}`, verified } }));
    await bench.accept(message(second, "Hello", { sender: { key: `key ${second}`, verified } }));
    const [a, b] = [await conversationOf(first), await conversationOf(second)];
    expect(b.contact_id).toBe(a.contact_id);
    expect(b).toMatchObject({
      customer_name: "Ada",
      customer_email: "Ada@Shop.example",
      customer_email_key: "ada@shop.example",
      customer_verified: 1,
    });
    expect(b.previous_conversation_id).toBe(a.id);
  });

  it("merges an anonymous visitor who signs in with the known user", async () => {
    const thread = newThread();
    const key = `key ${thread}`;
    await bench.accept(message(thread, "Hello", { sender: { key } }));
    const before = await conversationOf(thread);
    expect(before.customer_verified).toBe(0);
    await bench.accept(
      message(thread, "It is me", { sender: { key, verified: { userId: `user ${thread}`, name: "Ada" } } }),
    );
    expect(await conversationOf(thread)).toMatchObject({
      contact_id: before.contact_id,
      customer_verified: 1,
      customer_name: "Ada",
    });
  });

  it("does not merge contacts by a claimed e-mail address", async () => {
    const [honest, claims] = [newThread(), newThread()];
    const email = `ada.${numbered}@shop.example`;
    await bench.accept(
      message(honest, "Hello", { sender: { key: `key ${honest}`, verified: { userId: `user ${honest}`, email } } }),
    );
    await bench.accept(message(claims, "Hello"));
    await bench.accept({ kind: "contact", contact: { email, name: "Ada" }, ...base(claims) });
    const [a, b] = [await conversationOf(honest), await conversationOf(claims)];
    expect(b.contact_id).not.toBe(a.contact_id);
    expect(b).toMatchObject({ customer_email: email, customer_verified: 0, previous_conversation_id: null });
  });

  it("does not overwrite signed values with claimed ones", async () => {
    const thread = newThread();
    const sender = {
      key: `key ${thread}`,
      verified: { userId: `user ${thread}`, name: "Ada", email: "ada@shop.example" },
    };
    await bench.accept(message(thread, "Hello", { sender }));
    await bench.accept({
      kind: "contact",
      contact: { email: "other@shop.example", name: "Eve", phone: "123" },
      ...base(thread, { sender: { key: sender.key } }),
    });
    expect(await conversationOf(thread)).toMatchObject({
      customer_name: "Ada",
      customer_email: "ada@shop.example",
      customer_phone: "123",
    });
  });

  it("does not give one user's session to another user's contact", async () => {
    const [first, second] = [newThread(), newThread()];
    const key = `key ${first}`;
    await bench.accept(message(first, "I am A", { sender: { key, verified: { userId: `A of ${first}`, name: "A" } } }));
    await bench.accept(
      message(second, "I am B", { sender: { key, verified: { userId: `B of ${first}`, name: "B" } } }),
    );
    const [a, b] = [await conversationOf(first), await conversationOf(second)];
    expect(b.contact_id).not.toBe(a.contact_id);
    expect(b.previous_conversation_id).toBeNull();
    expect(a.customer_name).toBe("A");
  });

  it("keeps one contact when a verified user writes first on two sessions at once", async () => {
    const [first, second] = [newThread(), newThread()];
    const verified = { userId: `user ${first}` };
    await Promise.all(
      [first, second].map((thread) =>
        bench.accept(message(thread, "Hello", { sender: { key: `key ${thread}`, verified } })),
      ),
    );
    expect((await conversationOf(first)).contact_id).toBe((await conversationOf(second)).contact_id);
  });

  it("links each conversation to the previous one, and past a deleted one", async () => {
    const [first, second, third] = [newThread(), newThread(), newThread()];
    const sender = { key: `key ${first}` };
    for (const thread of [first, second, third]) {
      await bench.accept(message(thread, "Hello", { sender }));
      await bench.settle();
      await bench.advance(1);
    }
    const [a, b, c] = [await conversationOf(first), await conversationOf(second), await conversationOf(third)];
    expect([a, b, c].map((row) => row.previous_conversation_id)).toEqual([null, a.id, b.id]);
    await bench.engine.remove(bench.workspaceId, b.id, anna);
    expect((await conversationOf(third)).previous_conversation_id).toBe(a.id);
  });

  it("deletes a conversation except for its audit log, and starts a new one with the next message", async () => {
    const thread = newThread();
    await bench.accept(edit(thread, `m ${thread}`, "A secret question"));
    await bench.accept(message(thread, "A question", { externalId: `m ${thread}` }));
    await bench.settle();
    const { id } = await conversationOf(thread);
    const [delivery] = await bench.store.read
      .selectFrom("deliveries")
      .selectAll()
      .where("conversation_id", "=", id)
      .execute();
    if (delivery?.external_id === null || delivery === undefined) throw new Error("the answer was not delivered");
    await bench.accept({
      kind: "delivery",
      externalId: `read ${thread}`,
      partExternalId: delivery.external_id,
      state: "read",
      sentAt: bench.clock.now(),
    });
    await bench.engine.update(
      bench.workspaceId,
      id,
      { tags: ["vip"], notes: [{ content: "note", authorEmail: null }] },
      anna,
    );
    await bench.engine.remove(bench.workspaceId, id, anna);

    const { read } = bench.store;
    for (const table of ["messages", "notes", "conversation_tags", "deliveries", "conversation_text"] as const) {
      expect(
        await read.selectFrom(table).select("conversation_id").where("conversation_id", "=", id).execute(),
        table,
      ).toEqual([]);
    }
    expect(await read.selectFrom("receipts").selectAll().where("delivery_id", "=", delivery.id).execute()).toEqual([]);
    expect(await read.selectFrom("outbox").select("id").where("lane", "like", `%${id}`).execute()).toEqual([]);
    const payloads = await read
      .selectFrom("inbound_events")
      .select("payload")
      .where("payload", "like", "%secret question%")
      .execute();
    expect(payloads).toEqual([]);
    const audit = await read
      .selectFrom("audit")
      .select("action")
      .where("conversation_id", "=", id)
      .orderBy("id")
      .execute();
    expect(audit.map(({ action }) => action)).toEqual(["status_changed", "tagged", "note_added", "deleted"]);

    expect(await bench.accept(message(thread, "A question", { externalId: `m ${thread}` }))).toMatchObject({
      duplicate: true,
    });
    await bench.accept(message(thread, "Another question"));
    expect((await conversationOf(thread)).id).not.toBe(id);
    expect(await customerTexts(thread)).toEqual(["Another question"]);
  });
});
