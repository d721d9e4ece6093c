import { storeSkipped } from "#database/queries/accounts/skipped-messages.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { newId } from "#domain/ids.ts";
import { createAccessToken } from "#admin/access-tokens.ts";
import { systemActor } from "#domain/conversation/message.ts";
import { createOAuthClient, issueToken } from "#admin/oauth-clients.ts";
import { createAgent } from "#admin/team/agents.ts";
import { createTeam } from "#admin/team/teams.ts";
import { storeSignInSettings } from "#admin/sign-in/settings.ts";
import { createLoginToken } from "#admin/team/login-links.ts";
import type { ExportLine } from "#admin/export/rows.ts";
import { foldChanges } from "#conversations/reporting/changes.ts";
import { exportLines } from "#admin/export/export.ts";
import { createKey } from "#admin/api-keys.ts";
import { addWebhook } from "#admin/webhooks/webhooks.ts";
import type { Tx } from "#database/contract.ts";
import type { Database } from "#database/schema/tables.ts";
import { insertThreads, savePost } from "#database/queries/desk.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { EngineBench } from "#test/support/engine-bench.ts";
import { anna, openBench } from "#test/support/engine-bench.ts";
import { bytesOf } from "#test/support/channels/file-channel.ts";
import { heldTables } from "#test/support/database/held-tables.ts";
import { ownTables, tablesWith, textsOf } from "#test/support/database/table-texts.ts";

/** In whatever people have written into the workspace, and in what the customer alone has. */
const house = "quixotropolis";
const theirs = "zygomorphist";
const email = `${theirs}@${house}.example`;

const held = Object.entries(heldTables) as (readonly [keyof Database, (typeof heldTables)[keyof Database]])[];

