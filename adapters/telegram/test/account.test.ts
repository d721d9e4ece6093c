import { hostWith } from "#test/support/channels/partial-host.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadAdapter } from "#channels/load-adapter.ts";
import { newSqlite } from "#test/support/database/databases.ts";
import type { EngineBench } from "#test/support/engine-bench.ts";
import { bytesOf, png } from "#test/support/channels/file-channel.ts";
import { anna, answerOf, heldAnswers, openBench } from "#test/support/engine-bench.ts";
import type { FakeTelegram } from "./support/fake-telegram.ts";
import { startFakeTelegram } from "./support/fake-telegram.ts";
import { editUpdate, messageUpdate, updateId } from "./support/updates.ts";

let telegram: FakeTelegram;
let bench: EngineBench;
let url: string;

beforeEach(async () => {
  telegram = await startFakeTelegram();
});
afterEach(async () => {
  await telegram.close();
  await bench.close();
});

async function open(config: object = {}): Promise<void> {
  bench = await openBench(newSqlite, {
    account: {
      channel: "telegram",
      load: loadAdapter,
      config: { token: telegram.token, base_url: telegram.url, ...config },
    },
  });
  url = `${await bench.app.listen()}/channels/telegram/${bench.accountId}`;
  await bench.advance(10_000);
}

async function post(update: object, secret = telegram.webhook?.secret): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(secret === undefined ? {} : { "x-telegram-bot-api-secret-token": secret }),
    },
    body: JSON.stringify(update),
  });
}

const texts = (chatId: number) => telegram.shown.filter((each) => each.chatId === chatId).map(({ text }) => text);
const stored = async (): Promise<readonly string[]> =>
  (
    await bench.store.read.selectFrom("messages").select("content").where("role", "=", "user").orderBy("id").execute()
  ).map(({ content }) => content);
async function conversation() {
  return bench.store.read.selectFrom("conversations").selectAll().executeTakeFirstOrThrow();
}
async function reply(content: string, refersTo?: string): Promise<void> {
  const { id } = await conversation();
  const { workspaceId } = bench;
  await bench.engine.reply({
    workspaceId,
    conversationId: id,
    content,
    authorEmail: "anna@test.example",
    actor: anna,
    ...(refersTo === undefined ? {} : { refersTo }),
  });
  await bench.settle();
}

