import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { deliveryOf } from "../deliveries/deliveries.ts";
import { readEvent } from "../inbound.ts";
import { changedEvent, deletedEvent, envelopeOf, mentionEvent, messageEvent } from "./support/events.ts";

const workspace = { teamId: "T1", appId: "A1", botUserId: "UBOT", botId: "BBOT" };
const said = { channel: "C1", user: "U1", ts: "1700000001.000100", text: "Hello" };
const direct = { ...said, channel: "D1" };

function read(event: object, more: object = {}) {
  const { envelope } = deliveryOf(envelopeOf(workspace, { ...event }, { ...more })) ?? {};
  if (envelope === undefined) throw new Error("it was no event");
  return readEvent(envelope);
}
const reasonOf = (event: object): string => {
  const reading = read(event);
  return reading.kind === "ignored" ? reading.reason : `not ignored, but a ${reading.kind}`;
};

describe("an event of Slack", () => {
  it("that is a direct message belongs to the conversation with its sender", () => {
    expect(read(messageEvent(workspace, direct))).toMatchObject({
      kind: "message",
      ts: said.ts,
      place: { channelId: "D1", direct: true, thread: "D1:root", userId: "U1", teamId: "T1" },
    });
    expect(read(messageEvent(workspace, { ...direct, threadTs: "1700000000.000001" }))).toMatchObject({
      place: { thread: "D1:1700000000.000001" },
    });
  });

  it("in a channel belongs to its thread, or starts one", () => {
    expect(read(messageEvent(workspace, said))).toMatchObject({ place: { thread: "C1:1700000001.000100" } });
    const reply = { ...said, ts: "1700000002.000100", threadTs: said.ts };
    expect(read(messageEvent(workspace, reply))).toMatchObject({ place: { thread: "C1:1700000001.000100" } });
  });

  it("has the same id as a message and as a mention", () => {
    const message = read(messageEvent(workspace, said));
    const mention = read(mentionEvent(workspace, said));
    expect(message).toMatchObject({ kind: "message", mentioned: false });
    expect(mention).toMatchObject({ kind: "message", mentioned: true });
    if (message.kind !== "message" || mention.kind !== "message") throw new Error("one of them was passed over");
    expect(mention.place).toEqual(message.place);
    expect(mention.ts).toBe(message.ts);
  });

  it("identifies users of other teams by their own team", () => {
    const shared = messageEvent(workspace, { ...said, more: { user_team: "T9", source_team: "T9" } });
    expect(read(shared)).toMatchObject({ place: { teamId: "T9" } });
    expect(read({ ...shared, user_team: null, team: "T8" })).toMatchObject({ place: { teamId: "T8" } });
    expect(read({ ...shared, user_team: "", team: null })).toMatchObject({ place: { teamId: "T1" } });
    const file = { id: "F1", user_team: "T7", name: "a" };
    expect(read({ ...shared, user_team: null, team: null, subtype: "file_share", files: [file] })).toMatchObject({
      place: { teamId: "T7" },
    });
  });

  it("is a customer's message in each form that people write in", () => {
    for (const subtype of [undefined, "", null, "file_share", "thread_broadcast", "me_message"]) {
      expect(read({ ...messageEvent(workspace, said), subtype })).toMatchObject({ kind: "message" });
    }
  });

  it("is an edit only when the writer changed the text", () => {
    const edit = changedEvent(workspace, said, "1700000009.000000");
    const named = { ...(edit["message"] as object), subtype: "assistant_app_thread" };
    expect(reasonOf({ ...edit, message: named })).toBe("it is the title of an assistant thread");
    expect(read(edit)).toMatchObject({ kind: "edit", ts: said.ts, editedTs: "1700000009.000000" });
    const { edited } = edit["message"] as { readonly edited: object };
    const unfurled = { ...edit, previous_message: { ...(edit["previous_message"] as object), edited } };
    expect(reasonOf(unfurled)).toBe("its text was not changed");
    expect(reasonOf({ ...edit, message: { ...(edit["message"] as object), edited: null } })).toBe(
      "its text was not changed",
    );
  });

  it("is a deletion, of messages with replies too", () => {
    expect(read(deletedEvent(workspace, said, "1700000009.000000"))).toMatchObject({
      kind: "delete",
      ts: said.ts,
      place: { thread: "C1:1700000001.000100", userId: "U1" },
    });
    const edit = changedEvent(workspace, said, "1700000009.000000");
    const stone = { subtype: "tombstone", ts: said.ts, user: "USLACKBOT", text: "This message was deleted." };
    expect(read({ ...edit, message: stone })).toMatchObject({ kind: "delete", ts: said.ts, place: { userId: "U1" } });
  });

  it("of an app, of Slack itself or without a user is ignored", () => {
    const message = messageEvent(workspace, said);
    expect(reasonOf({ ...message, bot_id: "B7" })).toBe("an app has written it");
    expect(reasonOf({ ...message, subtype: "bot_message", user: null })).toContain("bot_message");
    expect(reasonOf({ ...message, user: "UBOT" })).toBe("the app itself has written it");
    const metadata = { event_type: "parley_delivery", event_payload: { delivery: "part_1" } };
    expect(reasonOf({ ...message, metadata })).toBe("Parley has written it");
    expect(read({ ...message, metadata: { event_type: "another_app" } }).kind).toBe("message");
    expect(read({ ...message, metadata: "none" }).kind).toBe("message");
    expect(reasonOf({ ...message, user: "USLACKBOT" })).toBe("Slackbot has written it");
    expect(reasonOf({ ...message, user: null })).toBe("nobody has written it");
    expect(reasonOf({ ...message, text: "" })).toBe("there is nothing in it");
    expect(reasonOf({ ...message, ts: "soon" })).toBe("it has no time stamp");
    expect(reasonOf({ ...message, channel: "C1:../x" })).toBe("it has no channel");
    const edit = changedEvent(workspace, said, "1700000009.000000");
    expect(reasonOf({ ...edit, message: { ...(edit["message"] as object), bot_id: "B7" } })).toBe(
      "an app has written it",
    );
  });
});

