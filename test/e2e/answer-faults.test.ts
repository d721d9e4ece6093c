import { afterAll, beforeAll, expect, it } from "vitest";
import type { Actor } from "#domain/conversation/message.ts";
import type { AllChannels } from "../support/channels/all-channels.ts";
import { openAllChannels } from "../support/channels/all-channels.ts";
import { answerFaults, answerNext, answersLeft } from "../support/channels/answer-faults.ts";
import { eachDatabase } from "../support/database/databases.ts";
import { expectDocumentedAnswers } from "../support/channels/documented-faults.ts";
import type { Line } from "../support/channels/line-up.ts";
import { countedLineUp } from "../support/channels/line-up.ts";
import { numbersBehind } from "../support/tally.ts";
import { isFullTier } from "../support/tier.ts";

const authorEmail = "mia@shop.example";
const mia: Actor = { type: "agent", id: authorEmail, name: "Mia" };

/** Matches the call that sends a reply, by channel. */
const sends: Readonly<Record<string, (method: string, path: string) => boolean>> = {
  Telegram: (_method, path) => path.endsWith("/sendMessage"),
  Slack: (_method, path) => path.endsWith("/chat.postMessage"),
  Discord: (method, path) => method === "POST" && /\/channels\/\d+\/messages$/.test(path),
  SMS: (method, path) => method === "POST" && path.endsWith("/Messages.json"),
  WhatsApp: (method, path) => method === "POST" && path.endsWith("/Messages.json"),
  "WhatsApp at Meta": (method, path) => method === "POST" && /\/messages\?/.test(path),
  "Telephone, on the line": (method, path) => method === "POST" && /\/Calls\/CA[0-9a-f]+\.json$/.test(path),
  "Telephone, messages left": (method, path) => method === "POST" && path.endsWith("/Messages.json"),
  Intercom: (method, path) => method === "POST" && /\/conversations\/[^/]+\/reply$/.test(path),
};

eachDatabase("faulty answers of platforms", (open) => {
  let all: AllChannels;
  beforeAll(async () => {
    all = await openAllChannels(
      open,
      countedLineUp.filter(({ name }) => sends[name] !== undefined),
    );
  }, 120_000);
  afterAll(() => all.close());

  const portOf = ({ platform }: Line): number => Number(new URL(String(platform.config["base_url"])).port);

  /** Starts a conversation, which an agent claims. */
  async function begin(line: Line): Promise<string> {
    const text = `Hello from ${line.name}`;
    const message = { customer: "customer", id: `${line.channel}-first`, text };
    const taken = async (): Promise<boolean> => line.platform.deliver(message);
    expect(await all.waitFor(taken), line.name).toBe(true);
    const { id } = await all.app.store.read
      .selectFrom("messages")
      .innerJoin("conversations", "conversations.id", "messages.conversation_id")
      .select("conversations.id")
      .where("conversations.account_id", "=", all.accountId(line))
      .where("messages.content", "=", text)
      .executeTakeFirstOrThrow();
    expect(await all.waitFor(async () => (await line.platform.shown("customer")).length > 0), line.name).toBe(true);
    const body = { status: "claimed", assigned_to: authorEmail };
    expect((await all.app.call("PATCH", `/v1/conversations/${id}`, { key: all.key, body })).status).toBe(200);
    return id;
  }

  const doubts = async (conversationId: string): Promise<number> =>
    (
      await all.app.store.read
        .selectFrom("notes")
        .select("content")
        .where("conversation_id", "=", conversationId)
        .where("content", "like", "%message%")
        .execute()
    ).length;

  it("reach the customer, or an agent gets a note", { timeout: 240_000 }, async () => {
    const courses = await Promise.all(all.lines.map(async (line) => ({ line, id: await begin(line) })));
    await all.settle();
    const found = new Map<string, string>();
    // A slow answer runs into the adapter's real timeout, which the test's clock does not control. Once is enough.
    const isSqlite = expect.getState().currentTestName?.includes("on SQLite") === true;
    const faults = answerFaults.filter(
      ({ slow }, place) => (slow !== true || isSqlite) && (isFullTier || place % 3 === 0),
    );
    for (const [at, fault] of faults.entries()) {
      const before = new Map(
        await Promise.all(courses.map(async ({ line, id }) => [line.name, await doubts(id)] as const)),
      );
      for (const { line, id: conversationId } of courses) {
        const isMeant = sends[line.name];
        if (isMeant !== undefined) answerNext(portOf(line), isMeant, fault);
        const content = `This is reply ${at + 1}.`;
        await all.app.engine.reply({ workspaceId: all.workspaceId, conversationId, content, authorEmail, actor: mia });
      }
      await all.settle();
      for (const { line, id } of courses) {
        expect(answersLeft(portOf(line)), `${line.name} was not asked: ${fault.name}`).toBe(0);
        const shown = async (): Promise<number> => {
          const texts = (await line.platform.transmitted?.("customer")) ?? (await line.platform.shown("customer"));
          return numbersBehind("reply", texts).filter((number) => number === at + 1).length;
        };
        const isNoted = (await doubts(id)) > (before.get(line.name) ?? 0);
        if (!isNoted) await all.waitFor(async () => (await shown()) > 0, 3_000);
        const times = await shown();
        expect(times > 0 || isNoted, `${line.name}, ${fault.name}: lost, and nobody is told`).toBe(true);
        const words = ["not", "once", "twice"][times] ?? `${times} times`;
        found.set(`${line.name}\n${fault.name}`, isNoted ? `${words}, note` : words);
      }
    }
    expectDocumentedAnswers(
      faults.map(({ name }) => name),
      all.lines.map(({ name }) => name),
      found,
    );
  });
});