describe("a bot with a webhook", () => {
  beforeEach(async () => {
    await open({ transport: "webhook" });
    await bench.until("the webhook is set", () => telegram.webhook !== undefined);
  });

  it("registers its address, a secret and the kinds of updates", () => {
    expect(telegram.webhook?.url).toBe(`http://parley.test/channels/telegram/${bench.accountId}`);
    expect(telegram.calls("setWebhook").at(-1)).toMatchObject({
      allowed_updates: [
        "message",
        "edited_message",
        "my_chat_member",
        "callback_query",
        "message_reaction",
        "business_connection",
        "business_message",
        "edited_business_message",
      ],
    });
    expect(telegram.calls("setWebhook").at(-1)).not.toHaveProperty("drop_pending_updates");
  });

  it("lists sources below an answer, and none below a refusal", async () => {
    const sources = [{ title: "Returns", url: "", chunk: "45 days", score: 0.2 }];
    const found = { sources, skillsFired: ["knowledge_search"] };
    bench.script.answer = async ({ text }) =>
      text === "When?" ? answerOf("45 days.", found) : answerOf("I don't know.", { ...found, answered: false });
    for (const [at, text] of ["When?", "Why?"].entries()) {
      expect((await post(messageUpdate({ chatId: 77, messageId: at + 1, text }))).status).toBe(200);
      await bench.settle();
    }
    expect(texts(77)).toEqual([expect.stringMatching(/^45 days\.\n\nSources:/), "I don't know."]);
  });

  it("refuses deliveries without the secret, with a wrong one, or in a wrong form", async () => {
    const update = messageUpdate({ chatId: 7, messageId: 1, text: "Let me in" });
    const nobodys = await fetch(url, { method: "POST", body: JSON.stringify(update) });
    expect(nobodys.status).toBe(401);
    for (const secret of ["", "x", `${telegram.webhook?.secret}x`])
      expect((await post(update, secret)).status).toBe(401);
    expect((await fetch(url)).status).toBe(405);
    expect(await stored()).toEqual([]);
  });

  it("acknowledges unreadable updates, so that Telegram does not resend them", async () => {
    for (const update of [{}, { update_id: "x" }, { update_id: 1, message: { text: 5 } }, [1], null]) {
      expect((await post(update as object)).status).toBe(200);
    }
    expect(await stored()).toEqual([]);
  });

  it("shows that it is typing during a slow reply, and greets a customer who presses Start", async () => {
    const started = await post(messageUpdate({ chatId: 7, messageId: 1, text: "/start abc" }));
    expect(await started.json()).toMatchObject({ method: "sendMessage", chat_id: 7 });
    await post(messageUpdate({ chatId: 7, messageId: 2, text: "How much?" }));
    await bench.settle();
    expect(await stored()).toEqual(["How much?"]);
    expect(texts(7)).toEqual(["You asked: How much?"]);
    expect(telegram.actions).toEqual([]);
    const slow = heldAnswers(bench);
    await post(messageUpdate({ chatId: 7, messageId: 3, text: "And how long?" }));
    await slow.question(0);
    bench.clock.advance(300);
    await bench.until("typing is shown", () => telegram.actions.length > 0);
    expect(telegram.actions).toContainEqual({ chatId: 7, action: "typing", topicId: undefined });
    slow.held[0]?.release(answerOf("Two days."));
    await bench.settle();
    expect(texts(7)).toEqual(["You asked: How much?", "Two days."]);
  });

  it("gives a customer's first message the payload of the link that led here, once", async () => {
    const metadata = async () =>
      (
        await bench.store.read
          .selectFrom("messages")
          .select("metadata")
          .where("role", "=", "user")
          .orderBy("id")
          .execute()
      ).map((row) => (JSON.parse(row.metadata ?? "{}") as { readonly start?: string }).start);
    await post(messageUpdate({ chatId: 7, messageId: 1, text: "/start autumn" }));
    await post(messageUpdate({ chatId: 7, messageId: 2, text: "/start spring-sale" }));
    expect(await stored()).toEqual([]);
    await post(messageUpdate({ chatId: 7, messageId: 3, text: "How much?" }));
    await post(messageUpdate({ chatId: 7, messageId: 4, text: "And how long?" }));
    expect(await metadata()).toEqual(["spring-sale", undefined]);
    await post(messageUpdate({ chatId: 7, messageId: 5, text: "/start winter" }));
    await post(messageUpdate({ chatId: 7, messageId: 6, text: "In winter, too?" }));
    await post(messageUpdate({ chatId: 8, messageId: 1, text: "How much?" }));
    expect(await metadata()).toEqual(["spring-sale", undefined, "winter", undefined]);
  });

  it("applies a customer's edits", async () => {
    await post(messageUpdate({ chatId: 7, messageId: 2, text: "How mcuh?" }));
    await post(editUpdate({ chatId: 7, messageId: 2, text: "How much?" }));
    expect(await stored()).toEqual(["How much?"]);
  });

  it("replies in the topic, and in the group itself when the topic is gone", async () => {
    const chat = { id: -1_005, type: "supergroup", title: "Fans" };
    const more = {
      is_topic_message: true,
      message_thread_id: 9,
      entities: [{ type: "bot_command", offset: 0, length: 4 }],
    };
    await post(messageUpdate({ chatId: 7, messageId: 2, text: "/ask How much?", chat, more }));
    await bench.settle();
    expect(telegram.shown.at(-1)).toMatchObject({ chatId: -1_005, topicId: 9 });
    telegram.fail("sendMessage", { kind: "error", code: 400, description: "Bad Request: message thread not found" });
    await reply("Five.");
    expect(telegram.shown.at(-1)).toMatchObject({ chatId: -1_005, topicId: undefined, text: "Anna:\nFive." });
  });

  it("replies in groups only to messages that address it", async () => {
    const chat = { id: -1_005, type: "supergroup", title: "Fans" };
    const say = (messageId: number, text: string, more = {}) =>
      post(messageUpdate({ chatId: 7, messageId, text, chat, more }));
    const mention = (offset: number, length: number) => ({ entities: [{ type: "mention", offset, length }] });
    await say(1, "Nice weather");
    await say(2, "@somebody hello", mention(0, 9));
    await say(3, "@Parley_test_bot hello", mention(0, 16));
    await say(4, "And this?", { reply_to_message: { message_id: 9, from: { id: telegram.botId, is_bot: true } } });
    expect(await stored()).toEqual(["@Parley_test_bot hello", "And this?"]);
  });

  it("follows a group that becomes a supergroup, whichever report comes first", async () => {
    const chat = { id: -5, type: "group", title: "Fans" };
    const more = { reply_to_message: { message_id: 9, from: { id: telegram.botId } } };
    await post(messageUpdate({ chatId: 7, messageId: 2, text: "One", chat, more }));
    await bench.settle();
    telegram.fail("sendMessage", {
      kind: "error",
      code: 400,
      description: "Bad Request: group chat was upgraded to a supergroup chat",
      parameters: { migrate_to_chat_id: -1_005 },
    });
    await reply("Are you there?");
    await bench.advance(5_000);
    expect(texts(-1_005)).toEqual(["Anna:\nAre you there?"]);
    await post(messageUpdate({ chatId: 7, messageId: 3, chat, more: { migrate_to_chat_id: -1_005 } }));
    await post(messageUpdate({ chatId: 7, messageId: 4, text: "Yes", chat: { ...chat, id: -1_005 }, more }));
    expect((await conversation()).context_key).toBe("-1005");
    expect(await bench.store.read.selectFrom("conversations").select("id").execute()).toHaveLength(1);
  });

  it("notes for the agents that the customer blocked it", async () => {
    await post(messageUpdate({ chatId: 7, messageId: 2, text: "Bye" }));
    await bench.settle();
    const member = {
      chat: { id: 7, type: "private" },
      from: { id: 7 },
      date: 1,
      new_chat_member: { status: "kicked" },
    };
    await post({ update_id: updateId(), my_chat_member: member });
    expect((await bench.notes((await conversation()).id)).join()).toContain("blocked by the customer");
  });

  it("shows which message of the customer, or of the bot, an agent answers", async () => {
    await post(messageUpdate({ chatId: 7, messageId: 2, text: "One" }));
    await bench.settle();
    const { id } = await conversation();
    const [asked, answered] = await bench.messages(id);
    await reply("Two", asked?.id);
    expect(telegram.calls("sendMessage").at(-1)).toMatchObject({
      text: "Anna:\nTwo",
      reply_parameters: { message_id: 2, allow_sending_without_reply: true },
    });
    await reply("I mean this", answered?.id);
    const [botMessage] = telegram.shown;
    expect(telegram.calls("sendMessage").at(-1)).toMatchObject({
      reply_parameters: { message_id: botMessage?.messageId },
    });
    await reply("Three");
    expect(telegram.calls("sendMessage").at(-1)).not.toHaveProperty("reply_parameters");
  });

  it("sends a text without entities when Telegram refuses them", async () => {
    await post(messageUpdate({ chatId: 7, messageId: 2, text: "One" }));
    await bench.settle();
    telegram.fail("sendMessage", { kind: "error", code: 400, description: "Bad Request: can't parse entities: no" });
    await reply("**Hello**");
    expect(telegram.shown.at(-1)).toMatchObject({ text: "Anna:\nHello", entities: [] });
  });

  it("holds back a rate-limited chat, and no other", async () => {
    await post(messageUpdate({ chatId: 7, messageId: 2, text: "One" }));
    await bench.settle();
    telegram.fail("sendMessage", {
      kind: "error",
      code: 429,
      description: "Too Many Requests",
      parameters: { retry_after: 30 },
    });
    await reply("Later");
    await post(messageUpdate({ chatId: 8, messageId: 3, text: "Two" }));
    await bench.settle();
    expect(texts(8)).toEqual(["You asked: Two"]);
    expect(texts(7)).toEqual(["You asked: One"]);
    await bench.advance(60_000);
    expect(texts(7)).toEqual(["You asked: One", "Anna:\nLater"]);
  });

  it("does not resend a message that a gateway may have delivered", async () => {
    await post(messageUpdate({ chatId: 7, messageId: 2, text: "One" }));
    await bench.settle();
    telegram.fail("sendMessage", { kind: "html", status: 502 });
    await reply("Perhaps");
    await bench.advance(600_000);
    expect(texts(7)).toEqual(["You asked: One"]);
    expect((await bench.notes((await conversation()).id)).join()).toContain("may not have arrived");
  });
});

