import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Sender } from "#channels/contract.ts";
import { contactKeys } from "#domain/customer/contact-keys.ts";
import { loadAdapter } from "#channels/load-adapter.ts";
import { createWorkspace } from "#admin/workspaces/workspaces.ts";
import { insertWork } from "#database/queries/outbox.ts";
import { moveLane } from "#queue/lanes.ts";
import { moveKind } from "./merge.ts";
import { rowsOf } from "#test/support/database/conversation-rows.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { EngineBench } from "#test/support/engine-bench.ts";
import { anna, answerOf, heldAnswers, openBench } from "#test/support/engine-bench.ts";

eachDatabase("a customer on several channels", (open) => {
  let bench: EngineBench;
  let made = 0;
  beforeAll(async () => {
    bench = await openBench(open);
  });
  afterAll(() => bench.close());

  /** Writes from a thread of its own, and gives the conversation. */
  async function write(sender: Sender, thread?: string): Promise<string> {
    made += 1;
    bench.clock.advance(1_000);
    const { conversationId } = await bench.say(thread ?? `thread ${made}`, "Hello", { sender });
    await bench.settle();
    return conversationId ?? "";
  }
  const unique = (name: string): string => `${name}-${(made += 1)}`;
  const contactOf = async (id: string) => (await bench.row(id)).contact_id;
  // The program's worker may have run the command's work.
  const merge = async (from: string, into: string) => {
    const merged = await bench.app.services.customers.merge(bench.workspaceId, from, into, anna);
    await bench.settle();
    return merged;
  };
  const unmerge = async (id: string) => {
    await bench.app.services.customers.unmerge(bench.workspaceId, id, anna);
    await bench.settle();
  };

  it("is one contact by a verified address in any spelling", async () => {
    const mail = unique("max");
    const a = await write({ key: unique("s"), proven: { email: `${mail}@Shop.Example` } });
    const b = await write({ key: unique("s"), proven: { email: ` ${mail.toUpperCase()}@shop.example ` } });
    const number = `49 (170) 00${String(1_000_000 + made)}`;
    const c = await write({ key: unique("s"), proven: { phone: `+${number}` } });
    const d = await write({ key: unique("s"), proven: { phone: `00${number.replaceAll(/\D/g, "")}` } });
    expect(await contactOf(b)).toBe(await contactOf(a));
    expect(await contactOf(d)).toBe(await contactOf(c));
    expect(await contactOf(c)).not.toBe(await contactOf(a));
    expect(await bench.row(b)).toMatchObject({
      previous_conversation_id: a,
      customer_email: `${mail}@shop.example`,
      customer_verified: 1,
    });
  });

  it("is distinguished from customers with similar ids", async () => {
    const name = unique("ada");
    const longest = name.padEnd(188, "a");
    // oxfmt-ignore
    const alike = [
      name, name.toUpperCase(), `${name} `, `${name}  `, ` ${name}`, `${name}\0`, `${name}\t`, `${name}\u00a0`,
      `${name}\u200b`, `${name}é`, `${name}e\u0301`, `${name}e`, `${name}ｅ`, `${name}😀`, `${name}😁`, `${name}ß`, `${name}ss`,
      // Ids of maximum length, with characters of any size.
      longest, `${longest}  `, `${longest} \0`, `${longest}aa`, "😀".repeat(189).concat(" "), "😀".repeat(190),
    ];
    const contacts = new Map<string, string>();
    for (const userId of alike) {
      const first = await contactOf(await write({ key: unique("s"), verified: { userId } }));
      const again = await contactOf(await write({ key: unique("s"), verified: { userId } }));
      expect(again, JSON.stringify(userId)).toBe(first);
      contacts.set(userId, first);
      await write({ key: userId });
    }
    expect(new Set(contacts.values()).size).toBe(alike.length);
  }, 30_000);

  it("is found by both spellings of numbers in Brazil and Mexico, and not by similar numbers", async () => {
    const digits = String(1_000_000 + (made += 1));
    const ofNumber = async (phone: string) => contactOf(await write({ key: unique("s"), proven: { phone } }));
    const brazil = await ofNumber(`+55419${digits}`);
    expect(await ofNumber(`+554199${digits}`)).toBe(brazil);
    expect(await ofNumber(`+55 (41) 9${digits}`)).toBe(brazil);
    const mexico = await ofNumber(`+521554${digits}`);
    expect(await ofNumber(`+52554${digits}`)).toBe(mexico);
    // A line in an office of Brazil has no ninth digit, and neither country's rule is another's.
    const others = [`+55413${digits}`, `+554193${digits}`, `+56419${digits}`, `+53419${digits}`, `+531554${digits}`];
    const found = new Set([brazil, mexico]);
    for (const phone of others) found.add(await ofNumber(phone));
    expect(found.size).toBe(2 + others.length);
  });

  it("is not recognised by a phone number without a country, or without an address", async () => {
    const contacts = [];
    for (const phone of ["0170 1234567", "0170 1234567", "", "+", "+49"])
      contacts.push(await contactOf(await write({ key: unique("s"), proven: { phone, email: "" } })));
    expect(new Set(contacts).size).toBe(5);
  });

  it("is merged, with all conversations, when a verified identity belongs to another contact", async () => {
    const phone = `+4917${10_000_000 + (made += 1)}`;
    const user = unique("user");
    const a1 = await write({ key: "telegram-of-max", name: "Max" });
    const a2 = await write({ key: "telegram-of-max", name: "Max" });
    const b = await write({ key: unique("s"), verified: { userId: user, email: "max@own.example" } });
    expect(await contactOf(a1)).not.toBe(await contactOf(b));
    const before = await contactOf(a1);
    await write({ key: unique("s"), verified: { userId: user }, proven: { phone } });
    const last = await write({ key: "telegram-of-max", proven: { phone } });
    await bench.settle();
    for (const id of [a1, a2, last]) {
      expect(await bench.row(id)).toMatchObject({
        contact_id: await contactOf(b),
        own_contact_id: before,
        customer_email: "max@own.example",
        customer_email_key: "max@own.example",
      });
    }
    expect((await bench.row(a1)).previous_conversation_id).toBeNull();
    expect((await bench.row(a2)).previous_conversation_id).toBe(a1);
    expect((await bench.row(b)).previous_conversation_id).toBe(a2);
    const entries = await bench.store.read
      .selectFrom("audit")
      .selectAll()
      .where("action", "=", "contact_merged")
      .where("from_value", "=", before)
      .execute();
    expect(entries).toMatchObject([{ to_value: await contactOf(b), actor_id: "identity", detail: "phone" }]);

    // An administrator undoes the merge.
    await unmerge(before);
    expect(await bench.row(a1)).toMatchObject({ contact_id: before, own_contact_id: null, customer_email: null });
    expect(await bench.row(a2)).toMatchObject({ contact_id: before, previous_conversation_id: a1 });
    expect(await bench.row(last)).toMatchObject({ contact_id: before, previous_conversation_id: a2 });
    expect(await bench.row(b)).toMatchObject({ customer_email: "max@own.example", previous_conversation_id: null });
    // It is not merged again automatically.
    const again = await write({ key: "telegram-of-max", proven: { phone } });
    expect(await bench.row(again)).toMatchObject({ contact_id: before, previous_conversation_id: last });
  });

  it("keeps earlier merges when the last one is undone", async () => {
    const ids = [];
    for (const name of ["Ann", "Bob", "Cid"]) ids.push(await write({ key: unique("s"), name }));
    const [a = "", b = "", c = ""] = ids;
    const [ann, bob, cid] = [await contactOf(a), await contactOf(b), await contactOf(c)];
    await merge(ann, bob);
    await merge(bob, cid);
    expect(await contactOf(a)).toBe(cid);
    expect((await bench.row(c)).previous_conversation_id).toBe(b);
    await unmerge(bob);
    expect([await contactOf(a), await contactOf(b), await contactOf(c)]).toEqual([bob, bob, cid]);
    expect((await bench.row(b)).previous_conversation_id).toBe(a);
    expect((await bench.row(c)).previous_conversation_id).toBeNull();
    await unmerge(ann);
    expect([await contactOf(a), await contactOf(b)]).toEqual([ann, bob]);
    await expect(unmerge(ann)).rejects.toMatchObject({ code: "invalid_transition" });
    await expect(merge(ann, ann)).rejects.toMatchObject({ code: "invalid_parameter" });
    await expect(merge(ann, "con_unknown")).rejects.toMatchObject({ code: "not_found" });
  });

  it("fills in missing values on a merge, and removes exactly those on its undo", async () => {
    const a = await write({ key: unique("s"), name: "Eve", proven: { email: `eve${made}@shop.example` } });
    const b = await write({ key: unique("s"), verified: { userId: unique("user") } });
    const [eve, user] = [await contactOf(a), await contactOf(b)];
    // The known user becomes the root, in either order.
    expect(await merge(user, eve)).toEqual({ from: eve, into: user });
    expect(await bench.row(b)).toMatchObject({ customer_name: "Eve", customer_verified: 1 });
    expect((await bench.row(b)).customer_email).toMatch(/^eve/);
    await unmerge(eve);
    expect(await bench.row(b)).toMatchObject({ customer_name: null, customer_email: null });
    expect((await bench.row(a)).customer_name).toBe("Eve");
  });

  describe("is not merged by claims", () => {
    it("of an e-mail address in a form, or next to another user id", async () => {
      const victim = `victim${(made += 1)}@shop.example`;
      const session = unique("s");
      const own = await write({ key: session, proven: { email: victim } });
      const form = unique("s");
      const a = await write({ key: form });
      await bench.accept({
        kind: "contact",
        externalId: unique("c"),
        thread: (await bench.row(a)).context_key,
        sender: { key: form },
        sentAt: bench.clock.now(),
        contact: { email: victim.toUpperCase(), phone: "+491701111111" },
      });
      const b = await write({ key: unique("s"), verified: { userId: unique("attacker"), email: victim } });
      const contacts = [await contactOf(own), await contactOf(a), await contactOf(b)];
      expect(new Set(contacts).size).toBe(3);
      for (const id of [a, b]) expect((await bench.row(id)).previous_conversation_id).toBeNull();
      // A form does not replace verified values either.
      await bench.accept({
        kind: "contact",
        externalId: unique("c"),
        thread: (await bench.row(own)).context_key,
        sender: { key: session },
        sentAt: bench.clock.now(),
        contact: { email: "other@shop.example" },
      });
      const next = await write({ key: unique("s"), proven: { email: victim } });
      expect(await bench.row(next)).toMatchObject({ contact_id: await contactOf(own), customer_email: victim });
    });

    it("of a user id in another case, or with another user's address", async () => {
      const name = unique("User");
      const mail = `${name}@shop.example`;
      const a = await write({ key: unique("s"), verified: { userId: name }, proven: { email: mail } });
      const b = await write({ key: unique("s"), verified: { userId: name.toLowerCase() }, proven: { email: mail } });
      expect(await contactOf(b)).not.toBe(await contactOf(a));
      await expect(merge(await contactOf(a), await contactOf(b))).rejects.toMatchObject({
        code: "invalid_transition",
      });
      const c = await write({ key: unique("s"), proven: { email: mail } });
      expect(await contactOf(c)).toBe(await contactOf(a));
    });

    it("in another workspace", async () => {
      const mail = `${unique("same")}@shop.example`;
      const a = await write({ key: unique("s"), proven: { email: mail } });
      const { store, secrets } = bench.app.services;
      const other = await createWorkspace({ store, clock: bench.clock, secrets }, { name: "Other" });
      const account = await store.read
        .selectFrom("accounts")
        .select("id")
        .where("workspace_id", "=", other.id)
        .where("channel", "=", "widget")
        .executeTakeFirstOrThrow();
      const { conversationId } = await bench.engine.ingest(account.id, {
        kind: "message",
        externalId: unique("m"),
        thread: unique("t"),
        sender: { key: unique("s"), proven: { email: mail } },
        sentAt: bench.clock.now(),
        text: "Hello",
      });
      const theirs = await contactOf(conversationId ?? "");
      expect(theirs).not.toBe(await contactOf(a));
      await expect(merge(theirs, await contactOf(a))).rejects.toMatchObject({ code: "not_found" });
    });
  });

  it("is merged with more conversations than one page moves", async () => {
    const key = unique("many");
    const first = await write({ key });
    const more = Array.from({ length: 120 }, (_, i) => ({
      ...rowsOf({ workspaceId: bench.workspaceId, startedAt: bench.clock.now() + i }).conversation,
    }));
    const owned = await Promise.all(more.map(async (row) => ({ ...row, contact_id: await contactOf(first) })));
    await bench.store.write((tx) => tx.insertInto("conversations").values(owned).execute());
    const ids = [first, ...more.map(({ id }) => id)];
    bench.clock.advance(1_000);
    const target = await write({ key: unique("s"), name: "Target" });
    await merge(await contactOf(ids[0] ?? ""), await contactOf(target));
    const rows = await bench.store.read
      .selectFrom("conversations")
      .select(["id", "previous_conversation_id"])
      .where("contact_id", "=", await contactOf(target))
      .orderBy("started_at")
      .execute();
    expect(rows.map(({ id }) => id).toSorted()).toEqual([...ids, target].toSorted());
    expect(rows.map((row) => row.previous_conversation_id)).toEqual([null, ...rows.slice(0, -1).map(({ id }) => id)]);
  });

  it("has the order of the conversations of now where an old page of a move is done late", async () => {
    const key = unique("late");
    const [first, second, stranger] = [await write({ key }), await write({ key }), await write({ key: unique("s") })];
    const { contact_id: contactId, started_at: startedAt } = await bench.row(first);
    const page = { contactId, after: { startedAt, id: first }, previous: stranger };
    const now = bench.clock.now();
    await bench.store.write((tx) => insertWork(tx, [moveKind.queued(moveLane(contactId), page, now)], now));
    bench.clock.advance(1_000);
    await bench.settle();
    expect(await bench.row(second)).toMatchObject({ contact_id: contactId, previous_conversation_id: first });
  });

  it("loses no page of a move when a later page of an old one is done with it", async () => {
    const key = unique("pages");
    const [first, second, third] = [await write({ key }), await write({ key }), await write({ key })];
    const { contact_id: contactId } = await bench.row(first);
    const after = async (id: string) => ({
      contactId,
      after: { startedAt: (await bench.row(id)).started_at, id },
      previous: null,
    });
    const now = bench.clock.now();
    const pages = [await after(third), await after(first)].map((page) =>
      moveKind.queued(moveLane(contactId), page, now),
    );
    await bench.store.write(async (tx) => {
      const lost = { previous_conversation_id: null };
      await tx.updateTable("conversations").set(lost).where("id", "=", second).execute();
      await insertWork(tx, pages, now);
    });
    bench.clock.advance(1_000);
    await bench.settle();
    expect(await bench.row(second)).toMatchObject({ previous_conversation_id: first });
  });

  it("is found by the values of the last change, whatever made it", async () => {
    const rows = await bench.store.read.selectFrom("contacts").selectAll().execute();
    expect(
      rows.filter(({ name, email, phone }) => name !== null || email !== null || phone !== null).length,
    ).toBeGreaterThan(10);
    for (const { id, email_key, phone_key, name_key, ...row } of rows) {
      expect({ id, email_key, phone_key, name_key }).toEqual({ id, ...contactKeys(row) });
    }
  });
});

