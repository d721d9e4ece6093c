import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { newId } from "#domain/ids.ts";
import { queueErasure } from "#conversations/retention/queued-erasure.ts";
import { createConversationSearch } from "#database/search/open.ts";
import type { OpenStore } from "#database/open.ts";
import { openStore } from "#database/open.ts";
import { rowsOf } from "../support/database/conversation-rows.ts";
import type { TestDatabase } from "../support/database/databases.ts";
import { eachDatabase } from "../support/database/databases.ts";
import type { Installation } from "../support/program/installation.ts";
import { install } from "../support/program/installation.ts";
import { launch } from "../support/program/launch.ts";
import { freePort } from "../support/servers/free-port.ts";
import { parley } from "../support/program/program.ts";
import { tablesWith, textsOf } from "../support/database/table-texts.ts";

const email = "quillfeather@forgotten.example";
const word = "xylotherapist";
const conversationCount = 120;
const messagesEach = 3;

eachDatabase("a killed erasure", (open) => {
  let database: TestDatabase;
  let installation: Installation;
  let store: OpenStore;
  let env: Readonly<Record<string, string>>;

  beforeAll(async () => {
    database = await open();
    installation = await install(database.url);
    store = await openStore(database.url);
    env = { PARLEY_DATA_DIR: installation.dataDir, DATABASE_URL: installation.databaseUrl };
  });
  afterAll(async () => {
    await store.close();
    await installation.remove();
    await database.remove();
  });

  it(
    "of a customer removes whole conversations, and completes when it is run again, remnants of removed ones included",
    { timeout: 120_000 },
    async () => {
      const { first } = await seed(store, installation);
      const command = ["forget", "--workspace", installation.workspaceId, "--email", email, "--yes", "--json"];
      const left = await killBelow(conversationCount, command);
      await expectWhole(left);
      // The first conversation is gone already; only the stored response to its request still contains its text.
      expect(tablesWith(await textsOf(store.read), first)).toContain("idempotency");

      const again = await parley(command, env);
      expect(again).toMatchObject({ status: 0, stderr: "" });
      expect(JSON.parse(again.stdout)).toMatchObject({ erased: true, contacts: 1, conversations: left });
      const texts = await textsOf(store.read);
      expect([tablesWith(texts, word), tablesWith(texts, email)]).toEqual([[], []]);
      expect(texts.get("audit")?.filter((text) => text.includes("a customer: 1 contacts"))).toHaveLength(1);
    },
  );

  it("of a customer in the queue is completed by the next start", { timeout: 120_000 }, async () => {
    await seed(store, installation);
    await store.write((tx) => queueErasure(tx, installation.workspaceId, { email }, Date.now()));
    const killed = launch({ installation, port: await freePort() });
    while ((await count()) === conversationCount) await sleep(1);
    killed.signal("SIGKILL");
    await killed.exited;
    await expectWhole(await count());
    const queued = () => store.read.selectFrom("outbox").select("id").where("kind", "=", "forget").execute();
    expect(await queued()).toHaveLength(1);
    const next = launch({ installation, port: await freePort() });
    try {
      await expect.poll(queued, { timeout: 60_000 }).toEqual([]);
    } finally {
      next.signal("SIGKILL");
      await next.exited;
    }
    const texts = await textsOf(store.read);
    expect([tablesWith(texts, word), tablesWith(texts, email)]).toEqual([[], []]);
  });

  it(
    "of a workspace refuses its keys, resumes when it is run again, and is completed by the program",
    { timeout: 120_000 },
    async () => {
      await seed(store, installation);
      if (store.dialect === "sqlite") expect(await isInIndex()).toBe(true);
      const deletion = ["workspace", "delete", installation.workspaceId, "--yes"];
      const left = await killBelow(conversationCount, deletion);
      await expectWhole(left);
      await expectWhole(await killBelow(left, deletion));
      // Ten minutes later a worker takes over.
      await store.write((tx) => tx.updateTable("outbox").set({ due_at: 1 }).where("kind", "=", "purge").execute());
      const port = await freePort();
      const running = launch({ installation, port });
      try {
        await running.ready;
        const response = await fetch(
          `http://127.0.0.1:${port}/v1/conversations?workspace_id=${installation.workspaceId}`,
          {
            headers: { authorization: `Bearer ${installation.key}` },
          },
        );
        expect([response.status, await response.json()]).toMatchObject([404, { code: "workspace_not_found" }]);
        await expect
          .poll(() => store.read.selectFrom("outbox").select("id").where("kind", "=", "purge").execute(), {
            timeout: 60_000,
          })
          .toEqual([]);
      } finally {
        running.signal("SIGKILL");
        await running.exited;
      }
      await expectDeleted();
      const again = await parley(deletion, env);
      expect([again.status, again.stderr]).toEqual([1, expect.stringContaining("there is no workspace")]);
    },
  );

  async function expectDeleted(): Promise<void> {
    const { workspaceId } = installation;
    const texts = await textsOf(store.read);
    expect([tablesWith(texts, word), tablesWith(texts, "harbour lamp")]).toEqual([[], []]);
    if (store.dialect === "sqlite") expect(await isInIndex()).toBe(false);
    const filled = [...texts].filter(([, rows]) => rows.length > 0).map(([name]) => name);
    // A row of commit_marks holds only transaction numbers.
    const kept = ["api_keys", "audit", "commit_marks", "counters", "outbox", "processes", "workspaces"];
    expect(kept).toEqual(expect.arrayContaining(filled));
    expect(texts.get("audit")?.filter((text) => text.includes(workspaceId.toLowerCase()))).toHaveLength(1);
  }

  /** Whether FTS5's own tables contain the word's stem, which a search no longer finds. */
  async function isInIndex(): Promise<boolean> {
    const { rows } = await sql`select id from conversation_fts_data
      where instr(block, cast(${word.slice(2, -3)} as blob)) > 0`.execute(store.read);
    return rows.length > 0;
  }

  /** Kills the command once fewer than `conversations` are left, and returns the number left. */
  async function killBelow(conversations: number, args: readonly string[]): Promise<number> {
    const child = spawn(process.execPath, ["bin/parley.js", ...args], {
      env: { PATH: process.env["PATH"], ...env },
      stdio: "ignore",
    });
    const exited = once(child, "exit");
    while ((await count()) === conversations && child.exitCode === null) await sleep(1);
    child.kill("SIGKILL");
    expect(await exited).toEqual([null, "SIGKILL"]);
    const left = await count();
    expect(left).toBeGreaterThan(0);
    return left;
  }

  async function count(): Promise<number> {
    const { rows } = await store.read
      .selectFrom("conversations")
      .select((eb) => eb.fn.countAll<number | string>().as("rows"))
      .executeTakeFirstOrThrow();
    return Number(rows);
  }

  /** Checks that each remaining conversation has all its messages, and that no message is without its conversation. */
  async function expectWhole(conversations: number): Promise<void> {
    const messages = await store.read.selectFrom("messages").select("conversation_id").execute();
    const counts = Map.groupBy(messages, ({ conversation_id: id }) => id);
    expect(counts.size).toBe(conversations);
    expect(new Set([...counts.values()].map(({ length }) => length))).toEqual(new Set([messagesEach]));
  }
});