describe("files on Telegram", () => {
  const filesStored = () => bench.store.read.selectFrom("attachments").selectAll().orderBy("position").execute();
  const photo = (bytes: Buffer) => ({ photo: [{ file_id: telegram.keep(bytes), file_size: bytes.length }] });
  const uploaded = async (name: string, bytes: Buffer, mediaType = "application/octet-stream") =>
    bench.engine.upload(
      {
        workspaceId: bench.workspaceId,
        accountId: bench.accountId,
        conversationId: (await conversation()).id,
        uploadedBy: "anna@test.example",
        name,
        mediaType,
      },
      bytesOf(bytes),
      new AbortController().signal,
    );
  const replyWith = async (content: string, files: readonly string[]) => {
    const { id } = await conversation();
    const { workspaceId } = bench;
    const given = { files, uploadedBy: "anna@test.example", authorEmail: "anna@test.example", actor: anna };
    await bench.engine.reply({ workspaceId, conversationId: id, content, ...given });
    await bench.settle();
  };

  beforeEach(async () => {
    await open({ transport: "webhook" });
    await bench.until("the webhook is set", () => telegram.webhook !== undefined);
  });

  it("are fetched again after a failure, and the token appears nowhere", async () => {
    telegram.fail("getFile", { kind: "error", code: 429, description: "Too Many", parameters: { retry_after: 9 } });
    telegram.fail("file", { kind: "html", status: 502 });
    await post(messageUpdate({ chatId: 7, messageId: 1, more: { ...photo(png), caption: "Is it this?" } }));
    await bench.settle();
    expect(texts(7)).toEqual(["You asked: Is it this?"]);
    await bench.advance(600_000);
    expect(await filesStored()).toMatchObject([{ name: "photo.jpg", media_type: "image/png", state: "stored" }]);
    const seen = JSON.stringify([bench.logged, await bench.store.read.selectFrom("outbox").selectAll().execute()]);
    expect(seen).not.toContain(telegram.token.split(":")[1]);
  });

  it("too large for bots are reported as such", async () => {
    const document = { file_id: telegram.keep(Buffer.alloc(20_000_001)), file_name: "film.mov" };
    await post(messageUpdate({ chatId: 7, messageId: 1, more: { document } }));
    await bench.settle();
    expect(await filesStored()).toMatchObject([{ state: "failed", reason: expect.stringContaining("20 MB") }]);
  });

  it("of an album are one message with one reply after the last file", async () => {
    const of = (messageId: number, caption?: string) =>
      messageUpdate({
        chatId: 7,
        messageId,
        more: { ...photo(png), media_group_id: "album", ...(caption === undefined ? {} : { caption }) },
      });
    const [first, second, third] = [of(1), of(2, "Which of these?"), of(3)];
    await Promise.all([post(first), post(second)]);
    await bench.settle();
    expect(texts(7)).toEqual([]);
    await post(third);
    await post(second);
    await bench.advance(2_000);
    expect(await stored()).toEqual(["Which of these?"]);
    expect((await filesStored()).map(({ position, state }) => [position, state])).toEqual([
      [0, "stored"],
      [1, "stored"],
      [2, "stored"],
    ]);
    expect(texts(7)).toEqual(["You asked: Which of these?"]);
  });

  it("of an album in a group belong to the message that addresses the bot", async () => {
    const chat = { id: -1_005, type: "supergroup", title: "Fans" };
    const caption_entities = [{ type: "mention", offset: 0, length: 16 }];
    const words = { caption: "@parley_test_bot what is it?", caption_entities };
    const of = (messageId: number, album: string, more: object) =>
      post(messageUpdate({ chatId: 7, messageId, chat, more: { ...photo(png), media_group_id: album, ...more } }));
    await of(1, "ours", words);
    await of(2, "ours", {});
    await of(3, "theirs", {});
    await bench.advance(2_000);
    expect(await stored()).toEqual([words.caption]);
    expect((await filesStored()).filter(({ message_id: id }) => id !== null)).toHaveLength(2);
    expect(telegram.calls("getFile")).toHaveLength(2);
  });

  it("are sent as a picture or a document, after a long text or with a short one as caption", async () => {
    await post(messageUpdate({ chatId: 7, messageId: 1, text: "My bill?" }));
    await bench.settle();
    const bill = await uploaded("bill.pdf", Buffer.from("%PDF-1.7 bill"));
    const picture = await uploaded("photo.png", png);
    await replyWith("Here **both** are", [bill.id, picture.id]);
    expect(telegram.shown.slice(1)).toMatchObject([
      {
        text: "Anna:\nHere both are",
        entities: [{ type: "bold" }, { type: "bold" }],
        file: { name: "bill.pdf", how: "document", bytes: Buffer.from("%PDF-1.7 bill") },
      },
      { text: "", file: { name: "photo.png", how: "photo", bytes: png } },
    ]);
    const long = await uploaded("terms.txt", Buffer.from("terms"), "text/plain");
    await replyWith("word ".repeat(400), [long.id]);
    const [text, file] = telegram.shown.slice(3);
    expect(text?.text.length).toBeGreaterThan(1_024);
    expect(file).toMatchObject({ text: "", file: { name: "terms.txt" } });
  });

  it("refused as a picture are sent as a document, and to the group when their topic is gone", async () => {
    await post(messageUpdate({ chatId: 7, messageId: 1, text: "A picture?" }));
    await bench.settle();
    telegram.fail("sendPhoto", { kind: "error", code: 400, description: "Bad Request: PHOTO_INVALID_DIMENSIONS" });
    await replyWith("", [(await uploaded("wide.png", png)).id]);
    expect(telegram.shown.at(-1)).toMatchObject({ text: "Anna:", file: { how: "document", bytes: png } });
  });
});

