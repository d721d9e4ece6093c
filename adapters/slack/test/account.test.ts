import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SlackAccount } from "./support/account.ts";
import { openSlackAccount } from "./support/account.ts";
import { changedEvent, deletedEvent, mentionEvent } from "./support/events.ts";
import { signatureOf } from "../deliveries/signature.ts";
import { minuteMs } from "#test/support/engine-bench.ts";
import { runStatement } from "#test/support/database/run-statement.ts";

let account: SlackAccount;
const open = async (config: Readonly<Record<string, unknown>> = {}) => {
  account = await openSlackAccount(() => config);
};
afterEach(() => account.close());

const notes = async (of = 0): Promise<string> => {
  const conversation = (await account.conversations()).at(of);
  return (await account.bench.notes(conversation?.id ?? "")).join("\n");
};

describe("the webhook for Slack's deliveries", () => {
  beforeEach(() => open());

  it("answers Slack's verification of the address", async () => {
    const body = JSON.stringify({ type: "url_verification", token: "x", challenge: "3eZbrw1aB" });
    const answered = await account.post(body);
    expect(answered.status).toBe(200);
    expect(await answered.json()).toEqual({ challenge: "3eZbrw1aB" });
    expect((await account.post(body, { "x-slack-signature": "v0=00" })).status).toBe(401);
  });

  it("refuses bodies without a recent signature of Slack over the same bytes", async () => {
    const { slack, bench } = account;
    const body = JSON.stringify({
      type: "event_callback",
      event: account.said({ channel: "D0ADA", text: "Let me in" }),
    });
    const now = bench.clock.now();
    const signed = slack.sign(body, now);
    const stamp = String(Math.floor(now / 1_000));
    const wrong: Readonly<Record<string, string>>[] = [
      { "x-slack-signature": "" },
      { "x-slack-signature": signed["x-slack-signature"]?.replace("v0=", "v1=") ?? "" },
      { "x-slack-signature": `${signed["x-slack-signature"]}00` },
      { "x-slack-signature": signatureOf("another-secret-0000", stamp, body) },
      { "x-slack-signature": signatureOf(slack.signingSecret, stamp, `${body} `) },
      { "x-slack-request-timestamp": String(Number(stamp) - 1) },
      { "x-slack-request-timestamp": "" },
      { "x-slack-request-timestamp": "1e9" },
      slack.sign(body, now - 301_000),
      slack.sign(body, now + 301_000),
    ];
    for (const headers of wrong) expect((await account.post(body, headers)).status).toBe(401);
    expect(await account.stored()).toEqual([]);
    for (const at of [now - 299_000, now + 299_000]) {
      expect((await account.post(body, slack.sign(body, at))).status).toBe(200);
    }
  });

  it("accepts only POST, refuses malformed bodies, and ignores unknown deliveries", async () => {
    expect((await fetch(account.url)).status).toBe(405);
    expect((await account.post("{")).status).toBe(400);
    const form = { "content-type": "application/x-www-form-urlencoded; charset=utf-8" };
    expect((await account.post("payload=%7B", form)).status).toBe(400);
    for (const body of ["{}", "[]", "null", "5", '{"type":"event_callback"}', '{"type":"app_rate_limited"}']) {
      expect((await account.post(body)).status).toBe(200);
    }
    for (const body of ["", "payload={}", "payload=null", "ssl_check=1", "command=%2Fparley"]) {
      expect((await account.post(body, form)).status).toBe(200);
    }
    expect(await account.stored()).toEqual([]);
  });

  it("acknowledges what nobody listens to, and fields that Bolt cannot read", async () => {
    const { slack } = account;
    const said = account.said({ channel: "D0ADA", text: "" });
    const events: readonly object[] = [
      { type: "emoji_changed", event_ts: "1.1" },
      { type: "function_executed", function: null, inputs: null },
      { type: "reaction_added", item: null, user: null },
      { ...said, item: null, user: null, channel: null, subteam: null },
      { ...said, item: "x", channel_id: 5 },
    ];
    for (const event of events) {
      expect((await account.deliver(event, { response_urls: [null], function_data: null })).status).toBe(200);
    }
    const user = { id: "U0ADA", team_id: slack.teamId };
    for (const interaction of [
      { type: "block_actions", user, actions: null, channel: null, team: null },
      { type: "block_actions", user, actions: [{ action_id: null, block_id: null, value: null }], view: null },
      { type: "block_suggestion", user, name: "x", channel: null },
      { type: "dialog_submission", user, callback_id: null },
      { type: "interactive_message", user, actions: [{ name: "x" }] },
      { type: "view_submission", user, view: null },
      { type: "view_closed", user, view: { callback_id: null } },
      { type: "message_action", user, callback_id: null, message: null },
      { type: "shortcut", user },
      { type: "something_new", user },
    ]) {
      const payload = new URLSearchParams({ payload: JSON.stringify(interaction) });
      const form = { "content-type": "application/x-www-form-urlencoded" };
      const answered = await account.post(payload.toString(), form);
      expect([answered.status, await answered.text()], interaction.type).toEqual([200, ""]);
    }
    expect(await account.stored()).toEqual([]);
  });

  it("acknowledges buttons and commands without a desk", async () => {
    const form = { "content-type": "application/x-www-form-urlencoded" };
    const command = await account.post("command=%2Fparley&user_id=U0ADA&text=mine", form);
    expect(await command.json()).toMatchObject({ response_type: "ephemeral" });
    const payload = { type: "block_actions", user: { id: "U0ADA" }, actions: [{ action_id: "claim", value: "x" }] };
    const pressed = await account.post(`payload=${encodeURIComponent(JSON.stringify(payload))}`, form);
    expect(pressed.status).toBe(200);
    expect(await pressed.text()).toBe("");
  });

  it("does not acknowledge a delivery that could not be stored", async () => {
    const event = account.said({ channel: "D0ADA", text: "Keep me" });
    await runStatement(account.bench.url, "alter table inbound_events rename to away");
    expect((await account.deliver(event)).status).toBe(503);
    await runStatement(account.bench.url, "alter table away rename to inbound_events");
    expect((await account.deliver(event, { retry_num: 1 })).status).toBe(200);
    expect(await account.stored()).toEqual(["Keep me"]);
  });
});

