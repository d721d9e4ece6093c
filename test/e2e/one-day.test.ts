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
import { dashboardUser } from "../support/http/administrators.ts";
import { skipped } from "../support/skipped.ts";
import { markdownTable, tableIn } from "../support/markdown-table.ts";

interface ShownMessage {
  readonly id: string;
  readonly refersTo: unknown;
  readonly reactions: readonly { readonly emoji: string; readonly role: string }[];
}

const page = new URL("../../docs/channels.md", import.meta.url);

const customer = "ada";
const question = "How much does shipping cost?";
const answer = "costs 4 euros";
const source = /handbook/i;
const plea = "I want to talk to a human";
const handover = "A person will reply to you here.";
const reply = "Yours is on its way.";
const chosen = "Is that the price for two lamps?";
const picked = "That is the price for one lamp.";
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
  /** It is about one message, and has its column in the second table. */
  readonly isOfOne?: true;
  /** Throws what is wrong. Resolves with how it is done, `–` where the channel has no such thing; by default, `✓`. */
  check(course: Course): Promise<string | void>;
}

interface StoredMessage {
  readonly id: string;
  readonly content: string;
  readonly refers_to?: { readonly message_id: string | null };
  readonly reactions?: readonly { readonly emoji: string; readonly role: string }[];
}