describe("an agent's message on Telegram", () => {
  it("can be edited and deleted, and a repeat is no failure", async () => {
    await open({ transport: "webhook" });
    await bench.until("the webhook is set", () => telegram.webhook !== undefined);
    await post(messageUpdate({ chatId: 7, messageId: 1, text: "One" }));
    await bench.settle();
    await reply("Frist");
    const { default: module } = await import("../index.ts");
    const config = { token: telegram.token, base_url: telegram.url };
    const account = { id: "a", workspaceId: bench.workspaceId, channel: "telegram" as const, name: "t", config };
    const host = hostWith({ webhookUrl: "http://parley.test/x", signToken: (text) => text });
    const adapter = module.create(account, host);
    const sent = telegram.shown.at(-1);
    const externalId = `7:${sent?.messageId}`;
    const context = { thread: "7", key: "k", messageId: "m", signal: new AbortController().signal };
    const [part] = adapter.render({ role: "agent", authorName: "Anna", markdown: "First", sources: [] });
    if (part === undefined || adapter.edit === undefined || adapter.remove === undefined) throw new Error("no part");
    for (let twice = 0; twice < 2; twice += 1) await adapter.edit(part, externalId, context);
    expect(telegram.shown.at(-1)?.text).toBe("Anna:\nFirst");
    for (let twice = 0; twice < 2; twice += 1) await adapter.remove(externalId, context);
    expect(telegram.shown.map(({ text }) => text)).toEqual(["You asked: One"]);
    telegram.fail("deleteMessage", { kind: "error", code: 400, description: "Bad Request: message can't be deleted" });
    await expect(adapter.remove(externalId, context)).rejects.toMatchObject({
      outcome: "rejected",
      message: expect.stringContaining("48 hours"),
    });
    await adapter.close();
  });
});

