import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newSqlite } from "../support/database/databases.ts";
import type { DeskBench } from "../support/desk/bench.ts";
import { openDeskBench } from "../support/desk/bench.ts";
import { createAgentSteps, newest } from "../support/desk/agent-steps.ts";
import type { DeskWorld } from "../support/desk/world.ts";
import { ben, deskChannel, mia } from "../support/desk/world.ts";

let bench: DeskBench;
let world: DeskWorld;

const steps = createAgentSteps(() => bench);
const { escalated, claimed, click, write, sees, lastNotice, notes, view } = steps;

describe.each(["webhook", "socket"] as const)("agents at the desk, over a %s", (transport) => {
  beforeAll(async () => {
    bench = await openDeskBench(newSqlite, { transport });
    ({ world } = bench);
  });
  afterAll(() => bench.close());

  it("assigns an unclaimed conversation to the agent who replies", async () => {
    const card = await escalated();
    await write(ben, card, "Good morning");
    expect(sees().at(-1)).toBe("Ben Bauer:\nGood morning");
    expect(await bench.conversation()).toMatchObject({ status: "claimed", assigned_to: "ben@shop.example" });
  });

  it("shows agents by their inbox name, if they have one", async () => {
    const { store, clock } = bench.app;
    const row = { id: "agt_1", workspace_id: bench.workspaceId, email: "cleo@shop.example", name: "Cleo" };
    await store.write((tx) =>
      tx
        .insertInto("agents")
        .values({ ...row, role: "agent", password: null, created_at: clock.now() })
        .execute(),
    );
    const { teamId } = world.slack;
    world.slack.users.set("U0CLEO001", { id: "U0CLEO001", name: "Cleopatra P.", teamId, email: "cleo@shop.example" });
    await write("U0CLEO001", await escalated(), "Hello");
    expect(sees().at(-1)).toBe("Cleo:\nHello");
  });

  it("refuses messages and actions of viewers, with the reason", async () => {
    const setRole = (role: "viewer" | "agent") =>
      bench.app.store.write((tx) => tx.updateTable("agents").set({ role }).where("id", "=", "agt_1").execute());
    await setRole("viewer");
    const card = await escalated();
    const before = sees().length;
    await write("U0CLEO001", card, "Hello");
    await click("U0CLEO001", card, "parley_claim");
    expect(lastNotice("U0CLEO001")).toBe("Nothing was done: your role is viewer, which may only read.");
    expect([sees().length, (await bench.conversation()).status]).toEqual([before, "escalated"]);
    await setRole("agent");
  });

  it("tells the loser of a race who claimed the conversation", async () => {
    const card = await escalated();
    const clicks = [world.clicks(mia, card, "parley_claim"), world.clicks(ben, card, "parley_claim")];
    for (const response of await Promise.all(clicks)) expect(response.status).toBe(200);
    await bench.settle();
    const { assigned_to: holder } = await bench.conversation();
    const loser = holder === "mia@shop.example" ? ben : mia;
    expect(lastNotice(loser)).toBe(`${loser === ben ? "Mia Meyer" : "Ben Bauer"} already claimed this conversation.`);
  });

  it("applies a double click once", async () => {
    const card = await escalated();
    await Promise.all([world.clicks(mia, card, "parley_claim"), world.clicks(mia, card, "parley_claim")]);
    await bench.settle();
    const blocks = [...card.blocks];
    await Promise.all([1, 2].map(() => world.clicks(mia, { ...card, blocks }, "parley_resolve")));
    await bench.settle();
    expect(world.thread(card).filter((text) => /claimed|Resolved/.test(text))).toEqual([
      "Mia Meyer claimed it.",
      "Resolved by Mia Meyer.",
    ]);
  });

  it("refuses an action of an outdated card, and reports the current state", async () => {
    const card = await escalated();
    const old = [...card.blocks];
    await click(mia, card, "parley_claim");
    await click(ben, { ...card, blocks: old }, "parley_resolve");
    expect((await bench.conversation()).status).toBe("claimed");
    expect(lastNotice(ben)).toBe("Mia Meyer already claimed this conversation.");
  });

  it("holds a colleague's reply, and asks the colleague what to do", async () => {
    const card = await claimed();
    const before = sees().length;
    const written = await write(ben, card, "I would say 5 euros");
    expect(sees()).toHaveLength(before);
    expect(await notes()).toEqual([{ content: "I would say 5 euros", author: "ben@shop.example" }]);
    const whisper = world.whispers(ben).at(-1);
    expect(whisper).toMatchObject({ text: expect.stringContaining("Mia Meyer has this conversation") });
    if (whisper === undefined) throw new Error("there is no question");

    await world.clicksPrivately(ben, whisper, "parley_choose_send");
    await world.clicksPrivately(ben, whisper, "parley_choose_send");
    await bench.settle();
    expect(sees().slice(before)).toEqual(["Ben Bauer:\nI would say 5 euros"]);
    expect(await notes()).toEqual([]);
    // The question is deleted once it is answered.
    expect(world.slack.responses.at(-1)).toEqual({ id: `question-${card.ts}`, body: { delete_original: true } });
    expect((await bench.conversation()).assigned_to).toBe("mia@shop.example");
    expect(world.slack.reactions).toContainEqual({ channel: deskChannel, ts: written.ts, name: "white_check_mark" });
  });

  it("lets a colleague take the conversation over with the held reply", async () => {
    const card = await claimed();
    await write(ben, card, "Let me");
    const whisper = world.whispers(ben).at(-1);
    if (whisper === undefined) throw new Error("there is no question");
    await world.clicksPrivately(ben, whisper, "parley_choose_take_over");
    await bench.settle();
    expect(sees().at(-1)).toBe("Ben Bauer:\nLet me");
    expect((await bench.conversation()).assigned_to).toBe("ben@shop.example");
    expect(world.thread(card)).toContain("Ben Bauer took it over from Mia Meyer.");
  });

  it("refuses outdated choices with the reason", async () => {
    const card = await claimed();
    await write(ben, card, "First");
    const whisper = world.whispers(ben).at(-1);
    if (whisper === undefined) throw new Error("there is no question");
    await click(mia, card, "parley_resolve");
    await world.clicksPrivately(ben, whisper, "parley_choose_take_over");
    await bench.settle();
    expect(lastNotice(ben)).toBe(
      "Nothing was done: a conversation that is resolved cannot become claimed; reopen it first.",
    );
    await click(mia, card, "parley_reopen");
    await click(mia, card, "parley_claim");
    await world.clicksPrivately(ben, whisper, "parley_choose_send");
    await world.clicksPrivately(ben, whisper, "parley_choose_take_over");
    await bench.settle();
    expect(sees().filter((text) => text.includes("First"))).toEqual(["Ben Bauer:\nFirst"]);
    expect(lastNotice(ben)).toMatch(
      /^It was sent already, and Mia Meyer still has this conversation\. To take it over, use/,
    );
    expect((await bench.conversation()).assigned_to).toBe("mia@shop.example");
  });

  it("lets only its author send a held reply", async () => {
    const card = await claimed();
    await write(ben, card, "Not yet");
    const whisper = world.whispers(ben).at(-1);
    if (whisper === undefined) throw new Error("there is no question");
    const before = sees().length;
    await world.clicksPrivately(mia, whisper, "parley_choose_send");
    await world.clicksPrivately(ben, whisper, "parley_choose_note");
    await bench.settle();
    expect(lastNotice(mia)).toBe("Only its author can send it.");
    expect(sees()).toHaveLength(before);
    expect(await notes()).toHaveLength(1);
  });

  it("lets its author send a held reply with its file after a change of address", async () => {
    const card = await claimed(ben);
    const file = world.slack.addFile({ name: "a.pdf", mimetype: "application/pdf", bytes: Buffer.from("%PDF-1.7") });
    const files = [{ id: file.id, name: "a.pdf", mimetype: "application/pdf", url_private: world.slack.fileUrl(file) }];
    await write(mia, card, "Here it is", { subtype: "file_share", files });
    const whisper = world.whispers(mia).at(-1);
    const before = world.slack.users.get(mia);
    if (whisper === undefined || before === undefined) throw new Error("there is no question");
    world.slack.users.set(mia, { ...before, email: "mia.meyer@shop.example" });
    bench.app.clock.advance(11 * 60_000);
    await world.clicksPrivately(ben, whisper, "parley_choose_send");
    await bench.settle();
    expect(lastNotice(ben)).toBe("Only its author can send it.");
    await world.clicksPrivately(mia, whisper, "parley_choose_send");
    await bench.settle();
    expect(sees()).toContain("Mia Meyer:\nHere it is");
    expect(world.telegram.calls("sendDocument").length).toBeGreaterThan(0);
    world.slack.users.set(mia, before);
    bench.app.clock.advance(11 * 60_000);
  });

  it("keeps messages that begin with // internal, and shows them once", async () => {
    const card = await claimed();
    const before = sees().length;
    const written = await write(mia, card, "// a *difficult* one");
    expect(sees()).toHaveLength(before);
    expect(await notes()).toEqual([{ content: "a **difficult** one", author: "mia@shop.example" }]);
    expect(world.thread(card).filter((text) => text.includes("difficult"))).toHaveLength(1);
    await world.edits(written, "// an easy one");
    await bench.settle();
    expect((await notes()).map(({ content }) => content)).toEqual(["an easy one"]);
    await world.removes(written);
    await bench.settle();
    expect(await notes()).toEqual([]);
  });

  it("accepts members of its own team only", async () => {
    const { teamId, users } = world.slack;
    const card = await claimed();
    const before = sees().length;
    const email = "eve@shop.example";
    const strangers = [
      { id: "U0GUEST01", name: "Guest", teamId, email, isRestricted: true },
      { id: "U0CONNECT", name: "Partner", teamId: "T0OTHER01", email, isStranger: true },
      { id: "U0OTHER01", name: "Other", teamId: "T0OTHER01", email },
      { id: "U0BOT0002", name: "Bot", teamId, email, isBot: true },
      { id: "U0NOMAIL1", name: "Nobody", teamId },
    ];
    for (const user of strangers) {
      users.set(user.id, user);
      await write(user.id, card, "I am the boss");
      await click(user.id, card, "parley_resolve");
    }
    // Bots, and the app's own messages.
    await write("U0BOT0003", card, "I am a program", { bot_id: "B0OTHER01" });
    await write(world.slack.botUserId, card, "I am you", { bot_id: world.slack.botId });
    await write(mia, card, "has joined", { subtype: "channel_join" });
    expect(sees()).toHaveLength(before);
    expect(await notes()).toEqual([]);
    expect((await bench.conversation()).status).toBe("claimed");
    const answer = await (await world.command("U0GUEST01", "open")).text();
    expect(answer).toContain("guests are no agents");
  });

  it("edits and deletes replies on Telegram", async () => {
    const written = await write(mia, await claimed(), "Five euros");
    await world.edits(written, "Six euros");
    await bench.settle();
    expect(sees().at(-1)).toBe("Mia Meyer:\nSix euros");
    await world.removes(written);
    await bench.settle();
    expect(sees().join()).not.toContain("euros");
  });

  it("edits and deletes replies where the channel can", async () => {
    const user = "U0SAM0001";
    world.slack.users.set(user, { id: user, name: "Sam", teamId: world.slack.teamId });
    const before = world.cards().length;
    await world.slackSays(user, "I want to talk to a human");
    await bench.until("the card is shown", () => world.cards().length > before);
    const card = world.cards().at(-1);
    if (card === undefined) throw new Error("there is no card");
    const written = await write(mia, card, "Five euros");
    await world.edits(written, "Six euros");
    await bench.settle();
    expect(world.slackSees(user).at(-1)).toBe("Mia Meyer:\nSix euros");
    await world.removes(written);
    await bench.settle();
    expect(world.slackSees(user).filter((text) => text.includes("euros"))).toEqual([]);
    const { id } = await bench.conversation();
    const stored = await bench.app.store.read
      .selectFrom("messages")
      .select(["content", "deleted_at"])
      .where("conversation_id", "=", id)
      .where("role", "=", "agent")
      .execute();
    expect(stored).toEqual([{ content: "", deleted_at: expect.any(Number) }]);
  });

  it("applies an edit that arrives before its message", async () => {
    const card = await claimed();
    const written = { channel: deskChannel, user: mia, ts: world.slack.nextTs(), text: "tpyo", threadTs: card.ts };
    await world.edits(written, "typo");
    await bench.settle();
    await world.writesLate(written);
    await bench.settle();
    expect(sees().at(-1)).toBe("Mia Meyer:\ntypo");
  });

  it("applies a repeated event of Slack once", async () => {
    const card = await claimed();
    const before = sees().length;
    const written = await world.writes(mia, card.ts, "Once");
    await world.writesLate(written);
    await world.writesLate(written);
    await bench.settle();
    expect(sees().slice(before)).toEqual(["Mia Meyer:\nOnce"]);
  });

  it("marks an undelivered reply, with the reason", async () => {
    const card = await claimed();
    const description = "Forbidden: bot was blocked by the user";
    world.telegram.fail("sendMessage", { kind: "error", code: 403, description });
    const written = await write(mia, card, "Hello?");
    expect(world.slack.reactions).toContainEqual({ channel: deskChannel, ts: written.ts, name: "x" });
    expect(world.thread(card).at(-1)).toContain("the customer has blocked the bot on Telegram");
  });

  it("snoozes for an hour, until nine in the agent's morning, until a reply, and until a chosen time", async () => {
    const card = await escalated();
    const { clock } = bench.app;
    await click(mia, card, "parley_snooze", "h1");
    const { status, snoozed_until: until } = await bench.conversation();
    expect(status).toBe("snoozed");
    expect((until ?? 0) - clock.now()).toBeLessThanOrEqual(3_600_000);
    await click(mia, card, "parley_reopen");
    expect((await bench.conversation()).status).toBe("escalated");

    await click(mia, card, "parley_snooze", "morning");
    const nineInBerlin = (await bench.conversation()).snoozed_until ?? 0;
    // Summer time in Berlin.
    expect(new Date(nineInBerlin).toISOString()).toMatch(/T07:00:00\.000Z$/);
    expect(nineInBerlin - clock.now()).toBeGreaterThan(0);
    await click(mia, card, "parley_reopen");

    await click(mia, card, "parley_snooze", "reply");
    expect(await bench.conversation()).toMatchObject({ status: "snoozed", snoozed_until: null });
    await click(mia, card, "parley_reopen");

    await click(mia, card, "parley_snooze", "pick");
    const late = await world.submits(mia, view(), { selected_date_time: 1 });
    expect(await late.json()).toMatchObject({ response_action: "errors" });
    // Times that no picker sends and that a card could not show.
    for (const seconds of [1e300, clock.now() / 1_000 + 3_600.5]) {
      const response = await world.submits(mia, view(), { selected_date_time: seconds });
      expect(await response.json()).toMatchObject({ response_action: "errors" });
    }
    const at = Math.floor(clock.now() / 1_000) + 7_200;
    expect((await world.submits(mia, view(), { selected_date_time: at })).status).toBe(200);
    await bench.settle();
    expect((await bench.conversation()).snoozed_until).toBe(at * 1_000);
  });

  it("adds tags and notes by dialogs, and keeps tags that a colleague added meanwhile", async () => {
    const card = await escalated();
    const { id } = await bench.conversation();
    await click(mia, card, "parley_tag");
    const dialog = view();
    expect(JSON.stringify(dialog)).toContain('"initial_value":"escalated"');
    const actor = { type: "agent", id: "ben@shop.example", name: "Ben" } as const;
    await bench.app.engine.update(bench.workspaceId, id, { addTags: ["urgent"] }, actor);
    await world.submits(mia, dialog, { value: "Refund, VIP, refund" });
    await bench.settle();
    expect(JSON.stringify(card.blocks)).toContain("refund, urgent, vip");

    await click(mia, card, "parley_note");
    const words = "Call <!here> back\n# 3 times\n[1]: his number";
    await world.submits(mia, view(), { value: words });
    await bench.settle();
    // In Markdown, like messages in a thread.
    expect((await notes()).map(({ content }) => content)).toEqual([
      "Call \\<!here> back\n\\# 3 times\n[1\\]: his number",
    ]);
    expect(world.thread(card).at(-1)).toBe(`📝 Note of Mia Meyer\n${words}`);
  });

  it("archives, reopens and releases by buttons", async () => {
    const card = await claimed();
    await click(mia, card, "parley_release");
    expect((await bench.conversation()).status).toBe("open");
    await click(mia, card, "parley_resolve");
    await click(mia, card, "parley_archive");
    expect((await bench.conversation()).status).toBe("archived");
    await write(mia, card, "Too late?");
    expect(lastNotice(mia)).toContain("Reopen it to reply");
    await click(mia, card, "parley_reopen");
    expect((await bench.conversation()).status).toBe("open");
  });

  it("runs the chosen action of the shortcut's dialog", async () => {
    const card = await claimed();
    const written = await write(ben, card, "My two cents");
    await world.shortcut(ben, written);
    await world.submits(ben, view(), { selected_option: { value: "send" } });
    await bench.settle();
    expect(sees().at(-1)).toBe("Ben Bauer:\nMy two cents");
    await world.shortcut(mia, written);
    await world.submits(mia, view(), { selected_option: { value: "resolve" } });
    await bench.settle();
    expect((await bench.conversation()).status).toBe("resolved");
    await world.shortcut(mia, { ...written, ts: "1.2", threadTs: "1.1" });
    expect(JSON.stringify(view())).toContain("in no thread of a conversation");
  });

  it("sends a reply to one message by the shortcut on it", async () => {
    const card = await claimed();
    await world.telegramSays(steps.chat(), 2, "What does it cost?");
    await world.telegramSays(steps.chat(), 3, "And is it blue?");
    await bench.settle();
    const price = world.slack.messages.find(({ threadTs, text }) => threadTs === card.ts && text.includes("cost?"));
    if (price === undefined) throw new Error("the message is not shown");
    const shown = { channel: price.channel, ts: price.ts, threadTs: card.ts };
    await world.shortcut(mia, shown, "parley_reply");
    await world.submits(mia, view(), { value: " " });
    await world.submits(mia, view(), { value: "Ten *euros*" });
    await bench.settle();
    expect(sees().at(-1)).toBe("Mia Meyer:\nTen euros");
    expect(world.telegram.calls("sendMessage").at(-1)?.["reply_parameters"]).toMatchObject({ message_id: 2 });
    expect(world.thread(card).at(-1)).toBe("💬 Mia Meyer\nTen euros");

    await world.shortcut(ben, shown, "parley_reply");
    await world.submits(ben, view(), { value: "Twelve" });
    await bench.settle();
    expect(sees().at(-1)).toBe("Mia Meyer:\nTen euros");
    expect(lastNotice(ben)).toBe("Nothing was sent: Mia Meyer has this conversation. Your text was:\nTwelve");

    await world.shortcut(mia, { ...shown, ts: card.ts }, "parley_reply");
    expect(JSON.stringify(view())).toContain("a reply needs one that the customer can see");
  });

  it("shows a customer's text without mentions and links", async () => {
    const text =
      "I want to talk to a human <!channel> <@U0MIA0001> <https://evil.example|your bank> &lt;!here&gt; *x* :boom:";
    const card = await escalated(text);
    await world.telegramSays(steps.chat(), 2, text);
    await bench.settle();
    const posted = world.slack.messages.filter((each) => each.ts === card.ts || each.threadTs === card.ts);
    expect(world.thread(card).at(-1)).toContain(text);
    for (const message of posted) {
      expect(message.text).not.toMatch(/<[!@#]|<https:\/\/evil/);
      for (const mrkdwn of mrkdwnIn(message.blocks)) expect(mrkdwn).not.toMatch(/<[!@#](?!date)|<https:\/\/evil/);
    }
  });

  it("starts a new thread if its card was deleted", async () => {
    const card = await claimed();
    await write(mia, card, "Hello");
    await write(ben, card, "// Be nice to them");
    await click(mia, card, "parley_note");
    await world.submits(mia, view(), { value: "I am" });
    await bench.settle();
    card.deleted = true;
    await world.telegramSays(steps.chat(), 2, "Are you there?");
    await bench.settle();
    const next = world.cards().at(-1);
    if (next === undefined) throw new Error("there is no card");
    expect(next.ts).not.toBe(card.ts);
    expect(world.thread(next)[0]).toContain("I want to talk to a human");
    expect(world.thread(next)[0]).toContain("Are you there?");
    const notesShown = ["📝 Note of Ben Bauer\nBe nice to them", "📝 Note of Mia Meyer\nI am"];
    expect(world.thread(next).slice(1)).toEqual(notesShown);
    await write(mia, next, "I am");
    expect(sees().at(-1)).toBe("Mia Meyer:\nI am");
  });

  it("shows actions and replies of the inbox and the API once", async () => {
    const card = await escalated();
    const { id } = await bench.conversation();
    const agent = { email: "zoe@shop.example", name: "Zoe" };
    await bench.app.engine.applyAction(bench.workspaceId, id, { kind: "claim" }, agent);
    await bench.app.engine.reply({
      workspaceId: bench.workspaceId,
      conversationId: id,
      content: "From the inbox",
      authorEmail: agent.email,
      actor: { type: "agent", id: agent.email, name: agent.name },
    });
    await bench.settle();
    expect(world.thread(card).slice(-2)).toEqual(["Zoe claimed it.", "💬 Zoe\nFrom the inbox"]);
    const shown = world.slack.messages.findLast((each) => each.threadTs === card.ts);
    expect(world.slack.reactions).toContainEqual({
      channel: deskChannel,
      ts: shown?.ts,
      name: "white_check_mark",
    });
  });

  it("removes the posts of a deleted conversation", async () => {
    const card = await claimed();
    await write(mia, card, "Secret");
    const { id } = await bench.conversation();
    await bench.app.engine.remove(bench.workspaceId, id, { type: "system", id: "test", name: null });
    await bench.settle();
    expect(world.cards()).not.toContain(card);
    expect(world.thread(card)).toEqual([`${mia}: Secret`]);
    const left = await bench.app.store.read
      .selectFrom("desk_posts")
      .selectAll()
      .where("conversation_id", "=", id)
      .execute();
    expect(left).toEqual([]);
  });

  it("answers its commands", async () => {
    const card = await escalated("I want to talk to a human about <!here>");
    const { id } = await bench.conversation();
    const ask = async (user: string, text: string) => {
      const response = await world.command(user, text);
      expect(response.status).toBe(200);
      return (await response.text()).replaceAll("\\n", "\n");
    };
    expect(await ask(mia, "")).toContain("/parley mine");
    expect(await ask(mia, "dance")).toContain("There is no command “dance”");
    const open = await ask(mia, "open");
    expect(open).toContain(id);
    expect(open).not.toContain("<!here>");
    expect(open).toContain(`/archives/${deskChannel}/p${card.ts.replace(".", "")}`);
    expect(await ask(mia, "claim")).toContain("Which one?");
    expect(await ask(mia, "claim conv_00000000000000000000000000")).toContain("There is no conversation");
    await ask(mia, `claim ${id}`);
    await bench.settle();
    expect((await bench.conversation()).assigned_to).toBe("mia@shop.example");
    expect(JSON.stringify(world.slack.responses.at(-1))).toContain("The conversation is yours");
    await ask(ben, `claim ${id}`);
    await bench.settle();
    expect(JSON.stringify(world.slack.responses.at(-1))).toContain("Mia Meyer already claimed this conversation");
    expect(await ask(mia, "mine")).toContain(id);
    await bench.until("the words are found", async () => (await ask(mia, "search human about")).includes(id));
    expect(await ask(mia, "search zebra")).toContain("There is none.");
    expect(await ask(mia, "search")).toContain("What for?");
  });

  it("shows a conversation at the desk when an agent claims it by its id", async () => {
    await world.telegramSays(steps.nextChat(), 1, "How much?");
    await bench.settle();
    const before = world.cards().length;
    await world.command(mia, `claim ${(await bench.conversation()).id}`);
    await bench.settle();
    expect(world.cards()).toHaveLength(before + 1);
    expect(world.thread(newest(world.cards()))[0]).toContain("How much?");
    await write(mia, newest(world.cards()), "Five");
    expect(sees().at(-1)).toBe("Mia Meyer:\nFive");
  });
});

function mrkdwnIn(blocks: unknown): readonly string[] {
  if (Array.isArray(blocks)) return blocks.flatMap(mrkdwnIn);
  if (typeof blocks !== "object" || blocks === null) return [];
  const { type, text } = blocks as { readonly type?: unknown; readonly text?: unknown };
  if (type === "mrkdwn" && typeof text === "string") return [text];
  return Object.values(blocks).flatMap(mrkdwnIn);
}