eachDatabase("stored data of a workspace and its customers", (open) => {
  let bench: EngineBench;
  let conversationId: string;

  beforeAll(async () => {
    bench = await openBench(open, { file: { workspaces: [], allowPrivate: true } });
    await seed();
    await foldChanges(bench.store);
    // MySQL writes its index later.
    await bench.advance(10_000);
  });
  afterAll(() => bench.close());

  const rowsOf = () => textsOf(bench.store.read);

  async function exported(of?: string): Promise<readonly ExportLine[]> {
    const lines: ExportLine[] = [];
    for await (const each of exportLines(
      bench.store,
      bench.clock,
      bench.workspaceId,
      of === undefined ? undefined : { email: of },
    ))
      lines.push(each);
    return lines;
  }

  const typesOf = (what: "workspace" | "customer"): readonly string[] =>
    [...new Set(held.flatMap(([, each]) => (typeof each[what] === "string" ? [] : each[what])))].toSorted();

  it("has a rule for each table of the database", async () => {
    expect(held.map(([name]) => name).toSorted()).toEqual(
      (await ownTables(bench.store.read)).map(({ name }) => name).toSorted(),
    );
  });

  it("is in the export of the workspace by the rule of each table, without secrets", async () => {
    const lines = await exported();
    const types = new Set(lines.map(({ type }) => type));
    expect([...types].filter((type) => type !== "export" && type !== "end").toSorted()).toEqual(typesOf("workspace"));
    const text = JSON.stringify(lines);
    for (const word of [house, theirs, "kept answer", "said no", "robots-etag", "A passage"])
      expect(text).toContain(word);
    expect(text).not.toMatch(/identity_secret|credentials|"hash"|password|previous_secret|"secret"/);
    expect(lines.find(({ type }) => type === "event")).toMatchObject({ payload: { data: expect.anything() } });
  });

  it("is in the export of the customer, without data of others", async () => {
    const lines = await exported(email);
    const types = new Set(lines.map(({ type }) => type));
    expect([...types].filter((type) => type !== "export" && type !== "end").toSorted()).toEqual(typesOf("customer"));
    expect(JSON.stringify(lines)).not.toContain("another customer");
    expect(JSON.stringify(lines)).toContain("before a conversation");
  });

  it("is gone from each column of each table when the customer is erased", async () => {
    const before = tablesWith(await rowsOf(), theirs);
    // Otherwise its absence would prove nothing.
    const hasText = held.filter(([, { customer }]) => typeof customer !== "string").map(([name]) => name);
    const withoutText = ["receipts", "contact_merges", "answer_feedback", "surveys"];
    expect(before).toEqual(expect.arrayContaining(hasText.filter((name) => !withoutText.includes(name))));
    expect(before).toContain("outbox");
    const counted = async () => ({
      merges: (await bench.store.read.selectFrom("contact_merges").selectAll().execute()).length,
      receipts: (await bench.store.read.selectFrom("receipts").selectAll().execute()).length,
    });
    expect(await counted()).toEqual({ merges: 2, receipts: 2 });

    await bench.app.services.customers.erase(bench.workspaceId, { email }, () => undefined);
    expect(tablesWith(await rowsOf(), theirs)).toEqual([]);
    expect(tablesWith(await rowsOf(), conversationId)).toEqual(["audit", "inbound_events"]);
    expect(await counted()).toMatchObject({ merges: 1, receipts: 1 });
    // Data of others, and the workspace's own.
    expect(tablesWith(await rowsOf(), "another customer")).toContain("messages");
  });

  it("is gone from each table when the workspace is deleted, except for what the rules keep", async () => {
    const { id } = await bench.store.read.selectFrom("conversations").select("id").executeTakeFirstOrThrow();
    await seedDesk([id]);
    await bench.begin("a last thread", "Hello");
    const before = await rowsOf();
    await bench.app.services.customers.removeWorkspace(bench.workspaceId, () => undefined);
    const after = await rowsOf();
    expect(tablesWith(after, house)).toEqual([]);
    const emptied = held.filter(([, { deleted }]) => deleted === null).map(([name]) => name);
    for (const name of emptied) {
      expect(before.get(name), `${name} was tried`).not.toEqual([]);
      expect(after.get(name), name).toEqual([]);
    }
    expect(tablesWith(after, bench.workspaceId.toLowerCase()).toSorted()).toEqual([
      "api_keys",
      "audit",
      "knowledge_collections",
      "knowledge_written",
      "outbox",
      "search_collections",
      "workspaces",
    ]);
    expect(after.get("outbox")?.filter((text) => text.includes(bench.workspaceId.toLowerCase()))).toEqual([
      expect.stringContaining("purge"),
    ]);
    expect(after.get("audit")).toHaveLength(1);
  });

  async function seed(): Promise<void> {
    const { store, clock, workspaceId, app } = bench;
    const now = clock.now();
    const deps = { store, clock, secrets: app.services.secrets, allowPrivate: true } as const;
    const hook = await addWebhook(deps, { workspaceId, url: `http://127.0.0.1:9/${house}` });
    const agent = await createAgent(store, clock, {
      workspaceId,
      email: `anna@${house}.example`,
      name: house,
      password: undefined,
      role: "agent",
    });
    await createLoginToken(store, clock, agent.id);
    await store.write(async (tx) => {
      await tx.insertInto("recovery_codes").values({ agent_id: agent.id, hash: house, created_at: now }).execute();
      await tx
        .insertInto("channel_installs")
        .values({
          agent_id: agent.id,
          channel: "slack",
          account_id: null,
          config: house,
          credentials: house,
          state_hash: `${house} ${agent.id}`.slice(0, 64),
          session_hash: house,
          expires_at: now,
        })
        .execute();
      const identity = { agent_id: agent.id, workspace_id: workspaceId, issuer: house, subject_hash: house };
      await tx
        .insertInto("agent_identities")
        .values({ ...identity, refused_at: null, created_at: now })
        .execute();
      await storeSignInSettings(tx, workspaceId, { secondFactorRequired: true });
    });
    const by = { type: "agent", id: agent.email, name: house } as const;
    await createAccessToken(store, clock, {
      workspaceId,
      agentId: agent.id,
      name: house,
      scope: "read",
      expiresAt: null,
      by,
    });
    await createTeam(store, clock, { workspaceId, by, name: house, agentIds: [agent.id] });
    await store.write((tx) =>
      tx.updateTable("workspaces").set({ plan: "enterprise" }).where("id", "=", workspaceId).execute(),
    );
    const client = await createOAuthClient(store, clock, { workspaceId, name: house, by: systemActor("test") });
    await issueToken(store, clock, client.id);
    const key = await createKey(store, clock, {
      workspaceId,
      name: house,
      limitMinute: undefined,
      limitDay: undefined,
      expiresAt: undefined,
    });
    const sender = { key: `session of ${theirs}`, name: theirs, proven: { email, phone: "+4917012345" } };
    const said = await bench.say("thread", `My ${theirs} is broken at ${house}`, { sender });
    conversationId = said.conversationId ?? "";
    const otherId = await bench.begin("other", `I am another customer of ${house}`);
    await seedDesk([conversationId]);
    await bench.accept({
      kind: "edit",
      externalId: "edit-1",
      thread: "nowhere",
      messageExternalId: "unknown",
      sender,
      sentAt: now,
      text: `The ${theirs} before a conversation`,
    });
    await bench.settle();
    const uploadedBy = `anna@${house}.example`;
    const upload = (of: string, name: string) =>
      bench.engine.upload(
        { workspaceId, accountId: bench.accountId, conversationId: of, uploadedBy, name, mediaType: "text/plain" },
        bytesOf("the bill"),
        new AbortController().signal,
      );
    const bill = await upload(conversationId, `${theirs} at ${house}.txt`);
    await upload(otherId, `${house}.txt`);
    await bench.engine.reply({
      workspaceId,
      conversationId,
      files: [bill.id],
      uploadedBy,
      content: `About your ${theirs} at ${house}`,
      authorEmail: `anna@${house}.example`,
      actor: anna,
    });
    await bench.settle();
    await hangOn(conversationId, hook.id, theirs);
    await hangOn(otherId, hook.id, house);
    await store.write(async (tx) => {
      await tx
        .insertInto("idempotency")
        .values({
          key_id: key.id,
          path: "/v1/query",
          idempotency_key: "k",
          body_hash: "b",
          status: 200,
          response: JSON.stringify({ conversation_id: conversationId, answer: `The kept answer about ${theirs}` }),
          process_id: null,
          work_id: null,
          lease_until: 1,
          created_at: now,
        })
        .execute();
      await tx
        .insertInto("idempotency")
        .values({
          key_id: key.id,
          path: "/v1/documents/crawl",
          idempotency_key: "k",
          body_hash: "b",
          status: 202,
          response: JSON.stringify({ title: house }),
          process_id: null,
          work_id: null,
          lease_until: 1,
          created_at: now,
        })
        .execute();
      await tx
        .insertInto("outbox")
        .values(
          [
            { lane: "send:gone", kind: "send", payload: JSON.stringify({ text: email }), last_error: `to ${email}` },
            {
              lane: `retime:${workspaceId}`,
              kind: "retime",
              payload: JSON.stringify({ workspaceId }),
              last_error: house,
            },
          ].map((row) => ({
            ...row,
            due_at: 1,
            attempts: 20,
            lease_id: null,
            lease_until: null,
            dead_at: now,
            created_at: 1,
          })),
        )
        .execute();
      await tx
        .insertInto("counters")
        .values([
          { name: `queries:${workspaceId}`, window_start: Date.UTC(2031, 4, 1), value: 3 },
          { name: `rate:day:${key.id}`, window_start: now, value: 3 },
        ])
        .execute();
      await tx.insertInto("requests_in_flight").values({ key_id: key.id, process_id: "nobody", count: 1 }).execute();
      await tx
        .insertInto("search_collections")
        .values({ workspace_id: workspaceId, live: "c", live_version: 1, building: null, built: 0, written: 0 })
        .execute();
      await tx
        .insertInto("account_status")
        .values({
          account_id: bench.accountId,
          revision: null,
          state: null,
          state_at: null,
          error: null,
          error_at: null,
          last_event_at: now,
        })
        .execute();
      await storeSkipped(tx, bench.accountId, {
        externalId: "mail:1",
        receivedAt: now,
        sender: "news@elsewhere.example",
        title: "News",
        reason: "it has a header list-id",
      });
      await tx
        .insertInto("connection_leases")
        .values({ account_id: bench.accountId, holder: "nobody", lease_until: now })
        .execute();
      await tx
        .insertInto("rule_turns")
        .values({ workspace_id: workspaceId, rule: "r", email: "a@b.example" })
        .execute();
      await tx
        .insertInto("rule_firings")
        .values({ conversation_id: otherId, rule: "r", activity: 1, day: 1, count: 1 })
        .execute();
      await tx
        .insertInto("skill_calls")
        .values({ id: "call", conversation_id: otherId, skill: "s", result: null, created_at: now })
        .execute();
      await tx
        .insertInto("account_state")
        .values({ account_id: bench.accountId, name: "position", value: "1", updated_at: now, expires_at: null })
        .execute();
      const { id } = await tx
        .selectFrom("conversations")
        .select("id")
        .where("workspace_id", "=", workspaceId)
        // Not the conversation of the erased customer.
        .orderBy("started_at", "desc")
        .orderBy("id", "desc")
        .limit(1)
        .executeTakeFirstOrThrow();
      await tx
        .insertInto("conversation_links")
        .values({ account_id: bench.accountId, kind: "mark", name: "<1@shop.example>", conversation_id: id })
        .execute();
    });
    await seedDocuments();
  }

  /** The customer's opinions of an answer and of the conversation. */
  async function addFeedback(tx: Tx, conversation: string, word: string): Promise<void> {
    const { workspaceId } = bench;
    const at = bench.clock.now();
    const message = await tx
      .selectFrom("messages")
      .select("id")
      .where("conversation_id", "=", conversation)
      .orderBy("seq")
      .limit(1)
      .executeTakeFirstOrThrow();
    const of = { workspace_id: workspaceId, conversation_id: conversation };
    const opinion = { message_id: message.id, sender: "a", conversation_id: conversation, value: "down", at } as const;
    await tx.insertInto("answer_feedback").values(opinion).execute();
    const reaction = { message_id: message.id, conversation_id: conversation, author: "a", author_name: word, at };
    await tx
      .insertInto("reactions")
      .values({ ...reaction, role: "user", emoji: "🎉" })
      .execute();
    const groupId = newId("qst", at);
    await tx
      .insertInto("weak_answers")
      .values({ ...of, message_id: message.id, channel: "widget", asked_at: at, terms: word, group_id: groupId })
      .execute();
    await tx
      .insertInto("question_groups")
      .values({
        id: groupId,
        workspace_id: workspaceId,
        leader_id: message.id,
        asked_at: at,
        state: "open",
        document_id: null,
        state_at: at,
        state_by: null,
      })
      .execute();
    const sent = { conversation_id: conversation, message_id: message.id, seq: 1, agent: null, sent_at: at };
    await tx.insertInto("surveys").values(sent).execute();
    const times = { created_at: at, updated_at: at };
    await tx
      .insertInto("ratings")
      .values({ ...of, ...times, id: newId("rat", at), score: 2, comment: word, channel: "widget", agent: null })
      .execute();
  }

  /** Data of a conversation and its customer besides messages. */
  async function hangOn(conversation: string, endpointId: string, word: string): Promise<void> {
    const { store, clock, workspaceId } = bench;
    const now = clock.now();
    await bench.engine.addNote(workspaceId, conversation, { content: `${word} ${house}`, authorEmail: null }, anna);
    await bench.engine.update(workspaceId, conversation, { tags: [word, house] }, anna);
    await bench.settle();
    const contact = await store.read
      .selectFrom("conversations")
      .select("contact_id as id")
      .where("id", "=", conversation)
      .executeTakeFirstOrThrow();
    const delivery = await store.read
      .selectFrom("deliveries")
      .select("id")
      .where("conversation_id", "=", conversation)
      .executeTakeFirstOrThrow();
    const event = await store.read
      .selectFrom("events")
      .select("id")
      .where("subject_id", "=", conversation)
      .executeTakeFirstOrThrow();
    await store.write(async (tx) => {
      await addFeedback(tx, conversation, word);
      const second = newId("con", now);
      await tx
        .insertInto("contacts")
        .values({
          id: second,
          workspace_id: workspaceId,
          name: word,
          email: null,
          phone: null,
          user_id: null,
          attributes: "{}",
          merged_into: contact.id,
          root_id: contact.id,
          created_at: now,
          updated_at: now,
        })
        .execute();
      await tx
        .insertInto("contact_merges")
        .values({
          id: newId("aud", now),
          workspace_id: workspaceId,
          from_contact_id: second,
          into_contact_id: contact.id,
          reason: "operator",
          filled: "{}",
          actor_type: "system",
          actor_id: null,
          created_at: now,
          undone_at: null,
        })
        .execute();
      await tx.insertInto("receipts").values({ delivery_id: delivery.id, state: "read", at: now }).execute();
      await tx
        .insertInto("webhook_attempts")
        .values({
          endpoint_id: endpointId,
          event_id: event.id,
          attempt: 1,
          outcome: "retry",
          at: now,
          duration_ms: 1,
          status: 500,
          error: null,
          response: `${house} said no to ${word}`,
          next_at: now,
        })
        .execute();
    });
  }

  async function seedDesk(ids: readonly string[]): Promise<void> {
    const { store, clock, workspaceId, accountId } = bench;
    await store.write(async (tx) => {
      await insertThreads(
        tx,
        ids.map((id) => ({ id, workspace_id: workspaceId })),
        clock.now(),
      );
      for (const id of ids) {
        await savePost(tx, {
          id: `in.${id}`,
          conversation_id: id,
          account_id: accountId,
          direction: "in",
          kind: "parked",
          ref_id: null,
          part: 0,
          state: "posted",
          external_id: `message of ${id}`,
          parked: JSON.stringify({ kind: "edited", text: `About the ${theirs} at ${house}` }),
          mark: null,
          created_at: clock.now(),
        });
      }
    });
  }

  async function seedDocuments(): Promise<void> {
    const { store, clock, workspaceId } = bench;
    const now = clock.now();
    const base = {
      workspace_id: workspaceId,
      title: house,
      url: `https://${house}.example/`,
      media_type: "text/html",
      status: "indexed" as const,
      error: null,
      audience: "[]",
      content_hash: null,
      chunks: 1,
      pages: 1,
      indexed_version: 1,
      created_at: now,
      indexed_at: now,
      parent_id: null,
    };
    await store.write(async (tx) => {
      const [site, file, passage] = [newId("doc", now), newId("doc", now), newId("chk", now)];
      await tx
        .insertInto("documents")
        .values([
          { ...base, id: site, source: "crawl", origin_key: "site", body_id: null },
          { ...base, id: file, source: "upload", origin_key: "file", body_id: "body" },
        ])
        .execute();
      await tx.insertInto("document_bodies").values({ id: "body", document_id: file, created_at: now }).execute();
      await tx
        .insertInto("document_body_parts")
        .values({ body_id: "body", part: 0, body: Buffer.from(`the bytes of ${house}`) })
        .execute();
      await tx
        .insertInto("crawls")
        .values({
          document_id: site,
          max_pages: 5,
          sitemap: null,
          run: 1,
          state: "done",
          fetches: 1,
          bytes: 1,
          discovered: 1,
          robots: `# ${house}`,
          started_at: now,
          finished_at: now,
          requested: 0,
          changed: 0,
        })
        .execute();
      await tx
        .insertInto("crawl_pages")
        .values({
          document_id: site,
          url_hash: "h",
          url: `https://${house}.example/page`,
          position: 0,
          page_id: null,
          state: "kept",
          reason: null,
          attempts: 1,
          etag: "robots-etag",
          last_modified: null,
          fetched_hash: null,
          canonical_hash: null,
        })
        .execute();
      await tx
        .insertInto("chunks")
        .values({
          id: passage,
          workspace_id: workspaceId,
          document_id: file,
          version: 1,
          position: 0,
          title: house,
          text: `A passage of ${house}`,
          url: null,
        })
        .execute();
      const model = "a model";
      await tx
        .insertInto("chunk_vectors")
        .values({ chunk_id: passage, workspace_id: workspaceId, model, digest: house, vector: Buffer.alloc(8) })
        .execute();
      await tx.insertInto("vector_models").values({ workspace_id: workspaceId, model, stamp: now }).execute();
      const [collection, written] = [`collection of ${workspaceId}`, { version: 1, chunks: 1, terms: 1 }];
      await tx
        .insertInto("knowledge_collections")
        .values({ workspace_id: workspaceId, live: collection, live_form: 1, building: null, ...written })
        .execute();
      await tx
        .insertInto("knowledge_written")
        .values({ collection, document_id: file, audience: "[]", ...written })
        .execute();
      await tx
        .insertInto("outbox")
        .values({
          lane: "crawl:gone",
          kind: "crawl",
          payload: JSON.stringify({ documentId: site, run: 1 }),
          due_at: 1,
          attempts: 20,
          lease_id: null,
          lease_until: null,
          dead_at: now,
          last_error: `https://${house}.example/ did not answer`,
          created_at: 1,
        })
        .execute();
    });
  }
});
