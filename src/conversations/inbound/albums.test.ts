import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { groupKey } from "#conversations/attachments/attachments.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { EngineBench } from "#test/support/engine-bench.ts";
import { openBench } from "#test/support/engine-bench.ts";
import { fileChannel } from "#test/support/channels/file-channel.ts";

eachDatabase("an album with several captions", (open) => {
  let bench: EngineBench;
  let thread: string;
  let threads = 0;
  const channel = fileChannel();
  const account = { channel: "telegram", load: channel.load, config: {} } as const;

  beforeAll(async () => {
    bench = await openBench(open, { account });
  });
  afterAll(() => bench.close());

  const base = () => ({ thread, sender: { key: thread }, sentAt: bench.clock.now() });
  const part = (id: string, text: string, joinsOnly?: true, process = bench) =>
    process.accept({
      ...base(),
      kind: "message",
      externalId: `message:${thread}:${id}`,
      messageExternalId: `${thread}:${id}`,
      text,
      files: [{ ref: `${thread}:${id}`, name: `${id}.jpg`, mediaType: "image/jpeg", bytes: 3 }],
      group: { key: "album", ...(joinsOnly === undefined ? {} : { joinsOnly }) },
    });
  const edit = (id: string, text: string, knownOnly?: true) =>
    bench.accept({
      ...base(),
      kind: "edit",
      externalId: `edit:${thread}:${id}:${text}`,
      messageExternalId: `${thread}:${id}`,
      text,
      ...(knownOnly === undefined ? {} : { knownOnly }),
    });
  const said = async (): Promise<readonly string[]> => {
    const rows = bench.store.read
      .selectFrom("messages")
      .innerJoin("conversations", "conversations.id", "messages.conversation_id")
      .select("messages.content")
      .where("conversations.context_key", "=", thread)
      .where("messages.role", "=", "user");
    return (await rows.execute()).map(({ content }) => content);
  };
  const begin = (): void => {
    thread = `chat${(threads += 1)}`;
  };

  it("becomes one message with all captions, in any order of delivery", async () => {
    begin();
    await part("1", "Front");
    await part("2", "");
    await part("3", "Back");
    await part("3", "Back");
    expect(await said()).toEqual(["Front\nBack"]);
    begin();
    await Promise.all([part("1", ""), part("2", "Front"), part("3", "Back")]);
    expect(await said()).toEqual(["Front\nBack"]);
  });

  it("shows edited captions", async () => {
    begin();
    for (const [id, text] of [
      ["1", "Front"],
      ["2", "Back"],
      ["3", ""],
    ] as const) {
      await part(id, text);
    }
    await edit("2", "Rear");
    expect(await said()).toEqual(["Front\nRear"]);
    await edit("1", "Face");
    await edit("3", "Side");
    expect(await said()).toEqual(["Face\nRear\nSide"]);
    await part("4", "Top");
    expect(await said()).toEqual(["Face\nRear\nSide\nTop"]);
    await edit("1", "");
    expect(await said()).toEqual(["Rear\nSide\nTop"]);
  });

  it("shows edits that arrive with their picture or before it", async () => {
    begin();
    await Promise.all([part("1", "Front"), part("2", "Back"), edit("2", "Rear"), edit("1", "Face")]);
    expect(await said()).toEqual(["Face\nRear"]);
    await Promise.all([edit("1", "Head"), part("3", "Side"), edit("3", "Flank")]);
    expect(await said()).toEqual(["Head\nRear\nFlank"]);
    await edit("4", "Summit");
    await part("4", "Top");
    expect(await said()).toEqual(["Head\nRear\nFlank\nSummit"]);
    await part("5", "");
    expect(await said()).toEqual(["Head\nRear\nFlank\nSummit"]);
  });

  it("keeps the newest edit when an older one arrives later and another picture joins", async () => {
    begin();
    const now = bench.clock.now();
    const editAt = (text: string, sentAt: number) =>
      bench.accept({
        ...base(),
        sentAt,
        kind: "edit",
        externalId: `edit:${thread}:2:${text}`,
        messageExternalId: `${thread}:2`,
        text,
      });
    await part("1", "Front");
    await editAt("Rear", now + 2_000);
    await editAt("Bcak", now + 1_000);
    await part("2", "Back");
    expect(await said()).toEqual(["Front\nRear"]);
    await part("3", "Side");
    expect(await said()).toEqual(["Front\nRear\nSide"]);
    const kept = await bench.store.read
      .selectFrom("inbound_events")
      .select("payload")
      .where("external_id", "=", `edit:${thread}:2:Bcak`)
      .executeTakeFirstOrThrow();
    // An obsolete edit is stored without its text.
    expect(kept.payload).not.toContain('"text"');
  });

  it("is answered when its text arrives after an answer to the pictures alone", async () => {
    begin();
    await part("1", "");
    await bench.advance(5_000);
    await part("2", "Which is mine?");
    await part("3", "");
    await edit("2", "Which is hers?");
    await bench.advance(5_000);
    expect(await said()).toEqual(["", "Which is hers?"]);
    expect(bench.asked.at(-1)?.text).toBe("Which is hers?");
    const files = bench.store.read
      .selectFrom("messages")
      .innerJoin("conversations", "conversations.id", "messages.conversation_id")
      .select("messages.files")
      .where("conversations.context_key", "=", thread)
      .where("messages.role", "=", "user")
      .orderBy("messages.seq");
    expect((await files.execute()).map((row) => row.files)).toEqual([1, 2]);
  });

  it("includes pictures that arrived before its sender was known to be a customer, and no others", async () => {
    begin();
    const other = thread;
    await part("1", "", true);
    begin();
    await Promise.all([part("1", "", true), part("2", "Not for us", true), part("2", "Not for us", true)]);
    await part("3", "Which of these?");
    await part("4", "", true);
    await bench.advance(5_000);
    expect(await said()).toEqual(["Which of these?"]);
    const files = bench.store.read
      .selectFrom("attachments")
      .select(["name", "state", "message_id"])
      .orderBy("position");
    const of = await files
      .where(
        "group_key",
        "in",
        [other, thread].map((each) => groupKey(each, "album")),
      )
      .execute();
    expect(of.filter(({ message_id: id }) => id === null)).toMatchObject([{ name: "1.jpg", state: "pending" }]);
    expect(of.filter(({ message_id: id }) => id !== null).map(({ name }) => name)).toEqual([
      "1.jpg",
      "2.jpg",
      "3.jpg",
      "4.jpg",
    ]);
  });

  it("includes captions of pictures that arrived before its sender was known to be a customer", async () => {
    begin();
    await part("1", "", true);
    await part("2", "Which is mine?");
    await edit("1", "The left one", true);
    expect(await said()).toEqual(["Which is mine?\nThe left one"]);
    await edit("1", "The right one", true);
    await edit("2", "Which is hers?", true);
    expect(await said()).toEqual(["Which is hers?\nThe right one"]);
    begin();
    await part("1", "", true);
    await edit("1", "Not for us", true);
    const kept = await bench.store.read.selectFrom("inbound_events").select("payload").execute();
    expect(kept.filter(({ payload }) => payload.includes('"text":"Not for us"'))).toEqual([]);
  });

  const picture = (key: string) => ({ ref: key, key, name: `${key}.jpg`, mediaType: "image/jpeg", bytes: 3 });
  const wrote = (id: string, text: string, keys: readonly string[], group?: string) =>
    bench.accept({
      ...base(),
      kind: "message",
      externalId: `message:${thread}:${id}`,
      messageExternalId: `${thread}:${id}`,
      text,
      files: keys.map(picture),
      ...(group === undefined ? {} : { group: { key: group } }),
    });
  const changed = (id: string, text: string, ...keys: readonly string[]) =>
    bench.accept({
      ...base(),
      kind: "edit",
      externalId: `edit:${thread}:${id}:${text}`,
      messageExternalId: `${thread}:${id}`,
      text,
      files: keys.map(picture),
    });
  const took = (id: string) =>
    bench.accept({
      ...base(),
      kind: "delete",
      externalId: `delete:${thread}:${id}`,
      messageExternalId: `${thread}:${id}`,
    });
  /** Its words, the files that it is said to have, and those that it has. */
  const whole = async () => {
    const messages = bench.store.read
      .selectFrom("messages")
      .innerJoin("conversations", "conversations.id", "messages.conversation_id")
      .select(["messages.id", "messages.content", "messages.files"])
      .where("conversations.context_key", "=", thread)
      .where("messages.role", "=", "user");
    const { id, content, files } = await messages.executeTakeFirstOrThrow();
    const rows = bench.store.read.selectFrom("attachments").select(["name", "position"]).where("message_id", "=", id);
    const names = (await rows.orderBy("position").execute()).map(({ name, position }) => `${position} ${name}`);
    return { content, files, names };
  };

  it("includes pictures that an edit adds, before, with or after its message", async () => {
    const one = { content: "Which?", files: 1, names: ["0 a.jpg"] };
    // Pictures of the previous test may still be fetched.
    await bench.advance(5_000);
    const before = channel.asked.length;
    begin();
    await Promise.all([wrote("1", "Whihc?", []), changed("1", "Which?", "a")]);
    expect(await whole()).toEqual(one);
    begin();
    await changed("1", "Which?", "a");
    await wrote("1", "Whihc?", []);
    expect(await whole()).toEqual(one);
    begin();
    await Promise.all([changed("1", "Which?", "a"), wrote("1", "Whihc?", [])]);
    expect(await whole()).toEqual(one);
    const two = { content: "Which?", files: 2, names: ["0 a.jpg", "1 b.jpg"] };
    begin();
    await changed("1", "Which?", "a", "b");
    await wrote("1", "", ["a"]);
    expect(await whole()).toEqual(two);
    begin();
    await Promise.all([wrote("1", "", ["a"]), changed("1", "Which?", "b"), changed("1", "Which?!", "a", "b")]);
    expect(await whole()).toEqual({ ...two, content: "Which?!" });
    await bench.advance(5_000);
    expect(channel.asked.slice(before).toSorted()).toEqual(["a", "a", "a", "a", "a", "b", "b"]);
  });

  it("keeps pictures in order and without duplicates when parts and edits arrive together", async () => {
    begin();
    await wrote("1", "One", ["a"], "album");
    await Promise.all([
      changed("1", "One!", "a", "b"),
      wrote("2", "Two", ["c"], "album"),
      changed("2", "Two!", "d"),
      changed("1", "One?", "b", "e"),
    ]);
    const names = ["0 a.jpg", "1 b.jpg", "2 c.jpg", "3 d.jpg", "4 e.jpg"];
    expect(await whole()).toEqual({ content: "One?\nTwo!", files: 5, names });
    await changed("3", "Three!", "f", "g");
    await wrote("3", "Three", ["f"], "album");
    const more = [...names, "5 f.jpg", "6 g.jpg"];
    expect(await whole()).toEqual({ content: "One?\nTwo!\nThree!", files: 7, names: more });
  });

  it("applies an edit or a deletion that arrives with a new picture", async () => {
    begin();
    await wrote("1", "One", []);
    await Promise.all([changed("1", "Two", "a"), changed("1", "Three", "a")]);
    expect(await whole()).toEqual({ content: "Three", files: 1, names: ["0 a.jpg"] });
    await Promise.all([changed("1", "Four", "b"), took("1")]);
    expect(await whole()).toEqual({ content: "", files: null, names: [] });
    begin();
    await Promise.all([wrote("1", "One", ["a"]), changed("1", "Two", "b"), took("1")]);
    expect(await whole()).toEqual({ content: "", files: null, names: [] });
  });

  it("is loaded without the other events of its thread", async () => {
    begin();
    await part("1", "Front");
    const { dialect, read } = bench.store;
    const ofMessage = sql`select kind, payload from inbound_events where conversation_id = ${thread} and message_id = ${thread}`;
    const plan = await sql`${sql.raw(dialect === "sqlite" ? "explain query plan" : "explain")} ${ofMessage}`.execute(
      read,
    );
    expect(JSON.stringify(plan.rows)).toContain("inbound_events_message");
  });

  it("includes all pictures when two processes receive them at once", async () => {
    const other = await openBench(open, { beside: bench, clock: bench.clock, account });
    const filesOf = async () => {
      const rows = bench.store.read.selectFrom("attachments").select("message_id");
      return (await rows.where("group_key", "=", groupKey(thread, "album")).execute()).map((row) => row.message_id);
    };
    for (let times = 0; times < 12; times += 1) {
      begin();
      await Promise.all([part("1", "", true), part("2", "Which is mine?", undefined, other), part("3", "", true)]);
      const files = await filesOf();
      expect(files).toHaveLength(3);
      expect(files).not.toContain(null);
    }
    await other.close();
  });
});