describe("a customer in Slack", () => {
  beforeEach(() => open());

  it("gets a reply in a direct message, and is identified by name and confirmed address", async () => {
    await account.say({ channel: "D0ADA", text: "How much?" });
    await account.bench.settle();
    expect(account.texts("D0ADA")).toEqual(["You asked: How much?"]);
    expect(account.slack.shown("D0ADA")[0]?.threadTs).toBeUndefined();
    const contact = account.bench.store.read.selectFrom("contacts").select(["name", "email"]);
    expect(await contact.executeTakeFirst()).toMatchObject({ name: "Ada L.", email: "ada@shop.example" });
  });

  it("keeps no address that another workspace confirmed", async () => {
    await account.say({ channel: "D0BOB", user: "U0BOB", text: "Hello", more: { user_team: "T0OTHER" } });
    const contact = account.bench.store.read.selectFrom("contacts").select(["name", "email"]);
    expect(await contact.executeTakeFirst()).toMatchObject({ name: "Bob", email: null });
    const identity = account.bench.store.read.selectFrom("identities").selectAll();
    expect(JSON.stringify(await identity.execute())).toContain("T0OTHER:U0BOB");
  });

  it("gets a reply when Slack does not return the name", async () => {
    account.slack.fail("users.info", { kind: "status", status: 500 });
    await account.say({ channel: "D0ADA", text: "Who am I?" });
    await account.bench.settle();
    expect(account.texts("D0ADA")).toEqual(["You asked: Who am I?"]);
  });

  it("who mentions the app starts one thread, and continues in it without a mention", async () => {
    const { slack } = account;
    const root = { channel: "C0HELP", user: "U0ADA", ts: slack.nextTs(), text: "" };
    const more = { text: `<@${slack.botUserId}> how much?` };
    await Promise.all([
      account.deliver(mentionEvent(slack, { ...root, more })),
      account.deliver(account.said({ ...root, more })),
      account.deliver(account.said({ ...root, more })),
    ]);
    await account.bench.settle();
    expect(await account.stored()).toEqual(["how much?"]);
    expect(slack.shown("C0HELP")).toMatchObject([{ threadTs: root.ts, text: "You asked: how much?" }]);
    await account.say({ channel: "C0HELP", threadTs: root.ts, text: "And in blue?" });
    await account.say({ channel: "C0HELP", text: "Not meant for the app" });
    await account.say({ channel: "C0HELP", threadTs: slack.nextTs(), text: "Neither" });
    await account.bench.settle();
    expect(await account.stored()).toEqual(["how much?", "And in blue?"]);
    expect(await account.conversations()).toMatchObject([{ context_key: `C0HELP:${root.ts}` }]);
  });

  it("is not the app itself, also where Slack names no bot", async () => {
    const { slack } = account;
    const own = account.said({ channel: "D0ADA", user: slack.botUserId, text: "You asked: How much?" });
    expect((await account.deliver(own, { authorizations: null })).status).toBe(200);
    await account.bench.settle();
    expect(await account.stored()).toEqual([]);
    expect(slack.calls("chat.postMessage")).toEqual([]);
  });

  it("is read with the names of mentioned users", async () => {
    await account.say({ channel: "D0ADA", text: "", more: { text: "ask <@U0BOB> about <https://a.example|this>" } });
    expect(await account.stored()).toEqual(["ask @Bob about this (https://a.example)"]);
  });

  it("edits and deletes messages, in any order of delivery", async () => {
    const first = { channel: "D0ADA", user: "U0ADA", ts: account.slack.nextTs(), text: "How mcuh?" };
    await account.deliver(changedEvent(account.slack, { ...first, text: "How much?" }, account.slack.nextTs()));
    await account.deliver(account.said(first));
    expect(await account.stored()).toEqual(["How much?"]);
    const second = { ...first, ts: account.slack.nextTs(), text: "My password is 1234" };
    await account.deliver(account.said(second));
    await account.deliver(deletedEvent(account.slack, second, account.slack.nextTs()));
    expect(await account.stored()).toEqual(["How much?", ""]);
  });
});

