import { afterAll, beforeAll, expect, it } from "vitest";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { Rule } from "#domain/workspace/automation.ts";
import { hourMs } from "#test/support/engine-bench.ts";
import type { IntercomBench } from "./support/account.ts";
import { openIntercom } from "./support/account.ts";

const noteOnInvoices: Rule = {
  name: "invoices",
  when: { kind: "message", by: "user" },
  conditions: { words: ["invoice"] },
  actions: [{ kind: "note", text: "Check the invoice first." }],
};

eachDatabase("a conversation handled in Intercom and in Parley", (open) => {
  let account: IntercomBench;
  beforeAll(async () => {
    account = await openIntercom(
      open,
      { handover_to_team: "5017", handover_to_admin: "814861" },
      { settings: { rules: [noteOnInvoices] } },
    );
  });
  afterAll(() => account.close());

  /** Delivers all events of Intercom, including our own, and polls once. */
  async function comeToRest(): Promise<void> {
    for (let round = 0; round < 3; round += 1) {
      await account.deliver(...account.intercom.notifications.splice(0));
    }
    await account.poll();
    await account.deliver(...account.intercom.notifications.splice(0));
  }

  it("is claimed by the teammate who replies there, and the bot stays silent", async () => {
    const { intercom, bench } = account;
    const id = await account.write("ada", "Where is my parcel?");
    expect(await account.talk(id)).toEqual(["user: Where is my parcel?", "assistant: You asked: Where is my parcel?"]);
    await account.deliver(intercom.teammate(intercom.carla, id, { type: "comment", body: "I am looking for it." }));
    expect(await account.row(id)).toMatchObject({ status: "claimed", assigned_to: "carla@shop.example" });
    const asked = bench.asked.length;
    await account.write("ada", "Thank you, Carla", id);
    await comeToRest();
    expect(bench.asked).toHaveLength(asked);
    expect(await account.talk(id)).toEqual([
      "user: Where is my parcel?",
      "assistant: You asked: Where is my parcel?",
      "agent: I am looking for it.",
      "user: Thank you, Carla",
    ]);
    // The teammate's reply is not sent back.
    expect(account.done(id)).toEqual(["comment: You asked: Where is my parcel?"]);
  });

  it("is claimed for its assignee, and answered by the bot after it is reassigned to Parley", async () => {
    const { intercom } = account;
    const id = await account.write("bea", "Hello");
    await account.deliver(intercom.teammate(intercom.carla, id, { type: "assignment", to: intercom.carla }));
    expect(await account.row(id)).toMatchObject({ status: "claimed", assigned_to: "carla@shop.example" });
    await account.deliver(intercom.teammate(intercom.carla, id, { type: "assignment", to: intercom.bot }));
    expect(await account.row(id)).toMatchObject({ status: "open", assigned_to: null });
    await account.write("bea", "Is somebody there?", id);
    expect(await account.talk(id)).toContain("assistant: You asked: Is somebody there?");
  });

  it("is closed, opened and snoozed here as in Intercom, and nothing is sent back", async () => {
    const { intercom, bench } = account;
    const id = await account.write("cleo", "Hello");
    const changes = account.changes().length;
    await account.deliver(intercom.teammate(intercom.carla, id, { type: "close" }));
    expect(await account.row(id)).toMatchObject({ status: "resolved" });
    await account.deliver(intercom.teammate(intercom.carla, id, { type: "open" }));
    expect(await account.row(id)).toMatchObject({ status: "open" });
    const until = Math.floor(bench.clock.now() / 1_000) + 48 * 3_600;
    await account.deliver(intercom.teammate(intercom.carla, id, { type: "snoozed", until }));
    expect(await account.row(id)).toMatchObject({ status: "snoozed", snoozed_until: until * 1_000 });
    await account.deliver(intercom.teammate(intercom.carla, id, { type: "unsnoozed" }));
    expect(await account.row(id)).toMatchObject({ status: "open" });
    await account.deliver(intercom.teammate(intercom.carla, id, { type: "close", body: "Bye, Cleo" }));
    expect(await account.row(id)).toMatchObject({ status: "resolved" });
    expect((await account.talk(id)).at(-1)).toBe("agent: Bye, Cleo");
    await comeToRest();
    expect(account.changes()).toHaveLength(changes);
    expect(await account.row(id)).toMatchObject({ status: "resolved" });
  });

  it("is closed, opened and snoozed in Intercom as here, once, and nothing comes back", async () => {
    const { intercom, bench } = account;
    const id = await account.write("dora", "Hello");
    const stateInIntercom = () => intercom.conversations.get(id)?.state;
    await account.reply(id, "Good day");
    await account.update(id, { status: "resolved" });
    expect(stateInIntercom()).toBe("closed");
    await account.update(id, { status: "open" });
    expect(stateInIntercom()).toBe("open");
    const at = bench.clock.now() + 24 * hourMs;
    await account.update(id, { status: "snoozed", snooze: { kind: "until", at } });
    expect(stateInIntercom()).toBe("snoozed");
    expect(intercom.conversations.get(id)?.snoozed_until).toBe(Math.ceil(at / 1_000));
    const version = (await account.row(id)).event_seq;
    const before = account.done(id);
    // The reply precedes later changes of state.
    expect(before).toEqual(["comment: You asked: Hello", "comment: Anna:\nGood day", "close", "open", "snoozed"]);
    await comeToRest();
    expect(account.done(id)).toEqual(before);
    expect(await account.row(id)).toMatchObject({ status: "snoozed", event_seq: version });
  });

  it("is snoozed for a year in Intercom when it is snoozed until the customer writes", async () => {
    const { intercom } = account;
    const id = await account.write("elsa", "Hello");
    await account.update(id, { status: "snoozed", snooze: { kind: "until_reply" } });
    expect(intercom.conversations.get(id)?.state).toBe("snoozed");
    const done = account.done(id);
    await account.write("elsa", "It is me again", id);
    await comeToRest();
    expect(await account.row(id)).toMatchObject({ status: "open" });
    expect(intercom.conversations.get(id)?.state).toBe("open");
    expect(account.done(id)).toEqual([...done, "comment: You asked: It is me again"]);
  });

  it("reopens on both sides when the customer writes, without a request", async () => {
    const id = await account.write("fay", "Hello");
    await account.update(id, { status: "resolved" });
    await account.write("fay", "One more thing", id);
    await comeToRest();
    expect(await account.row(id)).toMatchObject({ status: "open" });
    expect(account.intercom.conversations.get(id)?.state).toBe("open");
    expect(account.done(id)).toEqual(["comment: You asked: Hello", "close", "comment: You asked: One more thing"]);
  });

  it("keeps the latest change when deliveries are late or out of order", async () => {
    const { intercom, bench } = account;
    const id = await account.write("gil", "Hello");
    const closed = intercom.teammate(intercom.carla, id, { type: "close" });
    await bench.advance(2_000);
    const opened = intercom.teammate(intercom.carla, id, { type: "open" });
    await account.deliver(opened, closed, opened, closed);
    expect(await account.row(id)).toMatchObject({ status: "open" });
    // An earlier change that arrives after the close has no effect.
    const stale = intercom.teammate(intercom.carla, id, { type: "open" });
    await bench.advance(2_000);
    await account.update(id, { status: "resolved" });
    await account.deliver(stale);
    expect(await account.row(id)).toMatchObject({ status: "resolved" });
    expect(intercom.conversations.get(id)?.state).toBe("closed");
  });

  it("shows notes of each side on the other, once, and never to the customer", async () => {
    const { intercom } = account;
    const id = await account.write("hal", "Hello");
    await account.deliver(intercom.teammate(intercom.carla, id, { type: "note", body: "He is a regular" }));
    await account.update(id, { notes: [{ content: "Ask him about <b>the</b> bill", authorEmail: null }] });
    await comeToRest();
    expect(await account.notes(id)).toEqual([
      { author: "carla@shop.example", content: "He is a regular" },
      { author: "anna@test.example", content: "Ask him about <b>the</b> bill" },
    ]);
    expect(account.done(id)).toEqual([
      "comment: You asked: Hello",
      "note: anna@test.example:\nAsk him about <b>the</b> bill",
    ]);
    expect(await account.talk(id)).toEqual(["user: Hello", "assistant: You asked: Hello"]);
  });

  it("shows the note of a rule in Intercom, once", async () => {
    const id = await account.write("ivo", "My invoice is wrong");
    await comeToRest();
    expect(account.done(id).toSorted()).toEqual([
      "comment: You asked: My invoice is wrong",
      "note: rule:invoices:\nCheck the invoice first.",
    ]);
    expect(await account.notes(id)).toEqual([{ author: "rule:invoices", content: "Check the invoice first." }]);
  });

  it("shows a handover in Intercom with reason and assignees, once, and not to the customer", async () => {
    const { intercom, bench } = account;
    const id = await account.write("lou", "I want to talk to a human");
    const handed = "note: The bot has handed this conversation over to people: the customer asked for a person.";
    const [said] = account.done(id);
    expect(said).toMatch(/^comment: /);
    expect(account.done(id)).toEqual([said, handed, "assignment", "assignment"]);
    expect(intercom.conversations.get(id)?.assignee).toEqual({ admin: "814861", team: "5017" });
    await comeToRest();
    // The assignment claims nothing: the first reply does.
    expect(await account.row(id)).toMatchObject({ status: "escalated", assigned_to: null });
    expect(await account.notes(id)).toEqual([]);
    await account.deliver(intercom.teammate(intercom.carla, id, { type: "comment", body: "Here I am" }));
    expect(await account.row(id)).toMatchObject({ status: "claimed", assigned_to: "carla@shop.example" });
    expect(account.done(id)).toHaveLength(4);
    // Handed over by an agent in Parley, with Intercom's answer lost.
    const other = await account.write("mo", "Hello");
    await bench.settle();
    intercom.fail({ kind: "hang_up_after_commit" }, { kind: "hang_up_after_commit" }, { kind: "hang_up_after_commit" });
    await account.update(other, { status: "escalated" });
    await bench.advance(hourMs);
    expect(account.done(other).filter((deed) => !deed.startsWith("comment"))).toEqual([
      "note: Anna has handed this conversation over to people.",
      "assignment",
      "assignment",
    ]);
  });

  it("does not repeat a change or note whose answer was lost", async () => {
    const { intercom, bench } = account;
    const id = await account.write("ida", "Hello");
    intercom.fail({ kind: "hang_up_after_commit" });
    await account.update(id, { notes: [{ content: "Only once", authorEmail: null }] });
    await bench.advance(hourMs);
    intercom.fail({ kind: "hang_up_after_commit" });
    await account.update(id, { status: "resolved" });
    await bench.advance(hourMs);
    await comeToRest();
    expect(account.done(id)).toEqual(["comment: You asked: Hello", "note: anna@test.example:\nOnly once", "close"]);
    expect(await account.row(id)).toMatchObject({ status: "resolved" });
  });

  it("shows agents a refused change, and continues with the next", async () => {
    const { intercom } = account;
    const id = await account.write("jo", "Hello");
    intercom.fail({ kind: "error", status: 422, code: "parameter_invalid", message: "not in this state" });
    await account.update(id, { status: "resolved" });
    expect((await account.notes(id)).map(({ content }) => content).join()).toContain("not in this state");
    await account.write("jo", "And now?", id);
    expect(account.done(id)).toEqual(["comment: You asked: Hello", "comment: You asked: And now?"]);
  });

  it("gets a note when it is deleted in Intercom", async () => {
    const { intercom } = account;
    const id = await account.write("kim", "Hello");
    await account.deliver(intercom.remove(id));
    expect(await account.row(id)).toMatchObject({ status: "resolved" });
    expect((await account.notes(id)).map(({ content }) => content).join()).toContain("deleted in Intercom");
    const messageId = await account.reply(id, "Are you there?");
    const [delivery] = await account.bench.store.read
      .selectFrom("deliveries")
      .select(["state", "error"])
      .where("message_id", "=", messageId)
      .execute();
    expect(delivery?.state).toBe("failed");
    expect(delivery?.error).toContain("no such conversation in Intercom any more");
  });
});
