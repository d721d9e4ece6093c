import { Api } from "grammy";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { png } from "#test/support/channels/file-channel.ts";
import { answerFromDocuments, thumbsOf } from "#test/support/channels/opinions.ts";
import { hostWith } from "#test/support/channels/partial-host.ts";
import { dayMs, heldAnswers } from "#test/support/engine-bench.ts";
import { createBusinessConnections } from "../business.ts";
import type { Bot } from "./support/bot.ts";
import { openBot } from "./support/bot.ts";
import type { FakeConnection } from "./support/fake-business.ts";
import type { Written } from "./support/updates.ts";
import {
  businessDeletionUpdate,
  businessEditUpdate,
  businessUpdate,
  connectionUpdate,
  messageUpdate,
  pressUpdate,
} from "./support/updates.ts";

/** The company's person, whose account connects the bot. */
const owner = 900;
const customer = 77;
const thread = `business:${owner}:${customer}`;
const anna = { email: "anna@test.example", name: "Anna" };

let bot: Bot;
let connection: FakeConnection;
let messageId = 0;
beforeEach(async () => {
  bot = await openBot({ business_owners: `${owner}, 901` });
  messageId = 0;
});
afterEach(() => bot.close());

async function connect(given: { readonly canReply?: boolean } = {}): Promise<void> {
  connection = bot.telegram.business.connect(owner, given);
  expect((await bot.post(connectionUpdate(connection))).status).toBe(200);
}

async function write(text: string, given: Partial<Written> = {}, by = connection): Promise<number> {
  messageId += 1;
  const update = businessUpdate(by.id, { chatId: customer, messageId, text, ...given });
  expect((await bot.post(update)).status).toBe(200);
  await bot.bench.settle();
  return messageId;
}

/** The owner's own words in their Telegram app. */
const writeByHand = (text: string, more: Written["more"] = {}) =>
  write(text, { chat: { id: customer }, from: { id: owner, first_name: "Olga", last_name: "" }, more });

/** The texts in the owner's chats, as customers see them. */
const shown = () => bot.telegram.shown.flatMap((each) => (each.ownerId === owner ? [each.text] : []));
const talk = async () => bot.bench.talk(await bot.conversationIn(thread));
const threads = async () => {
  const rows = await bot.bench.store.read.selectFrom("conversations").select("context_key").orderBy("id").execute();
  return rows.map((row) => row.context_key);
};
async function repliedWithNotes(text: string): Promise<string> {
  const id = await bot.conversationIn(thread);
  const before = (await bot.bench.notes(id)).length;
  await bot.reply(id, text);
  return (await bot.bench.notes(id)).slice(before).join("\n");
}