/** Each kind of payload that Slack sends to such apps, in Slack's form with our texts. */
describe("the kinds of payloads", () => {
  const service = (subtype: string, more: object = {}) => ({
    type: "message",
    subtype,
    user: "U1",
    channel: "C1",
    channel_type: "channel",
    text: "<@U1> did something",
    ts: said.ts,
    event_ts: said.ts,
    ...more,
  });
  const handled = {
    message: messageEvent(workspace, said),
    "message in a thread": messageEvent(workspace, { ...said, threadTs: "1700000000.000001" }),
    app_mention: mentionEvent(workspace, said),
    file_share: {
      ...service("file_share"),
      files: [{ id: "F1", name: "a.png", url_private: "https://files.slack.com/a" }],
    },
    thread_broadcast: service("thread_broadcast", {
      thread_ts: "1700000000.000001",
      root: { ts: "1700000000.000001" },
    }),
    me_message: service("me_message"),
    message_changed: changedEvent(workspace, said, "1700000009.000000"),
    message_deleted: deletedEvent(workspace, said, "1700000009.000000"),
  };
  const ignored = {
    bot_message: service("bot_message", { bot_id: "B7", username: "robot", icons: { emoji: ":robot_face:" } }),
    message_replied: service("message_replied", { hidden: true, message: { ts: said.ts, user: "U1", text: "x" } }),
    channel_join: service("channel_join", { inviter: "U2" }),
    channel_leave: service("channel_leave"),
    channel_archive: service("channel_archive"),
    channel_unarchive: service("channel_unarchive"),
    channel_name: service("channel_name", { old_name: "a", name: "b" }),
    channel_topic: service("channel_topic", { topic: "t" }),
    channel_purpose: service("channel_purpose", { purpose: "p" }),
    channel_posting_permissions: service("channel_posting_permissions"),
    group_topic: service("group_topic", { topic: "t" }),
    ekm_access_denied: service("ekm_access_denied"),
    assistant_app_thread: service("assistant_app_thread"),
    reminder_add: service("reminder_add"),
    assistant_thread_context_changed: {
      type: "assistant_thread_context_changed",
      assistant_thread: { user_id: "U1", context: {}, channel_id: "D1", thread_ts: said.ts },
      event_ts: said.ts,
    },
    app_home_opened: { type: "app_home_opened", user: "U1", channel: "D1", tab: "home", event_ts: said.ts },
    member_joined_channel: { type: "member_joined_channel", user: "U1", channel: "C1", team: "T1", event_ts: said.ts },
    channel_rename: { type: "channel_rename", channel: { id: "C1", name: "b", created: 1 }, event_ts: said.ts },
    tokens_revoked: { type: "tokens_revoked", tokens: { bot: ["UBOT"] }, event_ts: said.ts },
    app_uninstalled: { type: "app_uninstalled", event_ts: said.ts },
    user_change: { type: "user_change", user: { id: "U1" }, event_ts: said.ts },
  };

  for (const [kind, event] of Object.entries(handled)) {
    it(`${kind} is a customer's event`, () => {
      expect(["message", "edit", "delete"]).toContain(read(event).kind);
    });
  }
  for (const [kind, event] of Object.entries(ignored)) {
    it(`${kind} is ignored deliberately`, () => {
      expect(reasonOf(event)).toMatch(/is not a customer's|says nothing of a customer/);
    });
  }

  it("are all listed in the README", () => {
    const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
    const generic = new Set(["message in a thread", "assistant_app_thread", "reminder_add"]);
    for (const kind of [...Object.keys(handled), ...Object.keys(ignored)]) {
      if (!generic.has(kind)) expect(readme, kind).toContain(`\`${kind}\``);
    }
  });
});
