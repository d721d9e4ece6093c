import { hostWith } from "#test/support/channels/partial-host.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadAdapter } from "#channels/load-adapter.ts";
import { newSqlite } from "#test/support/database/databases.ts";
import type { EngineBench } from "#test/support/engine-bench.ts";
import { channelChecks } from "#test/support/channels/channel-checks.ts";
import { anna, answerOf, heldAnswers, openBench } from "#test/support/engine-bench.ts";
import type { FakeDiscord } from "./support/fake-discord.ts";
import { startFakeDiscord } from "./support/fake-discord.ts";

let discord: FakeDiscord;
let bench: EngineBench;

afterEach(async () => {
  await discord.close();
  await bench.close();
});

/** The client's own pause before a retry, which the test's clock does not move. */
const clientTriesAgainMs = 500;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const account = (config: object = {}) => ({
  channel: "discord" as const,
  load: loadAdapter,
  config: { token: discord.token, base_url: discord.url, ...config },
});

async function open(config: object = {}): Promise<void> {
  bench = await openBench(newSqlite, { account: account(config) });
  await bench.app.listen();
  await bench.advance(10_000);
}
const connected = () => bench.until("the program has connected", () => discord.connected());

const stored = async (): Promise<readonly string[]> =>
  (
    await bench.store.read.selectFrom("messages").select("content").where("role", "=", "user").orderBy("id").execute()
  ).map(({ content }) => content);
const isStored = (text: string) => bench.until(`"${text}" is stored`, async () => (await stored()).includes(text));
const own = (channelId: string) => discord.messages(channelId).filter(({ author }) => author.bot === true);
const answered = (channelId: string, count: number) =>
  bench.until("it is answered", async () => {
    await bench.settle();
    return own(channelId).length >= count;
  });

