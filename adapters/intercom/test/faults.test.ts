import { afterAll, beforeAll, expect, it } from "vitest";
import { loadAdapter } from "#channels/load-adapter.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import { hourMs, minuteMs, openBench } from "#test/support/engine-bench.ts";
import type { IntercomBench } from "./support/account.ts";
import { openIntercom } from "./support/account.ts";
import type { Notification } from "./support/fake-intercom.ts";

eachDatabase("an account while Intercom fails", (open) => {
  let account: IntercomBench;
  beforeAll(async () => {
    account = await openIntercom(open);
  });
  afterAll(() => account.close());

  const statesOf = async (messageId: string) =>
    (
      await account.bench.store.read
        .selectFrom("deliveries")
        .select("state")
        .where("message_id", "=", messageId)
        .execute()
    ).map(({ state }) => state);

  it("loses and duplicates no message after an hour without deliveries", async () => {
    const { intercom, bench } = account;
    const before = await account.write("ada0", "Before");
    const undelivered: Notification[] = [];
    const threads: string[] = [];
    for (let i = 0; i < 30; i += 1) {
      const { conversation, notification } = intercom.write({ contact: `ada${i}`, text: `number ${i}` });
      threads.push(conversation);
      undelivered.push(notification);
      await bench.advance(minuteMs);
      intercom.write({ contact: `ada${i}`, text: `more of ${i}`, conversation });
      await bench.advance(minuteMs);
    }
    intercom.teammate(intercom.carla, threads[0] ?? "", { type: "comment", body: "I have it" });
    intercom.teammate(intercom.carla, before, { type: "close" });
    await account.poll();
    // Late deliveries are duplicates by then.
    await account.deliver(...intercom.notifications.splice(0).toReversed(), ...undelivered);
    for (const [i, thread] of threads.entries()) {
      const talk = await account.talk(thread);
      expect(talk.filter((line) => line.startsWith("user"))).toEqual([`user: number ${i}`, `user: more of ${i}`]);
      expect(new Set(talk).size).toBe(talk.length);
    }
    expect(await account.row(threads[0] ?? "")).toMatchObject({ status: "claimed", assigned_to: "carla@shop.example" });
    expect(await account.row(before)).toMatchObject({ status: "resolved" });
    expect(bench.logged.filter((line) => line.includes("missed events read")).length).toBeGreaterThan(0);
  }, 120_000);

  it("reads all pages of Intercom's search", async () => {
    const { intercom, bench } = account;
    intercom.workspace.pageMax = 20;
    const threads = Array.from(
      { length: 45 },
      (_, i) => intercom.write({ contact: `many${i}`, text: `page ${i}` }).conversation,
    );
    intercom.notifications.splice(0);
    await account.poll();
    const stored = await bench.store.read
      .selectFrom("messages")
      .select("content")
      .where("role", "=", "user")
      .where("content", "like", "page %")
      .execute();
    expect(stored.map(({ content }) => content).toSorted()).toEqual(threads.map((_, i) => `page ${i}`).toSorted());
  }, 120_000);

  it("finds missed messages even if Intercom's search compares days and does not sort", async () => {
    const { intercom, bench } = account;
    intercom.workspace.searchesByDay = true;
    intercom.workspace.pageMax = 150;
    const { conversation } = intercom.write({ contact: "day", text: "Today" });
    intercom.notifications.splice(0);
    await account.poll();
    intercom.workspace.searchesByDay = false;
    intercom.workspace.pageMax = 20;
    expect(await account.talk(conversation)).toEqual(["user: Today", "assistant: You asked: Today"]);
    // In a sorted search the first page shows that nothing follows.
    await bench.advance(30 * minuteMs);
    await account.write("later", "Half an hour later");
    for (let look = 0; look < 3; look += 1) await account.poll();
    const before = intercom.calls.length;
    await account.poll();
    const searches = intercom.calls.slice(before).filter(({ path }) => path === "/conversations/search");
    expect(searches.filter(({ body }) => JSON.stringify(body).includes("starting_after"))).toEqual([]);
  }, 60_000);

  it("finds a message written within the second of the last read", async () => {
    const { intercom, bench } = account;
    const thread = await account.write("quick", "Hello");
    const conversation = intercom.conversations.get(thread);
    if (conversation === undefined) throw new Error("the conversation is gone");
    const reads = () => intercom.calls.filter(({ path }) => path === `/conversations/${thread}`).length;
    const before = reads();
    for (let look = 0; reads() === before && look < 100; look += 1) {
      await bench.advance(1_000);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(reads()).toBeGreaterThan(before);
    const second = conversation.updated_at;
    intercom.write({ contact: "quick", text: "Is anybody there?", conversation: thread });
    intercom.notifications.splice(0);
    // Intercom's times are whole seconds: the new part has the time of the previous one.
    Object.assign(conversation.parts.at(-1) ?? {}, { created_at: second });
    conversation.updated_at = second;
    await account.poll();
    expect((await account.talk(thread)).filter((line) => line.startsWith("user"))).toEqual([
      "user: Hello",
      "user: Is anybody there?",
    ]);
  });

  it("polls only for new changes, and reads each once", async () => {
    const { intercom } = account;
    await account.bench.advance(10 * minuteMs);
    // Our own replies are changes too.
    for (let look = 0; look < 3; look += 1) await account.poll();
    const before = intercom.calls.length;
    await account.poll();
    const asked = intercom.calls.slice(before);
    expect(asked.every(({ path }) => path === "/conversations/search" || path === "/me" || path === "/admins")).toBe(
      true,
    );
  });

  it("pauses all conversations during a rate limit, then sends in order", async () => {
    const { intercom, bench } = account;
    const [one, two] = [await account.write("bea", "Hello"), await account.write("cleo", "Hello")];
    intercom.fail({ kind: "limit", seconds: 40 });
    const sent = [
      await account.reply(one, "first"),
      await account.reply(one, "second"),
      await account.reply(two, "third"),
    ];
    const calls = account.changes().length;
    await bench.advance(38_000);
    // One refusal pauses the whole account.
    expect(account.changes()).toHaveLength(calls);
    expect(account.done(two)).toEqual(["comment: You asked: Hello"]);
    await bench.advance(hourMs);
    expect(account.done(one).slice(1)).toEqual(["comment: Anna:\nfirst", "comment: Anna:\nsecond"]);
    expect(account.done(two).slice(1)).toEqual(["comment: Anna:\nthird"]);
    for (const id of sent) expect(await statesOf(id)).toEqual(["sent"]);
  });

  it("sends every reply once through many refusals and broken connections", async () => {
    const { intercom, bench } = account;
    const id = await account.write("dora", "Hello");
    intercom.fail(
      { kind: "limit", seconds: 11 },
      { kind: "hang_up_before_commit" },
      { kind: "limit", seconds: 3 },
      { kind: "hang_up_after_commit" },
      { kind: "html", status: 502 },
      { kind: "hang_up_after_commit" },
      { kind: "limit", seconds: 20 },
    );
    // Equal texts are separate messages.
    const texts = ["one", "same", "same", "four", "five"];
    for (const text of texts) await account.reply(id, text);
    await bench.advance(2 * hourMs);
    expect(account.done(id).slice(1)).toEqual(texts.map((text) => `comment: Anna:\n${text}`));
  }, 60_000);

  it("gives up a refused reply, with the reason", async () => {
    const { intercom } = account;
    const id = await account.write("elsa", "Hello");
    intercom.fail({ kind: "error", status: 422, code: "parameter_invalid", message: "the body is not allowed" });
    expect(await statesOf(await account.reply(id, "Not this"))).toEqual(["failed"]);
    expect((await account.notes(id)).map(({ content }) => content).join()).toContain("the body is not allowed");
    await account.reply(id, "But this");
    expect(account.done(id).slice(1)).toEqual(["comment: Anna:\nBut this"]);
  });

  it("stops when its token is revoked, reports it once a minute, and loses nothing", async () => {
    const { intercom, bench } = account;
    const id = await account.write("gil", "Hello");
    intercom.revoke();
    const messageId = await account.reply(id, "Later then");
    await bench.advance(5 * minuteMs);
    expect(await statesOf(messageId)).toEqual(["queued"]);
    const [waiting] = await bench.store.read
      .selectFrom("outbox")
      .select("last_error")
      .where("kind", "=", "send")
      .execute();
    expect(waiting?.last_error).toContain("Intercom refuses the access token: copy it again");
    // Deliveries are still accepted.
    const { notification } = intercom.write({ contact: "gil", text: "Still there?", conversation: id });
    expect(await intercom.deliver(notification)).toBe(200);
  });
});

eachDatabase("two processes with the same account at Intercom", (open) => {
  it("poll one at a time: the second starts when the first is gone", async () => {
    const first = await openIntercom(open);
    const { bench, intercom } = first;
    const account = { channel: "intercom", load: loadAdapter, config: {} } as const;
    const second = await openBench(open, { beside: bench, clock: bench.clock, account });
    try {
      const searches = () => intercom.calls.filter(({ path }) => path === "/conversations/search").length;
      await first.poll();
      const before = searches();
      await bench.advance(5 * minuteMs);
      // One search every fifteen seconds, by one process.
      expect(searches() - before).toBeLessThanOrEqual(21);
      await bench.app.close();
      const { conversation } = intercom.write({ contact: "ada", text: "Is anybody left?" });
      const said = () =>
        second.store.read.selectFrom("messages").select("content").where("role", "=", "assistant").execute();
      for (let tries = 0; tries < 200 && (await said()).length === 0; tries += 1) {
        await second.advance(5_000);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      await second.settle();
      expect(await said()).toEqual([{ content: "You asked: Is anybody left?" }]);
      expect(first.done(conversation)).toEqual(["comment: You asked: Is anybody left?"]);
    } finally {
      await second.close();
      await first.close();
    }
  }, 60_000);
});
