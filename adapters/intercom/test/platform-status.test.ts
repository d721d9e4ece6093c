import { afterAll, beforeAll, expect, it } from "vitest";
import { eachDatabase } from "#test/support/database/databases.ts";
import { hourMs } from "#test/support/engine-bench.ts";
import type { IntercomBench } from "./support/account.ts";
import { openIntercom } from "./support/account.ts";

eachDatabase("a conversation that people work on in Intercom and in Parley", (open) => {
  let account: IntercomBench;
  beforeAll(async () => {
    account = await openIntercom(open, { handover_to_team: "5017", handover_to_admin: "814861" });
  });
  afterAll(() => account.close());

  /** Delivers everything that happened in Intercom, our own doings included, and looks as the safety poll does. */
  async function comeToRest(): Promise<void> {
    for (let round = 0; round < 3; round += 1) {
      await account.deliver(...account.intercom.notifications.splice(0));
    }
    await account.poll();
    await account.deliver(...account.intercom.notifications.splice(0));
  }

  it("is claimed by the teammate who replies there, and the bot is silent from then on", async () => {
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
    // Nothing that was said there is said again.
    expect(account.done(id)).toEqual(["comment: You asked: Where is my parcel?"]);
  });

  it("is claimed by whom a teammate assigns it to, and answered by the bot again when it is given back", async () => {
    const { intercom } = account;
    const id = await account.write("bea", "Hello");
    await account.deliver(intercom.teammate(intercom.carla, id, { type: "assignment", to: intercom.carla }));
    expect(await account.row(id)).toMatchObject({ status: "claimed", assigned_to: "carla@shop.example" });
    await account.deliver(intercom.teammate(intercom.carla, id, { type: "assignment", to: intercom.bot }));
    expect(await account.row(id)).toMatchObject({ status: "open", assigned_to: null });
    await account.write("bea", "Is somebody there?", id);
    expect(await account.talk(id)).toContain("assistant: You asked: Is somebody there?");
  });

  it("is closed, opened and put to sleep here when it is there, and nothing of it goes back", async () => {
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

  it("is closed, opened and put to sleep there when it is here, once, and nothing of it comes back", async () => {
    const { intercom, bench } = account;
    const id = await account.write("dora", "Hello");
    const standing = () => intercom.conversations.get(id)?.state;
    await account.reply(id, "Good day");
    await account.update(id, { status: "resolved" });
    expect(standing()).toBe("closed");
    await account.update(id, { status: "open" });
    expect(standing()).toBe("open");
    const at = bench.clock.now() + 24 * hourMs;
    await account.update(id, { status: "snoozed", snooze: { kind: "until", at } });
    expect(standing()).toBe("snoozed");
    expect(intercom.conversations.get(id)?.snoozed_until).toBe(Math.ceil(at / 1_000));
    const version = (await account.row(id)).event_seq;
    const before = account.done(id);
    // The reply goes before what was done after it.
    expect(before).toEqual(["comment: You asked: Hello", "comment: Anna:\nGood day", "close", "open", "snoozed"]);
    await comeToRest();
    expect(account.done(id)).toEqual(before);
    expect(await account.row(id)).toMatchObject({ status: "snoozed", event_seq: version });
  });

  it("sleeps there without an end that anybody sees, when it is to sleep until the customer writes", async () => {
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

  it("opens here and there when the customer writes to what was closed, without a call", async () => {
    const id = await account.write("fay", "Hello");
    await account.update(id, { status: "resolved" });
    await account.write("fay", "One more thing", id);
    await comeToRest();
    expect(await account.row(id)).toMatchObject({ status: "open" });
    expect(account.intercom.conversations.get(id)?.state).toBe("open");
    expect(account.done(id)).toEqual(["comment: You asked: Hello", "close", "comment: You asked: One more thing"]);
  });

  it("stands as it was left last, when changes are told late and in another order", async () => {
    const { intercom, bench } = account;
    const id = await account.write("gil", "Hello");
    const closed = intercom.teammate(intercom.carla, id, { type: "close" });
    await bench.advance(2_000);
    const opened = intercom.teammate(intercom.carla, id, { type: "open" });
    await account.deliver(opened, closed, opened, closed);
    expect(await account.row(id)).toMatchObject({ status: "open" });
    // What was done there before it was closed here changes nothing any more.
    const stale = intercom.teammate(intercom.carla, id, { type: "open" });
    await bench.advance(2_000);
    await account.update(id, { status: "resolved" });
    await account.deliver(stale);
    expect(await account.row(id)).toMatchObject({ status: "resolved" });
    expect(intercom.conversations.get(id)?.state).toBe("closed");
  });

  it("shows notes of either side on the other, once, and never to the customer", async () => {
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

  it("shows those who work there that the bot has handed over, why and to whom, once and not the customer", async () => {
    const { intercom, bench } = account;
    const id = await account.write("lou", "I want to talk to a human");
    const handed = "note: The bot has handed this conversation over to people: the customer asked for a person.";
    const [said] = account.done(id);
    expect(said).toMatch(/^comment: /);
    expect(account.done(id)).toEqual([said, handed, "assignment", "assignment"]);
    expect(intercom.conversations.get(id)?.assignee).toEqual({ admin: "814861", team: "5017" });
    await comeToRest();
    // That they have it to do is no reply of theirs: the first who answers claims it.
    expect(await account.row(id)).toMatchObject({ status: "escalated", assigned_to: null });
    expect(await account.notes(id)).toEqual([]);
    await account.deliver(intercom.teammate(intercom.carla, id, { type: "comment", body: "Here I am" }));
    expect(await account.row(id)).toMatchObject({ status: "claimed", assigned_to: "carla@shop.example" });
    expect(account.done(id)).toHaveLength(4);
    // By an agent in Parley, where Intercom has done it and its answer was lost.
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

  it("takes a change and a note that Intercom did and did not answer for as done", async () => {
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

  it("tells the agents what Intercom refuses of it, and goes on with what follows", async () => {
    const { intercom } = account;
    const id = await account.write("jo", "Hello");
    intercom.fail({ kind: "error", status: 422, code: "parameter_invalid", message: "not in this state" });
    await account.update(id, { status: "resolved" });
    expect((await account.notes(id)).map(({ content }) => content).join()).toContain("not in this state");
    await account.write("jo", "And now?", id);
    expect(account.done(id)).toEqual(["comment: You asked: Hello", "comment: You asked: And now?"]);
  });

  it("is told of when it was deleted there", async () => {
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
