import { mkdtemp, readFile, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { eraseCustomer } from "./erase-customer.ts";
import { removeConversation } from "./remove-conversation.ts";
import { createWorkspaces } from "#database/queries/workspaces.ts";
import { createConversationSearch } from "#database/search/open.ts";
import { exportLines } from "#admin/export/export.ts";
import { readAudit } from "#admin/audit-log.ts";
import type { TestDatabase } from "#test/support/database/databases.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { EngineBench } from "#test/support/engine-bench.ts";
import { anna, openBench } from "#test/support/engine-bench.ts";
import { parley } from "#test/support/program/program.ts";

const email = "Zdenka.Quill@Forgotten.example";
const word = "xylotherapist";
const name = "Zdenka Quillfeather";
const phone = "+4917099887766";

/** Each command is a program of its own, which a busy machine takes its time to start. */
const patienceMs = 120_000;

eachDatabase("a customer's data", (open) => {
  let bench: EngineBench;
  let database: TestDatabase;
  let folder: string;
  let conversations: string[];
  let other: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "parley-forget-"));
    bench = await openBench(async () => (database = await open()));
    conversations = [];
    const mine = { key: "session-of-zdenka", name, proven: { email, phone } };
    for (const text of [`My ${word} is broken`, `About the ${word} again`]) {
      const thread = `thread ${conversations.length}`;
      const said = await bench.say(thread, text, { sender: mine, id: `<${conversations.length}.${email}>` });
      conversations.push(said.conversationId ?? "");
    }
    // Claims from a form, a deleted conversation, an edit without a message, and a dead letter.
    const [first = "", second = ""] = conversations;
    const form = await bench.begin("form", `An old ${word}`);
    await bench.accept({
      kind: "contact",
      externalId: "form-1",
      thread: "form",
      sender: { key: "customer of form" },
      sentAt: bench.clock.now(),
      contact: { email: email.toLowerCase(), name },
    });
    conversations.push(form);
    await bench.accept({
      kind: "edit",
      externalId: "edit-1",
      thread: "nowhere",
      messageExternalId: "unknown",
      sender: mine,
      sentAt: bench.clock.now(),
      text: `The ${word} once more`,
    });
    other = await bench.begin("other", "Hello, I am somebody else");
    await bench.settle();
    await bench.engine.reply({
      workspaceId: bench.workspaceId,
      conversationId: first,
      content: `We will repair your ${word}, ${name}.`,
      authorEmail: "anna@test.example",
      actor: anna,
    });
    await bench.engine.addNote(
      bench.workspaceId,
      first,
      { content: `Call ${email} about the ${word}`, authorEmail: null },
      anna,
    );
    await bench.engine.update(bench.workspaceId, second, { tags: [email.toLowerCase()] }, anna);
    await bench.store.write(async (tx) => {
      const row = { due_at: 1, attempts: 20, lease_id: null, lease_until: null, created_at: 1 };
      await tx
        .insertInto("outbox")
        .values({
          ...row,
          lane: "other:1",
          kind: "other",
          payload: JSON.stringify({ text: `${word} of ${email}` }),
          dead_at: bench.clock.now(),
          last_error: null,
        })
        .execute();
      await tx
        .insertInto("api_keys")
        .values({
          id: "key_forget",
          workspace_id: bench.workspaceId,
          name: "k",
          hash: "h",
          hint: "1234",
          limit_minute: null,
          limit_day: null,
          expires_at: null,
          revoked_at: null,
          created_at: 1,
        })
        .execute();
      await tx
        .insertInto("idempotency")
        .values({
          key_id: "key_forget",
          path: "/v1/query",
          idempotency_key: "1",
          body_hash: "b",
          status: 200,
          response: JSON.stringify({ conversation_id: first, answer: `The ${word}` }),
          lease_until: 1,
          created_at: bench.clock.now(),
        })
        .execute();
    });
    await bench.settle();
  });
  afterAll(async () => {
    await bench.close();
    await rm(folder, { recursive: true, force: true });
  });

  const run = (...args: readonly string[]) =>
    parley(args, {
      DATABASE_URL: database.url,
      PARLEY_DATA_DIR: join(folder, "data"),
      PARLEY_SECRET: "a secret for tests, of more than thirty-two characters",
    });
  const log = async (conversationId?: string) =>
    (await readAudit(bench.store, { workspaceId: bench.workspaceId, conversationId, since: undefined, limit: 500 }))
      .entries;
  const lines = async (file: string) =>
    (await readFile(file, "utf8"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { readonly type: string; readonly [field: string]: unknown });

  /** Every table, as text. */
  async function dump(): Promise<string> {
    const { rows } =
      bench.store.dialect === "sqlite"
        ? await sql<{ name: string }>`select name from sqlite_master where type = 'table'
            and name not like 'conversation_%t%' or name = 'conversation_tags'`.execute(bench.store.read)
        : await sql<{ name: string }>`select table_name as name from information_schema.tables
            where table_schema = database()`.execute(bench.store.read);
    const all = [];
    for (const { name: table } of rows) {
      all.push((await sql`select * from ${sql.table(table)}`.execute(bench.store.read)).rows);
    }
    return JSON.stringify(all, (_, value: unknown) =>
      typeof value === "bigint" ? String(value) : value,
    ).toLowerCase();
  }

  it(
    "is exported as JSON Lines, without other customers' data, into a file that only its owner can read",
    async () => {
      const file = join(folder, "customer.jsonl");
      const ran = await run("export", "--workspace", bench.workspaceId, "--email", email.toUpperCase(), "--out", file);
      expect(ran).toMatchObject({ status: 0 });
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      const all = await lines(file);
      expect(all[0]).toMatchObject({ type: "export", scope: "customer", workspace_id: bench.workspaceId });
      const ids = all.filter(({ type }) => type === "conversation").map(({ id }) => id);
      expect(new Set(ids)).toEqual(new Set(conversations));
      for (const type of ["contact", "identity", "message", "note", "delivery", "audit", "received_event"])
        expect(all.map((line) => line.type)).toContain(type);
      expect(JSON.stringify(all)).not.toContain("somebody else");
      expect(all.at(-1)).toMatchObject({ type: "end", lines: { conversation: 3 } });
      const again = await run("export", "--workspace", bench.workspaceId, "--email", email, "--out", file);
      expect(again).toMatchObject({ status: 1 });
      expect(again.stderr).toContain("--force");
      expect((await readdir(folder)).filter((each) => each.endsWith(".partial"))).toEqual([]);
    },
    patienceMs,
  );

  it(
    "is part of the export of the workspace, which holds no secret",
    async () => {
      const all = [];
      for await (const line of exportLines(bench.store, bench.clock, bench.workspaceId, undefined)) all.push(line);
      const text = JSON.stringify(all);
      const types = new Set(all.map(({ type }) => type));
      for (const type of ["workspace", "account", "api_key", "contact", "conversation", "message", "audit", "end"])
        expect(types).toContain(type);
      expect(text).toContain("somebody else");
      expect(text).not.toMatch(/identity_secret|credentials|"hash"|password/);
      const actions = (await log()).filter(({ action }) => action === "exported");
      expect(new Set(actions.map((entry) => entry.conversation_id))).toEqual(new Set([...conversations, null]));
    },
    patienceMs,
  );

  it(
    "is not erased without confirmation",
    async () => {
      const ran = await run("forget", "--workspace", bench.workspaceId, "--email", email);
      expect(ran).toMatchObject({ status: 2 });
      expect(ran.stderr).toContain("--yes");
      expect(await dump()).toContain(word);
    },
    patienceMs,
  );

  it(
    "is gone from every table and from the database file after the erasure",
    async () => {
      const before = await dump();
      for (const trace of [email.toLowerCase(), word, name.toLowerCase(), phone]) expect(before).toContain(trace);
      const ran = await run("forget", "--workspace", bench.workspaceId, "--email", email, "--yes", "--json");
      expect(ran).toMatchObject({ status: 0, stderr: "" });
      expect(JSON.parse(ran.stdout)).toMatchObject({ erased: true, contacts: 2, conversations: 3 });
      const after = await dump();
      for (const trace of [email.toLowerCase(), word, name.toLowerCase(), phone]) expect(after).not.toContain(trace);
      expect(await bench.talk(other)).toContain("user: Hello, I am somebody else");
      expect((await log(conversations[0])).find(({ action }) => action === "deleted")).toMatchObject({
        actor: { type: "system", id: "forget" },
      });
      if (bench.store.dialect === "sqlite") {
        const path = database.url.slice("sqlite:".length);
        for (const end of ["", "-wal"]) {
          const bytes = (await readFile(`${path}${end}`)).toString("latin1").toLowerCase();
          // The index stores stems.
          for (const trace of [email.toLowerCase(), word.slice(0, -3), name.toLowerCase(), phone])
            expect(bytes.includes(trace), `${trace} in the file${end}`).toBe(false);
        }
      }
    },
    patienceMs,
  );

  it(
    "can be erased again, and a late redelivery does not restore it",
    async () => {
      const again = await bench.app.services.customers.erase(bench.workspaceId, { email }, () => undefined);
      expect(again).toMatchObject({ contacts: 0, conversations: 0 });
      expect((await bench.say("form", "x", { id: "form-1" })).duplicate).toBe(true);
    },
    patienceMs,
  );

  it("is gone even if the customer writes during the erasure", async () => {
    const { store, clock, app } = bench;
    const late = "okapi.keeper@late.example";
    const sender = { key: "session-of-okapi", name: "Okapi Keeper", proven: { email: late } };
    await bench.say("okapi 1", "I have an okapi", { sender });
    await bench.settle();
    const workspace = await createWorkspaces(store, clock).get(bench.workspaceId);
    if (workspace === undefined) throw new Error("there is no workspace");
    let writes = 0;
    const write: typeof store.write = async (work, options) => {
      const result = await store.write(work, options);
      writes += 1;
      // The conversation is deleted, and the contact is not yet.
      if (writes === 1) {
        await bench.say("okapi 2", "It is hungry, my okapi", { sender });
        await bench.settle();
      }
      return result;
    };
    const search = createConversationSearch(store);
    const found = await eraseCustomer({ store: { ...store, write }, clock, search }, workspace, { email: late });
    expect(found).toMatchObject({ contacts: 1, conversations: 2 });
    expect(await dump()).not.toContain("okapi");
    expect(await app.services.customers.erase(bench.workspaceId, { email: late }, () => undefined)).toMatchObject({
      conversations: 0,
    });
  });

  it("is gone even if a customer without a conversation writes during the erasure", async () => {
    const { store, clock } = bench;
    const late = "quokka.keeper@late.example";
    const sender = { key: "session-of-quokka", name: "Quokka Keeper", proven: { email: late } };
    const { conversationId } = await bench.say("quokka 1", "I have a quokka", { sender });
    await bench.settle();
    const workspace = await createWorkspaces(store, clock).get(bench.workspaceId);
    if (workspace === undefined || conversationId === null) throw new Error("there is no such conversation");
    const search = createConversationSearch(store);
    await store.write((tx) => removeConversation(tx, search, workspace, conversationId, anna, clock.now()));
    const before = new Set((await log()).map(({ id }) => id));
    let writes = 0;
    const write: typeof store.write = async (work, options) => {
      writes += 1;
      if (writes === 1) {
        await bench.say("quokka 2", "It is hungry, my quokka", { sender });
        await bench.settle();
      }
      return store.write(work, options);
    };
    const found = await eraseCustomer({ store: { ...store, write }, clock, search }, workspace, { email: late });
    expect(found).toMatchObject({ contacts: 1, conversations: 1 });
    expect(await dump()).not.toContain("quokka");
    const details = (await log()).filter(({ id }) => !before.has(id)).map(({ detail }) => detail);
    expect(details).toContain("a customer: 1 contacts, 1 conversations");
    expect(details).not.toContain("a customer: 0 contacts, 0 conversations");
  });

  it("is searched again only if contacts are left", async () => {
    const { store, clock } = bench;
    const once = "numbat.keeper@once.example";
    const workspace = await createWorkspaces(store, clock).get(bench.workspaceId);
    if (workspace === undefined) throw new Error("there is no workspace");
    const read = async (): Promise<number> => {
      let audits = 0;
      const counted = store.read.withPlugin({
        transformQuery({ node }) {
          if (JSON.stringify(node).includes('"name":"audit"')) audits += 1;
          return node;
        },
        transformResult: ({ result }) => Promise.resolve(result),
      });
      const search = createConversationSearch(store);
      await eraseCustomer({ store: { ...store, read: counted }, clock, search }, workspace, { email: once });
      return audits;
    };
    const ofNobody = await read();
    await bench.say("numbat", "I have a numbat", { sender: { key: "session-of-numbat", proven: { email: once } } });
    await bench.settle();
    expect(await read()).toBe(ofNobody);
    expect(await dump()).not.toContain("numbat");
  });

  it("does not affect customers whose address contains the erased one", async () => {
    const keep = async (key: string, text: string): Promise<void> => {
      await bench.store.write((tx) =>
        tx
          .insertInto("idempotency")
          .values({
            key_id: "key_forget",
            path: "/v1/conversations",
            idempotency_key: key,
            body_hash: "b",
            status: 200,
            response: JSON.stringify({ text }),
            lease_until: 1,
            created_at: bench.clock.now(),
          })
          .execute(),
      );
    };
    const others = ["joann@shop.example", "mary-ann@shop.example", "ann@shop.example.org", "ann@shop.example-mail.org"];
    for (const [i, address] of others.entries()) await keep(`other ${i}`, `${address} is its agent`);
    await keep("own 1", "Write to\nAnn@shop.example.");
    await keep("own 2", "<ann@shop.example>, please");
    await bench.engine.update(bench.workspaceId, other, { status: "claimed", assignedTo: "joann@shop.example" }, anna);

    await bench.app.services.customers.erase(bench.workspaceId, { email: "ann@shop.example" }, () => undefined);
    const kept = await bench.store.read
      .selectFrom("idempotency")
      .select("idempotency_key")
      .where("path", "=", "/v1/conversations")
      .orderBy("idempotency_key")
      .execute();
    expect(kept.map((row) => row.idempotency_key)).toEqual(["other 0", "other 1", "other 2", "other 3"]);
    expect((await log(other)).find(({ action }) => action === "assigned")).toMatchObject({ to: "joann@shop.example" });
  });

  it(
    "is removed with its workspace, whose keys then report that the workspace was deleted",
    async () => {
      const ran = await run("workspace", "delete", bench.workspaceId, "--yes", "--json");
      expect(ran).toMatchObject({ status: 0, stderr: "" });
      expect(await dump()).not.toContain("somebody else");
      const left = [];
      for (const table of [
        "conversations",
        "messages",
        "contacts",
        "identities",
        "accounts",
        "agents",
        "documents",
      ] as const) {
        left.push(...(await bench.store.read.selectFrom(table).selectAll().limit(1).execute()));
      }
      expect(left).toEqual([]);
      expect(await log()).toMatchObject([{ action: "deleted", detail: "the workspace" }]);
    },
    patienceMs,
  );
});
