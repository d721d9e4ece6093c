import { afterEach, expect, it } from "vitest";
import { Problem } from "#domain/problem.ts";
import type { ConversationChange } from "#conversations/agents/requests.ts";
import { lockConversation } from "#database/queries/conversations.ts";
import { openStore } from "#database/open.ts";
import { pauseAfter } from "#answering/understand/unfinished.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { BenchOptions, EngineBench } from "#test/support/engine-bench.ts";
import { anna, answerOf, dayMs, heldAnswers, minuteMs, openBench } from "#test/support/engine-bench.ts";
import { createHandMovedClock } from "#test/support/hand-moved-clock.ts";
import { isWriteWaiting } from "#test/support/database/waiting-writes.ts";
import { runStatement } from "#test/support/database/run-statement.ts";

const handover = "A person will come.";
const searchAway = (): Problem =>
  new Problem("search_unavailable", "The search engine does not answer now.", { retryAfterS: 5 });

eachDatabase("answering", (open) => {
  const benches: EngineBench[] = [];
  // Closed in reverse, because a bench may use the database of an earlier one.
  afterEach(async () => {
    for (const bench of benches.splice(0).toReversed()) await bench.close();
  });

  async function newBench(options: BenchOptions = {}): Promise<EngineBench> {
    const bench = await openBench(open, { ...options, settings: { handoverMessage: handover, ...options.settings } });
    benches.push(bench);
    return bench;
  }

  const change = (bench: EngineBench, id: string, to: ConversationChange) =>
    bench.engine.update(bench.workspaceId, id, to, anna);
  const claim: ConversationChange = { status: "claimed", assignedTo: "anna@test.example" };
  const tagsOf = async (bench: EngineBench, id: string) =>
    (
      await bench.store.read.selectFrom("conversation_tags").select("tag").where("conversation_id", "=", id).execute()
    ).map(({ tag }) => tag);

  it("answers a burst of quick messages once, with all of them in the question", async () => {
    const bench = await newBench();
    const id = await bench.begin("burst", "Hello");
    await bench.settle();
    const answers = heldAnswers(bench);
    const texts = ["My bag", "the red one", "does not close"];
    await Promise.all(texts.map((text) => bench.say("burst", text)));
    (await answers.question(0)).release(answerOf("Pull the cord."));
    await bench.settle();
    expect(bench.asked.slice(1).map(({ text }) => text)).toEqual(["My bag\nthe red one\ndoes not close"]);
    expect((await bench.talk(id)).slice(2)).toEqual([
      ...texts.map((text) => `user: ${text}`),
      "assistant: Pull the cord.",
    ]);
    expect(bench.sent.slice(1).map(({ text }) => text)).toEqual(["Pull the cord."]);
  });

  it("waits for the rest of an unfinished message, and answers all of it once when the question is whole", async () => {
    const bench = await newBench({ pauseAfter });
    const texts = ["Hello", "I have a question", "about the widget", "how do I change", "its colour?"];
    const id = await bench.begin("parts", texts[0] ?? "");
    for (const text of texts.slice(1)) {
      await bench.advance(900);
      expect(bench.asked).toEqual([]);
      await bench.say("parts", text);
    }
    await bench.settle();
    expect(bench.asked.map(({ text }) => text)).toEqual([texts.join("\n")]);
    await bench.advance(dayMs);
    expect((await bench.talk(id)).filter((line) => line.startsWith("assistant"))).toHaveLength(1);
  });

  it("answers a whole question at once, and a greeting that nothing follows after the pause", async () => {
    const bench = await newBench({ pauseAfter });
    await bench.begin("whole", "How do I change the colour?");
    await bench.settle();
    expect(bench.asked.map(({ text }) => text)).toEqual(["How do I change the colour?"]);
    await bench.begin("greeting", "Hello");
    await bench.settle();
    expect(bench.asked).toHaveLength(1);
    await bench.advance(3_000);
    expect(bench.asked.map(({ text }) => text).at(-1)).toBe("Hello");
  });

  it("answers a choice of the customer at once", async () => {
    const bench = await newBench({ pauseAfter });
    await bench.say("choice", "how do I change", { chosen: true });
    await bench.settle();
    expect(bench.asked.map(({ text }) => text)).toEqual(["how do I change"]);
  });

  it("answers after five seconds while fragments keep coming, and then the rest", async () => {
    const bench = await newBench({ pauseAfter });
    await bench.begin("endless", "about the widget");
    for (let n = 1; n <= 4; n += 1) {
      await bench.advance(1_500);
      await bench.say("endless", `and ${n} times the`);
    }
    await bench.settle();
    const [first] = bench.asked.map(({ text }) => text.split("\n").length);
    expect(bench.asked).toHaveLength(1);
    expect(first).toBe(4);
    await bench.advance(10_000);
    expect(bench.asked.map(({ text }) => text).at(-1)).toBe("and 4 times the");
  });

  it("holds an unfinished message while the customer types, five seconds at most", async () => {
    const bench = await newBench({ pauseAfter });
    await bench.begin("typist", "how do I change");
    for (let n = 0; n < 3; n += 1) {
      await bench.advance(1_500);
      await bench.engine.customerTyping(bench.accountId, "typist");
    }
    expect(bench.asked).toEqual([]);
    await bench.advance(500);
    expect(bench.asked).toHaveLength(1);
  });

  it("counts low answers to one thought once", async () => {
    const bench = await newBench({ pauseAfter });
    bench.script.answer = async () => answerOf("I don't know.", { confidence: "low", answered: false });
    const id = await bench.begin("thought", "Where is the lid of it?");
    await bench.settle();
    await bench.advance(1_000);
    await bench.say("thought", "of the blue");
    await bench.advance(3_000);
    expect(bench.asked).toHaveLength(2);
    expect((await bench.row(id)).status).toBe("open");
    await bench.advance(minuteMs);
    await bench.say("thought", "Where can I buy one?");
    await bench.settle();
    expect((await bench.row(id)).status).toBe("escalated");
  });

  it("acknowledges a burst of events before it answers any, and then answers all", async () => {
    const bench = await newBench();
    let acknowledged = 0;
    let acknowledgedBefore: number | undefined;
    bench.script.answer = async ({ text }) => {
      acknowledgedBefore ??= acknowledged;
      return answerOf(`You asked: ${text}`);
    };
    // Each writes again as soon as it is acknowledged, in another conversation.
    const senders = Array.from({ length: 32 }, async (_, sender) => {
      for (let n = 0; n < 5; n += 1) {
        await bench.say(`rush ${sender}.${n}`, `question ${sender}.${n}`);
        acknowledged += 1;
      }
    });
    await Promise.all(senders);
    await bench.settle();
    // Without the burst, the first customers would be answered first.
    expect(acknowledgedBefore).toBeGreaterThan(100);
    expect(new Set(bench.sent.map(({ thread, text }) => `${thread}: ${text}`))).toEqual(
      new Set(
        senders.flatMap((_, sender) =>
          Array.from({ length: 5 }, (__, n) => `rush ${sender}.${n}: You asked: question ${sender}.${n}`),
        ),
      ),
    );
    expect(bench.sent).toHaveLength(160);
  });

  it("discards an answer when the customer writes meanwhile, and answers both messages once", async () => {
    const bench = await newBench();
    const answers = heldAnswers(bench);
    const id = await bench.begin("newer", "How do I open it?");
    const question = await answers.question(0);
    await bench.say("newer", "The red one, I mean");
    question.release(answerOf("Too early."));
    (await answers.question(1)).release(answerOf("In time."));
    await bench.settle();
    expect(bench.asked[1]?.text).toBe("How do I open it?\nThe red one, I mean");
    expect((await bench.talk(id)).filter((line) => line.startsWith("assistant"))).toEqual(["assistant: In time."]);
    expect((await bench.messages(id)).at(-1)?.answers_seq).toBe(2);
  });

  it("discards one answer only while a customer keeps writing, and then answers the rest", async () => {
    const bench = await newBench();
    // Another process receives the messages, and may answer.
    const beside = await newBench({ beside: bench, clock: bench.clock });
    const answers = heldAnswers(bench);
    beside.script.answer = (...question) => bench.script.answer(...question);
    const id = await bench.begin("talker", "message 1");
    for (let n = 0; n < 4; n += 1) {
      const question = await answers.question(n);
      await (n % 2 === 0 ? beside : bench).say("talker", `message ${n + 2}`);
      question.release(answerOf(`answer ${n + 1}`));
    }
    (await answers.question(4)).release(answerOf("answer 5"));
    await bench.settle();
    expect(answers.held.map(({ question }) => question.text)).toEqual([
      "message 1",
      "message 1\nmessage 2",
      "message 3",
      "message 3\nmessage 4",
      "message 5",
    ]);
    expect([...bench.sent, ...beside.sent].map(({ text }) => text).toSorted()).toEqual([
      "answer 2",
      "answer 4",
      "answer 5",
    ]);
    expect((await bench.messages(id)).map(({ answers_seq: seq }) => seq).filter((seq) => seq !== null)).toEqual([
      2, 5, 6,
    ]);
    // The next question includes the reply that was sent meanwhile.
    expect(answers.held[2]?.question.history.at(-1)).toEqual({ role: "assistant", content: "answer 2" });
  });

  it("keeps an answer that took two seconds, even if the customer has written meanwhile", async () => {
    const bench = await newBench();
    const answers = heldAnswers(bench);
    const id = await bench.begin("patient", "How do I open it?");
    const question = await answers.question(0);
    bench.clock.advance(2_000);
    await bench.say("patient", "And how do I close it?");
    question.release(answerOf("Pull the cord."));
    (await answers.question(1)).release(answerOf("Push it."));
    await bench.settle();
    expect(bench.asked.map(({ text }) => text)).toEqual(["How do I open it?", "And how do I close it?"]);
    expect((await bench.talk(id)).slice(2)).toEqual(["assistant: Pull the cord.", "assistant: Push it."]);
  });

  it("answers the first message when the customer deletes the second before its answer", async () => {
    const bench = await newBench();
    const answers = heldAnswers(bench);
    const id = await bench.begin("deleted", "How do I open it?");
    const question = await answers.question(0);
    await bench.say("deleted", "never mind", { id: "second" });
    await bench.accept({
      kind: "delete",
      externalId: "deletion",
      messageExternalId: "second",
      thread: "deleted",
      sender: { key: "customer of deleted" },
      sentAt: bench.clock.now(),
    });
    question.release(answerOf("Too early."));
    (await answers.question(1)).release(answerOf("Pull the cord."));
    await bench.settle();
    expect(await bench.talk(id)).toEqual(["user: How do I open it?", "user: ", "assistant: Pull the cord."]);
  });

  for (const [how, intervene] of [
    ["claims the conversation", (bench: EngineBench, id: string) => change(bench, id, claim)],
    ["resolves the conversation", (bench: EngineBench, id: string) => change(bench, id, { status: "resolved" })],
    ["snoozes the conversation", (bench: EngineBench, id: string) => change(bench, id, { status: "snoozed" })],
    [
      "answers it",
      (bench: EngineBench, id: string) =>
        bench.engine.reply({
          workspaceId: bench.workspaceId,
          conversationId: id,
          content: "I am on it",
          authorEmail: "anna@test.example",
          actor: anna,
        }),
    ],
    ["deletes the conversation", (bench: EngineBench, id: string) => bench.engine.remove(bench.workspaceId, id, anna)],
  ] as const) {
    it(`throws an answer away when an agent ${how} while it is made`, async () => {
      const bench = await newBench();
      const answers = heldAnswers(bench);
      const id = await bench.begin("claimed", "How do I open it?");
      const question = await answers.question(0);
      await intervene(bench, id);
      question.release(answerOf("Too late."));
      await bench.settle();
      expect((await bench.talk(id)).filter((line) => line.startsWith("assistant"))).toEqual([]);
      expect(bench.sent.filter(({ text }) => text === "Too late.")).toEqual([]);
    });
  }

  it("skips messages that arrived while an agent had the conversation, and answers the next one", async () => {
    const bench = await newBench();
    const id = await bench.begin("released", "One");
    await bench.settle();
    await change(bench, id, claim);
    await bench.say("released", "Two");
    await bench.settle();
    await change(bench, id, { status: "open" });
    await bench.settle();
    expect(bench.asked.map(({ text }) => text)).toEqual(["One"]);
    await bench.say("released", "Three");
    await bench.settle();
    expect(bench.asked.map(({ text }) => text)).toEqual(["One", "Three"]);
    expect(bench.asked[1]?.history.map(({ content }) => content)).toEqual(["One", "You asked: One", "Two"]);
  });

  for (const status of ["claimed", "escalated"] as const) {
    it(`stays silent while the conversation is ${status}`, async () => {
      const bench = await newBench();
      const id = await bench.begin("silent", "One");
      await bench.settle();
      await change(bench, id, status === "claimed" ? claim : { status });
      await bench.say("silent", "Two");
      await bench.settle();
      expect(bench.asked).toHaveLength(1);
      expect((await bench.talk(id)).at(-1)).toBe("user: Two");
    });
  }

  it("escalates when the customer asks for a person: one hand-over message, a tag, no answer", async () => {
    const bench = await newBench();
    const id = await bench.begin("person", "Can I talk to a human, please?");
    await bench.settle();
    await bench.say("person", "I want to TALK TO A HUMAN!");
    await bench.settle();
    expect(bench.asked).toEqual([]);
    expect((await bench.row(id)).status).toBe("escalated");
    expect(await tagsOf(bench, id)).toEqual(["escalated"]);
    expect((await bench.talk(id)).filter((line) => line.startsWith("assistant"))).toEqual([`assistant: ${handover}`]);
    expect(bench.sent.map(({ text }) => text)).toEqual([handover]);
  });

  it("escalates after two answers of low confidence in a row, and a good one resets the count", async () => {
    const bench = await newBench();
    const confidences = ["low", "high", "low", "medium", "low", "low"] as const;
    let turn = 0;
    bench.script.answer = async () => {
      const confidence = confidences[turn] ?? "high";
      turn += 1;
      return answerOf(`answer ${turn}`, { confidence, answered: confidence !== "low" });
    };
    const id = await bench.begin("low", "question 1");
    await bench.settle();
    for (let i = 2; i <= 6; i += 1) {
      expect((await bench.row(id)).status).toBe("open");
      await bench.say("low", `question ${i}`);
      await bench.settle();
    }
    expect((await bench.row(id)).status).toBe("escalated");
    expect((await bench.talk(id)).filter((line) => line.includes(handover))).toHaveLength(1);
    await change(bench, id, { status: "open" });
    turn = 0;
    await bench.say("low", "question 7");
    await bench.settle();
    expect((await bench.row(id)).status).toBe("open");
  });

  it("sends the hand-over message again on a second escalation", async () => {
    const bench = await newBench();
    const id = await bench.begin("again", "talk to a human");
    await bench.settle();
    await change(bench, id, { status: "open" });
    await bench.say("again", "talk to a human");
    await bench.settle();
    expect((await bench.talk(id)).filter((line) => line.includes(handover))).toHaveLength(2);
    expect(await tagsOf(bench, id)).toEqual(["escalated"]);
  });

  it("answers once when two processes see the same messages", async () => {
    const one = await newBench();
    const two = await newBench({ beside: one, clock: one.clock });
    const ids: string[] = [];
    for (let i = 0; i < 25; i += 1) {
      ids.push(await (i % 2 === 0 ? one : two).begin(`shared ${i}`, `Question ${i}`));
      // Both look for work at the same moment.
      one.clock.advance(1_000);
    }
    await one.settle();
    for (const [i, id] of ids.entries())
      expect(await one.talk(id)).toEqual([`user: Question ${i}`, `assistant: You asked: Question ${i}`]);
    expect([...one.sent, ...two.sent].map(({ thread }) => thread).toSorted()).toEqual(
      ids.map((_, i) => `shared ${i}`).toSorted(),
    );
  });

  it("takes over a stopped process's work, and discards its late answer", async () => {
    const stalled = await newBench();
    const other = await newBench({ beside: stalled, clock: createHandMovedClock(stalled.clock.now()) });
    const answers = heldAnswers(stalled);
    const id = await stalled.begin("stalled", "Are you there?");
    const question = await answers.question(0);
    // The first process is frozen: its clock stops, and it does not renew its lease.
    other.clock.advance(14_000);
    await new Promise((resolve) => setImmediate(resolve));
    expect(other.asked).toEqual([]);
    await other.until("the other process has answered", async () => {
      other.clock.advance(500);
      return (await other.messages(id)).length === 2;
    });
    expect(other.clock.now() - stalled.clock.now()).toBeGreaterThanOrEqual(15_000);
    question.release(answerOf("Late."));
    await other.settle();
    expect(await other.talk(id)).toEqual(["user: Are you there?", "assistant: You asked: Are you there?"]);
    expect(stalled.sent.filter(({ text }) => text === "Late.")).toEqual([]);
  });

  it("escalates with the reason after repeated failures of the answer", async () => {
    const bench = await newBench();
    bench.script.answer = () => Promise.reject(new Error("the model is on fire"));
    const id = await bench.begin("poison", "What now?");
    await bench.advance(30 * minuteMs);
    expect((await bench.row(id)).status).toBe("escalated");
    expect(await bench.talk(id)).toEqual(["user: What now?", `assistant: ${handover}`]);
    expect((await bench.notes(id)).join()).toContain("the model is on fire");
    const dead = await bench.store.read.selectFrom("outbox").selectAll().where("dead_at", "is not", null).execute();
    expect(dead).toHaveLength(1);
    expect(dead[0]).toMatchObject({ kind: "think", attempts: 5, last_error: "the model is on fire", lease_id: null });

    bench.script.answer = async ({ text }) => answerOf(`You asked: ${text}`);
    await change(bench, id, { status: "open" });
    await bench.say("poison", "And now?");
    await bench.settle();
    expect((await bench.talk(id)).at(-1)).toBe("assistant: You asked: And now?");
  });

  it("escalates when the account cannot be used, and notes that the customer got no message", async () => {
    const bench = await newBench();
    const of = bench.store.read.selectFrom("accounts").selectAll().where("id", "=", bench.accountId);
    const account = { ...(await of.executeTakeFirstOrThrow()), id: "acc_broken", name: "broken" };
    await bench.store.write((tx) =>
      tx
        .insertInto("accounts")
        .values({ ...account, credentials: "broken" })
        .execute(),
    );
    const { conversationId } = await bench.engine.ingest("acc_broken", {
      kind: "message",
      externalId: "1",
      thread: "broken",
      sender: { key: "ada" },
      sentAt: bench.clock.now(),
      text: "What now?",
    });
    const id = conversationId ?? "";
    await bench.advance(30 * minuteMs);
    expect((await bench.row(id)).status).toBe("escalated");
    expect(await bench.talk(id)).toEqual(["user: What now?"]);
    expect((await bench.notes(id)).join()).toContain("The bot could not answer, and the customer was not told: ");
  });

  it("retries a turn whose failure could not be stored because the database was down", async () => {
    const bench = await newBench();
    const answers = heldAnswers(bench);
    const id = await bench.begin("outage", "Are you there?");
    const question = await answers.question(0);
    await runStatement(bench.url, "alter table outbox rename to outbox_away");
    question.release(answerOf("This cannot be stored."));
    await bench.until("the failure is logged", () =>
      bench.logged.some((line) => line.includes("database unreachable")),
    );
    await runStatement(bench.url, "alter table outbox_away rename to outbox");
    bench.script.answer = async () => answerOf("Yes.");
    await bench.until("the answer is stored", async () => {
      bench.clock.advance(1_000);
      return (await bench.messages(id)).length === 2;
    });
    expect(await bench.talk(id)).toEqual(["user: Are you there?", "assistant: Yes."]);
  });

  it("answers each API query separately, also when they are concurrent", async () => {
    const bench = await newBench();
    const { signal } = new AbortController();
    const ask = (text: string, conversationId?: string) =>
      bench.engine.query(
        { workspaceId: bench.workspaceId, text, ...(conversationId === undefined ? {} : { conversationId }) },
        signal,
      );
    const { conversationId } = await ask("First?");
    const answers = await Promise.all(["Second?", "Third?", "Fourth?"].map((text) => ask(text, conversationId)));
    expect(answers.map(({ answer }) => answer)).toEqual([
      "You asked: Second?",
      "You asked: Third?",
      "You asked: Fourth?",
    ]);
    await bench.advance(dayMs);
    const talk = await bench.talk(conversationId);
    expect(talk).toHaveLength(8);
    expect(new Set(talk).size).toBe(8);
  });

  it("keeps typing while the search is down, and answers when it is back", async () => {
    const typed: string[] = [];
    const bench = await newBench({ script: { typing: async (thread) => void typed.push(thread) } });
    bench.script.answer = () => Promise.reject(searchAway());
    const id = await bench.begin("held", "Where is my parcel?");
    await bench.advance(100_000);
    const tries = bench.asked.length;
    expect(tries).toBeGreaterThan(15);
    expect(typed.length).toBeGreaterThan(tries / 2);
    expect((await bench.row(id)).status).toBe("open");
    bench.script.answer = async () => answerOf("At the post office.");
    await bench.advance(7_000);
    expect((await bench.talk(id)).slice(1)).toEqual(["assistant: At the post office."]);
    expect(await bench.notes(id)).toEqual([]);
  });

  it("escalates with the reason when the search is down for two minutes", async () => {
    const bench = await newBench();
    bench.script.answer = () => Promise.reject(searchAway());
    const id = await bench.begin("away", "Where is my parcel?");
    await bench.advance(2 * minuteMs - 1);
    expect((await bench.row(id)).status).toBe("open");
    await bench.advance(10_000);
    expect((await bench.row(id)).status).toBe("escalated");
    expect((await bench.talk(id)).slice(1)).toEqual([`assistant: ${handover}`]);
    expect(await bench.notes(id)).toEqual(["The bot could not answer: The search engine does not answer now."]);
    // A wish for a person needs no search.
    const other = await bench.begin("person", "Where is my parcel?");
    await bench.advance(8_000);
    await bench.say("person", "I want to talk to a human");
    await bench.advance(8_000);
    expect((await bench.row(other)).status).toBe("escalated");
  });

  it("does not answer an API query later after the client got an error", async () => {
    const bench = await newBench();
    bench.script.answer = () => Promise.reject(new Error("the model is on fire"));
    await expect(
      bench.engine.query({ workspaceId: bench.workspaceId, text: "What now?" }, new AbortController().signal),
    ).rejects.toThrow("on fire");
    bench.script.answer = async () => answerOf("Late.");
    await bench.advance(dayMs);
    const rows = await bench.store.read.selectFrom("messages").select("role").execute();
    expect(rows.map(({ role }) => role)).toEqual(["user"]);
  });

  it("returns the waiting message to an API client while an agent has the conversation, and stores the query", async () => {
    const bench = await newBench({ settings: { waitingMessage: "Wait for us." } });
    const { signal } = new AbortController();
    const { conversationId } = await bench.engine.query({ workspaceId: bench.workspaceId, text: "First?" }, signal);
    await change(bench, conversationId, claim);
    const second = await bench.engine.query(
      { workspaceId: bench.workspaceId, text: "Second?", conversationId },
      signal,
    );
    expect(second).toMatchObject({ answer: "Wait for us.", sources: [], skillsFired: [], messageId: null });
    expect((await bench.talk(conversationId)).at(-1)).toBe("user: Second?");
  });

  it("starts no new conversation when the named one is deleted during a query", async () => {
    const bench = await newBench();
    const { engine, store, workspaceId } = bench;
    const { signal } = new AbortController();
    const { conversationId } = await engine.query({ workspaceId, text: "First?" }, signal);
    const holder = store.dialect === "sqlite" ? store : await openStore(bench.url);
    const locked = Promise.withResolvers<undefined>();
    const go = Promise.withResolvers<undefined>();
    const holding = holder.write(async (tx) => {
      await lockConversation(tx, workspaceId, conversationId);
      locked.resolve(undefined);
      await go.promise;
    });
    await locked.promise;
    const removal = engine.remove(workspaceId, conversationId, anna);
    await bench.until("its removal waits", () => isWriteWaiting(store));
    const question = engine.query({ workspaceId, conversationId, text: "Second?" }, signal);
    const refusal = question.catch((error: unknown) => error);
    await bench.until("the question waits too", () =>
      store.dialect === "sqlite" ? store.load().writesWaiting > 1 : store.load().transactions > 1,
    );
    go.resolve(undefined);
    await Promise.all([holding, removal]);
    expect(await refusal).toMatchObject({ code: "conversation_not_found" });
    expect(await store.read.selectFrom("conversations").select("id").execute()).toEqual([]);
    if (holder !== store) await holder.close();
  });
});
