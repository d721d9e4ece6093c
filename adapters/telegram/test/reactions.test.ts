import { afterEach, describe, expect, it } from "vitest";
import { answerFromDocuments, thumbsOf } from "#test/support/channels/opinions.ts";
import { reactAsAgent, storedReactions } from "#test/support/channels/reactions.ts";
import type { Bot } from "./support/bot.ts";
import { openBot } from "./support/bot.ts";
import { messageUpdate, reactionUpdate } from "./support/updates.ts";

let bot: Bot;
afterEach(() => bot.close());

async function begin(): Promise<void> {
  bot = await openBot();
  answerFromDocuments(bot.bench);
  await bot.post(messageUpdate({ chatId: 7, messageId: 1, text: "When do you open?" }));
  await bot.bench.settle();
}
const react = (at: Parameters<typeof reactionUpdate>[0], before: readonly string[], after: readonly string[]) =>
  bot.post(reactionUpdate(at, before, after));

describe("a customer's reaction", () => {
  it("is stored at the message, replaced and removed", async () => {
    await begin();
    const own = { chatId: 7, messageId: 1 };
    await react(own, [], ["❤", "5368324170671202286"]);
    expect(await storedReactions(bot.bench)).toEqual(["user ❤ Ada"]);
    await react(own, ["❤"], ["🔥"]);
    expect(await storedReactions(bot.bench)).toEqual(["user 🔥 Ada"]);
    await react(own, ["🔥"], []);
    expect(await storedReactions(bot.bench)).toEqual([]);
    expect(bot.bench.asked).toHaveLength(1);
  });

  it("is an opinion where it is a thumb on an answer", async () => {
    await begin();
    const messageId = bot.telegram.shown.at(-1)?.messageId ?? 0;
    await react({ chatId: 7, messageId }, [], ["👎"]);
    expect([await thumbsOf(bot.bench), await storedReactions(bot.bench)]).toEqual([["down"], []]);
    await react({ chatId: 7, messageId }, ["👎"], []);
    expect(await thumbsOf(bot.bench)).toEqual([null]);
  });

  it("is found in a topic of a group, and is stored nowhere for other messages of the group", async () => {
    bot = await openBot({ groups: "all" });
    const topic = { chat: { id: -1_007, type: "supergroup" }, more: { is_topic_message: true, message_thread_id: 3 } };
    await bot.post(messageUpdate({ chatId: 7, messageId: 5, text: "When do you open?", ...topic }));
    await bot.bench.settle();
    const answer = bot.telegram.shown.at(-1)?.messageId ?? 0;
    for (const messageId of [5, answer]) await react({ chatId: -1_007, messageId, from: 7 }, [], ["🎉"]);
    expect(await storedReactions(bot.bench)).toEqual(["user 🎉 Ada", "user 🎉 Ada"]);
    await react({ chatId: -1_007, messageId: 99, from: 7 }, [], ["🎉"]);
    const events = bot.bench.store.read.selectFrom("inbound_events").select("id").where("kind", "=", "reaction");
    expect(await events.execute()).toHaveLength(2);
  });
});

describe("an agent's reaction", () => {
  it("is shown by the bot, replaced and taken back", async () => {
    await begin();
    for (const [emoji, shown] of [
      ["❤️", "❤"],
      ["👍", "👍"],
      [null, undefined],
    ] as const) {
      await reactAsAgent(bot.bench, emoji);
      expect(bot.telegram.reactions.get("7:1")).toBe(shown);
    }
  });

  it("leaves a note where the chat does not allow it", async () => {
    await begin();
    bot.telegram.fail("setMessageReaction", { kind: "error", code: 400, description: "Bad Request: REACTION_INVALID" });
    await reactAsAgent(bot.bench, "👍");
    expect(await storedReactions(bot.bench)).toEqual([]);
    expect((await bot.bench.notes(await bot.conversationIn("7"))).join()).toContain(
      "did not reach the customer: this Telegram chat does not allow this reaction",
    );
  });
});