describe("a customer who cannot be reached", () => {
  it("is marked once for many refused messages, until they write again", async () => {
    await open({ transport: "webhook" });
    await bench.until("the webhook is set", () => telegram.webhook !== undefined);
    await post(messageUpdate({ chatId: 7, messageId: 1, text: "One" }));
    await bench.settle();
    const blocked = { kind: "error", code: 403, description: "Forbidden: bot was blocked by the user" } as const;
    telegram.fail("sendMessage", blocked, blocked);
    await reply("Hello?");
    await reply("Are you there?");
    const { id } = await conversation();
    expect((await conversation()).unreachable).toContain("has blocked the bot");
    const notes = await bench.notes(id);
    expect(notes.filter((note) => note.startsWith("Nothing that you write here arrives"))).toHaveLength(1);
    expect(notes.filter((note) => note.includes("could not be delivered"))).toHaveLength(2);
    await post(messageUpdate({ chatId: 7, messageId: 2, text: "I am back" }));
    expect((await conversation()).unreachable).toBeNull();
    await bench.settle();
    telegram.fail("sendMessage", { kind: "error", code: 400, description: "Bad Request: chat not found" });
    await reply("Welcome back");
    expect((await conversation()).unreachable).toContain("Telegram has no such chat for this bot any more");
  });
});

