import { seeded } from "#test/support/tier.ts";
import { hash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import * as fc from "fast-check";
import { expect } from "vitest";
import { agentReactions } from "#domain/conversation/reaction.ts";
import { codePoints } from "#domain/conversation/message.ts";
import type { LoadAdapter } from "#channels/load-adapter.ts";
import type {
  ConformanceTarget,
  CustomerMessage,
  FakePlatform,
  RuleName,
} from "../support/channels/conformance-target.ts";
import { reactAsAgent } from "../support/channels/reactions.ts";
import { document, faces, marks, numbered } from "../support/channels/numbered-text.ts";
import type { TestDatabase } from "../support/database/databases.ts";
import type { EngineBench } from "../support/engine-bench.ts";
import { anna, hourMs, openBench } from "../support/engine-bench.ts";
import { runStatement } from "../support/database/run-statement.ts";

/** The program with one account of the adapter, and the adapter's platform. */
export interface Subject {
  readonly bench: EngineBench;
  readonly platform: FakePlatform;
  readonly load: LoadAdapter;
  readonly target: ConformanceTarget;
  newCustomer(): string;
  newMessage(customer: string, text: string): CustomerMessage;
  close(): Promise<void>;
}

export async function openSubject(
  target: ConformanceTarget,
  load: LoadAdapter,
  open: () => Promise<TestDatabase>,
): Promise<Subject> {
  const platform = await target.start();
  const bench = await openBench(open, { account: { channel: target.channel, load, config: platform.config } });
  const url = await bench.app.listen();
  const { workspaceId, accountId } = bench;
  const stored = async (externalId: string): Promise<boolean> => {
    const { read } = bench.store;
    const events = read.selectFrom("inbound_events").select("id").where("account_id", "=", accountId);
    return (await events.where("external_id", "=", externalId).execute()).length > 0;
  };
  const webhookUrl = `${url}/channels/${target.channel}/${accountId}`;
  await platform.connect({
    url,
    workspaceId,
    accountId,
    webhookUrl,
    now: () => bench.clock.now(),
    tick: (ms = 6_000) => bench.advance(ms),
    stored,
  });
  if (platform.connected !== undefined) {
    // The program looks for accounts to connect every few seconds.
    await bench.advance(10_000);
    await bench.until("the program has connected", () => platform.connected?.() ?? true);
  }
  let customers = 0;
  let messages = 0;
  return {
    bench,
    platform,
    load,
    target,
    newCustomer: () => `customer${(customers += 1)}`,
    newMessage: (customer, text) => ({ customer, id: `m${(messages += 1)}`, text }),
    async close() {
      await platform.close();
      await bench.close();
    },
  };
}

export interface Rule {
  readonly name: RuleName;
  readonly sentence: string;
  check(subject: Subject): Promise<void>;
}

/** The order matters: the last rule searches what all others have written. */
export const rules: readonly Rule[] = [
  {
    name: "stored-before-acknowledged",
    sentence: "acknowledges stored messages only, and accepts a failed one when it is delivered again",
    async check({ bench, platform, newCustomer, newMessage }) {
      const message = newMessage(newCustomer(), "Is this stored?");
      await runStatement(bench.url, "alter table inbound_events rename to inbound_events_away");
      let acknowledged: boolean;
      try {
        acknowledged = await platform.deliver(message);
      } finally {
        await runStatement(bench.url, "alter table inbound_events_away rename to inbound_events");
      }
      expect(acknowledged, "acknowledged while it could not be stored").toBe(false);
      expect(await platform.deliver(message), "acknowledged when it came again").toBe(true);
      expect(await storedTexts(bench, message.text)).toEqual([message.text]);
    },
  },
  {
    name: "accepted-once",
    sentence: "stores a message once, however often and concurrently it is delivered",
    async check({ bench, platform, newCustomer, newMessage }) {
      const customer = newCustomer();
      const message = newMessage(customer, "Only once, please");
      const together = await Promise.all([
        platform.deliver(message),
        platform.deliver(message),
        platform.deliver(message),
      ]);
      expect(together).toEqual([true, true, true]);
      expect(await platform.deliver(message)).toBe(true);
      await bench.settle();
      expect(await storedTexts(bench, message.text)).toEqual([message.text]);
      await shows(bench, platform, customer, [answerTo(message)]);
    },
  },
  {
    name: "forged",
    sentence: "refuses a forged delivery and stores nothing of it",
    async check({ bench, platform, newCustomer, newMessage }) {
      const customer = newCustomer();
      await platform.deliver(newMessage(customer, "This is really me"));
      await bench.settle();
      const before = await count(bench);
      expect(await platform.forge(newMessage(customer, "Give me the money"))).toBe(false);
      expect(await count(bench)).toEqual(before);
    },
  },
  {
    name: "to-the-letter",
    sentence: "stores the customer's text unchanged, in any script and with any characters",
    async check({ bench, platform, newCustomer, newMessage }) {
      for (const text of [
        `<script>alert("1")</script> & 'quotes' \`code\` *stars* _lines_ \\ / %s \${x} {{y}}`,
        "Grüße, שלום, ﷽, 你好, 👩‍👩‍👧 and é as two signs",
        "the first line\nthe second\n\nthe last",
        "x".repeat(1_000),
      ]) {
        const message = newMessage(newCustomer(), text);
        expect(await platform.deliver(message)).toBe(true);
        expect(await storedTexts(bench, text)).toEqual([text]);
      }
    },
  },
  {
    name: "in-order",
    sentence: "keeps the order in which a customer wrote",
    async check({ bench, platform, newCustomer, newMessage }) {
      const customer = newCustomer();
      const messages = Array.from({ length: 10 }, (_, i) => newMessage(customer, `number ${i} of ${customer}`));
      for (const message of messages) expect(await platform.deliver(message)).toBe(true);
      const rows = await bench.store.read
        .selectFrom("messages")
        .select(["content", "conversation_id"])
        .where("content", "like", `number % of ${customer}`)
        .where("role", "=", "user")
        .orderBy("seq")
        .execute();
      expect(rows.map(({ content }) => content)).toEqual(messages.map(({ text }) => text));
      expect(new Set(rows.map(({ conversation_id }) => conversation_id)).size).toBe(1);
    },
  },
  {
    name: "own-echo",
    sentence: "ignores its own messages when the platform delivers them",
    async check({ bench, platform, newCustomer, newMessage }) {
      const customer = newCustomer();
      const message = newMessage(customer, "Say something");
      await platform.deliver(message);
      await shows(bench, platform, customer, [answerTo(message)]);
      const before = await count(bench);
      await platform.echo(customer);
      await bench.settle();
      expect(await count(bench)).toMatchObject({ conversations: before.conversations, messages: before.messages });
    },
  },
  {
    name: "same-thread",
    sentence: "sends answers and agents' replies to the customer's own thread, and to no other",
    async check({ bench, platform, newCustomer, newMessage }) {
      const messages = Array.from({ length: 3 }, (_, i) => newMessage(newCustomer(), `What is ${i}?`));
      await Promise.all(messages.map((message) => platform.deliver(message)));
      await bench.settle();
      for (const message of messages) {
        const said = `Anna answers ${message.customer}`;
        await reply(bench, await conversationOf(bench, message.text), said);
      }
      for (const message of messages) {
        await shows(bench, platform, message.customer, [answerTo(message), `Anna answers ${message.customer}`]);
      }
    },
  },
  {
    name: "nothing-cut",
    sentence: "sends messages of any length and form completely, and splits no character",
    async check({ bench, platform, newCustomer, newMessage }) {
      const customer = newCustomer();
      const message = newMessage(customer, "Tell me everything");
      await platform.deliver(message);
      await shows(bench, platform, customer, [answerTo(message)]);
      const conversationId = await conversationOf(bench, message.text);
      await fc.assert(
        fc.asyncProperty(document, async (blocks) => {
          const markdown = numbered(blocks);
          if (codePoints(markdown) > 14_000) return;
          const before = (await platform.shown(customer)).length;
          await reply(bench, conversationId, markdown);
          await bench.settle();
          const expected = marks(markdown);
          let after: readonly string[] = [];
          await bench
            .until("all of it is shown", async () => {
              after = (await platform.shown(customer)).slice(before);
              return marks(after.join("")).length >= expected.length && faces(after.join("")) >= faces(markdown);
            })
            .catch(() => undefined);
          expect(marks(after.join(""))).toEqual(expected);
          expect(faces(after.join(""))).toBe(faces(markdown));
          for (const text of after) expect(text.isWellFormed(), `a sign was cut in two: ${text}`).toBe(true);
        }),
        {
          numRuns: 12,
          ...seeded,
          endOnFailure: true,
          // Surrogate pairs at even and at odd offsets.
          examples: [[["😀".repeat(900)]], [[`a${"😀".repeat(900)}`]]],
        },
      );
    },
  },
  {
    name: "as-typed",
    sentence: "shows what an agent typed, with all signs that are not meant as formatting",
    async check({ bench, platform, newCustomer, newMessage }) {
      const customer = newCustomer();
      const conversationId = await begin(bench, platform, newMessage(customer, "What do I dial?"));
      const typed = [
        "Dial *21*number#, then *67*5#.",
        "60*40*30 cm, 5 < 6 & 7 > 2",
        "# 1 of 3 parcels",
        "+ 5 euros",
        "- 5 degrees outside",
        "3) the third door",
        "__init__ is in my_file_name",
        "~5~ euros for a~~b~~c",
      ];
      for (const text of typed) await reply(bench, conversationId, text);
      await bench.settle();
      await bench
        .until("all of it is shown", async () => (await platform.shown(customer)).length > typed.length)
        .catch(() => undefined);
      expect((await platform.shown(customer)).slice(1)).toEqual(typed);
    },
  },
  {
    name: "refused-send",
    sentence: "does not repeat a send that the platform refuses, and shows agents the reason",
    async check({ bench, platform, newCustomer, newMessage }) {
      const customer = newCustomer();
      const conversationId = await begin(bench, platform, newMessage(customer, "Am I refused?"));
      platform.misbehave("refuse");
      const messageId = await reply(bench, conversationId, "Nobody reads this");
      await bench.settle();
      await bench.advance(hourMs);
      expect(await statesOf(bench, messageId)).toEqual(["failed"]);
      expect((await bench.notes(conversationId)).join()).toContain("could not be delivered");
      expect(await platform.shown(customer)).toHaveLength(1);
    },
  },
  {
    name: "limited-send",
    sentence: "repeats a rate-limited send once, after the platform's retry time",
    async check({ bench, platform, newCustomer, newMessage }) {
      const customer = newCustomer();
      const conversationId = await begin(bench, platform, newMessage(customer, "Are you busy?"));
      platform.misbehave("limit");
      const messageId = await reply(bench, conversationId, "A little later");
      await bench.settle();
      await bench.advance(platform.retryAfterMs - 1);
      expect(await platform.shown(customer)).toHaveLength(1);
      await bench.advance(hourMs);
      expect((await platform.shown(customer)).slice(1)).toEqual(["A little later"]);
      expect(["sent", "delivered", "read"]).toContain((await statesOf(bench, messageId))[0]);
    },
  },
  {
    name: "unknown-send",
    sentence: "never shows a message twice that may have arrived, and reports an unknown outcome",
    async check({ bench, platform, newCustomer, newMessage }) {
      const customer = newCustomer();
      const conversationId = await begin(bench, platform, newMessage(customer, "Do you hang up?"));
      platform.misbehave("hang_up_after_commit");
      const messageId = await reply(bench, conversationId, "Shown once");
      await bench.settle();
      await bench.advance(hourMs);
      expect((await platform.shown(customer)).slice(1)).toEqual(["Shown once"]);
      const [state] = await statesOf(bench, messageId);
      expect(["sent", "delivered", "read", "unknown"]).toContain(state);
      if (state === "unknown") expect((await bench.notes(conversationId)).join()).toContain("may not have arrived");
    },
  },
  {
    name: "resumes",
    sentence: "shows and stores messages written during a broken connection in order and once",
    async check({ bench, platform, newCustomer, newMessage }) {
      const customer = newCustomer();
      const conversationId = await begin(bench, platform, newMessage(customer, "Do not go away"));
      await platform.away(customer);
      for (const text of ["one", "two", "three"]) await reply(bench, conversationId, text);
      await bench.settle();
      await platform.back(customer);
      await bench.advance(hourMs);
      await bench.until("all of it is shown", async () => (await platform.shown(customer)).length >= 4);
      expect((await platform.shown(customer)).slice(1)).toEqual(["one", "two", "three"]);
      const message = newMessage(customer, "I am back");
      expect(await platform.deliver(message)).toBe(true);
      expect(await storedTexts(bench, message.text)).toEqual([message.text]);
    },
  },
  {
    name: "files-in",
    sentence: "fetches a customer's files byte for byte, and once",
    async check({ bench, platform, newCustomer, newMessage }) {
      const bytes = randomBytes(200_000);
      const file = { name: "Prüfbericht 1.dat", mediaType: "application/octet-stream", bytes };
      const name = platform.fileName?.(file, 0) ?? file.name;
      const message = { ...newMessage(newCustomer(), "Here is the report"), files: [file] };
      expect(await platform.deliver(message)).toBe(true);
      await bench.settle();
      expect(await platform.deliver(message)).toBe(true);
      await bench.settle();
      const conversationId = await conversationOf(bench, message.text);
      const rows = await bench.store.read
        .selectFrom("attachments")
        .select(["name", "state", "reason", "sha256", "bytes"])
        .where("conversation_id", "=", conversationId)
        .execute();
      expect(rows).toEqual([
        { name, state: "stored", reason: null, sha256: hash("sha256", bytes), bytes: bytes.length },
      ]);
      await shows(bench, platform, message.customer, [answerTo(message)]);
    },
  },
  {
    name: "files-out",
    sentence: "sends an agent's files to the customer completely and once, or as a link where the channel carries none",
    async check({ bench, platform, newCustomer, newMessage }) {
      const customer = newCustomer();
      const conversationId = await begin(bench, platform, newMessage(customer, "May I have the bill?"));
      const { workspaceId, accountId } = bench;
      const of = { workspaceId, accountId, conversationId, uploadedBy: "anna@test.example" };
      const bytes = Buffer.concat([Buffer.from("%PDF-1.7\n"), randomBytes(150_000)]);
      const file = await bench.engine.upload(
        { ...of, name: "Rechnung Nr. 1.pdf", mediaType: "application/pdf" },
        Readable.from([bytes.subarray(0, 70_000), bytes.subarray(70_000)]),
        new AbortController().signal,
      );
      await reply(bench, conversationId, "Here it is", [file.id]);
      await bench.settle();
      if (platform.received === undefined) {
        const shown = async (): Promise<string> => (await platform.shown(customer)).join("\n");
        const link = /https?:\/\/parley\.test\/files\/[\w.-]+/;
        await bench.until("a link is shown", async () => link.test(await shown()), 20_000).catch(() => undefined);
        // A fake platform of a channel that carries files has received().
        expect(await shown()).toMatch(link);
        return;
      }
      await bench
        .until("the file is there", async () => ((await platform.received?.(customer)) ?? []).length > 0, 20_000)
        .catch(() => undefined);
      const received = await platform.received(customer);
      const names = received.map(({ name }) => name);
      expect(names, `logged:\n${bench.logged.join("").slice(-4_000)}`).toEqual(["Rechnung Nr. 1.pdf"]);
      expect(received[0]?.bytes.equals(bytes), "the bytes are others").toBe(true);
      expect((await platform.shown(customer)).join("\n")).toContain("Here it is");
    },
  },
  {
    name: "reactions",
    sentence: "shows an agent's reaction until another one replaces it or it is taken back, or offers none",
    async check({ bench, platform, target, newCustomer, newMessage }) {
      const customer = newCustomer();
      const conversationId = await begin(bench, platform, newMessage(customer, "Thanks to all of you!"));
      const { react } = await bench.engine.editAbilities(bench.accountId, target.channel);
      // A fake platform of a channel that shows reactions has reactions().
      expect(react).toBe(platform.reactions !== undefined);
      for (const emoji of react ? [...agentReactions, null] : []) {
        await reactAsAgent(bench, emoji);
        const shown = () => platform.reactions?.(customer).map((each) => each.replaceAll("\uFE0F", ""));
        await expect.poll(shown).toEqual(emoji === null ? [] : [emoji.replaceAll("\uFE0F", "")]);
      }
      expect(await bench.notes(conversationId)).toEqual([]);
    },
  },
  {
    name: "no-secrets",
    sentence: "writes no secret to a log line, an error, a note or another visible text",
    async check({ bench, platform, load, target, newCustomer, newMessage }) {
      const conversationId = await begin(bench, platform, newMessage(newCustomer(), "Can you keep a secret?"));
      if (target.cannot["refused-send"] === undefined) {
        platform.misbehave("unreachable");
        await reply(bench, conversationId, "This does not arrive at once");
        await bench.settle();
      }
      const secrets = platform.secrets();
      expect(secrets, "the target names no secret to look for").not.toEqual([]);
      const { read } = bench.store;
      const seen = [
        ...bench.logged,
        ...(await read.selectFrom("notes").select("content").execute()).map(({ content }) => content),
        ...(await read.selectFrom("deliveries").select("error").execute()).map(({ error }) => error ?? ""),
        ...(await read.selectFrom("outbox").select("last_error").execute()).map(({ last_error }) => last_error ?? ""),
        ...(await read.selectFrom("accounts").select("config").execute()).map(({ config }) => config),
      ];
      // Covers the adapter's declared secrets, besides the errors that occurred in this test.
      const module = await load(target.channel, platform.config);
      for (const name of module?.secrets ?? []) expect(Object.keys(module?.config.properties ?? {})).toContain(name);
      for (const secret of secrets) {
        for (const form of [secret, encodeURIComponent(secret), Buffer.from(secret).toString("base64")]) {
          expect(seen.filter((text) => text.includes(form))).toEqual([]);
        }
      }
    },
  },
];

const answerTo = (message: CustomerMessage): string => `You asked: ${message.text}`;

async function begin(bench: EngineBench, platform: FakePlatform, message: CustomerMessage): Promise<string> {
  expect(await platform.deliver(message)).toBe(true);
  await shows(bench, platform, message.customer, [answerTo(message)]);
  return conversationOf(bench, message.text);
}

async function shows(
  bench: EngineBench,
  platform: FakePlatform,
  customer: string,
  texts: readonly string[],
): Promise<void> {
  await bench.settle();
  // The message may still be on the network when the program is idle.
  await bench
    .until("it is shown", async () => (await platform.shown(customer)).length >= texts.length, 3_000)
    .catch(() => undefined);
  expect(await platform.shown(customer)).toEqual(texts);
}

async function storedTexts(bench: EngineBench, text: string): Promise<readonly string[]> {
  const rows = await bench.store.read
    .selectFrom("messages")
    .select("content")
    .where("role", "=", "user")
    .where("content", "=", text)
    .execute();
  return rows.map(({ content }) => content);
}

async function conversationOf(bench: EngineBench, text: string): Promise<string> {
  const row = await bench.store.read
    .selectFrom("messages")
    .select("conversation_id")
    .where("role", "=", "user")
    .where("content", "=", text)
    .executeTakeFirstOrThrow();
  return row.conversation_id;
}

async function count(bench: EngineBench) {
  const of = async (table: "inbound_events" | "messages" | "conversations" | "contacts"): Promise<number> =>
    (await bench.store.read.selectFrom(table).select("id").execute()).length;
  return {
    events: await of("inbound_events"),
    messages: await of("messages"),
    conversations: await of("conversations"),
    contacts: await of("contacts"),
  };
}

async function reply(
  bench: EngineBench,
  conversationId: string,
  content: string,
  files: readonly string[] = [],
): Promise<string> {
  const { workspaceId } = bench;
  const sent = await bench.engine.reply({
    workspaceId,
    conversationId,
    content,
    authorEmail: "anna@test.example",
    files,
    uploadedBy: "anna@test.example",
    actor: anna,
  });
  return sent.messageId;
}

async function statesOf(bench: EngineBench, messageId: string): Promise<readonly string[]> {
  const rows = await bench.store.read
    .selectFrom("deliveries")
    .select("state")
    .where("message_id", "=", messageId)
    .execute();
  return rows.map(({ state }) => state);
}