describe("a bot with direct messages only", () => {
  beforeEach(async () => {
    discord = await startFakeDiscord({ intents: "unprivileged" });
    await open();
    await connected();
  });

  it("needs no privileged intent, and receives nothing from servers", async () => {
    const channelId = discord.direct("ada");
    discord.write({ channelId: discord.guildChannel, from: "eve", text: "Hello all", mentionsBot: true });
    discord.write({ channelId, from: "ada", text: "Hello bot" });
    await isStored("Hello bot");
    expect(await stored()).toEqual(["Hello bot"]);
  });

  it("applies edits and deletions, and ignores the preview of a link", async () => {
    const channelId = discord.direct("ada");
    const message = discord.write({ channelId, from: "ada", text: "My order is 17" });
    await isStored("My order is 17");
    discord.dispatch("MESSAGE_UPDATE", { ...message, channel_type: 1, embeds: [{ title: "A preview" }] });
    discord.edit(message, "My order is 18");
    await isStored("My order is 18");
    expect(await stored()).toEqual(["My order is 18"]);
    discord.erase(message);
    await bench.until("it is gone", async () => (await stored()).join() === "");
  });

  it("takes the message that the customer answers for the one that is meant", async () => {
    const channelId = discord.direct("ada");
    discord.write({ channelId, from: "ada", text: "Do you have kettles?" });
    await answered(channelId, 1);
    const [reply] = own(channelId);
    const second = discord.write({ channelId, from: "ada", text: "And lamps?" });
    await answered(channelId, 2);
    if (reply === undefined) throw new Error("there is no reply");
    discord.write({ channelId, from: "ada", text: "In blue", answers: reply });
    await answered(channelId, 3);
    expect(bench.asked.at(-1)?.history.at(-1)).toMatchObject({
      role: "assistant",
      content: "You asked: Do you have kettles?",
    });
    discord.write({ channelId, from: "ada", text: "I mean these", answers: second });
    await answered(channelId, 4);
    expect(bench.asked.at(-1)?.history.at(-1)).toMatchObject({ role: "user", content: "And lamps?" });
  });

  it("shows that it is typing until it replies", async () => {
    const slow = heldAnswers(bench);
    const channelId = discord.direct("ada");
    discord.write({ channelId, from: "ada", text: "How long?" });
    await slow.question(0);
    const shown = (): number => discord.calls("POST /channels/:id/typing").length;
    // Discord shows the indicator for ten seconds.
    for (const [afterMs, times] of [
      [300, 1],
      [8_000, 2],
      [8_000, 3],
    ] as const) {
      bench.clock.advance(afterMs);
      await bench.until(`it is shown, ${times}`, () => shown() === times);
    }
    slow.held[0]?.release(answerOf("Two days."));
    await answered(channelId, 1);
    await bench.advance(20_000);
    expect(shown()).toBe(3);
  });

  it("reads forwarded messages with their files, and the question of a poll", async () => {
    const channelId = discord.direct("ada");
    const files = [{ name: "bill.pdf", type: "application/pdf", bytes: Buffer.from("a bill") }];
    const passedOn = discord.write({ channelId, from: "ada", text: "Where is my order?", files, isForwarded: true });
    const poll = { question: { text: "Red or blue?" }, answers: [{ answer_id: 1, poll_media: { text: "Red" } }] };
    discord.write({ channelId, from: "ada", text: "", poll });
    await isStored("[poll: Red or blue?]");
    expect(await stored()).toEqual(["[forwarded] Where is my order?", "[poll: Red or blue?]"]);
    const marks = await bench.store.read
      .selectFrom("messages")
      .select("forwarded")
      .where("role", "=", "user")
      .execute();
    expect(marks).toEqual([{ forwarded: '{"is_below":true}' }, { forwarded: null }]);
    await bench.settle();
    const kept = await bench.store.read.selectFrom("attachments").select(["name", "bytes", "state"]).execute();
    expect(kept).toEqual([{ name: "bill.pdf", bytes: 6, state: "stored" }]);
    // A malformed one must not drop the message.
    discord.dispatch("MESSAGE_CREATE", {
      ...passedOn,
      id: discord.newId(),
      content: "Hello?",
      message_snapshots: "none",
    });
    await isStored("Hello?");
  });

  it("receives messages sent while the program was stopped, a new customer's first one too", async () => {
    const known = discord.direct("ada");
    discord.write({ channelId: known, from: "ada", text: "one" });
    await isStored("one");
    await bench.app.close();
    expect(discord.connected()).toBe(false);
    discord.write({ channelId: known, from: "ada", text: "two" });
    discord.write({ channelId: discord.direct("bob"), from: "bob", text: "I am new here" });
    const first = bench;
    bench = await openBench(newSqlite, { beside: first, account: account(), clock: first.clock });
    await bench.app.listen();
    await bench.advance(30_000);
    await isStored("two");
    await isStored("I am new here");
    expect((await stored()).toSorted()).toEqual(["I am new here", "one", "two"]);
    expect(discord.sessions()).toBe(1);
  });

  it("does not reconnect when it is stopped while it reconnects", async () => {
    await discord.goAway();
    await pause(clientTriesAgainMs / 4);
    await bench.app.close();
    await discord.comeBack();
    await pause(clientTriesAgainMs * 2);
    expect(discord.connected()).toBe(false);
  });

  it("does not connect when it is stopped before it has started", async () => {
    const end = new AbortController();
    const module = await loadAdapter("discord", {});
    const made = { id: "a", workspaceId: bench.workspaceId, channel: "discord" as const, name: "discord" };
    const get = async (): Promise<null> => {
      // The read of the stored sessions is still pending.
      end.abort();
      return null;
    };
    const host = hostWith({ clock: bench.clock, state: { get, set: async () => undefined } });
    const adapter = module?.create({ ...made, config: account().config }, host);
    if (adapter?.inbound.kind !== "connection") throw new Error("Discord is a connection");
    const before = discord.sessions();
    await adapter.inbound.run(end.signal);
    expect(discord.sessions()).toBe(before);
    await adapter.close();
  });

  it("reads the history of its conversations when the session has expired", async () => {
    const channelId = discord.direct("ada");
    discord.write({ channelId, from: "ada", text: "one" });
    await isStored("one");
    await answered(channelId, 1);
    const before = discord.sessions();
    discord.drop({ expire: true });
    for (const text of ["two", "three", "four"]) discord.write({ channelId, from: "ada", text });
    await bench.until("a new session is begun", () => discord.sessions() > before, 20_000);
    await isStored("four");
    expect(await stored()).toEqual(["one", "two", "three", "four"]);
  });

  it("skips bots, webhooks, system messages and unknown packets", async () => {
    const channelId = discord.direct("ada");
    const message = { ...discord.write({ channelId, from: "ada", text: "first" }), channel_type: 1 };
    const forged = (more: object) => discord.dispatch("MESSAGE_CREATE", { ...message, id: discord.newId(), ...more });
    forged({ author: { id: discord.newId(), username: "other", bot: true } });
    forged({ webhook_id: discord.newId() });
    forged({ type: 6 });
    forged({ content: null });
    forged({ author: "nobody" });
    forged({ id: "../../etc" });
    discord.dispatch("MESSAGE_DELETE", { id: 5 });
    discord.dispatch("MESSAGE_DELETE_BULK", { ids: "all", channel_id: channelId });
    discord.dispatch("SOMETHING_NEW", { anything: true });
    discord.write({ channelId, from: "ada", text: "last" });
    await isStored("last");
    expect(await stored()).toEqual(["first", "last"]);
  });

  it("shows which message an agent answers", async () => {
    const channelId = discord.direct("ada");
    const written = discord.write({ channelId, from: "ada", text: "Do you have lamps?" });
    await answered(channelId, 1);
    const { id } = await bench.store.read.selectFrom("conversations").select("id").executeTakeFirstOrThrow();
    const { workspaceId } = bench;
    const given = { workspaceId, conversationId: id, authorEmail: "anna@test.example", actor: anna };
    const messages = await bench.messages(id);
    for (const [at, { id: refersTo }] of messages.entries()) {
      await bench.engine.reply({ ...given, content: "This one", refersTo });
      await answered(channelId, 2 + at);
    }
    const references = discord.calls("POST /channels/:id/messages").slice(1);
    expect(references).toMatchObject(
      [written, own(channelId)[0]].map((each) => ({
        message_reference: { message_id: each?.id, fail_if_not_exists: false },
      })),
    );
  });

  it("sends an agent's answer without the reference where Discord refuses that", async () => {
    const channelId = discord.direct("ada");
    discord.write({ channelId, from: "ada", text: "Do you have lamps?" });
    await answered(channelId, 1);
    const { id } = await bench.store.read.selectFrom("conversations").select("id").executeTakeFirstOrThrow();
    const [asked] = await bench.messages(id);
    const message = "Cannot reply without permission to read message history";
    discord.fail({ kind: "error", status: 400, code: 160_002, message });
    await bench.engine.reply({
      workspaceId: bench.workspaceId,
      conversationId: id,
      authorEmail: "anna@test.example",
      actor: anna,
      content: "This one",
      refersTo: asked?.id ?? "",
    });
    await answered(channelId, 2);
    const calls = discord.calls("POST /channels/:id/messages").slice(1);
    expect(calls).toMatchObject([{ message_reference: {} }, {}]);
    expect(calls[1]).not.toHaveProperty("message_reference");
    expect(await bench.notes(id)).toEqual([]);
  });

  it("reports that the customer accepts no messages, and never notifies a mentioned user", async () => {
    const channelId = discord.direct("ada");
    discord.write({ channelId, from: "ada", text: "Hello" });
    await answered(channelId, 1);
    const { id } = await bench.store.read.selectFrom("conversations").select("id").executeTakeFirstOrThrow();
    const { workspaceId } = bench;
    const say = (content: string) =>
      bench.engine.reply({ workspaceId, conversationId: id, content, authorEmail: "anna@test.example", actor: anna });
    await say("Good morning @everyone and <@123456789012345678>");
    await answered(channelId, 2);
    const [, call] = discord.calls("POST /channels/:id/messages");
    expect(call).toMatchObject({ allowed_mentions: { parse: [], replied_user: false }, enforce_nonce: true });
    discord.fail({ kind: "error", status: 403, code: 50_278, message: "Cannot send messages to this user" });
    await say("Are you there?");
    await bench.settle();
    await bench.until("the agents are told", async () => (await bench.notes(id)).join().includes("no Discord server"));
  });
});