eachDatabase("a browser session after a sign-in", (open) => {
  let one: EngineBench;
  let other: EngineBench;
  let sessions = 0;
  beforeAll(async () => {
    const account = { channel: "widget", load: loadAdapter, config: {} } as const;
    one = await openBench(open, { account });
    other = await openBench(open, { account, beside: one, clock: one.clock });
  });
  afterAll(async () => {
    await other.close();
    await one.close();
  });

  const verified = { userId: "ada", email: "ada@shop.example", attributes: { plan: "pro" } };
  const begin = () => `ses_${(sessions += 1)}`;

  async function send(at: EngineBench, key: string, text: string, sender: Partial<Sender> = {}, channel = "widget") {
    const { id } = await one.store.read
      .selectFrom("accounts")
      .select("id")
      .where("workspace_id", "=", one.workspaceId)
      .where("channel", "=", channel as "widget")
      .executeTakeFirstOrThrow();
    const event = { externalId: `${key}:${text}`, thread: `web:${key}`, sender: { key, ...sender } };
    const sentAt = one.clock.now();
    return at.engine.ingest(
      id,
      text === "lead"
        ? { kind: "contact", ...event, sentAt, contact: { email: "eve@evil.example" } }
        : { kind: "message", ...event, sentAt, text },
    );
  }
  const askers = (text: string) =>
    [...one.asked, ...other.asked]
      .filter((question) => question.text === text)
      .map(({ turn }) => turn?.user?.id ?? null);

  it.each(["widget", "hosted"])("takes nothing that proves nothing, or another user, on %s", async (channel) => {
    const key = begin();
    await send(one, key, "before", {}, channel);
    const { conversationId } = await send(other, key, "as Ada", { verified }, channel);
    const refused = { duplicate: false, conversationId: null, messageId: null, seq: null, refused: true };
    for (const sender of [{}, { verified: { userId: "bob" } }]) {
      expect(await send(one, key, "late", sender, channel)).toEqual(refused);
      expect(await send(one, key, "lead", sender, channel)).toEqual(refused);
    }
    // The verified user continues the session, and can send the refused message.
    expect(await send(one, key, "late", { verified }, channel)).toMatchObject({ seq: expect.any(Number) });
    await one.settle();
    const talk = await one.talk(conversationId ?? "");
    expect(talk.filter((line) => line.startsWith("user: "))).toEqual(["user: before", "user: as Ada", "user: late"]);
    expect(await one.row(conversationId ?? "")).toMatchObject({ customer_email: "ada@shop.example" });
    const events = await one.store.read
      .selectFrom("inbound_events")
      .select("external_id")
      .where("external_id", "like", `${key}:%`)
      .orderBy("id")
      .execute();
    expect(events.map(({ external_id }) => external_id)).toEqual(
      ["before", "as Ada", "late"].map((t) => `${key}:${t}`),
    );
  });

  it("refuses concurrent messages without proof, in each process", async () => {
    for (const at of [one, other]) {
      const key = begin();
      const [signedIn, late, lead] = await Promise.all([
        send(one, key, "as Ada", { verified }),
        send(one, key, "late"),
        send(at, key, "lead"),
      ]);
      const after = await send(at, key, "after");
      expect(after.refused).toBe(true);
      // Stored before the sign-in, it is the visitor's own.
      if (late?.refused !== true) expect(late?.seq ?? 0).toBeLessThan(signedIn?.seq ?? 0);
      await one.settle();
      const { contact_id: contactId } = await one.row(signedIn?.conversationId ?? "");
      const contact = await one.store.read
        .selectFrom("contacts")
        .select("email")
        .where("id", "=", contactId)
        .executeTakeFirst();
      expect([lead?.messageId, contact?.email]).toEqual([null, "ada@shop.example"]);
    }
  });

  it("has a user only if each message to answer was sent with proof", async () => {
    const key = begin();
    const grace = { userId: "grace" };
    const { answer } = one.script;
    const answers = heldAnswers(one);
    await send(one, key, "mine: before");
    const first = await answers.question(0);
    // Discards the first answer: the next one answers both messages.
    await send(one, key, "mine: after", { verified: grace });
    one.script.answer = answer;
    first.release(answerOf("Too early"));
    await one.settle();
    expect(askers("mine: before\nmine: after")).toEqual([null]);
    await send(one, key, "mine: proven", { verified: grace });
    await one.settle();
    expect(askers("mine: proven")).toEqual(["grace"]);
  });
});
