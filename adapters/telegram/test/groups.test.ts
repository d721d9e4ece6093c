import { afterEach, describe, expect, it } from "vitest";
import { insertRows } from "#database/dialects/insert-rows.ts";
import { hourMs, minuteMs } from "#test/support/engine-bench.ts";
import { png } from "#test/support/channels/file-channel.ts";
import type { Bot } from "./support/bot.ts";
import { openBot } from "./support/bot.ts";
import { editUpdate, messageUpdate, updateId } from "./support/updates.ts";

type Fields = Readonly<Record<string, unknown>>;

let bot: Bot;
afterEach(() => bot.close());

const refusal = (code: number, description: string) => ({ kind: "error", code, description }) as const;
const toTheBot = () => ({ reply_to_message: { message_id: 9, from: { id: bot.telegram.botId, is_bot: true } } });

describe("a group that becomes a supergroup", () => {
  const [before, after] = [-5, -1_005];
  const group = { id: before, type: "group", title: "Fans" };
  const supergroup = { id: after, type: "supergroup", title: "Fans" };
  const say = (messageId: number, text: string, chat: Fields) =>
    bot.post(messageUpdate({ chatId: 7, messageId, text, chat, more: toTheBot() }));
  const reportMove = (chat: Fields, more: Fields) => bot.post(messageUpdate({ chatId: 7, messageId: 90, chat, more }));
  const threads = async (): Promise<readonly string[]> => {
    const rows = bot.bench.store.read.selectFrom("conversations").select("context_key").orderBy("context_key");
    return (await rows.execute()).map(({ context_key: thread }) => thread);
  };

  it("keeps its conversation, whichever group reports the move first", async () => {
    bot = await openBot();
    await say(2, "One", group);
    await reportMove(supergroup, { migrate_from_chat_id: before });
    await say(2, "Two", supergroup);
    await reportMove(group, { migrate_to_chat_id: after });
    await say(3, "Three", supergroup);
    expect(await threads()).toEqual([String(after)]);
  });

  it("receives replies in the supergroup when customers wrote there before the move was reported", async () => {
    bot = await openBot();
    await say(2, "One", group);
    await bot.bench.settle();
    const conversation = await bot.conversationIn(String(before));
    bot.telegram.upgrade(before, after);
    await say(2, "Two", supergroup);
    await reportMove(group, { migrate_to_chat_id: after });
    await reportMove(supergroup, { migrate_from_chat_id: before });
    await bot.reply(conversation, "Are you there?");
    await bot.reply(conversation, "Still?");
    expect(await threads()).toEqual([String(after), String(before)]);
    expect(bot.texts(after)).toEqual(["You asked: Two", "Anna:\nAre you there?", "Anna:\nStill?"]);
    expect(await bot.bench.notes(conversation)).toEqual([]);
  });
});

describe("a message in a group", () => {
  const group = { id: -1_005, type: "supergroup", title: "Fans" };
  const say = (messageId: number, text: string, entity: Fields) =>
    bot.post(
      messageUpdate({ chatId: 7, messageId, text, chat: group, more: { entities: [{ offset: 0, ...entity }] } }),
    );
  const said = async () => {
    await bot.bench.settle();
    return bot.texts(group.id);
  };

  it("addresses the bot when a client mentions it without its username", async () => {
    bot = await openBot();
    await say(1, "Somebody, when?", { type: "text_mention", length: 8, user: { id: 8 } });
    await say(2, "Parley, when?", { type: "text_mention", length: 6, user: { id: bot.telegram.botId, is_bot: true } });
    expect(await said()).toEqual(["You asked: Parley, when?"]);
  });

  it("addresses a renamed bot", async () => {
    bot = await openBot();
    await say(1, "@parley_test_bot one?", { type: "mention", length: 16 });
    bot.telegram.rename("shop_bot");
    await bot.bench.advance(hourMs);
    bot.telegram.fail("getMe", refusal(500, "Internal Server Error"));
    // The old name is cached, so messages to others are not refused.
    for (const id of [20, 21]) {
      expect((await say(id, "@somebody else?", { type: "mention", length: 9 })).ok).toBe(true);
    }
    await bot.bench.advance(minuteMs);
    await say(3, "@shop_bot two?", { type: "mention", length: 9 });
    await say(4, "/ask@shop_bot three?", { type: "bot_command", length: 13 });
    await say(5, "@parley_test_bot four?", { type: "mention", length: 16 });
    expect(await said()).toEqual([
      "You asked: @parley_test_bot one?",
      "You asked: @shop_bot two?",
      "You asked: /ask@shop_bot three?",
    ]);
    expect(bot.telegram.calls("getMe")).toHaveLength(3);
  });

  it("is refused until the bot's name is known, then accepted", async () => {
    bot = await openBot();
    bot.telegram.fail("getMe", refusal(500, "Internal Server Error"));
    const isTaken = async () => (await say(1, "@parley_test_bot one?", { type: "mention", length: 16 })).ok;
    expect([await isTaken(), await isTaken()]).toEqual([false, true]);
    expect(await said()).toEqual(["You asked: @parley_test_bot one?"]);
  });

  it("is refused without the token in the log when the connection breaks", async () => {
    bot = await openBot();
    bot.telegram.fail("getMe", { kind: "hang_up" });
    expect((await say(1, "@parley_test_bot one?", { type: "mention", length: 16 })).ok).toBe(false);
    const log = bot.bench.logged.join("\n");
    expect(log).toContain("the connection broke");
    expect(log).not.toContain(bot.telegram.token);
  });
});