describe("a bot with a button for a person", () => {
  it("requests a person once per button, and removes the button", async () => {
    discord = await startFakeDiscord({ intents: "unprivileged" });
    await open({ person_button: "Mit einem Menschen sprechen" });
    await connected();
    const channelId = discord.direct("ada");
    discord.write({ channelId, from: "ada", text: "Hello" });
    await answered(channelId, 1);
    const [answer] = own(channelId);
    if (answer === undefined) throw new Error("nobody has answered");
    expect(answer.components?.[0]?.components[0]).toMatchObject({ label: "Mit einem Menschen sprechen" });
    discord.press(answer, "ada");
    discord.press(answer, "ada");
    discord.dispatch("INTERACTION_CREATE", { id: "1", type: 3, data: {} });
    await isStored("Mit einem Menschen sprechen");
    const row = () => bench.store.read.selectFrom("conversations").selectAll().executeTakeFirstOrThrow();
    await bench.until("a person is asked for", async () => (await row()).status === "escalated");
    await bench.until("the button is gone", () => answer.components?.length === 0);
    // The handover message has no button.
    await answered(channelId, 2);
    expect(own(channelId).at(-1)?.content).toContain("Hier antwortet Ihnen gleich ein Mensch");
    expect(own(channelId).at(-1)?.components).toBeUndefined();
    // Catch-up reads the messages after a press when the session has expired.
    const before = discord.sessions();
    discord.drop({ expire: true });
    discord.write({ channelId, from: "ada", text: "Still there" });
    await bench.until("a new session is begun", () => discord.sessions() > before, 20_000);
    await isStored("Still there");
    expect(await stored()).toEqual(["Hello", "Mit einem Menschen sprechen", "Still there"]);
    const { workspaceId } = bench;
    const { id } = await row();
    await bench.engine.reply({
      workspaceId,
      conversationId: id,
      content: "Yes",
      authorEmail: "anna@test.example",
      actor: anna,
    });
    await bench.settle();
    expect(own(channelId).at(-1)?.components).toBeUndefined();
  });
});

