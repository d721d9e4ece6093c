import { Api } from "grammy";
import { afterEach, describe, expect, it } from "vitest";
import {
  answerFromDocuments,
  resolveWithSurvey,
  scoresOf,
  surveysOn,
  thumbsOf,
} from "#test/support/channels/opinions.ts";
import { hostWith } from "#test/support/channels/partial-host.ts";
import { runStatement } from "#test/support/database/run-statement.ts";
import { createBusinessConnections } from "../business.ts";
import type { TelegramPart } from "../render.ts";
import { renderParts } from "../render.ts";
import { editPart } from "../send.ts";
import type { Bot } from "./support/bot.ts";
import { openBot } from "./support/bot.ts";
import type { Shown } from "./support/fake-telegram.ts";
import { messageUpdate, pressUpdate } from "./support/updates.ts";

let bot: Bot;
let messageId = 0;
afterEach(() => bot.close());

async function open(config: object = {}): Promise<void> {
  bot = await openBot(config, surveysOn);
  answerFromDocuments(bot.bench);
}

async function answerTo(text: string, chatId = 7, more: object = {}): Promise<Shown> {
  await bot.post(messageUpdate({ chatId, messageId: (messageId += 1), text, ...more }));
  await bot.bench.settle();
  return last();
}

function last(): Shown {
  const message = bot.telegram.shown.at(-1);
  if (message === undefined) throw new Error("nothing was sent");
  return message;
}

const now = ({ messageId: id }: Shown) => bot.telegram.shown.find((each) => each.messageId === id);
const labels = (message: Shown) =>
  now(message)
    ?.buttons?.map(({ text }) => text)
    .join(" ");
const dataOf = (message: Shown, label: string) =>
  now(message)?.buttons?.find(({ text }) => text === label)?.callback_data;
const press = (message: Shown, label: string, given: Parameters<typeof pressUpdate>[2] = {}) =>
  bot.post(pressUpdate(message, dataOf(message, label), given));