describe("a bot that polls", () => {
  it("removes the webhook, keeps its pending updates, and confirms only stored updates", async () => {
    telegram.queue(messageUpdate({ chatId: 7, messageId: 1, text: "I was early" }));
    await open({ transport: "polling" });
    await bench.until("it is answered", () => texts(7).length === 1);
    expect(telegram.calls("deleteWebhook")[0]).toEqual({ drop_pending_updates: false });
    await bench.until("it is confirmed", () => telegram.unconfirmed().length === 0);
    telegram.queue(messageUpdate({ chatId: 7, messageId: 2, text: "And later" }));
    await bench.until("the second is stored", async () => (await stored()).length === 2);
  });

  it("serves others when a customer pressed Start and blocked it", async () => {
    telegram.fail("sendMessage", { kind: "error", code: 403, description: "Forbidden: bot was blocked by the user" });
    telegram.queue(messageUpdate({ chatId: 6, messageId: 1, text: "/start" }));
    telegram.queue(messageUpdate({ chatId: 7, messageId: 1, text: "And me?" }));
    await open({ transport: "polling" });
    await bench.until("the other is answered", () => texts(7).length === 1);
    await bench.until("all is confirmed", () => telegram.unconfirmed().length === 0);
  });

  it("is the default where PUBLIC_URL is not https", async () => {
    await open();
    await bench.until("it polls", () => telegram.calls("getUpdates").length > 0);
    expect(telegram.webhook).toBeUndefined();
  });

  it("reads an update again that could not be stored", async () => {
    await open({ transport: "polling" });
    await bench.until("it polls", () => telegram.calls("getUpdates").length > 0);
    const { runStatement } = await import("#test/support/database/run-statement.ts");
    await runStatement(bench.url, "alter table inbound_events rename to away");
    telegram.queue(messageUpdate({ chatId: 7, messageId: 1, text: "Keep me" }));
    await bench.until("it has failed", () => bench.logged.some((line) => line.includes("connection broke")));
    expect(telegram.unconfirmed()).toHaveLength(1);
    await runStatement(bench.url, "alter table away rename to inbound_events");
    await bench.advance(120_000);
    await bench.until("it is stored", async () => (await stored()).includes("Keep me"));
    await bench.until("it is confirmed", () => telegram.unconfirmed().length === 0);
  });

  it("reconnects after an outage of Telegram, and logs no token", async () => {
    await open({ transport: "polling" });
    await bench.until("it polls", () => telegram.calls("getUpdates").length > 0);
    await telegram.goAway();
    await bench.until("it has noticed", () => bench.logged.some((line) => line.includes("connection broke")));
    await telegram.comeBack();
    telegram.queue(messageUpdate({ chatId: 7, messageId: 1, text: "Hello?" }));
    await bench.advance(120_000);
    await bench.until("it is stored", async () => (await stored()).includes("Hello?"));
    expect(bench.logged.join("")).not.toContain(telegram.token);
  });

  it("reports another polling program, and an unknown token", async () => {
    telegram.fail("getUpdates", {
      kind: "error",
      code: 409,
      description: "Conflict: terminated by other getUpdates request",
    });
    await open({ transport: "polling" });
    await bench.until("it has failed", () => bench.logged.some((line) => line.includes("another program polls")));
    telegram.fail("getUpdates", {
      kind: "error",
      code: 409,
      description:
        "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete it first",
    });
    await bench.advance(5_000);
    await bench.until("it has failed again", () => bench.logged.some((line) => line.includes("has set a webhook")));
    telegram.fail("deleteWebhook", { kind: "error", code: 401, description: "Unauthorized" });
    await bench.advance(5_000);
    await bench.until("it has failed again", () =>
      bench.logged.some((line) => line.includes("does not know the bot's token")),
    );
  });
});
