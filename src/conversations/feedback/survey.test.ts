import { afterEach, beforeEach, expect, it } from "vitest";
import { eventTypes } from "#domain/event-types.ts";
import type { Score } from "#domain/conversation/message.ts";
import { addWebhook } from "#admin/webhooks/webhooks.ts";
import { compareDays } from "#conversations/reporting/compare.ts";
import { readReport } from "#conversations/reporting/report.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { EngineBench } from "#test/support/engine-bench.ts";
import { anna, answerOf, minuteMs, openBench } from "#test/support/engine-bench.ts";
import { surveyWaitMs } from "#conversations/work/survey-work.ts";

const question = "How was our support?";

eachDatabase("satisfaction surveys", (open) => {
  let bench: EngineBench;
  let numbered = 0;

  beforeEach(async () => {
    bench = await openBench(open, { settings: { satisfactionSurvey: true } });
    bench.script.answer = async () => answerOf("Every day.", { skillsFired: ["knowledge_search"] });
  });
  afterEach(() => bench.close());

  const change = (id: string, to: Parameters<EngineBench["engine"]["update"]>[2]) =>
    bench.engine.update(bench.workspaceId, id, to, anna);

  async function begin(text = "When do you open?"): Promise<string> {
    const id = await bench.begin("a", text);
    await bench.settle();
    return id;
  }

  async function resolve(id: string): Promise<void> {
    await change(id, { status: "resolved" });
    await bench.advance(surveyWaitMs);
  }

  const say = async (text: string): Promise<void> => {
    await bench.say("a", text);
    await bench.settle();
  };

  const surveysSent = () => bench.sent.filter(({ text }) => text.startsWith(question)).length;
  const ratings = () => bench.store.read.selectFrom("ratings").select(["score", "comment", "agent"]).execute();

  async function press(score: Score, of: { messageId: string } | { partExternalId: string }, comment?: string) {
    await bench.accept({
      kind: "rating",
      externalId: `press-${(numbered += 1)}`,
      thread: "a",
      sender: { key: "customer of a" },
      sentAt: bench.clock.now(),
      of,
      score,
      ...(comment === undefined ? {} : { comment }),
    });
    await bench.settle();
  }

  const surveyMessage = async (id: string): Promise<string> =>
    (await bench.messages(id)).find(({ kind }) => kind === "survey")?.id ?? "";

  it("are sent a minute after a resolve, and a number in reply rates without opening the conversation", async () => {
    const id = await begin();
    await change(id, { status: "resolved" });
    await bench.advance(surveyWaitMs - 1);
    expect(surveysSent()).toBe(0);
    await bench.advance(1);
    expect(surveysSent()).toBe(1);
    await say("4, quick reply");
    expect((await bench.row(id)).status).toBe("resolved");
    expect(await ratings()).toEqual([{ score: 4, comment: "quick reply", agent: "anna@test.example" }]);
    expect((await bench.messages(id)).map(({ role, kind }) => `${role} ${kind}`)).toEqual([
      "user null",
      "assistant answer",
      "assistant survey",
      "user rating",
      "assistant null",
    ]);
    expect(bench.sent.at(-1)?.text).toBe("Thank you for your rating!");
    // The bot is not asked about a rating.
    expect(bench.asked).toHaveLength(1);
  });

  it("ask in the customer's language, once per conversation", async () => {
    const id = await begin("Guten Tag, wann haben Sie denn geöffnet?");
    await resolve(id);
    expect(bench.sent.at(-1)?.text).toMatch(/^Wie zufrieden waren Sie/);
    await say("Vielen Dank, aber ich habe noch eine Frage zu meiner Bestellung");
    expect((await bench.row(id)).status).toBe("open");
    await resolve(id);
    expect((await bench.messages(id)).filter(({ kind }) => kind === "survey")).toHaveLength(1);
  });

  it("are not sent where there is nothing to rate", async () => {
    bench.script.answer = async () => answerOf("Hello!");
    const greeted = await begin("Hello");
    await resolve(greeted);
    bench.script.answer = async () =>
      answerOf("I do not know.", { skillsFired: ["knowledge_search"], answered: false, confidence: "low" });
    await say("What is a lorem?");
    await resolve(greeted);
    expect(surveysSent()).toBe(0);
    await say("Is nobody there?");
    await bench.engine.reply({
      workspaceId: bench.workspaceId,
      conversationId: greeted,
      content: "I am.",
      authorEmail: "anna@test.example",
      actor: anna,
    });
    await resolve(greeted);
    expect(surveysSent()).toBe(1);
  });

  it("are not sent after an undo, to somebody who writes within the minute, or who cannot be reached", async () => {
    const id = await begin();
    await change(id, { status: "resolved" });
    await change(id, { restore: { status: "open" } });
    await bench.advance(surveyWaitMs);
    await change(id, { status: "resolved" });
    await say("And on Sunday?");
    await bench.advance(surveyWaitMs);
    await bench.accept({
      kind: "reach",
      externalId: "blocked",
      thread: "a",
      sender: { key: "customer of a" },
      sentAt: bench.clock.now(),
      reachable: false,
      reason: "The customer has blocked the bot.",
    });
    await resolve(id);
    expect(surveysSent()).toBe(0);
  });

  it("are not sent unless the workspace wants them", async () => {
    await bench.close();
    bench = await openBench(open);
    bench.script.answer = async () => answerOf("Every day.", { skillsFired: ["knowledge_search"] });
    await resolve(await begin());
    expect(surveysSent()).toBe(0);
  });

  it("are sent once, although the work fails before or after it is stored", async () => {
    for (const point of ["survey.before", "survey.stored"]) {
      let fails = true;
      await bench.close();
      bench = await openBench(open, {
        settings: { satisfactionSurvey: true },
        checkpoint(passed) {
          if (passed !== point || !fails) return;
          fails = false;
          throw new Error("the process ends");
        },
      });
      bench.script.answer = async () => answerOf("Every day.", { skillsFired: ["knowledge_search"] });
      await change(await begin(), { status: "resolved" });
      // A failure after the commit loses the signal that wakes the sender, which looks for itself after some seconds.
      await bench.until("the survey is sent", () => {
        bench.clock.advance(1_000);
        return surveysSent() > 0;
      });
      await bench.advance(10 * minuteMs);
      expect(fails).toBe(false);
      expect(surveysSent()).toBe(1);
    }
  });

  it("take a number for a message where it is no reply to the survey", async () => {
    const id = await begin();
    await resolve(id);
    await say("5, but where is my parcel?");
    expect((await bench.row(id)).status).toBe("open");
    await change(id, { status: "resolved" });
    await say("3");
    expect((await bench.row(id)).status).toBe("open");
    expect(await ratings()).toEqual([]);
  });

  it("are answered by a button, with a comment later; the first score counts", async () => {
    const id = await begin();
    await resolve(id);
    const survey = await surveyMessage(id);
    const part = await bench.store.read
      .selectFrom("deliveries")
      .select("external_id")
      .where("message_id", "=", survey)
      .executeTakeFirstOrThrow();
    await press(5, { messageId: (await bench.messages(id))[0]?.id ?? "" });
    expect(await ratings()).toEqual([]);
    await press(2, { partExternalId: part.external_id ?? "" });
    await press(5, { messageId: survey });
    await press(2, { messageId: survey }, " Nobody called back. ");
    await press(2, { messageId: survey }, "Another comment");
    expect(await ratings()).toEqual([{ score: 2, comment: "Nobody called back.", agent: "anna@test.example" }]);
    expect((await bench.row(id)).status).toBe("resolved");
  });

  it("reach webhooks, and the reports as a recount has them", async () => {
    await addWebhook(
      { store: bench.store, clock: bench.clock, secrets: bench.app.services.secrets, allowPrivate: true },
      { workspaceId: bench.workspaceId, url: "http://127.0.0.1:9/hook", events: eventTypes },
    );
    const id = await begin();
    await change(id, { addTags: ["vip"] });
    await resolve(id);
    await say("4");
    await press(4, { messageId: await surveyMessage(id) }, "Kind people");
    const events = await bench.store.read
      .selectFrom("events")
      .select("payload")
      .where("type", "in", ["rating.created", "rating.updated"])
      .orderBy("position")
      .execute();
    const actor = { type: "customer" };
    expect(events.map(({ payload }) => JSON.parse(payload) as unknown)).toMatchObject([
      { type: "rating.created", data: { actor, rating: { score: 4, comment: null, agent: "anna@test.example" } } },
      { type: "rating.updated", data: { actor, rating: { score: 4, comment: "Kind people" } } },
    ]);
    const days = { from: 0, to: 30_000 };
    const { workspaceId, store } = bench;
    expect((await compareDays(store.read, workspaceId, days)).differences).toEqual([]);
    const metrics = ["surveys", "ratings", "rated_4", "messages_by_customers", "messages_by_bot"] as const;
    const { totals } = await readReport(store.read, { workspaceId, days, by: "channel", metrics });
    // The answer and the thanks are the bot's messages.
    expect(totals).toEqual({ surveys: 1, ratings: 1, rated_4: 1, messages_by_customers: 1, messages_by_bot: 2 });
    for (const by of ["agent", "tag"] as const) {
      const { rows } = await readReport(store.read, { workspaceId, days, by, metrics: ["surveys", "rated_4"] });
      expect(rows).toMatchObject([
        { key: by === "tag" ? "vip" : "anna@test.example", values: { surveys: 1, rated_4: 1 } },
      ]);
    }
    await bench.advance(minuteMs);
    await bench.engine.remove(workspaceId, id, anna);
    expect(await ratings()).toEqual([]);
    expect((await compareDays(store.read, workspaceId, days)).differences).toEqual([]);
  });
});
