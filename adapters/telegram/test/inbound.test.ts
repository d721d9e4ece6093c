import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { Value } from "typebox/value";
import { readUpdate } from "../inbound.ts";
import type { TelegramUpdate } from "../payloads.ts";
import { ignoredKinds, updateKinds, updateSchema } from "../payloads.ts";
import { editUpdate, messageUpdate, updateId } from "./support/updates.ts";

const botId = 3;
const read = (update: unknown) => {
  if (!Value.Check(updateSchema, update)) throw new Error("the update does not have the form that is read");
  return readUpdate(update satisfies TelegramUpdate, botId);
};
const eventOf = (update: unknown) => {
  const reading = read(update);
  if (reading.kind !== "event") throw new Error(`it was ${reading.kind}`);
  return reading.event;
};

describe("Telegram's kinds of updates", () => {
  it("are each read, or ignored for a reason, and listed in the README", () => {
    const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
    for (const kind of updateKinds) expect(readme).toContain(`| \`${kind}\` |`);
    for (const [kind, reason] of Object.entries(ignoredKinds)) {
      expect(readme).toMatch(new RegExp(`\\|[^|]*\`${kind}\`[^|]*\\| passed over: `));
      expect(readUpdate({ update_id: 1, [kind]: {} }, botId)).toEqual({ kind: "ignored", reason });
    }
  });
});

