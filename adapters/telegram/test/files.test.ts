import { afterEach, describe, expect, it, vi } from "vitest";
import type { Bot } from "./support/bot.ts";
import { openBot } from "./support/bot.ts";
import { messageUpdate } from "./support/updates.ts";

let bot: Bot;
afterEach(() => bot.close());

describe("a file of a customer", () => {
  it("is fetched with any characters in its extension, and only from the bot's folder", async () => {
    bot = await openBot();
    const endings = [".pdf (1)", ".док", ".a#b", ".a%2e?b=c", ""];
    const send = (messageId: number, ending: string) =>
      bot.post(
        messageUpdate({
          chatId: 7,
          messageId,
          more: { document: { file_id: bot.telegram.keep(Buffer.from(`of ${ending}`), ending) } },
        }),
      );
    const outside = ["/../secret", "/./x", "//x", "/..", "\\x", "\n"];
    for (const [at, ending] of [...endings, ...outside].entries()) await send(at + 1, ending);
    await bot.bench.settle();
    const files = bot.bench.store.read.selectFrom("attachments").select("state").orderBy("id");
    expect((await files.execute()).map(({ state }) => state)).toEqual([
      ...endings.map(() => "stored"),
      ...outside.map(() => "failed"),
    ]);
  });

  it("is fetched again when Telegram lacks it temporarily", async () => {
    bot = await openBot();
    bot.telegram.fail("getFile", {
      kind: "error",
      code: 400,
      description: "Bad Request: wrong file_id or the file is temporarily unavailable",
    });
    await bot.post(
      messageUpdate({ chatId: 7, messageId: 1, more: { document: { file_id: bot.telegram.keep(Buffer.from("x")) } } }),
    );
    await bot.bench.advance(600_000);
    const files = bot.bench.store.read.selectFrom("attachments").select("state");
    expect(await files.execute()).toEqual([{ state: "stored" }]);
  });
});

describe("a reply with a file", () => {
  const change = async (before: string, after: string): Promise<readonly (readonly [string, string | undefined])[]> => {
    bot = await openBot();
    await bot.post(messageUpdate({ chatId: 7, messageId: 1, text: "My bill?" }));
    await bot.bench.settle();
    const conversation = await bot.conversationIn("7");
    await bot.reply(conversation, before, [await bot.upload(conversation, "bill.pdf", Buffer.from("%PDF-1.7 bill"))]);
    const { id: messageId } = (await bot.bench.messages(conversation)).at(-1) ?? { id: "" };
    const { engine, workspaceId } = bot.bench;
    const anna = { email: "anna@test.example", name: "Anna" };
    await engine.postAgentMessage(workspaceId, conversation, { kind: "amend", messageId, content: after }, anna);
    await bot.bench.settle();
    expect(await bot.bench.notes(conversation)).toEqual([]);
    return bot.telegram.shown.slice(1).map(({ text, file }) => [text, file?.name]);
  };

  it("can be shortened where its text precedes the file, and remains there", async () => {
    expect(await change("word ".repeat(300), "A word")).toEqual([
      ["Anna:\nA word", undefined],
      ["", "bill.pdf"],
    ]);
  });

  it("can be edited where its text is the caption", async () => {
    expect(await change("A word", "Another word")).toEqual([["Anna:\nAnother word", "bill.pdf"]]);
  });
});

describe("an agent's file", () => {
  it("has a longer time limit than a text", async () => {
    bot = await openBot();
    await bot.post(messageUpdate({ chatId: 7, messageId: 1, text: "My bill?" }));
    await bot.bench.settle();
    const conversation = await bot.conversationIn("7");
    const timer = vi.spyOn(globalThis, "setTimeout");
    const longest = () => Math.max(...timer.mock.calls.map(([, ms]) => ms ?? 0));
    try {
      await bot.reply(conversation, "A moment");
      expect(longest()).toBe(30_000);
      const file = await bot.upload(conversation, "bill.pdf", Buffer.from("%PDF-1.7 bill"));
      await bot.reply(conversation, "Here", [file]);
      expect(bot.telegram.shown.at(-1)?.file?.name).toBe("bill.pdf");
      expect(longest()).toBeGreaterThanOrEqual(240_000);
    } finally {
      timer.mockRestore();
    }
  });
});