describe("a bot on a server", () => {
  beforeEach(async () => {
    discord = await startFakeDiscord();
    await open({ guilds: "threads", person_button: "A person, please" });
    await connected();
  });

  it("replies to a mention in a thread, and reads the thread's messages", async () => {
    const { guildChannel } = discord;
    discord.write({ channelId: guildChannel, from: "eve", text: "Nobody asked you" });
    const asked = discord.write({
      channelId: guildChannel,
      from: "ada",
      text: `<@${discord.botId}> where is my order?`,
      mentionsBot: true,
    });
    await answered(asked.id, 1);
    expect(await stored()).toEqual(["where is my order?"]);
    expect(own(guildChannel)).toEqual([]);
    discord.write({ channelId: asked.id, from: "ada", text: "It is number 17" });
    await isStored("It is number 17");
    await answered(asked.id, 2);
    const conversations = await bench.store.read.selectFrom("conversations").select("context_key").execute();
    expect(conversations).toEqual([{ context_key: `${guildChannel}:${asked.id}` }]);
    // The button of a reply in the channel itself, where the bot may not open threads.
    discord.dispatch("INTERACTION_CREATE", {
      id: discord.newId(),
      token: "press",
      type: 3,
      channel_id: guildChannel,
      guild_id: discord.guildId,
      member: { user: asked.author },
      message: { id: discord.newId(), message_reference: { message_id: asked.id } },
      data: { custom_id: "parley:human" },
    });
    await isStored("A person, please");
    // The message that starts the thread is in the channel; its edits and deletions count.
    discord.edit(asked, `<@${discord.botId}> where is my parcel?`);
    await isStored("where is my parcel?");
    discord.erase(asked);
    await bench.until("it is gone", async () => !(await stored()).includes("where is my parcel?"));
    expect(await stored()).toContain("It is number 17");
  });
});

describe("a bot on a server whose channels come and go", () => {
  beforeEach(async () => {
    discord = await startFakeDiscord();
    await open({ guilds: "threads" });
    await connected();
  });

  it("reads a deleted channel once, and continues", async () => {
    const gone = { id: discord.newId(), channel_id: discord.newId(), guild_id: discord.guildId };
    const author = { id: discord.newId(), username: "ada" };
    discord.dispatch("MESSAGE_CREATE", {
      ...gone,
      type: 0,
      content: "Bye",
      author,
      timestamp: new Date().toISOString(),
    });
    discord.dispatch("MESSAGE_DELETE", gone);
    const asked = (): number => discord.calls("GET /channels/:id").length;
    await bench.until("it has asked for both", () => asked() > 1);
    for (let i = 0; i < 5; i += 1) await bench.advance(2_000);
    expect(asked()).toBe(2);
    expect(bench.logged.join("\n")).not.toContain("storing a message failed");
  });
});

describe("a bot that Discord refuses", () => {
  it("instructs the operator to fix the token", async () => {
    discord = await startFakeDiscord();
    await open({ token: `${"A".repeat(24)}.AAAAAA.${"A".repeat(38)}` });
    await bench.until("it is told", () => bench.logged.join().includes("check `token`"));
  });

  it("warns the operator that no customer can reach a bot on no server", async () => {
    discord = await startFakeDiscord({ intents: "unprivileged" });
    await open();
    expect(await channelChecks(bench)).toEqual(["good: @parley, direct messages"]);
    discord.servers.splice(0);
    expect(await channelChecks(bench)).toEqual([expect.stringMatching(/^good: .*on no server yet.*page OAuth2/)]);
    await discord.goAway();
    expect(await channelChecks(bench)).toEqual([expect.stringMatching(/^wrong: .*: check .*`base_url`/)]);
    await discord.comeBack();
  });

  it("instructs the operator to enable the missing intent", async () => {
    discord = await startFakeDiscord({ intents: "unprivileged" });
    await open({ guilds: "threads" });
    await bench.until("it is told", () => bench.logged.join().includes("Message Content Intent"));
  });
});
