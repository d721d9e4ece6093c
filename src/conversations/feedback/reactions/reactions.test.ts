import { afterEach, expect, it } from "vitest";
import type { InboundEvent } from "#channels/contract.ts";
import { DeliveryError } from "#channels/errors.ts";
import { conversationView } from "#http/inbox/conversation/conversation.ts";
import { thumbsOf } from "#test/support/channels/opinions.ts";
import { storedReactions } from "#test/support/channels/reactions.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { BenchOptions, EngineBench } from "#test/support/engine-bench.ts";
import { anna, answerOf, minuteMs, openBench } from "#test/support/engine-bench.ts";
import { defaultSettings } from "#domain/workspace/settings.ts";

type Change = Partial<Extract<InboundEvent, { kind: "reaction" }>>;

eachDatabase("reactions to messages", (open) => {
  let bench: EngineBench;
  let numbers = 0;
  afterEach(() => bench.close());

  async function begin(script: BenchOptions["script"] = {}): Promise<string> {
    const answer = async () => answerOf("Every day.", { skillsFired: ["knowledge_search"] });
    bench = await openBench(open, { script: { answer, ...script } });
    const { conversationId } = await bench.say("chat", "When do you open?", { id: "asked" });
    await bench.settle();
    return conversationId ?? "";
  }
  const react = (externalId: string, change: Change, thread = "chat") =>
    bench.accept({
      kind: "reaction",
      externalId: `reaction ${(numbers += 1)}`,
      thread,
      sender: { key: `customer of ${thread}`, name: "Olga" },
      sentAt: bench.clock.now(),
      of: { externalIds: [externalId] },
      added: [],
      removed: [],
      ...change,
    });
  const stored = async () => (await storedReactions(bench)).map((each) => each.split(" ").slice(0, 2).join(" "));
  async function answerIn(id: string): Promise<string> {
    const part = bench.store.read.selectFrom("deliveries").select("external_id").where("conversation_id", "=", id);
    return (await part.executeTakeFirstOrThrow()).external_id ?? "";
  }
  const agent = { email: "anna@test.example", name: "Anna" };
  async function view(id: string) {
    const { workspaceId, store, engine } = bench;
    const viewer = { workspace_id: workspaceId, email: agent.email };
    return conversationView({ db: store.read, engine }, viewer, id, defaultSettings, bench.clock.now());
  }

  it("of a customer are stored, shown and removed, and nothing else changes", async () => {
    const id = await begin();
    await bench.engine.update(bench.workspaceId, id, { status: "resolved" }, anna);
    const before = await bench.row(id);
    await react(await answerIn(id), { added: ["❤️", ":party:"] });
    await react("asked", { added: ["👍"] });
    expect((await stored()).toSorted()).toEqual(["user ❤️", "user :party:", "user 👍"].toSorted());
    const { messages } = await view(id);
    expect(messages.map(({ reactions }) => reactions.map(({ emoji, author }) => `${author} ${emoji}`))).toEqual([
      ["Olga 👍"],
      ["Olga :party:", "Olga ❤️"],
    ]);
    await react(await answerIn(id), { removed: ["❤️"] });
    await react("asked", { removed: "all" });
    expect(await stored()).toEqual(["user :party:"]);
    await bench.settle();
    const { status, last_seq, message_count, last_message_at, activity } = before;
    expect(await bench.row(id)).toMatchObject({ status, last_seq, message_count, last_message_at, activity });
    expect(bench.asked).toHaveLength(1);
  });

  it("are an opinion alone where they are a thumb on an answer of the bot", async () => {
    const id = await begin();
    const answer = await answerIn(id);
    await react(answer, { added: ["👍🏽"] });
    expect([await thumbsOf(bench), await stored()]).toEqual([["up"], []]);
    await react(answer, { added: ["👎", "🎉"], removed: ["👍🏽"] });
    expect([await thumbsOf(bench), await stored()]).toEqual([["down"], ["user 🎉"]]);
    // The opinion was given again by a button, which the end of the other reaction does not change.
    await react(answer, { removed: ["👍🏽"] });
    expect(await thumbsOf(bench)).toEqual(["down"]);
    await react(answer, { removed: ["👎"] });
    expect(await thumbsOf(bench)).toEqual([null]);
  });

  it("count once, also when the platform delivers them again or too late", async () => {
    await begin();
    const event = { externalId: "the same", added: ["👀"] };
    await react("asked", event);
    await react("asked", { removed: ["👀"] });
    expect((await react("asked", event)).duplicate).toBe(true);
    expect(await stored()).toEqual([]);
    await react("asked", { added: ["👀"] });
    await react("asked", { removed: ["👀"], sentAt: bench.clock.now() - minuteMs });
    expect(await stored()).toEqual(["user 👀"]);
    await react("asked", { added: ["👀", "👀"] });
    expect(await stored()).toEqual(["user 👀"]);
  });

  it("have no effect where the message is unknown, of another conversation or deleted, or the sender is a stranger", async () => {
    const id = await begin();
    await bench.begin("other", "Hello");
    await react("asked", { added: ["👀"] }, "other");
    const [asked] = await bench.messages(id);
    await react("", { of: { externalIds: [], messageId: asked?.id ?? "" }, added: ["👀"] }, "other");
    await react("nothing", { added: ["👀"] });
    await react("asked", { added: ["👀"] }, "no conversation");
    await react("asked", { added: ["👀"], sender: { key: "somebody else" } });
    expect(await stored()).toEqual([]);
    await react("", { of: { externalIds: [], messageId: asked?.id ?? "" }, added: ["👀"] });
    expect(await stored()).toHaveLength(1);
    await bench.accept({
      kind: "delete",
      externalId: "deleted",
      messageExternalId: "asked",
      thread: "chat",
      sender: { key: "customer of chat" },
      sentAt: bench.clock.now(),
    });
    expect(await stored()).toEqual([]);
    await react("asked", { added: ["👀"] });
    expect(await stored()).toEqual([]);
    expect((await view(id)).messages[0]?.reactions).toEqual([]);
  });

  it("are at most twenty different ones at a message, of at most 32 characters each", async () => {
    await begin();
    await react("asked", { added: ["x".repeat(33), "", "two words", "\uD800", ":party:"] });
    expect(await stored()).toEqual(["user :party:"]);
    await react("asked", { added: Array.from({ length: 40 }, (_, at) => `:emoji-${at}:`) });
    expect(await stored()).toHaveLength(20);
  });

  it("are erased with the customer, also in the conversation of another one", async () => {
    await begin();
    const sender = { key: "ben", name: "Ben" };
    const olga = { key: "customer of chat", proven: { email: "olga@customers.example" } };
    await bench.say("chat", "Hello again", { sender: olga });
    await bench.say("own", "Hello", { sender: { ...sender, proven: { email: "ben@customers.example" } } });
    await bench.say("chat", "I ask the same.", { sender });
    await bench.settle();
    await react("asked", { added: ["🎉"], sender });
    await react("asked", { added: ["👀"] });
    expect(await storedReactions(bench)).toHaveLength(2);
    await bench.app.services.customers.erase(bench.workspaceId, { email: "olga@customers.example" }, () => undefined);
    expect(await storedReactions(bench)).toEqual(["user 🎉 Ben"]);
  });

  it("of an agent are shown on the platform, replaced and taken back", async () => {
    const shown: (string | null)[][] = [];
    const id = await begin({
      react: async (externalId, emoji, { thread, replaces }) => void shown.push([externalId, thread, emoji, replaces]),
    });
    const [message] = await bench.messages(id);
    const choose = async (emoji: string | null, messageId = message?.id ?? "") => {
      const request = { kind: "react", messageId, emoji } as const;
      const result = await bench.engine.postAgentMessage(bench.workspaceId, id, request, agent);
      await bench.settle();
      return result;
    };
    expect((await view(id)).amendable.react).toBe(true);
    await choose("👍");
    await choose("👍");
    expect((await view(id)).messages[0]?.reactions).toEqual([{ emoji: "👍", role: "agent", author: "Anna" }]);
    await choose("🎉");
    await choose(null);
    expect(shown).toEqual([
      ["asked", "chat", "👍", null],
      ["asked", "chat", "🎉", "👍"],
      ["asked", "chat", null, "🎉"],
    ]);
    expect(await stored()).toEqual([]);
    const answer = (await bench.messages(id)).at(-1);
    expect(await choose("👍", answer?.id)).toMatchObject({ kind: "refused" });
    await expect(choose("👍", "msg_unknown")).rejects.toMatchObject({ code: "not_found" });
  });

  it("of an agent are tried again, hold up no reply, and leave a note once they are refused", async () => {
    const faults = [
      new DeliveryError("unknown", "the connection broke"),
      new DeliveryError("rejected", "this chat does not allow this reaction"),
    ];
    const id = await begin({
      async react() {
        const fault = faults.shift();
        if (fault !== undefined) throw fault;
      },
    });
    const [message] = await bench.messages(id);
    const request = { kind: "react", messageId: message?.id ?? "", emoji: "👍" } as const;
    await bench.engine.postAgentMessage(bench.workspaceId, id, request, agent);
    await bench.settle();
    expect(await stored()).toEqual(["agent 👍"]);
    await bench.engine.reply({
      workspaceId: bench.workspaceId,
      conversationId: id,
      content: "And on Sundays.",
      authorEmail: agent.email,
      actor: anna,
    });
    await bench.settle();
    expect(bench.sent.at(-1)?.text).toBe("And on Sundays.");
    await bench.advance(minuteMs);
    expect(await stored()).toEqual([]);
    expect((await bench.notes(id)).join()).toContain(
      "The reaction 👍 did not reach the customer: this chat does not allow this reaction",
    );
  });

  it("are not offered to agents where the channel has none", async () => {
    const id = await begin();
    const [message] = await bench.messages(id);
    const request = { kind: "react", messageId: message?.id ?? "", emoji: "👍" } as const;
    expect((await view(id)).amendable.react).toBe(false);
    expect(await bench.engine.postAgentMessage(bench.workspaceId, id, request, agent)).toEqual({
      kind: "refused",
      reason: "Telegram shows customers no reactions.",
    });
    expect(await stored()).toEqual([]);
  });
});
