import { describe, expect, it } from "vitest";
import { Value } from "typebox/value";
import { readUpdate } from "../inbound.ts";
import type { TelegramUpdate } from "../updates.ts";
import { updateSchema } from "../updates.ts";
import { editUpdate, messageUpdate, updateId } from "./support/updates.ts";

const read = (update: unknown) => {
  if (!Value.Check(updateSchema, update)) throw new Error("the update does not have the form that is read");
  return readUpdate(update satisfies TelegramUpdate);
};
const eventOf = (update: unknown) => {
  const reading = read(update);
  if (reading.kind !== "event") throw new Error(`it was ${reading.kind}`);
  return reading.event;
};

describe("an update of Telegram", () => {
  it("that is a message in private is one of its sender, in the chat", () => {
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

  it("has a thread of its own in each topic, but not in each chain of replies", () => {
    const group = { id: -100_5, type: "supergroup", title: "Fans" };
    const at = (more: object) =>
      eventOf(messageUpdate({ chatId: 1, messageId: 2, text: "x", chat: group, more: { ...more } }));
    expect(at({ is_topic_message: true, message_thread_id: 9 })).toMatchObject({ thread: "-1005:9" });
    expect(at({ message_thread_id: 9 })).toMatchObject({ thread: "-1005" });
  });

  it("that is an edit changes the message, each time", () => {
    const first = eventOf(editUpdate({ chatId: 77, messageId: 5, text: "Hallo" }));
    expect(first).toMatchObject({ kind: "edit", messageExternalId: "77:5", thread: "77", text: "Hallo" });
    expect(eventOf(editUpdate({ chatId: 77, messageId: 5, text: "Hallo" }))).not.toMatchObject({
      externalId: "externalId" in first ? first.externalId : "",
    });
  });

  it("is told in words where it is not text", () => {
    const told = (more: Record<string, unknown>) => {
      const event = eventOf(messageUpdate({ chatId: 1, messageId: 2, more }));
      return event.kind === "message" ? [event.text, event.metadata?.["attachments"]] : [];
    };
    expect(told({ photo: [{ file_id: "s" }, { file_id: "L", file_size: 9 }], caption: "Look" })).toEqual([
      "Look\n\n[photo]",
      [{ kind: "photo", id: "L", bytes: 9 }],
    ]);
    expect(told({ voice: { file_id: "v", duration: 12, mime_type: "audio/ogg" } })[0]).toBe("[voice message: 12 s]");
    expect(told({ document: { file_id: "d", file_name: "bill.pdf" } })[0]).toBe("[file: bill.pdf]");
    expect(told({ animation: { file_id: "a" }, document: { file_id: "a" } })[0]).toBe("[animation]");
    expect(told({ sticker: { file_id: "s", emoji: "👍" } })[0]).toBe("[sticker: 👍]");
    expect(told({ contact: { phone_number: "+491", first_name: "Bo" } })[0]).toBe("[contact: Bo, +491]");
    expect(told({ location: { latitude: 1.5, longitude: 2 } })[0]).toBe("[location: 1.5, 2]");
    expect(told({ venue: { title: "Shop", address: "Road 1" }, location: { latitude: 1, longitude: 2 } })[0]).toBe(
      "[place: Shop, Road 1]",
    );
    expect(told({ poll: { question: "Tea?" } })[0]).toBe("[poll: Tea?]");
    expect(told({ dice: { emoji: "🎲", value: 6 } })[0]).toBe("[🎲 6]");
  });

  it("is passed over when no customer has written it", () => {
    const kindOf = (written: object) => read(messageUpdate({ chatId: 1, messageId: 2, text: "x", ...written })).kind;
    expect(kindOf({ from: { is_bot: true } })).toBe("ignored");
    expect(kindOf({ more: { sender_chat: { id: -1, type: "channel" } } })).toBe("ignored");
    expect(kindOf({ more: { via_bot: { id: 3, is_bot: true } } })).toBe("ignored");
    expect(kindOf({ more: { is_automatic_forward: true } })).toBe("ignored");
    expect(kindOf({ text: undefined, more: { new_chat_title: "Fans" } })).toBe("ignored");
    expect(read({ update_id: 1, poll: {} }).kind).toBe("ignored");
  });

  it("tells that a group has another id from now on", () => {
    expect(eventOf(messageUpdate({ chatId: -5, messageId: 1, more: { migrate_to_chat_id: -1_005 } }))).toMatchObject({
      kind: "moved",
      thread: "-5",
      toThread: "-1005",
    });
  });

  it("tells that a customer has blocked the bot, and that they have not any more", () => {
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
  });
});
