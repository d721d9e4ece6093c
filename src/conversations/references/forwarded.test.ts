import { afterEach, expect, it } from "vitest";
import type { Forwarded } from "#channels/inbound-event.ts";
import { forwardedText } from "#channels/text/forwarded.ts";
import type { Rule } from "#domain/workspace/automation.ts";
import { deskMessages } from "#agent-desk/sync/snapshot.ts";
import { messageItem } from "#conversations/transaction/representation.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { BenchOptions, EngineBench } from "#test/support/engine-bench.ts";
import { openBench } from "#test/support/engine-bench.ts";

eachDatabase("a forwarded message", (open) => {
  let bench: EngineBench;
  afterEach(() => bench.close());

  async function begin(settings: BenchOptions["settings"] = {}): Promise<string> {
    bench = await openBench(open, { settings });
    const id = await bench.begin("chat", "How long does delivery take?");
    await bench.settle();
    return id;
  }

  async function forward(text: string, forwarded: Forwarded): Promise<void> {
    await bench.accept({
      kind: "message",
      externalId: `forwards ${text}`,
      thread: "chat",
      sender: { key: "customer of chat" },
      sentAt: bench.clock.now(),
      text,
      forwarded,
    });
    await bench.settle();
  }
  const lastWritten = async (id: string) => (await bench.messages(id)).findLast(({ role }) => role === "user");

  it("names its author over the API and at the desk, until it is deleted", async () => {
    const id = await begin();
    await forward("Is it blue?", { from: "Bob" });
    const row = await lastWritten(id);
    if (row === undefined) throw new Error("it was not stored");
    expect(messageItem(row)).toMatchObject({ content: "Is it blue?", forwarded: { from: "Bob" } });
    expect(await deskMessages(bench.store.read, [row])).toMatchObject([{ forwarded: { from: "Bob" } }]);
    await bench.accept({
      kind: "delete",
      externalId: "deletes it",
      messageExternalId: "forwards Is it blue?",
      thread: "chat",
      sender: { key: "customer of chat" },
      sentAt: bench.clock.now(),
    });
    expect(await lastWritten(id)).toMatchObject({ content: "", forwarded: null });
    await forward("Is it red?", {});
    const nameless = await lastWritten(id);
    expect(nameless && messageItem(nameless)).toMatchObject({ forwarded: { from: null } });
  });

  it("is answered, and marked as somebody else's words in what was said before", async () => {
    const id = await begin();
    await forward("Is it blue?", { from: "Bob" });
    expect(await bench.talk(id)).toContain("assistant: You asked: Is it blue?");
    await bench.say("chat", "And red?");
    await bench.settle();
    expect(bench.asked.at(-1)?.history.map(({ content }) => content)).toContain("[forwarded] Is it blue?");
  });

  it("hands nothing over by the words of somebody else, but by the customer's own above them", async () => {
    const id = await begin({ angerToEscalate: 0.5 });
    const wish = "I want to talk to a human";
    await forward(wish, {});
    await forward("THIS IS THE WORST COMPANY EVER!!! YOU ARE ALL LIARS AND THIEVES!!!", {});
    await forward(`Is this normal?\n\n${forwardedText(wish, "Bob")}`, { from: "Bob", isBelow: true });
    expect((await bench.row(id)).status).toBe("open");
    expect(bench.asked.at(-1)?.text).toContain("Is this normal?");
    await forward(`${wish}\n\n${forwardedText("It is broken", "Bob")}`, { from: "Bob", isBelow: true });
    expect((await bench.row(id)).status).toBe("escalated");
  });

  it("fires rules on words and languages by the customer's own comment alone", async () => {
    const on = (name: string, conditions: Rule["conditions"]): Rule => ({
      name,
      when: { kind: "message", by: "user" },
      conditions,
      actions: [{ kind: "tag", tags: [name] }],
    });
    const id = await begin({ rules: [on("refund", { words: ["refund"] }), on("german", { languages: ["de"] })] });
    const tags = async () => {
      const all = bench.store.read.selectFrom("conversation_tags").select("tag").where("conversation_id", "=", id);
      return (await all.orderBy("tag").execute()).map(({ tag }) => tag);
    };
    await forward("I want a refund", { from: "Bob" });
    await forward("Ich möchte mein Geld zurück, und zwar sofort", {});
    await forward(`Is this so?\n\n${forwardedText("Das ist ein refund, und zwar sofort")}`, { isBelow: true });
    expect(await tags()).toEqual([]);
    await forward(`Ich möchte den refund auch, und zwar sofort\n\n${forwardedText("Is it blue?")}`, { isBelow: true });
    expect(await tags()).toEqual(["german", "refund"]);
  });

  it("calls no skills for words of somebody else", async () => {
    const skill = { kind: "capture_lead", name: "lead", description: "Keeps the customer's address" } as const;
    await begin({ skills: [{ ...skill, phrases: [], arguments: [], answer: null, closed: null }] });
    const skills = () => bench.asked.at(-1)?.settings.skills.length;
    await forward("Write to bob@other.example", {});
    expect(skills()).toBe(0);
    await forward(`Write to me\n\n${forwardedText("Is it blue?")}`, { isBelow: true });
    expect(skills()).toBe(1);
    expect(bench.asked.at(-1)).toMatchObject({ text: expect.stringContaining("blue"), ownText: "Write to me" });
  });
});