describe("a customer who writes to a connected account", () => {
  it("is answered in that chat, in the account's name", async () => {
    await connect();
    await write("When do you open?");
    expect(shown()).toHaveLength(1);
    expect(await talk()).toEqual(["user: When do you open?", expect.stringMatching(/^assistant: /)]);
    const [message] = await bot.bench.messages(await bot.conversationIn(thread));
    expect(JSON.parse(message?.metadata ?? "{}")).toMatchObject({ business_account: "Olga" });
  });

  it("sees the account type during a slow reply", async () => {
    await connect();
    const slow = heldAnswers(bot.bench);
    await bot.post(businessUpdate(connection.id, { chatId: customer, messageId: 1, text: "How long?" }));
    await slow.question(0);
    bot.bench.clock.advance(300);
    await bot.bench.until("typing is shown", () => bot.telegram.actions.length > 0);
    expect(bot.telegram.actions).toContainEqual({
      chatId: customer,
      action: "typing",
      topicId: undefined,
      ownerId: owner,
    });
  });

  it("has a conversation of its own with each account and with the bot, whatever the messages' numbers", async () => {
    await connect();
    const other = bot.telegram.business.connect(901);
    await write("To Olga");
    await write("To the other", { messageId: 1 }, other);
    await bot.post(messageUpdate({ chatId: customer, messageId: 1, text: "To the bot" }));
    await bot.bench.settle();
    expect(await threads()).toEqual([thread, `business:901:${customer}`, String(customer)]);
    expect(bot.telegram.shown.map(({ ownerId }) => ownerId)).toEqual([owner, 901, undefined]);
    const contacts = bot.bench.store.read.selectFrom("conversations").select("contact_id").distinct();
    expect(await contacts.execute()).toHaveLength(1);
  });

  it("stays in the conversation when the account connects the bot again", async () => {
    await connect();
    await write("One");
    await connect();
    await write("Two");
    expect(await threads()).toEqual([thread]);
    expect(bot.telegram.calls("sendMessage").map((call) => call["business_connection_id"])).toEqual([
      "conn-1",
      "conn-2",
    ]);
  });

  it("gets no greeting of the bot for a command, which is a message to a person", async () => {
    await connect();
    await write("/start spring");
    expect((await talk())[0]).toBe("user: /start spring");
  });

  it("is answered to a message that was scheduled", async () => {
    await connect();
    await write("When do you open?", { more: { is_from_offline: true } });
    expect(shown()).toHaveLength(1);
  });

  it("edits messages, and deletes none, since the account's owner may have tidied their app", async () => {
    await connect();
    await write("Frist");
    await write("Second");
    await bot.post(businessEditUpdate(connection.id, { chatId: customer, messageId: 1, text: "First" }));
    await bot.post(businessDeletionUpdate(connection.id, customer, [2, 4_711]));
    const messages = await bot.bench.messages(await bot.conversationIn(thread));
    const own = messages.filter(({ role }) => role === "user");
    expect(own.map(({ content, deleted_at }) => [content, deleted_at !== null])).toEqual([
      ["First", false],
      ["Second", false],
    ]);
  });

  it("sends pictures, quotes, and places", async () => {
    await connect();
    const photo = { photo: [{ file_id: bot.telegram.keep(png), file_unique_id: "a", file_size: png.length }] };
    await bot.post(
      businessUpdate(connection.id, { chatId: customer, messageId: 50, more: { ...photo, caption: "Broken" } }),
    );
    await write("And this?", { more: { reply_to_message: { message_id: 50, caption: "Broken" } } });
    await write("", { more: { location: { latitude: 1, longitude: 2 } } });
    const messages = await bot.bench.messages(await bot.conversationIn(thread));
    const own = messages.filter(({ role }) => role === "user");
    expect(own.map(({ content, files }) => [content, files])).toEqual([
      ["Broken", 1],
      ["And this?", null],
      ["[location: 1, 2]", null],
    ]);
    expect(JSON.parse(own[1]?.refers_to ?? "{}")).toMatchObject({ message_id: own[0]?.id });
  });

  it("gives an opinion by the buttons, which are marked", async () => {
    answerFromDocuments(bot.bench);
    await connect();
    await write("When do you open?");
    const [answer] = bot.telegram.shown;
    if (answer === undefined) throw new Error("no answer");
    const data = answer.buttons?.[0]?.callback_data;
    await bot.post(pressUpdate(answer, data, { connection: connection.id, from: owner }));
    expect(await thumbsOf(bot.bench)).toEqual([]);
    await bot.post(pressUpdate(answer, data, { connection: connection.id }));
    expect(await thumbsOf(bot.bench)).toEqual(["up"]);
    expect(bot.telegram.shown[0]?.buttons?.map(({ text }) => text)).toEqual(["👍 ✓", "👎"]);
  });
});

describe("the owner of a connected account", () => {
  it("takes the conversation by writing, and the bot stops", async () => {
    await connect();
    await write("When do you open?");
    await writeByHand("At nine, *promised*");
    const row = await bot.bench.row(await bot.conversationIn(thread));
    expect(row).toMatchObject({ status: "claimed", assigned_to: `owner-${owner}@telegram.invalid` });
    await write("And on Sunday?");
    expect((await talk()).slice(2)).toEqual(["agent: At nine, *promised*", "user: And on Sunday?"]);
    expect(shown()).toHaveLength(1);
    const [, , message] = await bot.bench.messages(row.id);
    expect(message?.author_name).toBe("Olga");
  });

  it("begins no conversation, and is not answered", async () => {
    await connect();
    await writeByHand("Hello Ada");
    expect([await threads(), shown()]).toEqual([[], []]);
  });

  it("is not taken for the author of the bot's messages, or of automatic ones", async () => {
    await connect();
    await write("When do you open?");
    await writeByHand("From the bot", { sender_business_bot: { id: bot.telegram.botId, is_bot: true } });
    await writeByHand("I am away", { is_from_offline: true });
    expect(await talk()).toHaveLength(2);
    expect((await bot.bench.row(await bot.conversationIn(thread))).status).toBe("open");
  });

  it("sends pictures, which agents see", async () => {
    await connect();
    await write("When do you open?");
    const photo = [{ file_id: bot.telegram.keep(png), file_unique_id: "a", file_size: png.length }];
    await writeByHand("", { photo });
    const message = (await bot.bench.messages(await bot.conversationIn(thread))).at(-1);
    expect(message).toMatchObject({ role: "agent", content: "", files: 1 });
  });

  it("gets messages of Telegram itself, such as sign-in codes, which are not read", async () => {
    await connect();
    await write("Login code: 1", { chatId: 777_000 });
    expect(await threads()).toEqual([]);
  });
});

