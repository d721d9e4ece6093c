import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { heldAnswers, answerOf } from "#test/support/engine-bench.ts";
import type { SlackAccount } from "./support/account.ts";
import { openSlackAccount } from "./support/account.ts";
import { assistantKey } from "./support/fake-assistant.ts";

let account: SlackAccount;
beforeEach(async () => {
  account = await openSlackAccount();
});
afterEach(() => account.close());

/** The event, and its redelivery. */
async function openThread(): Promise<string> {
  const { slack } = account;
  const ts = slack.nextTs();
  slack.assistantThreads.set(assistantKey("D0ADA", ts), { title: undefined, status: "" });
  const thread = { user_id: "U0ADA", context: { channel_id: "C0HELP" }, channel_id: "D0ADA", thread_ts: ts };
  for (const type of ["assistant_thread_started", "assistant_thread_started", "assistant_thread_context_changed"]) {
    expect((await account.deliver({ type, assistant_thread: thread, event_ts: slack.nextTs() })).status).toBe(200);
  }
  return ts;
}
const threadAt = (ts: string) => account.slack.assistantThreads.get(assistantKey("D0ADA", ts));
const statusCalls = () => account.slack.calls("assistant.threads.setStatus").length;

describe("a thread of the assistant view", () => {
  it("is a conversation of its own, named after its first question", async () => {
    const [first, second] = [await openThread(), await openThread()];
    await account.say({ channel: "D0ADA", threadTs: first, text: "\nHow much is it?\nI need two." });
    await account.say({ channel: "D0ADA", threadTs: first, text: "And in blue?" });
    await account.say({ channel: "D0ADA", threadTs: second, text: `Where ${"is it ".repeat(30)}` });
    await account.bench.settle();
    expect(threadAt(first)?.title).toBe("How much is it?");
    expect(threadAt(second)?.title).toMatch(/^Where (?:is it )+.{0,6}…$/);
    expect(threadAt(second)?.title).toHaveLength(80);
    expect(account.slack.calls("assistant.threads.setTitle")).toHaveLength(2);
    const threads = (await account.conversations()).map(({ context_key: key }) => key);
    expect(threads).toEqual([`D0ADA:${first}`, `D0ADA:${second}`]);
    expect(account.slack.shown("D0ADA").map(({ threadTs }) => threadTs)).toContain(first);
  });

  it("shows that the bot is thinking until its answer is there", async () => {
    const ts = await openThread();
    const answers = heldAnswers(account.bench);
    await account.say({ channel: "D0ADA", threadTs: ts, text: "How much?" });
    const question = await answers.question(0);
    account.bench.clock.advance(1_000);
    await account.bench.until("the status is shown", () => threadAt(ts)?.status === "is thinking…");
    question.release(answerOf("Five euros."));
    await account.bench.settle();
    expect(account.texts("D0ADA")).toEqual(["Five euros."]);
    expect([threadAt(ts)?.status, statusCalls()]).toEqual(["", 1]);
  });

  it("is answered by an app without the scope as before, with one line in the log", async () => {
    account.slack.scopes.splice(account.slack.scopes.indexOf("assistant:write"), 1);
    for (let i = 0; i < 2; i += 1) {
      const ts = await openThread();
      expect((await account.say({ channel: "D0ADA", threadTs: ts, text: "How much?" })).status).toBe(200);
      await account.bench.settle();
      expect(threadAt(ts)?.title).toBeUndefined();
    }
    expect(account.texts("D0ADA")).toEqual(["You asked: How much?", "You asked: How much?"]);
    const lines = account.bench.logged.filter((line) => line.includes("assistant thread failed"));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain("missing_scope");
  });
});

it("direct messages and channels outside of the assistant view cause none of its calls", async () => {
  const { slack, bench } = account;
  const answers = heldAnswers(bench);
  const root = slack.nextTs();
  await account.deliver({ type: "assistant_thread_started", assistant_thread: null, event_ts: root });
  await account.deliver({ type: "assistant_thread_started", assistant_thread: { channel_id: "D/", thread_ts: root } });
  await account.say({ channel: "D0ADA", text: "One" });
  await account.say({ channel: "D0ADA", threadTs: root, text: "Two" });
  await account.say({ channel: "C0HELP", text: "", more: { text: `<@${slack.botUserId}> three` } });
  for (let i = 0; i < 3; i += 1) await answers.question(i);
  bench.clock.advance(1_000);
  for (const { release } of answers.held) release(answerOf("Yes."));
  await bench.settle();
  expect(slack.shown()).toHaveLength(3);
  expect([statusCalls(), slack.calls("assistant.threads.setTitle").length]).toEqual([0, 0]);
});
