import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { FakeMessage } from "#adapters/slack/test/support/fake-messages.ts";
import type { AllChannels } from "../support/channels/all-channels.ts";
import { openAllChannels } from "../support/channels/all-channels.ts";
import { eachDatabase } from "../support/database/databases.ts";
import type { Written } from "../support/desk/world.ts";
import { mia } from "../support/desk/world.ts";
import type { Line } from "../support/channels/line-up.ts";
import { lineUp } from "../support/channels/line-up.ts";
import { skipped } from "../support/skipped.ts";
import { markdownTable, tableIn } from "../support/markdown-table.ts";

const page = new URL("../../docs/channels.md", import.meta.url);

const customer = "ada";
const question = "How much does shipping cost?";
const answer = "costs 4 euros";
const source = /handbook/i;
const plea = "I want to talk to a human";
const handover = "A person will reply to you here.";
const reply = "Yours is on its way.";
const second = "How long is the warranty of a lamp?";
const secondAnswer = "three years";

/** The state of the day on one channel. */
interface Course {
  readonly line: Line;
  conversationId: string;
  card: FakeMessage | undefined;
  written: Written | undefined;
}

interface Step {
  readonly name: string;
  /** Throws what is wrong. */
  check(course: Course): Promise<void>;
}

eachDatabase("one day on all channels", (open) => {
  let all: AllChannels;
  beforeAll(async () => {
    all = await openAllChannels(open);
  }, 120_000);
  afterAll(() => all.close());

  const says = async ({ line }: Course, text: string): Promise<void> => {
    const message = { customer, id: `${line.channel}-${text.length}`, text };
    if (!(await line.platform.deliver(message))) throw new Error(`"${text}" was not acknowledged`);
  };
  /** How many times the customer sees this text. */
  const times = async ({ line }: Course, text: string): Promise<number> =>
    (await line.platform.shown(customer)).filter((each) => each.includes(text)).length;
  async function seesOnce(course: Course, text: string): Promise<void> {
    if (!(await all.waitFor(async () => (await times(course, text)) > 0))) {
      const seen = JSON.stringify(await course.line.platform.shown(customer));
      throw new Error(`the customer does not see "${text}" but ${seen}`);
    }
    await all.settle();
    const often = await times(course, text);
    if (often !== 1) throw new Error(`the customer sees "${text}" ${often} times`);
  }
  async function conversationWith({ line }: Course, text: string): Promise<string> {
    const row = await all.app.store.read
      .selectFrom("messages")
      .innerJoin("conversations", "conversations.id", "messages.conversation_id")
      .select("conversations.id")
      .where("conversations.workspace_id", "=", all.workspaceId)
      .where("conversations.account_id", "=", all.accountId(line))
      .where("messages.role", "=", "user")
      .where("messages.content", "=", text)
      .executeTakeFirst();
    if (row === undefined) throw new Error(`"${text}" is not stored`);
    return row.id;
  }
  async function storedSources({ conversationId }: Course): Promise<readonly string[]> {
    const rows = await all.app.store.read
      .selectFrom("messages")
      .select("sources")
      .where("conversation_id", "=", conversationId)
      .where("role", "=", "assistant")
      .execute();
    return rows.flatMap(({ sources }) => sources ?? []);
  }
  /** A new call belongs to the same customer with a link to the previous conversation, which stays resolved. */
  async function checkPreviousConversation({ line, conversationId }: Course, first: string): Promise<void> {
    const read = async (id: string) => (await all.app.get(`/v1/conversations/${id}`, { key: all.key })).body;
    const { previous_conversation_id: previous } = (await read(conversationId)) as unknown as {
      readonly previous_conversation_id: string | null;
    };
    if (previous !== first) throw new Error(`${line.name}: the previous conversation is ${previous}`);
    if ((await read(first)).status !== "resolved") throw new Error("the earlier conversation was reopened");
    const contacts = await all.app.store.read
      .selectFrom("conversations")
      .select("contact_id")
      .distinct()
      .where("id", "in", [conversationId, first])
      .execute();
    if (contacts.length !== 1) throw new Error("the calls belong to two customers");
  }
  async function becomes({ conversationId }: Course, status: string, assignedTo?: string): Promise<void> {
    const read = async () => (await all.app.get(`/v1/conversations/${conversationId}`, { key: all.key })).body;
    if (!(await all.waitFor(async () => (await read()).status === status))) {
      throw new Error(`the status is ${(await read()).status}, not ${status}`);
    }
    const { assigned_to: assignee } = (await read()) as unknown as { readonly assigned_to: string | null };
    if (assignedTo !== undefined && assignee !== assignedTo) throw new Error(`the assignee is ${assignee}`);
  }
  const cardOf = ({ card }: Course): FakeMessage => {
    if (card === undefined) throw new Error("there is no card");
    return card;
  };
  async function clicks(course: Course, action: string): Promise<void> {
    const { status } = await all.desk.clicks(mia, cardOf(course), action);
    if (status !== 200) throw new Error(`Slack was answered ${status}`);
  }
  async function threadSays(course: Course, text: string): Promise<void> {
    const isShown = () => all.desk.thread(cardOf(course)).some((each) => each.includes(text));
    if (!(await all.waitFor(isShown))) throw new Error(`the thread does not show "${text}"`);
  }

  const steps: readonly Step[] = [
    {
      name: "asked",
      async check(course) {
        await says(course, question);
        course.conversationId = await conversationWith(course, question);
      },
    },
    {
      name: "answered with source",
      async check(course) {
        await seesOnce(course, answer);
        const { platform, isCall } = course.line;
        const shown = await platform.shown(customer);
        const stored = isCall === true ? await storedSources(course) : [];
        const sources = [...shown, ...((await platform.sources?.(customer)) ?? []), ...stored];
        if (!sources.some((text) => source.test(text))) throw new Error(`no source: ${JSON.stringify(sources)}`);
      },
    },
    {
      name: "escalated",
      async check(course) {
        await says(course, plea);
        await becomes(course, "escalated");
        await seesOnce(course, handover);
      },
    },
    {
      name: "card in the desk",
      async check(course) {
        const found = () =>
          all.desk.cards().find(({ blocks }) => JSON.stringify(blocks).includes(course.conversationId));
        if (!(await all.waitFor(() => found() !== undefined))) throw new Error("there is no card");
        course.card = found();
        const text = JSON.stringify(course.card?.blocks);
        if (!text.includes(question)) throw new Error(`the card does not show the question: ${text}`);
        for (const said of [answer, plea]) await threadSays(course, said);
      },
    },
    {
      name: "claimed",
      async check(course) {
        await clicks(course, "parley_claim");
        await becomes(course, "claimed", "mia@shop.example");
      },
    },
    {
      name: "reply arrives",
      async check(course) {
        course.written = await all.desk.writes(mia, cardOf(course).ts, reply);
        await seesOnce(course, reply);
      },
    },
    {
      name: "tick in Slack",
      async check(course) {
        const { slack } = all.desk;
        const ticked = () =>
          slack.reactions.some(({ ts, name }) => ts === course.written?.ts && name === "white_check_mark");
        if (!(await all.waitFor(ticked))) throw new Error("the reply has no tick");
      },
    },
    {
      name: "resolved",
      async check(course) {
        await clicks(course, "parley_resolve");
        await becomes(course, "resolved");
      },
    },
    {
      name: "writes again",
      async check(course) {
        await says(course, second);
        const id = await conversationWith(course, second);
        const first = course.conversationId;
        course.conversationId = id;
        if (course.line.isCall === true) await checkPreviousConversation(course, first);
        else if (id !== first) throw new Error("the message is in another conversation");
        await seesOnce(course, secondAnswer);
      },
    },
    {
      name: "reopened",
      async check(course) {
        await becomes(course, "open");
        if (course.line.isCall !== true) await threadSays(course, "Reopened by");
        for (const text of [answer, handover, reply, secondAnswer]) await seesOnce(course, text);
      },
    },
  ];
  const head = ["where", ...steps.map(({ name }) => name)];

  it("succeeds on every channel, and the documentation has the same table", { timeout: 180_000 }, async () => {
    const courses = all.lines.map((line) => ({
      cells: [] as string[],
      course: { line, conversationId: "", card: undefined, written: undefined } as Course,
    }));
    const wrong: string[] = [];
    for (const { cells, course } of courses) {
      for (const { name, check } of steps) {
        if (cells.includes("✗")) {
          cells.push("");
          continue;
        }
        try {
          await check(course);
          cells.push(name === "reopened" && course.line.isCall === true ? "✓ by a new call" : "✓");
        } catch (error) {
          cells.push("✗");
          const reason = error instanceof Error ? error.message : String(error);
          wrong.push(`${course.line.name}, ${name}: ${reason.slice(0, 500)}`);
        }
      }
    }
    const rows = courses.map(({ cells, course }) => [course.line.name, ...cells]);
    const made = markdownTable(head, rows);
    process.stdout.write(`\n${made}\n\n`);
    expect(wrong, made).toEqual([]);

    const documented = tableIn(readFileSync(page, "utf8"), "where");
    const unlike = `docs/channels.md has another table than:\n${made}`;
    expect(documented?.head, unlike).toEqual(head);
    expect(
      documented?.rows.map(([name]) => name),
      unlike,
    ).toEqual(lineUp.map(({ name }) => name));
    for (const row of rows) expect(documented?.rows).toContainEqual(row);
  });

  for (const { name, target } of lineUp) if (target.missing !== undefined) skipped(name, target.missing);
});