describe("an agent's reply to a customer of a connected account", () => {
  it("is sent with files, quotes the customer, and is edited and taken back", async () => {
    await connect();
    await write("My bill?");
    const id = await bot.conversationIn(thread);
    const [asked] = await bot.bench.messages(id);
    const { engine, workspaceId } = bot.bench;
    const reply = { workspaceId, conversationId: id, authorEmail: anna.email, uploadedBy: anna.email };
    const files = [await bot.upload(id, "bill.pdf", Buffer.from("%PDF-1.7"))];
    const actor = { type: "agent", id: anna.email, name: anna.name } as const;
    await engine.reply({ ...reply, content: "Here", files, actor, refersTo: asked?.id ?? "" });
    await bot.bench.settle();
    const { id: sent = "" } = (await bot.bench.messages(id)).at(-1) ?? {};
    expect(bot.telegram.shown.at(-1)).toMatchObject({ ownerId: owner, file: { name: "bill.pdf" } });
    expect(JSON.stringify(bot.telegram.calls("sendDocument").at(-1)?.["reply_parameters"])).toContain("1");
    await engine.postAgentMessage(workspaceId, id, { kind: "amend", messageId: sent, content: "There" }, anna);
    await bot.bench.settle();
    expect(shown().at(-1)).toBe("Anna:\nThere");
    await engine.postAgentMessage(workspaceId, id, { kind: "amend", messageId: sent, content: null }, anna);
    await bot.bench.settle();
    expect([shown().length, await bot.bench.notes(id)]).toEqual([1, []]);
  });

  it("is not taken back, and no reaction is shown, where Telegram does not permit it", async () => {
    await connect();
    await write("Hello?");
    const id = await bot.conversationIn(thread);
    await bot.reply(id, "Hello");
    const messages = await bot.bench.messages(id);
    const [asked = "", sent = ""] = [messages[0]?.id, messages.at(-1)?.id];
    const { engine, workspaceId } = bot.bench;
    const forbidden = { kind: "error", code: 400, description: "Bad Request: not enough rights" } as const;
    bot.telegram.fail("deleteBusinessMessages", forbidden);
    await engine.postAgentMessage(workspaceId, id, { kind: "amend", messageId: sent, content: null }, anna);
    await engine.postAgentMessage(workspaceId, id, { kind: "react", messageId: asked, emoji: "👍" }, anna);
    await bot.bench.settle();
    const notes = (await bot.bench.notes(id)).join("\n");
    expect(notes).toContain("Chatbots, and let the bot delete messages");
    expect(notes).toContain("Telegram lets no bot react in the chats of a connected account");
    expect([shown().at(-1), bot.telegram.reactions.size]).toEqual(["Anna:\nHello", 0]);
  });

  it("is refused with the fix while the account has disconnected the bot, and sent once it has connected it again", async () => {
    await connect();
    await write("Hello?");
    await bot.post(connectionUpdate(bot.telegram.business.disconnect(owner)));
    const note = await repliedWithNotes("Hello");
    expect(note).toContain("this Telegram account has disconnected the bot");
    expect(note).toContain(
      "in the Telegram app of Olga, open Settings > Telegram Business > Chatbots, and add the bot",
    );
    expect(shown()).toHaveLength(1);
    await connect();
    expect(await repliedWithNotes("Here again")).toBe("");
    expect(shown().at(-1)).toBe("Anna:\nHere again");
    expect((await bot.bench.row(await bot.conversationIn(thread))).unreachable).toBeNull();
  });

  it("is refused with the fix while the bot may not reply", async () => {
    await connect({ canReply: false });
    await write("Hello?");
    expect(await repliedWithNotes("Hello")).toContain("Chatbots, and let the bot reply to messages");
    expect(bot.telegram.calls("sendMessage")).toEqual([]);
  });

  it("is sent though the updates of a new connection came in the wrong order, or did not come", async () => {
    await connect();
    await write("Hello?");
    const ended = bot.telegram.business.disconnect(owner);
    await connect();
    await bot.post(connectionUpdate(ended));
    expect(await repliedWithNotes("One")).toBe("");
    await bot.post(connectionUpdate({ ...connection, rights: {} }));
    expect(await repliedWithNotes("Two")).toBe("");
    expect(shown().slice(1)).toEqual(["Anna:\nOne", "Anna:\nTwo"]);
  });

  it("waits while Telegram does not tell whether the bot may write", async () => {
    await connect();
    await write("Hello?");
    await bot.post(connectionUpdate({ ...connection, is_enabled: false }));
    bot.telegram.fail("getBusinessConnection", { kind: "hang_up" });
    await bot.reply(await bot.conversationIn(thread), "Hello");
    expect(shown()).toHaveLength(1);
    await bot.bench.advance(60_000);
    expect(shown()).toHaveLength(2);
  });

  it("is refused after 24 hours, which agents see before, and never in the bot's own chats", async () => {
    await connect();
    await write("Hello?");
    await bot.post(messageUpdate({ chatId: customer, messageId: 1, text: "Hello bot" }));
    await bot.bench.settle();
    await bot.bench.pass(dayMs);
    const { engine } = bot.bench;
    const id = await bot.conversationIn(thread);
    const window = await engine.window(await bot.bench.row(id));
    expect(window).toMatchObject({ isOpen: false, closed: expect.stringContaining("for 24 hours") });
    expect(await engine.window(await bot.bench.row(await bot.conversationIn(String(customer))))).toBeNull();
    expect(await repliedWithNotes("Too late")).toContain("has not written to this Telegram account for 24 hours");
    await bot.reply(await bot.conversationIn(String(customer)), "Never too late");
    expect([shown().length, bot.texts(customer).at(-1)]).toEqual([1, "Anna:\nNever too late"]);
  });

  it("is refused with the fix when Telegram refuses the chat, without marking the customer as unreachable", async () => {
    await connect();
    await write("Hello?");
    for (const [description, reason] of [
      ["Bad Request: BUSINESS_PEER_INVALID", "and include the chat"],
      ["Bad Request: BUSINESS_CONNECTION_INVALID", "and add the bot again"],
      ["Forbidden: BOT_ACCESS_FORBIDDEN", "lacks a permission of this Telegram account"],
      ["Bad Request: BUSINESS_PEER_USAGE_MISSING", "for 24 hours"],
    ] as const) {
      const code = description.startsWith("Forbidden") ? 403 : 400;
      bot.telegram.fail("sendMessage", { kind: "error", code, description });
      expect(await repliedWithNotes("Hello")).toContain(reason);
    }
    expect((await bot.bench.row(await bot.conversationIn(thread))).unreachable).toBeNull();
  });
});

