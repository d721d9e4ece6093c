import { afterEach, describe, expect, it } from "vitest";
import { png } from "#test/support/channels/file-channel.ts";
import type { Bot } from "./support/bot.ts";
import { openBot } from "./support/bot.ts";
import { editUpdate, messageUpdate } from "./support/updates.ts";

type Fields = Readonly<Record<string, unknown>>;

let bot: Bot;
afterEach(() => bot.close());

describe("a file that an edit adds", () => {
  const photo = (name: string) => ({
    photo: [{ file_id: bot.telegram.keep(png), file_unique_id: name, file_size: png.length }],
  });
  const say = (more: Fields, text?: string) =>
    bot.post(messageUpdate({ chatId: 7, messageId: 1, ...(text === undefined ? {} : { text }), more }));
  const change = (more: Fields, text?: string) =>
    bot.post(editUpdate({ chatId: 7, messageId: 1, ...(text === undefined ? {} : { text }), more }));
  const seen = async () => {
    await bot.bench.advance(5_000);
    const [message] = await bot.bench.messages(await bot.conversationIn("7"));
    const files = bot.bench.store.read.selectFrom("attachments").select(["position", "state"]).orderBy("position");
    return [message?.content, message?.files ?? 0, (await files.execute()).map(({ state }) => state).join()];
  };

  it("is fetched once, as an addition to a text or a replacement of a picture", async () => {
    bot = await openBot();
    await say({}, "It is broken");
    await change({ ...photo("a"), caption: "It is broken" });
    expect(await seen()).toEqual(["It is broken", 1, "stored"]);
    // A reaction, or an edit of the text.
    await change({ ...photo("a"), caption: "It is broken" });
    await change({ ...photo("a"), caption: "It is broken, see" });
    expect(await seen()).toEqual(["It is broken, see", 1, "stored"]);
    await change({ ...photo("b"), caption: "It is broken, see" });
    expect(await seen()).toEqual(["It is broken, see", 2, "stored,stored"]);
    const kept = await bot.bench.store.read.selectFrom("inbound_events").select("payload").execute();
    expect(kept.filter(({ payload }) => payload.includes("AgAC"))).toEqual([]);
  });

  it("is not fetched again when it was there before, or may have been", async () => {
    bot = await openBot();
    await say({ ...photo("a"), caption: "See", media_group_id: "album" });
    await change({ ...photo("a"), caption: "See this", media_group_id: "album" });
    expect(await seen()).toEqual(["See this", 1, "stored"]);
    await bot.bench.store.write((tx) =>
      tx.updateTable("inbound_events").set({ payload: "{}" }).where("kind", "=", "message").execute(),
    );
    await change({ ...photo("c"), caption: "See that", media_group_id: "album" });
    expect(await seen()).toEqual(["See that", 1, "stored"]);
  });
});

describe("an agent's edit", () => {
  it("is sent without entities when Telegram refuses them, as a new message is", async () => {
    bot = await openBot();
    await bot.post(messageUpdate({ chatId: 7, messageId: 1, text: "One" }));
    await bot.bench.settle();
    const id = await bot.conversationIn("7");
    await bot.reply(id, "Frist");
    const message = (await bot.bench.messages(id)).at(-1);
    bot.telegram.fail("editMessageText", {
      kind: "error",
      code: 400,
      description: "Bad Request: can't parse entities: no",
    });
    const change = { kind: "amend", messageId: message?.id ?? "", content: "**First**" } as const;
    await bot.bench.engine.postAgentMessage(bot.bench.workspaceId, id, change, {
      email: "anna@test.example",
      name: "Anna",
    });
    await bot.bench.settle();
    expect(bot.texts(7).at(-1)).toBe("Anna:\nFirst");
    expect(await bot.bench.notes(id)).toEqual([]);
  });
});
