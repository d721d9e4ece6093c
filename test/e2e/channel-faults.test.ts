import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Actor, Channel } from "#domain/conversation/message.ts";
import type { AllChannels } from "../support/channels/all-channels.ts";
import { openAllChannels } from "../support/channels/all-channels.ts";
import type { Misbehaviour } from "../support/channels/conformance-target.ts";
import { eachDatabase } from "../support/database/databases.ts";
import { expectDocumented } from "../support/channels/documented-faults.ts";
import type { Line } from "../support/channels/line-up.ts";
import { countedLineUp } from "../support/channels/line-up.ts";
import type { Tally } from "../support/tally.ts";
import { numbersBehind, tally } from "../support/tally.ts";

/** The number of messages per direction, channel and fault. */
const count = 3;
const numbers = Array.from({ length: count }, (_, i) => i + 1);
const hourMs = 3_600_000;
const stormCalls = 4;
const patienceMs = 60_000;
const backoffMaxMs = 15 * 60_000;
const authorEmail = "mia@shop.example";
const mia: Actor = { type: "agent", id: authorEmail, name: "Mia" };

/** A conversation under one fault. An agent has claimed it, so that the bot does not answer. */
interface Course {
  readonly line: Line;
  readonly customer: string;
  readonly conversationId: string;
  /** Identifies the customer on this channel: a caller's next call is another conversation. */
  readonly accountId: string;
  readonly contactId: string;
}

interface Fault {
  readonly name: string;
  readonly sentence: string;
  /** Channels without this fault. */
  readonly not: ReadonlySet<Channel>;
  run(courses: readonly Course[]): Promise<void>;
}

/** Channels without deliveries: customers fetch stored messages. */
const fetched: ReadonlySet<Channel> = new Set<Channel>(["widget", "hosted", "api"]);
/** Channels in order: one connection, or one sender that waits for each answer. */
const ordered: ReadonlySet<Channel> = new Set<Channel>([...fetched, "discord"]);