describe("an update of Telegram", () => {
  it("with a private message is a message of its sender in the chat", () => {
    expect(eventOf(messageUpdate({ chatId: 77, messageId: 5, text: "Hello", from: { username: "ada" } }))).toEqual({
      kind: "message",
      externalId: "message:77:5",
      messageExternalId: "77:5",
      thread: "77",
      sender: { key: "77", name: "Ada L." },
      sentAt: 1_934_000_000_000,
      text: "Hello",
      metadata: { username: "@ada", language: "en" },
    });
  });

  it("names the message that it answers, with the part that the customer quotes", () => {
    const answers = (more: object) =>
      eventOf(messageUpdate({ chatId: 77, messageId: 5, text: "This?", more: { reply_to_message: more } }));
    expect(answers({ message_id: 3, text: "Blue or red?" })).toMatchObject({
      refersTo: { externalIds: ["77:3"], text: "Blue or red?" },
    });
    const quoted = {
      reply_to_message: { message_id: 3, caption: "Blue or red?" },
      quote: { text: "red", position: 8 },
    };
    expect(eventOf(messageUpdate({ chatId: 77, messageId: 5, text: "This?", more: quoted }))).toMatchObject({
      refersTo: { externalIds: ["77:3"], text: "red", isQuote: true },
    });
    const inTopic = { is_topic_message: true, message_thread_id: 3, reply_to_message: { message_id: 3 } };
    expect(eventOf(messageUpdate({ chatId: 77, messageId: 5, text: "x", more: inTopic }))).not.toHaveProperty(
      "refersTo",
    );
  });

  it("names the first author of a forwarded message, which is no command", () => {
    const from = (origin: object, text = "Is it blue?") =>
      eventOf(messageUpdate({ chatId: 77, messageId: 5, text, more: { forward_origin: { date: 1, ...origin } } }));
    const bob = { id: 5, is_bot: false, first_name: "Bob", last_name: "K." };
    const news = { id: -100_9, type: "channel", title: "Shop news" };
    for (const [origin, name] of [
      [{ type: "user", sender_user: bob }, "Bob K."],
      [{ type: "hidden_user", sender_user_name: "Bob" }, "Bob"],
      [{ type: "chat", sender_chat: { ...news, type: "supergroup" } }, "Shop news"],
      [{ type: "channel", chat: news, message_id: 3 }, "Shop news"],
    ] as const) {
      expect(from(origin)).toMatchObject({ kind: "message", text: "Is it blue?", forwarded: { from: name } });
    }
    expect(from({ type: "user", sender_user: bob }, "/start spring")).toMatchObject({ kind: "message" });
    // The customer's own words stay theirs.
    expect(from({ type: "user", sender_user: { ...bob, id: 77 } })).not.toHaveProperty("forwarded");
  });

  it("has a thread of its own in each topic, but not in each chain of replies", () => {
    const group = { id: -100_5, type: "supergroup", title: "Fans" };
    const at = (more: object) =>
      eventOf(messageUpdate({ chatId: 1, messageId: 2, text: "x", chat: group, more: { ...more } }));
    expect(at({ is_topic_message: true, message_thread_id: 9 })).toMatchObject({ thread: "-1005:9" });
    expect(at({ message_thread_id: 9 })).toMatchObject({ thread: "-1005" });
  });

  it("with an edit is a change of the message, each time", () => {
    const first = eventOf(editUpdate({ chatId: 77, messageId: 5, text: "Hallo" }));
    expect(first).toMatchObject({ kind: "edit", messageExternalId: "77:5", thread: "77", text: "Hallo" });
    expect(eventOf(editUpdate({ chatId: 77, messageId: 5, text: "Hallo" }))).not.toMatchObject({
      externalId: "externalId" in first ? first.externalId : "",
    });
  });

  it("contains its files, named by type where Telegram gives no name", () => {
    const filesOf = (more: Record<string, unknown>) => {
      const event = eventOf(messageUpdate({ chatId: 1, messageId: 2, more }));
      return event.kind === "message" ? [event.text, event.files] : [];
    };
    const photo = { photo: [{ file_id: "s" }, { file_id: "L", file_size: 9 }] };
    expect(filesOf({ ...photo, caption: "Look" })).toEqual([
      "Look",
      [{ ref: "L", name: "photo.jpg", mediaType: "image/jpeg", bytes: 9 }],
    ]);
    const named = (more: Record<string, unknown>) =>
      filesOf(more).flatMap((each) => (Array.isArray(each) ? each.map(({ name, ref }) => `${ref} ${name}`) : []));
    expect(filesOf(photo)[0]).toBe("");
    expect(named({ voice: { file_id: "v", duration: 12 } })).toEqual(["v voice message (12 s).ogg"]);
    expect(named({ document: { file_id: "d", file_name: "bill.pdf" } })).toEqual(["d bill.pdf"]);
    expect(named({ animation: { file_id: "a" }, document: { file_id: "a" } })).toEqual(["a animation.mp4"]);
    expect(named({ video_note: { file_id: "n", duration: 3 } })).toEqual(["n video message (3 s).mp4"]);
  });

  it("is one message with the others of its album", () => {
    const more = { photo: [{ file_id: "p" }], media_group_id: "77" };
    expect(eventOf(messageUpdate({ chatId: 1, messageId: 2, more }))).toMatchObject({ group: { key: "77" } });
  });

  it("describes other content in words", () => {
    const textsOf = (more: Record<string, unknown>) => {
      const event = eventOf(messageUpdate({ chatId: 1, messageId: 2, more }));
      return event.kind === "message" ? [event.text] : [];
    };
    expect(textsOf({ sticker: { file_id: "s", emoji: "👍" } })[0]).toBe("[sticker: 👍]");
    expect(textsOf({ contact: { phone_number: "+491", first_name: "Bo" } })[0]).toBe("[contact: Bo, +491]");
    expect(textsOf({ location: { latitude: 1.5, longitude: 2 } })[0]).toBe("[location: 1.5, 2]");
    expect(textsOf({ venue: { title: "Shop", address: "Road 1" }, location: { latitude: 1, longitude: 2 } })[0]).toBe(
      "[place: Shop, Road 1]",
    );
    expect(textsOf({ poll: { question: "Tea?" } })[0]).toBe("[poll: Tea?]");
    expect(textsOf({ dice: { emoji: "🎲", value: 6 } })[0]).toBe("[🎲 6]");
    expect(textsOf({ story: { chat: { id: 2, type: "private" }, id: 1 } })[0]).toBe("[story]");
    expect(textsOf({ paid_media: { star_count: 1, paid_media: [] } })[0]).toBe("[paid media]");
    expect(
      textsOf({
        checklist: {
          title: "Move",
          tasks: [
            { id: 1, text: "Pack" },
            { id: 2, text: "Go" },
          ],
        },
      })[0],
    ).toBe("[checklist: Move\n- Pack\n- Go]");
    const rich = [
      { type: "heading", text: "Hello" },
      {
        type: "paragraph",
        text: ["How ", { type: "bold", text: "much" }, { type: "custom_emoji", alternative_text: "?" }],
      },
      { type: "list", items: [{ label: "1.", blocks: [{ type: "paragraph", text: "One" }] }] },
      { type: "table", cells: [[{ text: "a" }, { text: "b" }]] },
      { type: "divider" },
    ];
    expect(textsOf({ rich_message: { blocks: rich } })[0]).toBe("Hello\nHow much?\n1.\nOne\na\nb");
    const deep = Array.from({ length: 9_000 }).reduce<unknown>((text) => ({ type: "bold", text }), "x");
    expect(textsOf({ rich_message: { blocks: [{ type: "paragraph", text: deep }] }, text: "y" })[0]).toBe("y");
  });

  it("by way of another inline bot is the customer's, with the name of that bot", () => {
    const written = { via_bot: { id: 4, is_bot: true, username: "gif" } };
    expect(eventOf(messageUpdate({ chatId: 77, messageId: 5, text: "x", more: written }))).toMatchObject({
      kind: "message",
      metadata: { via_bot: "@gif" },
    });
  });

  it("is ignored when its author is not a customer", () => {
    const kindOf = (written: object) => read(messageUpdate({ chatId: 1, messageId: 2, text: "x", ...written })).kind;
    expect(kindOf({ from: { is_bot: true } })).toBe("ignored");
    expect(kindOf({ more: { sender_chat: { id: -1, type: "channel" } } })).toBe("ignored");
    expect(kindOf({ more: { via_bot: { id: botId, is_bot: true } } })).toBe("ignored");
    expect(kindOf({ more: { is_automatic_forward: true } })).toBe("ignored");
    expect(kindOf({ text: undefined, more: { new_chat_title: "Fans" } })).toBe("ignored");
    // Each writer has a topic there, which a reply must name.
    const toChannel = { chat: { id: -1_005, type: "supergroup", is_direct_messages: true } };
    expect(kindOf(toChannel)).toBe("ignored");
    expect(read(editUpdate({ chatId: 1, messageId: 2, text: "x", ...toChannel })).kind).toBe("ignored");
    expect(read({ update_id: 1, poll: {} }).kind).toBe("ignored");
  });

  it("reports a group's new id with one id from both groups", () => {
    const moved = { kind: "moved", externalId: "moved:-5:-1005", thread: "-5", toThread: "-1005" };
    for (const [chatId, more] of [
      [-5, { migrate_to_chat_id: -1_005 }],
      [-1_005, { migrate_from_chat_id: -5 }],
    ] as const) {
      expect(eventOf(messageUpdate({ chatId, messageId: 1, more }))).toMatchObject(moved);
    }
  });

  it("is a press of Start in each client's form, in private chats only", () => {
    const kindOf = (text: string, chat = {}) => read(messageUpdate({ chatId: 7, messageId: 1, text, chat })).kind;
    for (const text of [
      "/start",
      "/start abc",
      "/start@parley_test_bot",
      "/start@parley_test_bot abc",
      "/start\nabc",
    ]) {
      expect(kindOf(text)).toBe("start");
    }
    expect(kindOf("/started")).toBe("event");
    expect(kindOf("/start", { id: -5, type: "group" })).toBe("event");
  });

  it("keeps the payload of the link that a customer followed, and nothing else behind the command", () => {
    const contactOf = (text: string) => {
      const reading = read(messageUpdate({ chatId: 7, messageId: 4, text }));
      return reading.kind === "start" ? reading.event : reading;
    };
    expect(contactOf("/start spring-sale_2")).toMatchObject({
      kind: "contact",
      externalId: "start:7:4",
      thread: "7",
      sender: { key: "7" },
      contact: {},
      start: "spring-sale_2",
    });
    for (const text of [
      "/start",
      "/start ",
      "/start two words",
      `/start ${"a".repeat(65)}`,
      "/start <b>",
      "/start ü",
    ]) {
      expect(contactOf(text)).toBeUndefined();
    }
  });

  it("reports that a customer blocked or unblocked the bot", () => {
    const member = (status: string) =>
      eventOf({
        update_id: updateId(),
        my_chat_member: {
          chat: { id: 77, type: "private" },
          from: { id: 77 },
          date: 1,
          new_chat_member: { status },
        },
      });
    expect(member("kicked")).toMatchObject({ kind: "reach", reachable: false, thread: "77" });
    expect(member("member")).toMatchObject({ kind: "reach", reachable: true });
    const restricted = (may: boolean, isMember?: boolean) =>
      eventOf({
        update_id: updateId(),
        my_chat_member: {
          chat: { id: -77, type: "supergroup" },
          from: { id: 5 },
          date: 1,
          new_chat_member: { status: "restricted", can_send_messages: may, is_member: isMember },
        },
      });
    expect(restricted(false)).toMatchObject({
      kind: "reach",
      reachable: false,
      reason: "The bot may not write in this group: what you write here does not arrive.",
    });
    expect(restricted(true)).toMatchObject({ kind: "reach", reachable: true });
    expect(restricted(true, true)).toMatchObject({ kind: "reach", reachable: true });
    expect(restricted(true, false)).toMatchObject({
      reachable: false,
      reason: "The bot was removed from this group: what you write here does not arrive.",
    });
  });
});
