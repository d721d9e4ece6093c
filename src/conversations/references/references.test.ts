import { afterEach, expect, it } from "vitest";
import type { Reference } from "#channels/inbound-event.ts";
import { styledText, textOf, withQuoteMarks } from "#channels/text/styled-text.ts";
import { messageItem } from "#conversations/transaction/representation.ts";
import { shownReferences } from "#conversations/references/shown-references.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { EngineBench } from "#test/support/engine-bench.ts";
import { openBench } from "#test/support/engine-bench.ts";

eachDatabase("a message that answers an earlier one", (open) => {
  let bench: EngineBench;
  afterEach(() => bench.close());

  async function begin(): Promise<string> {
    bench = await openBench(open);
    const id = await bench.begin("chat", "How long does delivery take?");
    await bench.settle();
    await bench.say("chat", "What does it cost?", { id: "customer-2" });
    await bench.settle();
    return id;
  }

  const write = async (text: string, refersTo: Reference, thread = "chat"): Promise<void> => {
    await bench.accept({
      kind: "message",
      externalId: `answers ${text}`,
      thread,
      sender: { key: `customer of ${thread}` },
      sentAt: bench.clock.now(),
      text,
      refersTo,
    });
    await bench.settle();
  };
  const remove = (messageExternalId: string) =>
    bench.accept({
      kind: "delete",
      externalId: `deletes ${messageExternalId}`,
      messageExternalId,
      thread: "chat",
      sender: { key: "customer of chat" },
      sentAt: bench.clock.now(),
    });
  const partsOf = (messageId: string | undefined) =>
    bench.store.read
      .selectFrom("deliveries")
      .select("external_id")
      .where("message_id", "=", messageId ?? "")
      .execute();
  const lastAsked = () => bench.asked.at(-1)?.history.at(-1);

  it("is about that reply of the bot, not the latest, and the API names it", async () => {
    const id = await begin();
    const first = (await bench.messages(id)).find(({ role }) => role === "assistant");
    const [part] = await partsOf(first?.id);
    await write("And abroad?", { externalIds: [part?.external_id ?? ""], text: "as the platform shows it" });
    const messages = await bench.messages(id);
    const row = messages.find(({ content }) => content === "And abroad?");
    expect(row === undefined ? undefined : messageItem(row)).toMatchObject({
      refers_to: { message_id: first?.id, text: null },
    });
    expect(lastAsked()).toMatchObject({ role: "assistant", content: first?.content });
    // The subject of the question is that of the answered one, which must not be overtaken by the latest.
    expect(bench.asked.at(-1)?.history.map(({ content }) => content)).toEqual([
      "What does it cost?",
      "You asked: What does it cost?",
      "How long does delivery take?",
      "You asked: How long does delivery take?",
    ]);
  });

  it("is about the customer's own message, and about the part of a reply that they quote", async () => {
    const id = await begin();
    await write("I mean this", { externalIds: ["other", "customer-2"] });
    expect(lastAsked()).toMatchObject({ role: "user", content: "What does it cost?" });
    const first = (await bench.messages(id)).find(({ role }) => role === "assistant");
    const [part] = await partsOf(first?.id);
    await write("This part", { externalIds: [part?.external_id ?? ""], text: "You asked", isQuote: true });
    const row = (await bench.messages(id)).find(({ content }) => content === "This part");
    expect(JSON.parse(row?.refers_to ?? "null")).toEqual({ message_id: first?.id, text: "You asked" });
    expect(lastAsked()).toMatchObject({ role: "assistant", content: "You asked" });
  });

  it("is no reply to one message where each message names the one before it", async () => {
    const id = await begin();
    const sent = (await bench.messages(id)).filter(({ role }) => role === "assistant");
    const [[first], [second]] = (await Promise.all(sent.slice(0, 2).map((message) => partsOf(message.id)))) as [
      { external_id: string | null }[],
      { external_id: string | null }[],
    ];
    await write("Thanks", { externalIds: [second?.external_id ?? ""], isUsual: true });
    await write("Back to that", { externalIds: [first?.external_id ?? ""], isUsual: true });
    const stored = (await bench.messages(id)).filter(({ role }) => role === "user").slice(-2);
    expect(stored.map(({ refers_to }) => refers_to)).toEqual([null, JSON.stringify({ message_id: sent[0]?.id })]);
  });

  it("shows agents the beginning of that message, until it is deleted", async () => {
    const id = await begin();
    await write("I mean this", { externalIds: ["customer-2"] });
    const shown = async () => [...(await shownReferences(bench.store.read, await bench.messages(id))).values()];
    expect(await shown()).toMatchObject([{ role: "user", author: null, text: "What does it cost?" }]);
    await remove("customer-2");
    expect(await shown()).toEqual([]);
  });

  it("forgets what a deleted message quotes", async () => {
    const id = await begin();
    await write("I mean this", { externalIds: [], text: "The blue kettle" });
    const quoting = async () =>
      (await bench.messages(id)).map(({ refers_to }) => refers_to).filter((each) => each !== null);
    expect(await quoting()).toHaveLength(1);
    await remove("answers I mean this");
    expect(await quoting()).toEqual([]);
    await write("This part", { externalIds: ["customer-2"], text: "What does", isQuote: true });
    await remove("customer-2");
    expect((await quoting()).map((each) => Object.keys(JSON.parse(each) as object))).toEqual([["message_id"]]);
  });

  it("keeps what the platform repeats of a message that is not known, and nothing of another conversation", async () => {
    const id = await begin();
    const first = (await bench.messages(id)).find(({ role }) => role === "assistant");
    const [part] = await partsOf(first?.id);
    const other = await bench.begin("other chat", "Hi");
    await write("Yes, that one", { externalIds: [part?.external_id ?? ""], text: "The blue kettle" }, "other chat");
    expect(lastAsked()).toEqual({ role: "user", content: "The blue kettle" });
    const rows = (await bench.messages(other)).map(({ refers_to }) => refers_to).filter((each) => each !== null);
    expect(rows.map((each) => JSON.parse(each) as unknown)).toEqual([{ text: "The blue kettle" }]);
    await write("Not known", { externalIds: ["nobody"] }, "other chat");
    expect((await bench.messages(other)).find(({ content }) => content === "Not known")?.refers_to).toBeNull();
  });

  const agent = {
    authorEmail: "mia@shop.example",
    actor: { type: "agent", id: "mia@shop.example", name: "Mia" },
  } as const;
  const reply = async (conversationId: string, refersTo: string, content = "Yes, that one."): Promise<void> => {
    await bench.engine.reply({ workspaceId: bench.workspaceId, conversationId, content, refersTo, ...agent });
    await bench.settle();
  };

  it("begins with a quote where an agent wrote it and the platform cannot refer to messages", async () => {
    const id = await begin();
    const [asked] = await bench.messages(id);
    await reply(id, asked?.id ?? "");
    expect(bench.sent.slice(-2).map(({ text }) => text)).toEqual(["> How long does delivery take?", "Yes, that one."]);
    const stored = (await bench.messages(id)).at(-1);
    expect(stored).toMatchObject({ role: "agent", content: "Yes, that one." });
    expect(stored === undefined ? undefined : messageItem(stored)).toMatchObject({
      refers_to: { message_id: asked?.id },
    });
  });

  it("quotes the words as they were written, in one line, and not all of a long message", async () => {
    const id = await begin();
    await bench.say("chat", `*Stars* and\n# signs, ${"and more of it ".repeat(20)}`, { id: "customer-3" });
    await bench.settle();
    const written = (await bench.messages(id)).findLast(({ role }) => role === "user");
    await reply(id, written?.id ?? "");
    const quote = bench.sent.at(-2)?.text ?? "";
    expect(quote).toMatch(/^> \\\*Stars\\\* and \\# signs, and more of it .*…$/u);
    expect(quote.length).toBeLessThan(140);
  });

  it("quotes words that begin like a number or a list", async () => {
    const id = await begin();
    for (const [number, text] of ["2 lamps & a cable", "1. first", "=> this one"].entries()) {
      await bench.say("chat", text, { id: `counted-${number}` });
      await bench.settle();
      const written = (await bench.messages(id)).findLast(({ role }) => role === "user");
      await reply(id, written?.id ?? "");
      const markdown = bench.sent.at(-2)?.text ?? "";
      expect(textOf(withQuoteMarks(styledText(markdown)))).toBe(`> ${text}`);
    }
  });

  it("is refused where the message that an agent answers is another conversation's, or was deleted", async () => {
    const id = await begin();
    const other = await bench.begin("other chat", "Hello there?");
    const [elsewhere] = await bench.messages(other);
    await expect(reply(id, elsewhere?.id ?? "")).rejects.toMatchObject({ code: "invalid_parameter" });
    const written = (await bench.messages(id)).find(({ external_id }) => external_id === "customer-2");
    await remove("customer-2");
    await expect(reply(id, written?.id ?? "")).rejects.toMatchObject({ code: "invalid_parameter" });
  });
});