/** A customer with many conversations, and stored responses for the first and the last of them. */
async function seed(store: OpenStore, { workspaceId }: Installation): Promise<{ readonly first: string }> {
  const now = Date.now();
  const contact = newId("con", now);
  const texts = Array.from({ length: messagesEach }, (_, i) => `The ${word} number ${i}`);
  const seeds = Array.from({ length: conversationCount }, (_, i) =>
    rowsOf({ id: newId("conv", now + i), workspaceId, startedAt: now - i, email, messages: texts }),
  );
  const ids = seeds.map(({ conversation }) => conversation.id);
  await store.write(async (tx) => {
    const person = { name: word, email, phone: null, user_id: null, attributes: "{}", merged_into: null };
    const times = { created_at: now, updated_at: now };
    await tx
      .insertInto("contacts")
      .values({ id: contact, workspace_id: workspaceId, root_id: contact, ...person, ...times })
      .execute();
    for (let at = 0; at < seeds.length; at += 50) {
      const some = seeds.slice(at, at + 50);
      await tx
        .insertInto("conversations")
        .values(some.map(({ conversation }) => ({ ...conversation, contact_id: contact })))
        .execute();
      await tx
        .insertInto("messages")
        .values(some.flatMap(({ messages }) => messages))
        .execute();
    }
    const key = await tx.selectFrom("api_keys").select("id").executeTakeFirstOrThrow();
    for (const id of [ids[0], ids.at(-1)]) {
      await tx
        .insertInto("idempotency")
        .values({
          key_id: key.id,
          path: "/v1/query",
          idempotency_key: `of ${id ?? ""}`,
          body_hash: "",
          status: 200,
          response: JSON.stringify({ conversation_id: id, answer: `About your ${word}` }),
          process_id: null,
          work_id: null,
          lease_until: now,
          created_at: now,
        })
        .execute();
    }
  });
  await store.write((tx) => createConversationSearch(store).index(tx, ids));
  return { first: ids[0] ?? "" };
}
