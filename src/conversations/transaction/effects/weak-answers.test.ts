import { afterEach, beforeEach, expect, it } from "vitest";
import type { Answer } from "#answering/contract.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { EngineBench } from "#test/support/engine-bench.ts";
import { anna, answerOf, openBench } from "#test/support/engine-bench.ts";

const searched = { skillsFired: ["knowledge_search"] };
const refusal = answerOf("I do not know.", { ...searched, answered: false, confidence: "low" });
const good = answerOf("Every day.", searched);

eachDatabase("questions that need a better answer", (open) => {
  let bench: EngineBench;
  let externalId = 0;

  beforeEach(async () => {
    bench = await openBench(open, { settings: { lowAnswersToEscalate: 5, angerToEscalate: null } });
  });
  afterEach(() => bench.close());

  const answering = (answer: Answer): void => {
    bench.script.answer = () => Promise.resolve(answer);
  };

  async function ask(thread: string, text: string, answer: Answer): Promise<string> {
    answering(answer);
    const { conversationId } = await bench.say(thread, text);
    await bench.settle();
    return conversationId ?? "";
  }

  const thumb = (thread: string, messageId: string, value: "up" | "down" | null, sentAt = bench.clock.now()) =>
    bench.accept({
      kind: "feedback",
      externalId: `thumb-${(externalId += 1)}`,
      thread,
      sender: { key: `customer of ${thread}` },
      sentAt,
      of: { messageId },
      value,
    });

  const answerIn = async (conversationId: string): Promise<string> =>
    (await bench.messages(conversationId)).findLast(({ role }) => role === "assistant")?.id ?? "";

  const opinions = async () =>
    (await bench.store.read.selectFrom("answer_feedback").select("value").execute()).map(({ value }) => value);

  const weak = () =>
    bench.store.read
      .selectFrom("weak_answers as weak")
      .innerJoin("messages as message", "message.id", "weak.message_id")
      .select(["message.content", "weak.refused", "weak.unsure", "weak.disliked", "weak.handed_over"])
      .orderBy("weak.asked_at")
      .orderBy("weak.message_id")
      .execute();

  const groups = () => bench.store.read.selectFrom("question_groups").selectAll().orderBy("id").execute();

  it("are those that were refused or answered with low confidence", async () => {
    await ask("a", "Do you ship to Norway?", refusal);
    await ask("b", "What is a lorem?", answerOf("Perhaps this.", { ...searched, confidence: "low" }));
    await ask("c", "When do you open?", good);
    await ask("d", "Thanks!", answerOf("You are welcome."));
    expect(await weak()).toEqual([
      { content: "Do you ship to Norway?", refused: 1, unsure: 0, disliked: 0, handed_over: 0 },
      { content: "What is a lorem?", refused: 0, unsure: 1, disliked: 0, handed_over: 0 },
    ]);
  });

  it("are compared without an earlier one that was answered by itself, though later", async () => {
    const id = await ask("a", "Is the Fjord available in green?", refusal);
    await ask("a", "Do you repair lamps of other brands?", refusal);
    const before = await bench.messages(id);
    const order = ["user", "assistant"].flatMap((of) => before.filter(({ role }) => role === of));
    await bench.store.write(async (tx) => {
      await tx
        .updateTable("messages")
        .set(({ eb }) => ({ seq: eb("seq", "+", 100) }))
        .where("conversation_id", "=", id)
        .execute();
      for (const [at, message] of order.entries()) {
        const answers = message.role === "assistant" ? { answers_seq: at - 1 } : {};
        await tx
          .updateTable("messages")
          .set({ seq: at + 1, ...answers })
          .where("id", "=", message.id)
          .execute();
      }
      await tx.deleteFrom("question_groups").execute();
      await tx.updateTable("weak_answers").set({ terms: null, group_id: null }).execute();
    });
    // It groups all that are not in a group.
    await ask("b", "Do you ship to Norway?", refusal);
    const compared = bench.store.read.selectFrom("weak_answers").select("terms").orderBy("terms");
    expect((await compared.execute()).map(({ terms }) => terms)).toEqual([
      "avail fjord green",
      "brand lamp repair",
      "norwai ship",
    ]);
  });

  it("are those whose answer got a thumb down, until it is taken back", async () => {
    const id = await ask("a", "When do you open?", good);
    const answer = await answerIn(id);
    await thumb("a", answer, "down");
    expect(await weak()).toMatchObject([{ content: "When do you open?", disliked: 1 }]);
    await thumb("a", answer, "up");
    expect(await opinions()).toEqual(["up"]);
    expect(await weak()).toEqual([]);
    await thumb("a", answer, "down");
    await thumb("a", answer, null);
    expect(await opinions()).toEqual([null]);
    expect(await weak()).toEqual([]);
  });

  it("take a thumb from the thread's own customer only, for answers of the bot only, and the last one", async () => {
    const id = await ask("a", "When do you open?", good);
    await ask("b", "Hello", answerOf("Hello!"));
    const answer = await answerIn(id);
    await thumb("b", answer, "down");
    await thumb("nowhere", answer, "down");
    await thumb("a", (await bench.messages(id))[0]?.id ?? "", "down");
    expect(await opinions()).toEqual([]);
    await thumb("a", answer, "up", bench.clock.now() + 5);
    await thumb("a", answer, "down", bench.clock.now());
    expect(await opinions()).toEqual(["up"]);
  });

  it("find the answer by the platform's id of one of its parts", async () => {
    const id = await ask("a", "When do you open?", good);
    const { external_id: part } = await bench.store.read
      .selectFrom("deliveries")
      .select("external_id")
      .where("conversation_id", "=", id)
      .executeTakeFirstOrThrow();
    const react = (key: string) =>
      bench.accept({
        kind: "feedback",
        externalId: `reaction of ${key}`,
        thread: "a",
        sender: { key },
        sentAt: bench.clock.now(),
        of: { partExternalId: part ?? "" },
        value: "down",
      });
    // Others in a group see the answer, but did not ask.
    expect(await react("someone else in the group")).toMatchObject({ messageId: null });
    await bench.say("b", "Hello");
    expect(await react("customer of b")).toMatchObject({ messageId: null });
    expect(await weak()).toEqual([]);
    await bench.say("a", "I want to know it too", { sender: { key: "another who asked" } });
    expect(await react("another who asked")).toMatchObject({ messageId: expect.any(String) });
    expect(await react("customer of a")).toMatchObject({ messageId: expect.any(String) });
    expect(await weak()).toMatchObject([{ disliked: 1 }]);
  });

  it("are those after which people took over within two turns of the customer", async () => {
    await ask("a", "When do you open?", good);
    await ask("a", "And on Sunday?", good);
    await ask("a", "talk to a human", good);
    expect(await weak()).toMatchObject([{ content: "And on Sunday?", handed_over: 1, refused: 0 }]);
    const later = await ask("b", "When do you open?", good);
    answering(answerOf("You are welcome."));
    for (const text of ["Thanks", "Great", "Bye"]) {
      await bench.say("b", text);
      await bench.settle();
    }
    await bench.engine.update(bench.workspaceId, later, { status: "escalated" }, anna);
    expect(await weak()).toHaveLength(1);
  });

  it("are grouped by what they ask, and a group that was done opens when it is asked and refused again", async () => {
    await ask("a", "Do you ship to Norway?", refusal);
    await ask("b", "shipping to Norway?", refusal);
    await ask("c", "Where is my invoice?", refusal);
    const [norway, invoice] = await groups();
    expect([norway?.state, invoice?.state]).toEqual(["open", "open"]);
    expect(await groups()).toHaveLength(2);
    await bench.store.write((tx) =>
      tx.updateTable("question_groups").set({ state: "done", state_at: bench.clock.now() }).execute(),
    );
    await bench.pass(1_000);
    await ask("d", "Do you ship to Norway", good);
    expect((await groups()).map(({ state }) => state)).toEqual(["done", "done"]);
    await ask("e", "can you ship it to Norway", refusal);
    expect((await groups()).map(({ state }) => state)).toEqual(["open", "done"]);
  });

  it("keep their group when its first question is deleted; a group without questions ends", async () => {
    const first = await ask("a", "Do you ship to Norway?", refusal);
    await ask("b", "shipping to Norway?", refusal);
    const before = await groups();
    await bench.engine.remove(bench.workspaceId, first, anna);
    const invoice = await ask("c", "Where is my invoice?", refusal);
    await ask("d", "Ship to Norway?", refusal);
    const after = await groups();
    expect(after.map(({ id }) => id)).toContain(before[0]?.id);
    expect(after).toHaveLength(2);
    await bench.engine.remove(bench.workspaceId, invoice, anna);
    await ask("e", "May I pay with a card?", refusal);
    expect(after.filter(({ leader_id: leader }) => leader !== before[0]?.leader_id)).toHaveLength(2);
    expect((await groups()).map(({ id }) => id)).not.toContain(after[1]?.id);
  });
});