describe("a message in a group that addresses the bot only after an edit", () => {
  const chat = { id: -1_005, type: "supergroup", title: "Fans" };
  const mention = { entities: [{ type: "mention", offset: 0, length: 16 }] };
  const written = (secondsAgo: number) => ({ date: Math.floor(bot.bench.clock.now() / 1_000) - secondsAgo });
  const say = (text: string, more: Fields) => bot.post(messageUpdate({ chatId: 7, messageId: 2, text, chat, more }));
  const change = (text: string, more: Fields) => bot.post(editUpdate({ chatId: 7, messageId: 2, text, chat, more }));

  it("gets a reply, and later edits apply to it", async () => {
    bot = await openBot();
    await say("How much?", written(60));
    await change("@parley_test_bot how much?", { ...written(60), ...mention });
    await bot.bench.settle();
    await change("@parley_test_bot how long?", { ...written(60), ...mention });
    await change("How long?", written(60));
    await bot.bench.settle();
    expect(await bot.bench.talk(await bot.conversationIn(String(chat.id)))).toEqual([
      "user: How long?",
      "assistant: You asked: @parley_test_bot how much?",
    ]);
  });

  it("gets no reply when it is old", async () => {
    bot = await openBot();
    await change("@parley_test_bot how much?", { ...written(2 * 3_600), ...mention });
    await bot.bench.settle();
    expect(bot.texts(chat.id)).toEqual([]);
  });
});

describe("a group that permits the bot to write, but not to send files", () => {
  it("is not reported as unreachable", async () => {
    bot = await openBot();
    await bot.post(
      messageUpdate({ chatId: 7, messageId: 2, text: "How?", chat: { id: -5, type: "group" }, more: toTheBot() }),
    );
    await bot.bench.settle();
    const conversation = await bot.conversationIn("-5");
    const refused = (what: string) => refusal(400, `Bad Request: not enough rights to send ${what} to the chat`);
    bot.telegram.fail("sendPhoto", refused("photos"));
    bot.telegram.fail("sendDocument", refused("documents"));
    await bot.reply(conversation, "Like this", [await bot.upload(conversation, "how.png", png)]);
    bot.telegram.fail("sendMessage", refused("text messages"));
    await bot.reply(conversation, "Like that");
    expect(await bot.bench.notes(conversation)).toEqual([
      "This message could not be delivered: the bot may not send such files in this Telegram group",
      "This message could not be delivered: the bot may not write in this Telegram group",
    ]);
  });
});

describe("a topic of a forum", () => {
  const forum = { id: -1_005, type: "supergroup", title: "Fans", is_forum: true };
  const thread = "-1005:9";
  const asks = async (): Promise<string> => {
    bot = await openBot();
    const more = { is_topic_message: true, message_thread_id: 9, ...toTheBot() };
    await bot.post(messageUpdate({ chatId: 7, messageId: 2, text: "How much?", chat: forum, more }));
    await bot.bench.settle();
    return bot.conversationIn(thread);
  };

  it("that is closed or deleted gets its replies in the group itself", async () => {
    const conversation = await asks();
    for (const reason of ["message thread not found", "TOPIC_CLOSED", "TOPIC_DELETED"]) {
      bot.telegram.fail("sendMessage", refusal(400, `Bad Request: ${reason}`));
      await bot.reply(conversation, reason);
      expect(bot.telegram.shown.at(-1)).toMatchObject({ text: `Anna:\n${reason}`, topicId: undefined });
    }
  });

  it("that is gone and a refused picture lead to a document in the group", async () => {
    const conversation = await asks();
    const file = await bot.upload(conversation, "wide.png", png);
    bot.telegram.fail(
      "sendPhoto",
      refusal(400, "Bad Request: message thread not found"),
      refusal(400, "Bad Request: PHOTO_INVALID_DIMENSIONS"),
    );
    await bot.reply(conversation, "Here", [file]);
    expect(bot.telegram.shown.at(-1)).toMatchObject({ topicId: undefined, file: { how: "document", bytes: png } });
  });

  it("is unreachable with its group until the bot returns", async () => {
    const conversation = await asks();
    const isMarked = async () => (await bot.bench.row(conversation)).unreachable !== null;
    const member = (status: string) =>
      bot.post({
        update_id: updateId(),
        my_chat_member: { chat: forum, from: { id: 7 }, date: 1, new_chat_member: { status } },
      });
    bot.telegram.fail(
      "sendMessage",
      refusal(400, "Bad Request: message thread not found"),
      refusal(403, "Forbidden: bot was kicked from the supergroup chat"),
    );
    await bot.reply(conversation, "Are you there?");
    expect(await isMarked()).toBe(true);
    await member("member");
    expect(await isMarked()).toBe(false);
    await member("kicked");
    expect(await isMarked()).toBe(true);
  });
});