eachDatabase("faults on all channels", (open) => {
  let all: AllChannels;
  beforeAll(async () => {
    all = await openAllChannels(open, countedLineUp);
  }, 120_000);
  afterAll(() => all?.close());

  const message = ({ line, customer }: Course, number: number) => ({
    customer,
    id: `${line.channel}-${customer}-${number}`,
    text: `message ${number} of ${customer}`,
  });

  async function untilTaken(attempt: () => Promise<boolean>): Promise<boolean> {
    for (const end = performance.now() + patienceMs; performance.now() < end;) {
      if (await attempt()) return true;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return false;
  }

  /** Delivers until the message is acknowledged, as a platform or a customer's browser does. */
  async function deliver(course: Course, number: number): Promise<void> {
    const taken = await all.whileAdvancing(untilTaken(() => course.line.platform.deliver(message(course, number))));
    if (!taken) throw new Error(`${course.line.name}: message ${number} was not acknowledged`);
  }

  const reply = ({ conversationId }: Course, number: number): Promise<unknown> =>
    all.app.engine.reply({
      workspaceId: all.workspaceId,
      conversationId,
      content: `This is reply ${number}.`,
      authorEmail,
      actor: mia,
    });

  async function begin(line: Line, customer: string): Promise<Course> {
    const { platform, name } = line;
    const first = { customer, id: `${line.channel}-${customer}-first`, text: `Hello, I am ${customer}` };
    const accountId = all.accountId(line);
    if (!(await all.whileAdvancing(untilTaken(() => platform.deliver(first)))))
      throw new Error(`${name}: the first message was not acknowledged`);
    const row = await all.app.store.read
      .selectFrom("messages")
      .innerJoin("conversations", "conversations.id", "messages.conversation_id")
      .select(["conversations.id", "conversations.contact_id"])
      .where("conversations.account_id", "=", accountId)
      .where("messages.content", "=", first.text)
      .executeTakeFirstOrThrow();
    if (!(await all.waitFor(async () => (await platform.shown(customer)).length > 0))) {
      throw new Error(`${name}: the bot does not answer`);
    }
    const { status, text } = await all.app.call("PATCH", `/v1/conversations/${row.id}`, {
      key: all.key,
      body: { status: "claimed", assigned_to: authorEmail },
    });
    if (status !== 200) throw new Error(text);
    return { line, customer, conversationId: row.id, accountId, contactId: row.contact_id };
  }

  /** The customer's messages and files as agents see them. */
  async function seenByAgents({ accountId, contactId }: Course) {
    const conversations = all.app.store.read
      .selectFrom("conversations")
      .select("id")
      .where("account_id", "=", accountId)
      .where("contact_id", "=", contactId)
      .orderBy("id");
    const bodies = await Promise.all(
      (await conversations.execute()).map(
        async ({ id }) => (await all.app.get(`/v1/conversations/${id}`, { key: all.key })).body,
      ),
    );
    return {
      written: bodies
        .flatMap(({ messages }) => messages)
        .filter(({ role }) => role === "user")
        .map(({ content }) => content),
      doubts: bodies
        .flatMap(({ internal_notes: notes }) => notes)
        .filter(({ content }) => content.includes("may not have arrived")),
    };
  }

  /** The customer's files that are not fetched yet. */
  async function pendingFiles({ accountId }: Course): Promise<readonly string[]> {
    const files = all.app.store.read
      .selectFrom("attachments")
      .select(["name", "reason"])
      .where("account_id", "=", accountId)
      .where("state", "!=", "stored");
    const read = async () => (await files.execute()).map(({ name, reason }) => `${name}: ${reason ?? "on its way"}`);
    await all.waitFor(async () => (await read()).length === 0, 10_000);
    return read();
  }

  const arrived = ({ line: { platform }, customer }: Course): Promise<readonly string[]> =>
    platform.transmitted?.(customer) ?? platform.shown(customer);

  const each = <T>(courses: readonly Course[], run: (course: Course) => Promise<T>): Promise<readonly T[]> =>
    Promise.all(courses.map(run));

  /** Every reply meets the fault. */
  async function misbehaves(courses: readonly Course[], how: Misbehaviour): Promise<void> {
    for (const number of numbers) {
      await each(courses, async (course) => {
        course.line.platform.misbehave(how);
        await reply(course, number);
      });
      await all.settle();
    }
    for (const number of numbers) await each(courses, (course) => deliver(course, number));
  }

  const faults: readonly Fault[] = [
    {
      name: "an hour away",
      sentence: "the platform, or the customer, is unreachable for an hour",
      not: new Set(),
      async run(courses) {
        await each(courses, ({ line, customer }) => line.platform.away(customer));
        for (const number of numbers) {
          await each(courses, async (course) => {
            await course.line.platform.write?.(message(course, number));
            await reply(course, number);
          });
        }
        await all.pass(hourMs, 60_000);
        await each(courses, ({ line, customer }) => line.platform.back(customer));
        // Moves past the longest wait between retries.
        await all.pass(backoffMaxMs, 5_000);
        for (const number of numbers) await each(courses, (course) => deliver(course, number));
      },
    },
    {
      name: "429 storm",
      sentence: `the platform refuses ${stormCalls} consecutive calls with a retry time`,
      not: fetched,
      async run(courses) {
        for (const { line } of courses) for (let i = 0; i < stormCalls; i += 1) line.platform.misbehave("limit");
        for (const number of numbers) {
          await each(courses, async (course) => {
            await reply(course, number);
            await deliver(course, number);
          });
        }
      },
    },
    {
      name: "taken, then hung up",
      sentence: "the platform accepts every reply and closes the connection before it answers",
      not: fetched,
      run: (courses) => misbehaves(courses, "hang_up_after_commit"),
    },
    {
      name: "hung up, not taken",
      sentence: "the platform closes the connection at every reply without accepting it",
      not: fetched,
      run: (courses) => misbehaves(courses, "hang_up"),
    },
    {
      name: "duplicates",
      sentence: "every message is delivered three times at once and again later, the program's own included",
      not: new Set(),
      async run(courses) {
        await each(courses, async (course) => {
          for (const number of numbers) {
            await Promise.all([1, 2, 3].map(() => deliver(course, number)));
            await reply(course, number);
          }
        });
        await all.settle();
        await each(courses, async (course) => {
          await Promise.all(numbers.map((number) => deliver(course, number)));
          const { target, platform } = course.line;
          if (target.cannot["own-echo"] === undefined) await platform.echo(course.customer);
        });
      },
    },
    {
      name: "reordering",
      sentence: "the second message is delivered before the first",
      not: ordered,
      async run(courses) {
        await each(courses, async (course) => {
          await course.line.platform.keepBack?.(message(course, 1));
          await reply(course, 1);
          await deliver(course, 2);
          await reply(course, 2);
          await deliver(course, 1);
          await deliver(course, 3);
          await reply(course, 3);
        });
      },
    },
  ];

  describe("lost, duplicated and disordered messages", () => {
    const found = new Map<string, { readonly inbound: Tally; readonly outbound: Tally }>();
    for (const [at, { name, sentence, not, run }] of faults.entries()) {
      it(`${name}: ${sentence}`, { timeout: 180_000 }, async () => {
        const lines = all.lines.filter(({ channel }) => !not.has(channel));
        const courses = await Promise.all(lines.map((line) => begin(line, `customer${at + 1}`)));
        await all.settle();
        await run(courses);
        await all.settle();
        const hasArrived = async (course: Course) =>
          new Set(numbersBehind("reply", await course.line.platform.shown(course.customer))).size === count;
        // The message may still be on the network when the program is idle.
        await each(courses, (course) => all.waitFor(() => hasArrived(course), 1_000));
        for (const course of courses) {
          const { written, doubts } = await seenByAgents(course);
          const outbound = tally(count, numbersBehind("reply", await arrived(course)));
          found.set(`${course.line.name}\n${name}`, {
            inbound: tally(count, numbersBehind("message", written)),
            outbound,
          });
          expect(await pendingFiles(course), `${course.line.name}: a file is missing`).toEqual([]);
          expect(doubts.length, `${course.line.name}: nobody is told of what is lost`).toBeGreaterThanOrEqual(
            outbound.lost,
          );
        }
      });
    }

    it("are as many as the documentation says", () => {
      expectDocumented(
        faults.map(({ name }) => name),
        all.lines,
        found,
      );
    });
  });
});
