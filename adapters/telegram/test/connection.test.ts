import { afterEach, describe, expect, it } from "vitest";
import { Problem } from "#domain/problem.ts";
import { answerOf, heldAnswers } from "#test/support/engine-bench.ts";
import { runStatement } from "#test/support/database/run-statement.ts";
import type { Bot } from "./support/bot.ts";
import { openBot } from "./support/bot.ts";
import { messageUpdate } from "./support/updates.ts";

let bot: Bot;
afterEach(() => bot.close());

describe("a bot that polls and cannot store", () => {
  it("confirms the updates before the failed one, and greets a customer once", async () => {
    bot = await openBot({ transport: "polling" });
    const { telegram, bench } = bot;
    await runStatement(bench.url, "alter table inbound_events rename to away");
    telegram.queue(messageUpdate({ chatId: 6, messageId: 1, text: "/start" }));
    const kept = messageUpdate({ chatId: 7, messageId: 1, text: "Keep me" });
    telegram.queue(kept);
    const failures = () => bench.logged.filter((line) => line.includes("connections: connection broke")).length;
    for (let times = 1; times <= 3; times += 1) {
      await bench.until("it has failed", () => failures() >= times);
      await bench.advance(10_000);
    }
    expect(bot.texts(6)).toHaveLength(1);
    expect(telegram.unconfirmed()).toEqual([kept.update_id]);
    // The failure is not Telegram's.
    const failureLines = bench.logged.filter((line) => line.includes("connections: connection broke"));
    expect(failureLines.at(-1)).toContain("could not be stored");
    expect(failureLines.at(-1)).not.toContain("cannot be read from Telegram");
    await runStatement(bench.url, "alter table away rename to inbound_events");
    await bench.advance(60_000);
    await bench.until("the other is answered", () => bot.texts(7).length === 1);
    expect(bot.texts(6)).toHaveLength(1);
  });
});

describe("a customer who presses Start in a topic of a private chat", () => {
  const start = () => {
    const more = { is_topic_message: true, message_thread_id: 9 };
    return messageUpdate({ chatId: 6, messageId: 1, text: "/start", more });
  };

  it("is greeted there", async () => {
    bot = await openBot();
    expect(await (await bot.post(start())).json()).toMatchObject({ chat_id: 6, message_thread_id: 9 });
    await bot.close();
    bot = await openBot({ transport: "polling" });
    bot.telegram.queue(start());
    await bot.bench.until("they are greeted", () => bot.telegram.shown.length > 0);
    expect(bot.telegram.shown).toMatchObject([{ chatId: 6, topicId: 9 }]);
  });
});

describe("the typing indicator of a slow reply", () => {
  it("is shown until the reply, and not after it", async () => {
    bot = await openBot();
    const { bench, telegram } = bot;
    const slow = heldAnswers(bench);
    await bot.post(messageUpdate({ chatId: 7, messageId: 1, text: "How long?" }));
    await slow.question(0);
    // Telegram shows the indicator for five seconds.
    for (const [afterMs, times] of [
      [300, 1],
      [4_000, 2],
      [4_000, 3],
    ] as const) {
      bench.clock.advance(afterMs);
      await bench.until(`it is shown, ${times}`, () => telegram.actions.length === times);
    }
    slow.held[0]?.release(answerOf("Two days."));
    await bench.settle();
    expect(bot.texts(7)).toEqual(["Two days."]);
    await bench.advance(20_000);
    expect(telegram.actions).toHaveLength(3);
  });

  it("is not repeated after a failure", async () => {
    bot = await openBot();
    const { bench, telegram } = bot;
    const slow = heldAnswers(bench);
    telegram.fail("sendChatAction", { kind: "error", code: 429, description: "Too Many Requests" });
    await bot.post(messageUpdate({ chatId: 7, messageId: 1, text: "How long?" }));
    await slow.question(0);
    bench.clock.advance(300);
    await bench.until("it is failureLines", () =>
      bench.logged.some((line) => line.includes("showing a typing sign failed")),
    );
    bench.clock.advance(20_000);
    slow.held[0]?.release(answerOf("Two days."));
    await bench.settle();
    expect(telegram.calls("sendChatAction")).toHaveLength(1);
  });

  it("ends by itself when its end is not reported", async () => {
    bot = await openBot();
    const { bench, telegram } = bot;
    bench.script.answer = async () => {
      throw new Problem("search_unavailable", "The search is away.");
    };
    await bot.post(messageUpdate({ chatId: 7, messageId: 1, text: "How long?" }));
    await bench.advance(600_000);
    const shown = telegram.actions.length;
    expect(shown).toBeGreaterThan(10);
    expect(shown).toBeLessThan(80);
    await bench.advance(60_000);
    expect(telegram.actions).toHaveLength(shown);
  });
});