eachDatabase("one day on all channels", (open) => {
  let all: AllChannels;
  let cookie: string;
  beforeAll(async () => {
    all = await openAllChannels(open);
    ({ cookie } = await dashboardUser(all.app, "agent", { workspaceId: all.workspaceId, name: "lea" }));
  }, 120_000);
  afterAll(() => all.close());

  const says = async ({ line }: Course, text: string, more: { readonly answers?: string } = {}): Promise<void> => {
    const message = { customer, id: `${line.channel}-${text.length}`, text, ...more };
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

  async function stored(course: Course, text: string): Promise<StoredMessage> {
    const { body } = await all.app.get(`/v1/conversations/${course.conversationId}`, { key: all.key });
    const messages = body.messages as readonly StoredMessage[];
    const found = messages.findLast(({ content }) => content.includes(text));
    if (found === undefined) throw new Error(`the API does not show "${text}"`);
    return found;
  }
  /** A message in the inbox and in the API. */
  async function shownToAgents(course: Course, text: string): Promise<{ api: StoredMessage; inbox: ShownMessage }> {
    const api = await stored(course, text);
    const path = `/inbox/api/conversations/${course.conversationId}/messages`;
    const response = await fetch(`${all.app.url}${path}`, { headers: { cookie } });
    const { messages } = (await response.json()) as { readonly messages: readonly ShownMessage[] };
    const inbox = messages.find(({ id }) => id === api.id);
    if (inbox === undefined) throw new Error(`the inbox does not show "${text}"`);
    return { api, inbox };
  }
  async function refersTo(course: Course, text: string, earlier: string): Promise<void> {
    const { id } = await stored(course, earlier);
    const { api, inbox } = await shownToAgents(course, text);
    if (api.refers_to?.message_id !== id) throw new Error(`the API says ${JSON.stringify(api.refers_to)}`);
    const shown = JSON.stringify(inbox.refersTo);
    if (!shown.includes(earlier)) throw new Error(`the inbox shows ${shown} above the message`);
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
        const kept = isCall === true ? await storedSources(course) : [];
        const sources = [...shown, ...((await platform.sources?.(customer)) ?? []), ...kept];
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
      name: "customer answers one message",
      isOfOne: true,
      async check(course) {
        if (course.line.platform.answersOne !== true) return "–";
        await says(course, chosen, { answers: answer });
        await refersTo(course, chosen, answer);
        await threadSays(course, chosen);
        const post = all.desk.thread(cardOf(course)).find((each) => each.includes(chosen)) ?? "";
        if (!post.includes(answer)) throw new Error(`the thread shows "${post}"`);
        return "✓";
      },
    },
    {
      name: "agent answers one message",
      isOfOne: true,
      async check(course) {
        const { platform, isCall } = course.line;
        const { id } = await stored(course, question);
        const { status, text } = await all.app.post(
          `/v1/conversations/${course.conversationId}/messages`,
          { content: picked, author_email: "mia@shop.example", refers_to: id },
          { key: all.key },
        );
        if (status !== 201) throw new Error(`the API answers ${text}`);
        await seesOnce(course, picked);
        await refersTo(course, picked, question);
        if (isCall === true) return "–";
        if (platform.answered === undefined) {
          const shown = (await platform.shown(customer)).find((each) => each.includes(picked));
          if (shown?.includes(question) !== true) throw new Error(`the customer sees no quote in "${shown}"`);
          return "✓ by a quote";
        }
        const answered = await platform.answered(customer, picked);
        if (answered !== question) throw new Error(`the platform shows it below "${answered}"`);
        return "✓";
      },
    },
    {
      name: "customer reacts",
      isOfOne: true,
      async check(course) {
        const { platform } = course.line;
        if (platform.react === undefined) return "–";
        await platform.react(customer, reply, "❤️");
        const has = async () => (await stored(course, reply)).reactions?.some(({ emoji }) => emoji === "❤️") === true;
        if (!(await all.waitFor(has))) throw new Error("the API does not show the reaction");
        const { inbox } = await shownToAgents(course, reply);
        if (!inbox.reactions.some(({ emoji, role }) => emoji === "❤️" && role === "user"))
          throw new Error(`the inbox shows ${JSON.stringify(inbox.reactions)}`);
        await threadSays(course, `reacted with ❤️ to “${reply}”`);
        return "✓";
      },
    },
    {
      name: "agent reacts",
      isOfOne: true,
      async check(course) {
        const { platform } = course.line;
        const { id } = await stored(course, question);
        const { status } = await all.app.call(
          "PUT",
          `/v1/conversations/${course.conversationId}/messages/${id}/reaction`,
          {
            key: all.key,
            body: { emoji: "🎉", author_email: "mia@shop.example" },
          },
        );
        if (platform.reactions === undefined) {
          if (status < 400) throw new Error(`the API answers ${status}`);
          return "–";
        }
        const sees = () => platform.reactions?.(customer).includes("🎉") === true;
        if (!(await all.waitFor(sees))) throw new Error(`the customer sees ${platform.reactions(customer).join()}`);
        const { api, inbox } = await shownToAgents(course, question);
        for (const { reactions = [] } of [api, inbox])
          if (!reactions.some(({ emoji, role }) => emoji === "🎉" && role === "agent"))
            throw new Error(`agents see ${JSON.stringify(reactions)}`);
        return "✓";
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
        return course.line.isCall === true ? "✓ by a new call" : "✓";
      },
    },
  ];
  const tables = [
    { first: "where", columns: steps.filter(({ isOfOne }) => isOfOne !== true) },
    { first: "to one message", columns: steps.filter(({ isOfOne }) => isOfOne === true) },
  ] as const;

  it("succeeds on every channel, and the documentation has the same tables", { timeout: 180_000 }, async () => {
    const courses = all.lines.map((line) => ({
      cells: new Map<string, string>(),
      course: { line, conversationId: "", card: undefined, written: undefined } as Course,
    }));
    const wrong: string[] = [];
    for (const { cells, course } of courses) {
      for (const { name, check } of steps) {
        try {
          cells.set(name, (await check(course)) ?? "✓");
        } catch (error) {
          cells.set(name, "✗");
          const reason = error instanceof Error ? error.message : String(error);
          wrong.push(`${course.line.name}, ${name}: ${reason.slice(0, 500)}`);
          break;
        }
      }
    }
    const documentation = readFileSync(page, "utf8");
    const made = tables.map(({ first, columns }) => {
      const head = [first, ...columns.map(({ name }) => name)];
      const rows = courses.map(({ cells, course }) => [
        course.line.name,
        ...columns.map(({ name }) => cells.get(name) ?? ""),
      ]);
      return { first, head, rows, text: markdownTable(head, rows) };
    });
    process.stdout.write(`\n${made.map(({ text }) => text).join("\n\n")}\n\n`);
    expect(wrong, made.map(({ text }) => text).join("\n\n")).toEqual([]);

    for (const { first, head, rows, text } of made) {
      const documented = tableIn(documentation, first);
      const unlike = `docs/channels.md has another table than:\n${text}`;
      expect(documented?.head, unlike).toEqual(head);
      expect(
        documented?.rows.map(([name]) => name),
        unlike,
      ).toEqual(lineUp.map(({ name }) => name));
      for (const row of rows) expect(documented?.rows).toContainEqual(row);
    }
  });

  for (const { name, target } of lineUp) if (target.missing !== undefined) skipped(name, target.missing);
});