describe("messages to Slack", () => {
  beforeEach(async () => {
    await open();
    await account.say({ channel: "D0ADA", text: "One" });
    await account.bench.settle();
  });

  it("hold back a rate-limited channel, and no other", async () => {
    const { slack, bench } = account;
    slack.fail("chat.postMessage", { kind: "limit", seconds: 30, channel: "D0ADA" });
    await account.reply("Later");
    // Another thread of the channel is held back too.
    const calls = slack.calls("chat.postMessage").length;
    await account.say({ channel: "D0ADA", threadTs: slack.nextTs(), text: "In a thread" });
    await bench.settle();
    expect(slack.calls("chat.postMessage")).toHaveLength(calls);
    await account.say({ channel: "D0BOB", user: "U0BOB", text: "Two" });
    await bench.settle();
    expect(account.texts("D0BOB")).toEqual(["You asked: Two"]);
    expect(account.texts("D0ADA")).toEqual(["You asked: One"]);
    await bench.advance(60_000);
    expect(account.texts("D0ADA").toSorted((a, b) => a.localeCompare(b))).toEqual([
      "Anna:\nLater",
      "You asked: In a thread",
      "You asked: One",
    ]);
  });

  it("with an unknown outcome are searched before they are sent again", async () => {
    const { slack, bench } = account;
    slack.fail("chat.postMessage", { kind: "status", status: 503, afterCommit: true });
    await account.reply("Perhaps");
    await bench.advance(600_000);
    expect(account.texts("D0ADA")).toEqual(["You asked: One", "Anna:\nPerhaps"]);
    slack.fail("chat.postMessage", { kind: "status", status: 503 });
    await account.reply("Surely");
    await bench.advance(600_000);
    expect(account.texts("D0ADA")).toEqual(["You asked: One", "Anna:\nPerhaps", "Anna:\nSurely"]);
    slack.fail("chat.postMessage", { kind: "html" }, { kind: "error", error: "internal_error" });
    await account.reply("At last");
    await bench.advance(1_200_000);
    expect(account.texts("D0ADA").slice(3)).toEqual(["Anna:\nAt last"]);
    expect(slack.calls("conversations.history").every((call) => call["include_all_metadata"] === "true")).toBe(true);
  });

  it("are searched in every kind of channel, with its scope", async () => {
    const { slack, bench } = account;
    for (const [kind, scope] of [
      ["channel", "channels:history"],
      ["group", "groups:history"],
      ["mpim", "mpim:history"],
    ] as const) {
      const channel = `C0${kind.toUpperCase()}`;
      slack.channels.set(channel, { id: channel, kind, name: kind, archived: false, member: true });
      const ts = slack.nextTs();
      const text = `<@${slack.botUserId}> Hello ${kind}`;
      await account.say({ channel, ts, text, more: { channel_type: kind, text } });
      await bench.settle();
      slack.scopes.splice(slack.scopes.indexOf(scope), 1);
      slack.fail("chat.postMessage", { kind: "hang_up_after_commit" });
      await account.reply("Once", `${channel}:${ts}`);
      await bench.advance(90_000);
      const asked = slack.calls("conversations.replies").length;
      expect(asked).toBeGreaterThan(0);
      slack.scopes.push(scope);
      await bench.advance(90_000);
      expect(slack.calls("conversations.replies").length).toBeGreaterThan(asked);
      expect(account.texts(channel)).toEqual([`You asked: Hello ${kind}`, "Anna:\nOnce"]);
    }
  });

  it("are found again in a thread of many pages", async () => {
    const { slack, bench } = account;
    const ts = slack.nextTs();
    await account.say({ channel: "D0ADA", threadTs: ts, text: "In a thread" });
    await bench.settle();
    for (let at = 0; at < 250; at += 1) {
      slack.messages.push({
        channel: "D0ADA",
        ts: slack.nextTs(),
        threadTs: ts,
        user: "U0ADA",
        text: `line ${at}`,
        blocks: [],
        metadata: undefined,
        files: [],
        deleted: false,
      });
    }
    slack.fail("chat.postMessage", { kind: "hang_up_after_commit" });
    await account.reply("Once", `D0ADA:${ts}`);
    await bench.advance(600_000);
    expect(account.texts("D0ADA").filter((text) => text.includes("Once"))).toHaveLength(1);
    expect(slack.calls("conversations.replies").length).toBeGreaterThan(2);
  });

  it("arrive once and in order through a minute of Slack's failures", async () => {
    const { slack, bench } = account;
    const trouble = [
      { kind: "limit", seconds: 3 },
      { kind: "status", status: 500, afterCommit: true },
      { kind: "status", status: 502 },
      { kind: "hang_up_after_commit" },
      { kind: "hang_up" },
      { kind: "error", error: "fatal_error" },
      { kind: "html" },
    ] as const;
    const said = Array.from({ length: trouble.length * 2 }, (_, at) => `number ${at}`);
    slack.fail("chat.postMessage", ...trouble, ...trouble.toReversed());
    // Searching for the message fails too.
    slack.fail("conversations.history", { kind: "status", status: 500 }, { kind: "limit", seconds: 2 });
    for (const text of said) await account.reply(text);
    await bench.advance(3_600_000);
    expect(account.texts("D0ADA")).toEqual(["You asked: One", ...said.map((text) => `Anna:\n${text}`)]);
  });

  it("are given up with a reason for agents", async () => {
    for (const [error, reason] of [
      ["channel_not_found", "cannot see this Slack conversation any more"],
      ["not_in_channel", "invite it again"],
      ["is_archived", "is archived"],
      ["thread_not_found", "was deleted"],
      ["msg_too_long", "too long for Slack"],
      ["restricted_action", "does not let the app write"],
      ["something_new", "Slack refuses it: something_new"],
    ] as const) {
      account.slack.fail("chat.postMessage", { kind: "error", error });
      await account.reply(`Refused for ${error}`);
      expect(await notes()).toContain(reason);
    }
    expect(account.texts("D0ADA")).toEqual(["You asked: One"]);
  });

  it("never remain outside of their thread", async () => {
    const { slack, bench } = account;
    const ts = slack.nextTs();
    const root = { channel: "C0HELP", user: "U0ADA", ts, text: "My salary?", threadTs: undefined, blocks: [] };
    slack.messages.push({ ...root, metadata: undefined, files: [], deleted: false });
    await account.say({
      channel: "C0HELP",
      ts,
      text: `<@${slack.botUserId}> my salary?`,
      more: { text: `<@${slack.botUserId}> my salary?` },
    });
    await bench.settle();
    // A server that imitates Slack, and omits the thread in its response.
    slack.fail("chat.postMessage", { kind: "outside" });
    await account.reply("One moment", `C0HELP:${ts}`);
    expect(account.texts("C0HELP")).toContain("Anna:\nOne moment");
    const [message] = slack.messages.filter((each) => each.ts === ts);
    if (message !== undefined) message.deleted = true;
    slack.fail("chat.postMessage", { kind: "outside" });
    await account.reply("Ten thousand", `C0HELP:${ts}`);
    expect(account.texts("C0HELP").join()).not.toContain("Ten thousand");
    expect(await notes(-1)).toContain("the first message of this Slack thread was deleted");
  });

  describe("that Slack may have posted outside of their thread", () => {
    const begin = async (): Promise<string> => {
      const { slack, bench } = account;
      const ts = slack.nextTs();
      const root = { channel: "C0HELP", user: "U0ADA", ts, text: "My salary?", threadTs: undefined, blocks: [] };
      slack.messages.push({ ...root, metadata: undefined, files: [], deleted: false });
      const text = `<@${slack.botUserId}> my salary?`;
      await account.say({ channel: "C0HELP", ts, text, more: { text } });
      await bench.settle();
      return ts;
    };
    const loseRoot = (ts: string): void => {
      for (const message of account.slack.messages) if (message.ts === ts) message.deleted = true;
    };
    const saidIn = (text: string) => account.slack.shown("C0HELP").filter((one) => one.text.includes(text));

    it("are deleted while the thread cannot be read, and sent again when it can", async () => {
      const { slack, bench } = account;
      const ts = await begin();
      const troubles = [{ kind: "limit", seconds: 30 }, { kind: "hang_up" }, { kind: "html" }] as const;
      for (const [at, trouble] of troubles.entries()) {
        slack.fail("chat.postMessage", { kind: "outside" });
        slack.fail("conversations.replies", trouble);
        await account.reply(`Ten thousand ${at}`, `C0HELP:${ts}`);
        expect(saidIn(`Ten thousand ${at}`)).toEqual([]);
        await bench.advance(minuteMs);
        expect(saidIn(`Ten thousand ${at}`)).toMatchObject([{ threadTs: ts }]);
      }
      loseRoot(ts);
      slack.fail("chat.postMessage", { kind: "outside" }, { kind: "outside" });
      slack.fail("conversations.replies", { kind: "status", status: 503 });
      await account.reply("Eleven", `C0HELP:${ts}`);
      expect(saidIn("Eleven")).toEqual([]);
      await bench.advance(minuteMs);
      expect(saidIn("Eleven")).toEqual([]);
      expect(await notes(-1)).toContain("the first message of this Slack thread was deleted");
    });

    it("are not sent twice when they cannot be deleted", async () => {
      const { slack, bench } = account;
      const ts = await begin();
      loseRoot(ts);
      slack.fail("chat.postMessage", { kind: "outside" });
      slack.fail("conversations.replies", { kind: "hang_up" });
      slack.fail("chat.delete", { kind: "status", status: 503 });
      await account.reply("Ten thousand", `C0HELP:${ts}`);
      await bench.advance(10 * minuteMs);
      expect(saidIn("Ten thousand")).toHaveLength(1);
      const replies = bench.store.read.selectFrom("deliveries").select("state").where("payload", "like", "%thousand%");
      expect(await replies.execute()).toEqual([{ state: "sending" }]);
      expect(bench.logged.join("")).toContain("it may be in the channel itself");
    });

    it("remain when the app may not read the thread, with one log message", async () => {
      const { slack, bench } = account;
      const ts = await begin();
      slack.scopes.splice(slack.scopes.indexOf("channels:history"), 1);
      slack.fail("chat.postMessage", { kind: "outside" }, { kind: "outside" });
      await account.reply("Ten thousand", `C0HELP:${ts}`);
      await account.reply("Eleven", `C0HELP:${ts}`);
      await bench.advance(minuteMs);
      expect([saidIn("Ten thousand").length, saidIn("Eleven").length]).toEqual([1, 1]);
      expect(bench.logged.filter((line) => line.includes("the app lacks the scope channels:history"))).toHaveLength(1);
    });
  });

  it("wait until the account is fixed", async () => {
    const faults = ["token_revoked", "account_inactive", "invalid_auth"].map(
      (error) => ({ kind: "error", error }) as const,
    );
    account.slack.fail("chat.postMessage", ...faults, { kind: "error", error: "missing_scope", needed: "chat:write" });
    await account.reply("Be patient");
    await account.bench.advance(600_000);
    expect(account.texts("D0ADA")).toEqual(["You asked: One", "Anna:\nBe patient"]);
    expect(account.bench.logged.join("")).toContain("the app lacks the scope chat:write");
  });

  it("are sent as plain text when Slack refuses blocks", async () => {
    account.slack.fail("chat.postMessage", { kind: "error", error: "invalid_blocks" });
    await account.reply("**Hello** <!here>");
    const message = account.slack.shown("D0ADA").at(-1)?.message;
    expect(message).toMatchObject({ blocks: [], text: "*Anna:*\n*Hello* &lt;!here&gt;" });
  });

  it("unfurl nothing, and contain no name that Slack reads as a mention", async () => {
    await account.reply("See https://a.example and @here");
    expect(account.slack.calls("chat.postMessage").at(-1)).toMatchObject({
      unfurl_links: "false",
      unfurl_media: "false",
    });
    expect(account.slack.calls("chat.postMessage").at(-1)).not.toHaveProperty("link_names");
    expect(account.slack.calls("chat.postMessage").at(-1)).not.toHaveProperty("parse");
  });
});

describe("messages in channels", () => {
  it("all count with channel_messages: all", async () => {
    await open({ channel_messages: "all" });
    await account.say({ channel: "C0HELP", text: "Nobody is named" });
    await account.bench.settle();
    expect(await account.stored()).toEqual(["Nobody is named"]);
    expect(account.slack.shown("C0HELP")[0]?.threadTs).toBeDefined();
  });

  it("do not count with channel_messages: off, but direct messages do", async () => {
    await open({ channel_messages: "off" });
    const mention = { channel: "C0HELP", text: "", more: { text: `<@${account.slack.botUserId}> hello?` } };
    await account.say(mention);
    await account.deliver({ ...account.said(mention), type: "app_mention" });
    await account.say({ channel: "D0ADA", text: "Directly" });
    expect(await account.stored()).toEqual(["Directly"]);
  });
});