describe("the end of an old connection", () => {
  it("does not replace a new one that another process stores at the same time", async () => {
    const { business, token, url } = bot.telegram;
    const before = business.connect(owner);
    const ended = business.disconnect(owner);
    const after = business.connect(owner);
    const kept = new Map<string, string>();
    let meanwhile = async () => {};
    const state = {
      get: async (key: string) => kept.get(key) ?? null,
      set: async (key: string, value: string) => void kept.set(key, value),
      async compareAndSet(key: string, old: string | null, next: string) {
        const other = meanwhile;
        meanwhile = async () => {};
        await other();
        if ((kept.get(key) ?? null) !== old) return false;
        kept.set(key, next);
        return true;
      },
    };
    const connections = createBusinessConnections(
      new Api(token, { apiRoot: url }),
      hostWith({ state }),
      token,
      new Set([owner]),
    );
    await connections.keep(before);
    meanwhile = () => connections.keep(after);
    await connections.keep(ended);
    expect(await connections.current(owner)).toBe(after.id);
  });
});

describe("an account that is not in the setting", () => {
  it("gets no conversations, and the check names it", async () => {
    const stranger = bot.telegram.business.connect(666);
    expect((await bot.post(connectionUpdate(stranger))).status).toBe(200);
    await write("Hello?", {}, stranger);
    const unheard = bot.telegram.business.connect(667);
    await write("Hello?", {}, unheard);
    await write("And now?", {}, unheard);
    expect(await threads()).toEqual([]);
    expect(bot.telegram.shown).toEqual([]);
    expect(bot.telegram.calls("getBusinessConnection")).toHaveLength(1);
  });
});

describe("a connection that Parley has not heard of", () => {
  it("is asked for, and an update waits while Telegram does not answer", async () => {
    connection = bot.telegram.business.connect(owner);
    bot.telegram.fail("getBusinessConnection", { kind: "hang_up" });
    const update = businessUpdate(connection.id, { chatId: customer, messageId: 1, text: "Hello?" });
    expect((await bot.post(update)).status).toBe(503);
    expect(bot.bench.logged.join("\n")).not.toContain(bot.telegram.token);
    expect((await bot.post(update)).status).toBe(200);
    await bot.bench.settle();
    expect(shown()).toHaveLength(1);
    await write("And now?");
    expect(bot.telegram.calls("getBusinessConnection")).toHaveLength(2);
  });

  it("has no conversation if Telegram does not know it either", async () => {
    await connect();
    await write("Hello?", {}, { ...connection, id: "conn-of-nobody" });
    expect(await threads()).toEqual([]);
  });
});