describe("topics without recent messages", () => {
  const isMarked = async (thread: string) =>
    (await bot.bench.row(await bot.conversationIn(thread))).unreachable !== null;
  const member = (chat: Fields, status: string) =>
    bot.post({
      update_id: updateId(),
      my_chat_member: { chat, from: { id: 7 }, date: 1, new_chat_member: { status } },
    });
  const ask = async (chat: Fields, topicId: number) => {
    const more = { is_topic_message: true, message_thread_id: topicId, ...toTheBot() };
    await bot.post(messageUpdate({ chatId: 7, messageId: topicId, text: "How much?", chat, more }));
  };

  it("are unreachable with their forum, and no other's are", async () => {
    bot = await openBot();
    const forum = { id: -1_005, type: "supergroup", title: "Fans", is_forum: true };
    for (const topicId of [9, 10]) await ask(forum, topicId);
    await ask({ ...forum, id: -10_055 }, 9);
    await bot.bench.settle();
    const { store } = bot.bench;
    const archived = await bot.conversationIn("-1005:10");
    await store.write((tx) =>
      tx.updateTable("conversations").set({ status: "archived" }).where("id", "=", archived).execute(),
    );
    const row = await bot.bench.row(await bot.conversationIn("-1005:9"));
    const newer = Array.from({ length: 1_000 }, (_, at) => ({
      ...row,
      id: `${row.id.slice(0, -4)}${at.toString().padStart(4, "0")}`,
      context_key: String(at + 1),
      started_at: row.started_at + 1,
    }));
    await store.write((tx) => insertRows(tx, "conversations", newer));
    await member(forum, "kicked");
    expect(await Promise.all(["-1005:9", "-1005:10", "-10055:9", "9"].map(isMarked))).toEqual([
      true,
      true,
      false,
      false,
    ]);
    await member(forum, "member");
    expect(await Promise.all(["-1005:9", "-1005:10"].map(isMarked))).toEqual([false, false]);
  });

  it("are unreachable with their private chat", async () => {
    bot = await openBot();
    const chat = { id: 77, type: "private" };
    await ask(chat, 9);
    await member(chat, "kicked");
    expect(await isMarked("77:9")).toBe(true);
  });
});

describe("a message that does not address the bot", () => {
  const group = { id: -1_005, type: "supergroup", title: "Fans" };
  const picture = (messageId: number, more: object) =>
    bot.post(
      messageUpdate({
        chatId: 7,
        messageId,
        chat: group,
        more: { photo: [{ file_id: bot.telegram.keep(png) }], media_group_id: "album", ...more },
      }),
    );

  it("joins its album when a later picture's caption addresses the bot", async () => {
    bot = await openBot();
    await picture(1, {});
    await picture(2, {
      caption: "@parley_test_bot which?",
      caption_entities: [{ type: "mention", offset: 0, length: 16 }],
    });
    await picture(3, {});
    await bot.bench.advance(2_000);
    const files = bot.bench.store.read.selectFrom("attachments").selectAll().orderBy("position");
    expect((await files.execute()).map(({ position, state }) => [position, state])).toEqual([
      [0, "stored"],
      [1, "stored"],
      [2, "stored"],
    ]);
    expect(await bot.bench.talk(await bot.conversationIn("-1005"))).toEqual([
      "user: @parley_test_bot which?",
      "assistant: You asked: @parley_test_bot which?",
    ]);
  });

  it("is not stored, nor are its edits, while edits of messages to the bot are", async () => {
    bot = await openBot();
    const say = (messageId: number, text: string, more: Fields = {}) =>
      bot.post(messageUpdate({ chatId: 7, messageId, text, chat: group, more }));
    const change = (messageId: number, text: string) =>
      bot.post(editUpdate({ chatId: 7, messageId, text, chat: group }));
    await say(1, "Secret one");
    await change(1, "Secret two");
    await picture(2, { caption: "Secret three" });
    // The first delivery of a message may already contain an edit.
    await say(3, "Secret four", { edit_date: 1_934_000_100 });
    await say(4, "How mcuh?", toTheBot());
    await change(4, "How much?");
    await bot.bench.settle();
    const { read } = bot.bench.store;
    const events = await read.selectFrom("inbound_events").selectAll().execute();
    expect(JSON.stringify(events)).not.toContain("Secret");
    const users = read.selectFrom("messages").select("content").where("role", "=", "user");
    expect(await users.execute()).toEqual([{ content: "How much?" }]);
  });

  it("is not stored where groups are off, nor are its edits", async () => {
    bot = await openBot({ groups: "off" });
    await bot.post(messageUpdate({ chatId: 7, messageId: 5, text: "Secret", chat: group }));
    await bot.post(editUpdate({ chatId: 7, messageId: 5, text: "More secret", chat: group }));
    expect(await bot.bench.store.read.selectFrom("inbound_events").selectAll().execute()).toEqual([]);
  });
});