describe("thumbs below an answer", () => {
  it("can be changed and taken back, with a short thanks", async () => {
    await open();
    const answer = await answerTo("When do you open?");
    expect(labels(answer)).toBe("👍 👎");
    for (const [label, shown, stored] of [
      ["👍", "👍 ✓ 👎", "up"],
      ["👎", "👍 👎 ✓", "down"],
      ["👎 ✓", "👍 👎", null],
    ] as const) {
      expect((await press(answer, label)).status).toBe(200);
      expect(labels(answer)).toBe(shown);
      expect(await thumbsOf(bot.bench)).toEqual([stored]);
    }
    expect(bot.telegram.calls("answerCallbackQuery")).toMatchObject([{ text: "🙏" }, { text: "🙏" }, { text: "🙏" }]);
  });

  it("count once when pressed or delivered twice, and below older answers", async () => {
    await open();
    const answer = await answerTo("When do you open?");
    await answerTo("And on Sunday?");
    const data = dataOf(answer, "👍");
    await bot.post(pressUpdate(answer, data, { id: "9" }));
    await bot.post(pressUpdate(answer, data, { id: "9" }));
    await bot.post(pressUpdate(answer, data));
    expect(labels(answer)).toBe("👍 ✓ 👎");
    const rows = await bot.bench.store.read.selectFrom("answer_feedback").select(["message_id", "value"]).execute();
    expect(rows).toEqual([{ message_id: data?.split(":")[2], value: "up" }]);
  });

  it("count in a group's topic only from those who wrote there", async () => {
    await open();
    const chat = { type: "supergroup", title: "Shop" };
    const more = {
      is_topic_message: true,
      message_thread_id: 9,
      entities: [{ type: "bot_command", offset: 0, length: 4 }],
    };
    const answer = await answerTo("/ask When?", -1_005, { chat, more, from: { id: 7 } });
    await press(answer, "👎", { from: 8 });
    expect(await thumbsOf(bot.bench)).toEqual([]);
    expect(labels(answer)).toBe("👍 👎");
    expect(bot.telegram.calls("answerCallbackQuery")).toHaveLength(1);
    await press(answer, "👎", { from: 7 });
    expect(await thumbsOf(bot.bench)).toEqual(["down"]);
  });

  it("are acknowledged only when the press is stored, and a failed acknowledgement loses nothing", async () => {
    await open();
    const answer = await answerTo("When do you open?");
    await runStatement(bot.bench.url, "alter table inbound_events rename to away");
    const update = pressUpdate(answer, dataOf(answer, "👍"));
    expect((await bot.post(update)).status).toBe(503);
    expect(bot.telegram.calls("answerCallbackQuery")).toEqual([]);
    await runStatement(bot.bench.url, "alter table away rename to inbound_events");
    const tooOld = { kind: "error", code: 400, description: "Bad Request: query is too old" } as const;
    bot.telegram.fail("answerCallbackQuery", tooOld);
    expect((await bot.post(update)).status).toBe(200);
    expect(await thumbsOf(bot.bench)).toEqual(["up"]);
    expect(labels(answer)).toBe("👍 ✓ 👎");
  });

  it("count where the bot polls", async () => {
    bot = await openBot({ transport: "polling" });
    answerFromDocuments(bot.bench);
    bot.telegram.queue(messageUpdate({ chatId: 7, messageId: 1, text: "When do you open?" }));
    await bot.bench.until("it is answered", async () => {
      await bot.bench.settle();
      return bot.telegram.shown.length > 0;
    });
    bot.telegram.queue(pressUpdate(last(), dataOf(last(), "👎")));
    await bot.bench.until("it is shown", () => labels(last()) === "👍 👎 ✓");
    expect(await thumbsOf(bot.bench)).toEqual(["down"]);
  });

  it("stay below a message that is edited", async () => {
    await open();
    const answer = await answerTo("When do you open?");
    const message = { role: "assistant", authorName: null, sources: [], markdown: "Never.", kind: "answer" } as const;
    const [part] = renderParts(message);
    if (part === undefined) throw new Error("nothing is rendered");
    const api = new Api(bot.telegram.token, { apiRoot: bot.telegram.url });
    const data = dataOf(answer, "👍") ?? "";
    const { signal } = new AbortController();
    const context = { thread: "7", key: "k", messageId: data.split(":")[2] ?? "", signal };
    const { token } = bot.telegram;
    const connections = createBusinessConnections(api, hostWith({}), token, new Set());
    await editPart({ api, token, connections }, part, `7:${answer.messageId}`, context);
    expect(now(answer)?.text).toBe("Never.");
    expect([labels(answer), dataOf(answer, "👍")]).toEqual(["👍 👎", data]);
  });

  it("are below the last part alone, and only below answers and surveys", () => {
    const message = { role: "assistant", authorName: null, sources: [] } as const;
    const buttons = (markdown: string, kind?: "answer" | "refusal" | "survey") =>
      renderParts({ ...message, markdown, ...(kind === undefined ? {} : { kind }) }).map(
        ({ payload }) => (payload as TelegramPart).opinion,
      );
    expect(buttons("word ".repeat(1_000), "answer")).toEqual([undefined, "thumbs"]);
    expect([buttons("No.", "refusal"), buttons("Rate us", "survey"), buttons("Hello")]).toEqual([
      ["thumbs"],
      ["stars"],
      [undefined],
    ]);
  });
});

describe("a survey", () => {
  it("has five stars, of which the first pressed one counts", async () => {
    await open();
    await answerTo("When do you open?");
    await resolveWithSurvey(bot.bench);
    const survey = last();
    expect(labels(survey)).toBe("1 ★ 2 ★ 3 ★ 4 ★ 5 ★");
    const second = dataOf(survey, "2 ★");
    await press(survey, "4 ★");
    expect(labels(survey)).toBe("4 ★ ✓");
    await bot.post(pressUpdate(survey, second));
    expect(labels(survey)).toBe("4 ★ ✓");
    expect(await scoresOf(bot.bench)).toEqual([4]);
  });
});
