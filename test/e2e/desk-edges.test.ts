import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FakeMessage } from "#adapters/slack/test/support/fake-messages.ts";
import { syncLater } from "#conversations/work/desk-sync-work.ts";
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

describe("a desk at Slack's limits", () => {
  beforeAll(async () => {
    bench = await openDeskBench(newSqlite);
    ({ world } = bench);
  });
  afterAll(() => bench.close());

  const tagsNow = async (): Promise<readonly string[]> => {
    const { id } = await bench.conversation();
    const rows = await bench.app.store.read
      .selectFrom("conversation_tags")
      .select("tag")
      .where("conversation_id", "=", id)
      .execute();
    return rows.map(({ tag }) => tag).toSorted();
  };

  it("shows on the card what was asked before a request for a person, and the request", async () => {
    const chat = steps.nextChat();
    await world.telegramSays(chat, 1, `Do you sell kites? ${"I would like to know it. ".repeat(9)}`);
    await bench.settle();
    const before = world.cards().length;
    await world.telegramSays(chat, 2, "I want to talk to a human about my invoice");
    await bench.until("the card is shown", () => world.cards().length > before);
    await bench.settle();
    const shown = JSON.stringify(newest(world.cards()));
    expect(shown).toMatch(/Do you sell kites\? .{50,80}… · I want to talk to a human about my invoice"/);
  });

  it("hides everything from members of the team who are not in the channel", async () => {
    const { teamId, users, channels } = world.slack;
    await escalated("I want to talk to a human about my salary");
    const { id } = await bench.conversation();
    users.set("U0SALES01", { id: "U0SALES01", name: "Sal", teamId, email: "sal@shop.example" });
    const channel = channels.get(deskChannel);
    if (channel === undefined) throw new Error("there is no desk channel");
    // Several pages of members.
    channel.people = [...Array.from({ length: 1_500 }, (_, i) => `U1${i}`), mia, ben];
    for (const text of ["open", "mine", "search salary", `claim ${id}`]) {
      const answer = await (await world.command("U0SALES01", text)).text();
      expect(answer, text).toContain("you are not in a channel where agents work");
      expect(answer).not.toContain("salary");
    }
    await bench.settle();
    expect((await bench.conversation()).status).toBe("escalated");
    expect(await (await world.command(mia, "open")).text()).toContain(id);
    const asked = world.slack.calls("conversations.members").length;
    await world.command(mia, "open");
    expect(world.slack.calls("conversations.members")).toHaveLength(asked);
    // A new member has access at once.
    channel.people = [...channel.people, "U0SALES01"];
    expect(await (await world.command("U0SALES01", "open")).text()).toContain(id);
    delete channel.people;
  });

  it("hides everything while Slack does not return the channel's members", async () => {
    bench.app.clock.advance(11 * 60_000);
    world.slack.fail("conversations.members", { kind: "limit", seconds: 30 });
    expect(await (await world.command(mia, "open")).text()).toContain("Please try again in a minute");
    expect(await (await world.command(mia, "open")).text()).not.toContain("try again");
  });

  it("keeps the tags that do not fit into its dialog", async () => {
    const card = await escalated();
    const { id } = await bench.conversation();
    const tags = Array.from({ length: 40 }, (_, i) => `${"a-long-tag-of-this-team-".repeat(2)}${i}`);
    const actor = { type: "agent", id: "ben@shop.example", name: "Ben" } as const;
    await bench.app.engine.update(bench.workspaceId, id, { addTags: [...tags, "shoes, red"] }, actor);
    await click(mia, card, "parley_tag");
    const dialog = view() as {
      readonly private_metadata: string;
      readonly blocks: readonly [{ readonly hint: object; readonly element: { readonly initial_value: string } }];
    };
    const [{ hint, element }] = dialog.blocks;
    const shown = element.initial_value.split(", ");
    // Slack's limit for the metadata of a dialog.
    expect(dialog.private_metadata.length).toBeLessThanOrEqual(3_000);
    expect(JSON.stringify(hint)).toContain(`${42 - shown.length} more, which stay`);
    expect(shown.length).toBeGreaterThan(10);
    await world.submits(mia, dialog, { value: [...shown.slice(1), "vip"].join(", ") });
    await bench.settle();
    const all = ["escalated", "shoes, red", "vip", ...tags];
    expect(await tagsNow()).toEqual(all.filter((tag) => tag !== shown[0]).toSorted());
  });

  it("tells an agent who forwards a message that the customer does not get it", async () => {
    const card = await claimed();
    const before = sees().length;
    const share = { is_share: true, is_msg_unfurl: true, author_name: "Ben", text: "He never pays", fallback: "…" };
    await write(mia, card, "", { attachments: [share] });
    expect(lastNotice(mia)).toMatch(/^Nothing was sent\. A forwarded message does not go to the customer/u);
    await write(mia, card, "See below", { attachments: [share] });
    expect(lastNotice(mia)).toMatch(/^A forwarded message does not go to the customer/u);
    // The preview of a link is not a forwarded message.
    const whispers = world.whispers(mia).length;
    await write(mia, card, "https://shop.example", { attachments: [{ text: "Our shop", is_msg_unfurl: true }] });
    expect(sees().slice(before)).toEqual(["Mia Meyer:\nSee below", "Mia Meyer:\nhttps://shop.example"]);
    expect(world.whispers(mia)).toHaveLength(whispers);
    expect(await notes()).toEqual([]);
  });

  it("answers a customer who forwards a message, with its files", async () => {
    const user = "U0SAM0010";
    world.slack.users.set(user, { id: user, name: "Sam", teamId: world.slack.teamId });
    const channel = "D0SAM0010";
    world.slack.channels.set(channel, { id: channel, kind: "im", name: "sam", archived: false, member: true });
    const file = world.slack.addFile({ name: "bill.pdf", mimetype: "application/pdf", bytes: Buffer.from("%PDF-1.7") });
    const { id, name, mimetype } = file;
    const share = {
      is_share: true,
      author_name: "Shop",
      text: "Your bill &amp; more",
      files: [{ id, name, mimetype, url_private: world.slack.fileUrl(file) }],
    };
    for (const attachments of [
      [share],
      "none",
      [null, 5, { is_share: true }, { is_share: true, text: 5, files: "x" }],
    ]) {
      await world.slackDelivers({ channel, user, ts: world.slack.nextTs(), text: "", more: { attachments } });
    }
    await bench.settle();
    expect(world.slackSees(user)).toEqual([
      expect.stringContaining("You asked: [forwarded from Shop] Your bill & more"),
    ]);
    const forwards = await bench.app.store.read.selectFrom("messages").select("forwarded").execute();
    expect(forwards).toContainEqual({ forwarded: '{"from":"Shop","is_below":true}' });
    const stored = await bench.app.store.read
      .selectFrom("attachments")
      .select(["name", "state"])
      .where("name", "=", "bill.pdf")
      .execute();
    expect(stored).toEqual([{ name: "bill.pdf", state: "stored" }]);
  });

  it("shows messages that arrive while a thread is created, and a first message without an answer", async () => {
    const { store } = bench.app;
    const bill = { file_id: world.telegram.keep(Buffer.from("%PDF-1.7")), file_name: "bill.pdf", file_size: 8 };
    await world.telegramSays(steps.nextChat(), 1, "How much?");
    await bench.settle();
    await world.telegramSays(steps.chat(), 2, "", { document: bill });
    await bench.settle();
    world.slack.trouble((called) =>
      called === "files.getUploadURLExternal" ? { kind: "limit", seconds: 30 } : undefined,
    );
    await world.command(mia, `claim ${(await bench.conversation()).id}`);
    await bench.until("the file is tried", () => world.slack.calls("files.getUploadURLExternal").length > 0);
    await world.telegramSays(steps.chat(), 3, "And in red?");
    world.slack.trouble(undefined);
    await bench.settle();
    const shown = world.thread(newest(world.cards()));
    expect(shown[0]).toContain("How much?");
    expect(shown.slice(1)).toEqual(["👤 Ada L.: bill.pdf", "Mia Meyer claimed it.", "👤 Ada L.\nAnd in red?"]);

    const long = `How much? ${"It is a long story. ".repeat(20)}`.trim();
    await world.telegramSays(steps.nextChat(), 1, long);
    await bench.settle();
    const { id } = await bench.conversation();
    await store.write(async (tx) => {
      await tx.deleteFrom("deliveries").where("conversation_id", "=", id).execute();
      await tx.deleteFrom("messages").where("conversation_id", "=", id).where("role", "=", "assistant").execute();
      await tx.updateTable("conversations").set({ last_seq: 1 }).where("id", "=", id).execute();
    });
    await world.command(mia, `claim ${id}`);
    await bench.settle();
    const card = newest(world.cards());
    expect(world.thread(card)).toEqual([`👤 Ada L.\n${long}`, "Mia Meyer claimed it."]);
    await write(mia, card, "// Be nice to them");
    card.deleted = true;
    // The card and the message are posted, and the note fails.
    let posts = 0;
    world.slack.trouble((called) => {
      if (called === "chat.postMessage") posts += 1;
      return called === "chat.postMessage" && posts === 3 ? { kind: "limit", seconds: 30 } : undefined;
    });
    const actor = { type: "agent", id: "ben@shop.example", name: "Ben" } as const;
    await bench.app.engine.update(bench.workspaceId, id, { priority: "high" }, actor);
    await bench.settle();
    world.slack.trouble(undefined);
    expect(posts).toBeGreaterThan(3);
    const newCard = world.thread(newest(world.cards())).filter((text) => !text.includes("priority"));
    expect(newCard).toEqual([`👤 Ada L.\n${long}`, "📝 Note of Mia Meyer\nBe nice to them"]);
  });

  it("says who wrote a message that the customer forwards", async () => {
    const card = await escalated();
    const origin = { type: "hidden_user", date: 1, sender_user_name: "Bob" };
    await world.telegramSays(steps.chat(), 2, "", { text: "It broke", forward_origin: origin });
    await bench.settle();
    expect(world.thread(card).at(-1)).toBe("👤 Ada L.\nForwarded from Bob\nIt broke");
  });

  it("gives the customer an agent's reaction to their message, and takes it back", async () => {
    const card = await claimed();
    await world.telegramSays(steps.chat(), 2, "Is it blue?");
    await bench.settle();
    const post = world.slack.messages.find(({ threadTs, text }) => threadTs === card.ts && text.includes("blue"));
    if (post === undefined) throw new Error("it is not shown");
    const reacts = async (user: string, name: string, isAdded?: boolean) => {
      await world.reacts(user, post, name, isAdded);
      await bench.settle();
      return world.telegram.reactions.get(`${steps.chat()}:2`);
    };
    expect(await reacts(mia, "heart")).toBe("❤");
    expect(await reacts(ben, "+1::skin-tone-2")).toBe("👍");
    // Mia's reaction was replaced, so its removal says nothing.
    expect(await reacts(mia, "heart", false)).toBe("👍");
    expect(await reacts(mia, "pizza")).toBe("👍");
    expect(await reacts(world.slack.botUserId, "tada")).toBe("👍");
    expect(await reacts(ben, "+1", false)).toBe(undefined);
    // The card shows no single message.
    await world.reacts(mia, card, "heart");
    await bench.settle();
    expect(world.telegram.reactions.get(`${steps.chat()}:1`)).toBe(undefined);
    expect(world.thread(card).at(-1)).toBe("👤 Ada L.\nIs it blue?");
  });

  it("shows the customers' reactions to a message in one line", async () => {
    const card = await claimed();
    await write(mia, card, "It is blue");
    const sent = world.telegram.shown.findLast(({ chatId }) => chatId === steps.chat());
    const reacts = async (before: readonly string[], after: readonly string[]) => {
      await world.telegramReacts(steps.chat(), sent?.messageId ?? 0, before, after);
      await bench.settle();
      return world.thread(card).slice(-2);
    };
    expect(await reacts([], ["🔥"])).toEqual([`${mia}: It is blue`, "Ada reacted with 🔥 to “It is blue”"]);
    expect(await reacts(["🔥"], ["❤"])).toEqual([`${mia}: It is blue`, "Ada reacted with ❤ to “It is blue”"]);
    expect(await reacts(["❤"], [])).toEqual([
      `${mia}: It is blue`,
      "The customer took back their reaction to “It is blue”.",
    ]);
  });

  it("forgets the words of a reaction's line with the message", async () => {
    const card = await claimed();
    const written = await write(mia, card, "It is blue");
    const sent = world.telegram.shown.findLast(({ chatId }) => chatId === steps.chat());
    await world.telegramReacts(steps.chat(), sent?.messageId ?? 0, [], ["🔥"]);
    await bench.settle();
    await world.removes(written);
    await bench.settle();
    expect(world.thread(card).filter((text) => text.includes("reacted"))).toEqual([]);
  });

  it("shows the message that the customer answers above theirs", async () => {
    const card = await escalated();
    const more = { text: "About this", reply_to_message: { message_id: 1, text: "as Telegram shows it" } };
    await world.telegramSays(steps.chat(), 2, "", more);
    await bench.settle();
    expect(world.thread(card).at(-1)).toBe("👤 Ada L.\nI want to talk to a human\nAbout this");
    expect(JSON.stringify(world.slack.messages.at(-1)?.blocks)).toContain("rich_text_quote");
  });

  it("posts plain text if Slack refuses the blocks, also for a card", async () => {
    const refused = { kind: "error", error: "invalid_blocks" } as const;
    world.slack.fail("chat.postMessage", refused);
    const card = await escalated();
    expect(card).toMatchObject({ text: expect.stringContaining("I want to talk to a human") });
    world.slack.fail("chat.postMessage", refused);
    await world.telegramSays(steps.chat(), 2, "Is it <!here>?");
    await bench.settle();
    expect(world.thread(card).at(-1)).toBe("👤 Ada L.\nIs it <!here>?");
    expect(world.slack.messages.at(-1)?.text).toContain("&lt;!here&gt;");
    // The next update of the card restores its buttons.
    await world.command(mia, `claim ${(await bench.conversation()).id}`);
    await bench.settle();
    expect(JSON.stringify(card.blocks)).toContain("parley_release");
  });

  it("starts a new thread if Slack posts outside of it", async () => {
    const card = await claimed();
    world.slack.fail("chat.postMessage", { kind: "outside" });
    await world.telegramSays(steps.chat(), 2, "Are you there?");
    await bench.settle();
    const newCard = newest(world.cards());
    expect(newCard.ts).not.toBe(card.ts);
    expect(world.thread(newCard)[0]).toContain("Are you there?");
    expect(world.slack.shown(deskChannel).filter(({ text }) => text === "👤 Ada L.\nAre you there?")).toEqual([]);
  });

  it("removes the posts of a deleted conversation even after days, without delaying others", async () => {
    const { store, clock, engine } = bench.app;
    const begun: { readonly card: FakeMessage; readonly remove: () => Promise<void> }[] = [];
    for (let i = 0; i < 2; i += 1) {
      const card = await escalated();
      const { id } = await bench.conversation();
      const remove = () => engine.remove(bench.workspaceId, id, { type: "system", id: "test", name: null });
      begun.push({ card, remove });
    }
    const [first, second] = begun;
    if (first === undefined || second === undefined) throw new Error("there are no cards");
    const work = store.read.selectFrom("outbox").select(["attempts", "dead_at"]).where("kind", "=", "desk-erase");
    const triedOften = async (times: number): Promise<boolean> => (await work.executeTakeFirst())?.attempts === times;
    world.slack.trouble((method) => (method === "chat.delete" ? { kind: "error", error: "token_revoked" } : undefined));
    await first.remove();
    await bench.until("it has failed", () => triedOften(1));
    const days = { attempts: 400, created_at: clock.now() - 3 * 86_400_000 };
    await store.write((tx) => tx.updateTable("outbox").set(days).where("kind", "=", "desk-erase").execute());
    clock.advance(61_000);
    await bench.until("it has failed again", () => triedOften(401));
    expect(await work.execute()).toMatchObject([{ dead_at: null }]);
    world.slack.trouble(undefined);
    await second.remove();
    await bench.until("the second is gone", () => !world.cards().includes(second.card));
    expect(world.cards()).toContain(first.card);
    clock.advance(600_000);
    await bench.settle();
    expect(world.cards()).not.toContain(first.card);
    expect(world.thread(first.card)).toEqual([]);
  });

  it("removes the other posts of a deleted conversation if one cannot be removed yet", async () => {
    const { store, clock, engine } = bench.app;
    const card = await claimed();
    await write(mia, card, "// They never pay");
    const { id } = await bench.conversation();
    const shown = () => world.slack.shown(deskChannel).filter(({ ts }) => ours.has(ts));
    const ours = new Set(
      world.slack.messages
        .filter(({ user, ts, threadTs }) => user === undefined && (threadTs ?? ts) === card.ts)
        .map(({ ts }) => ts),
    );
    expect(shown().length).toBeGreaterThan(2);
    world.slack.fail("chat.delete", { kind: "error", error: "missing_scope" });
    await engine.remove(bench.workspaceId, id, { type: "system", id: "test", name: null });
    const work = store.read.selectFrom("outbox").select("attempts").where("kind", "=", "desk-erase");
    await bench.until("it has failed", async () => (await work.executeTakeFirst())?.attempts === 1);
    expect(shown()).toHaveLength(1);
    clock.advance(600_000);
    await bench.settle();
    expect(shown()).toEqual([]);
    // A rate limit applies to all posts.
    await claimed();
    const { id: second } = await bench.conversation();
    world.slack.trouble((method) => (method === "chat.delete" ? { kind: "limit", seconds: 600 } : undefined));
    const before = world.slack.calls("chat.delete").length;
    await engine.remove(bench.workspaceId, second, { type: "system", id: "test", name: null });
    await bench.until("it has failed", async () => (await work.executeTakeFirst())?.attempts === 1);
    expect(world.slack.calls("chat.delete").length - before).toBe(1);
    world.slack.trouble(undefined);
    clock.advance(600_000);
    await bench.settle();
  });

  it("shows new messages while Slack refuses updates, and applies updates and reactions afterwards", async () => {
    const card = await claimed();
    const changes = ["chat.update", "reactions.add"];
    world.slack.trouble((method) => (changes.includes(method) ? { kind: "limit", seconds: 3_600 } : undefined));
    const before = changes.map((method) => world.slack.calls(method).length);
    const reply = await world.writes(mia, card.ts, "Five euros");
    const actor = { type: "agent", id: "ben@shop.example", name: "Ben" } as const;
    const { id } = await bench.conversation();
    for (const [i, text] of ["One", "Two", "Three"].entries()) {
      await bench.app.engine.update(bench.workspaceId, id, { addTags: [text.toLowerCase()] }, actor);
      await world.telegramSays(steps.chat(), 2 + i, text);
      await bench.until("it is shown", () => world.thread(card).at(-1) === `👤 Ada L.\n${text}`);
    }
    expect(changes.map((method, i) => world.slack.calls(method).length - (before[i] ?? 0))).toEqual([1, 1]);
    expect(JSON.stringify(card.blocks)).not.toContain("three");
    world.slack.trouble(undefined);
    bench.app.clock.advance(3_600_000);
    await bench.settle();
    expect(JSON.stringify(card.blocks)).toContain("escalated, one, three, two");
    expect(world.slack.reactions).toContainEqual({ channel: deskChannel, ts: reply.ts, name: "white_check_mark" });
    expect(world.thread(card).slice(-3)).toEqual(["One", "Two", "Three"].map((text) => `👤 Ada L.\n${text}`));
  });

  it("updates texts and the card as soon as Slack allows it, whatever else it still refuses", async () => {
    const { store, clock, engine } = bench.app;
    const card = await claimed();
    const actor = { type: "agent", id: "ben@shop.example", name: "Ben" } as const;
    const { id } = await bench.conversation();
    await engine.postAgentMessage(
      bench.workspaceId,
      id,
      { kind: "reply", content: "Five euros", files: [], clientId: "req_apart", overrideOwner: true },
      { email: "ben@shop.example", name: "Ben Bauer" },
    );
    await bench.until("it is shown", () => world.thread(card).at(-1)?.endsWith("Five euros") === true);
    await bench.settle();
    const limits = new Map([["reactions.add", 3_600]]);
    world.slack.trouble((method) => {
      const seconds = limits.get(method);
      return seconds === undefined ? undefined : { kind: "limit", seconds };
    });
    const waiting = () =>
      store.read.selectFrom("outbox").select("due_at").where("lane", "like", `desk:later:%${id}`).execute();
    const reply = await world.writes(mia, card.ts, "Six euros");
    await bench.until("the mark waits", async () => (await waiting()).length === 1);
    // The newest retry time counts for earlier work, too.
    const now = clock.now();
    await store.write((tx) => syncLater(tx, { conversationId: id, change: { kind: "card" } }, now + 1_800_000, now));
    limits.set("chat.update", 30);
    await engine.update(bench.workspaceId, id, { addTags: ["red"] }, actor);
    await bench.until("the card waits", async () =>
      (await waiting()).every(({ due_at: at }) => at !== now + 1_800_000),
    );
    const { id: messageId } = await store.read
      .selectFrom("messages")
      .select("id")
      .where("conversation_id", "=", id)
      .where("content", "=", "Five euros")
      .executeTakeFirstOrThrow();
    const agent = { email: "ben@shop.example", name: "Ben Bauer" };
    await engine.postAgentMessage(bench.workspaceId, id, { kind: "amend", messageId, content: "Seven euros" }, agent);
    await bench.until("the text waits", async () => (await waiting()).length === 3);
    limits.delete("chat.update");
    const begun = clock.now();
    await bench.until("both are changed", () => {
      const texts = world.thread(card).join("\n");
      return texts.includes("Seven euros") && JSON.stringify(card.blocks).includes("red");
    });
    expect(clock.now() - begun).toBeLessThan(120_000);
    expect(world.slack.reactions.filter(({ ts }) => ts === reply.ts)).toEqual([]);
    world.slack.trouble(undefined);
    clock.advance(3_600_000);
    await bench.settle();
    expect(world.slack.reactions).toContainEqual({ channel: deskChannel, ts: reply.ts, name: "white_check_mark" });
    // Pending work of a conversation is dropped with it.
    world.slack.trouble((method) =>
      method === "chat.update" || method === "reactions.add" ? { kind: "limit", seconds: 3_600 } : undefined,
    );
    await engine.update(bench.workspaceId, id, { addTags: ["blue"] }, actor);
    await engine.postAgentMessage(bench.workspaceId, id, { kind: "amend", messageId, content: "Eight euros" }, agent);
    await world.writes(mia, card.ts, "Nine euros");
    await bench.until("all wait", async () => (await waiting()).length === 3);
    await engine.remove(bench.workspaceId, id, actor);
    expect(await waiting()).toEqual([]);
    world.slack.trouble(undefined);
    clock.advance(3_600_000);
    await bench.settle();
  });

  it("leaves a shortened reply if its new text is too long for the remaining parts", async () => {
    const card = await claimed();
    const before = sees().length;
    const long = "One word more. ".repeat(600);
    const written = await write(mia, card, long);
    expect(sees().slice(before).length).toBeGreaterThan(1);
    for (const text of ["Short", "Shorter", long]) {
      await world.edits(written, text);
      await bench.settle();
    }
    expect(sees().slice(before)).toEqual(["Mia Meyer:\nShorter"]);
    expect(world.thread(card).at(-1)).toContain("who still sees the text before it: the new text does not fit");
    await world.removes(written);
    await bench.settle();
    expect(sees()).toHaveLength(before);
  });

  it("disables mentions in names and tags", async () => {
    const card = await escalated();
    const { id } = await bench.conversation();
    const actor = { type: "agent", id: "ben@shop.example", name: "Ben" } as const;
    await bench.app.engine.update(bench.workspaceId, id, { addTags: ["@channel", "#general", "shop.example"] }, actor);
    await bench.settle();
    const marked = marksIn(card.blocks);
    expect(marked.map(({ text }) => text).join("\n")).toContain("@channel");
    expect(marked.filter(({ verbatim }) => verbatim !== true)).toEqual([]);
  });
});

interface Marked {
  readonly type?: unknown;
  readonly text?: unknown;
  readonly verbatim?: unknown;
}

function marksIn(blocks: unknown): readonly Marked[] {
  if (Array.isArray(blocks)) return blocks.flatMap(marksIn);
  if (typeof blocks !== "object" || blocks === null) return [];
  return (blocks as Marked).type === "mrkdwn" ? [blocks] : Object.values(blocks).flatMap(marksIn);
}
