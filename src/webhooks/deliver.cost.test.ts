import type { KyselyPlugin, QueryId, RootOperationNode } from "kysely";
import { CompiledQuery, createQueryId } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { pino } from "pino";
import { newId } from "#domain/ids.ts";
import { eventTypes } from "#domain/event-types.ts";
import { defaultSettings } from "#domain/workspace/settings.ts";
import { ingest } from "#conversations/inbound/ingest.ts";
import type { Store, Tx } from "#database/contract.ts";
import { addWebhook } from "#admin/webhooks/webhooks.ts";
import { createSecrets } from "#runtime/secrets.ts";
import { deliverWebhooks } from "./deliver.ts";
import { claimLanes } from "#database/queries/outbox.ts";
import { createConversationSearch } from "#database/search/open.ts";
import { webhookKind, webhookLane } from "#database/queries/webhooks.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { EngineBench } from "#test/support/engine-bench.ts";
import { openBench } from "#test/support/engine-bench.ts";

const secrets = createSecrets("a secret for tests, of more than thirty-two characters");

eachDatabase("the cost of webhooks", (open) => {
  let bench: EngineBench;
  beforeAll(async () => {
    bench = await openBench(open);
  });
  afterAll(() => bench.close());

  /** A store that records every statement. */
  function recorded(): { readonly store: Store; readonly taken: () => readonly CompiledQuery[] } {
    const taken: CompiledQuery[] = [];
    const built = new Map<QueryId, RootOperationNode>();
    const recorder: KyselyPlugin = {
      transformQuery({ node, queryId }) {
        if (node.kind !== "RawNode") built.set(queryId, node);
        return node;
      },
      transformResult: async ({ result, queryId }) => {
        const node = built.get(queryId);
        if (node !== undefined) taken.push(store.read.getExecutor().compileQuery(node, createQueryId()));
        return result;
      },
    };
    const { store } = bench;
    /** Prepared statements get their values when they run. */
    const watched = (tx: Tx): Tx =>
      new Proxy(tx.withPlugin(recorder), {
        get(target, name) {
          if (name === "executeQuery") {
            return (query: CompiledQuery) => {
              taken.push(query);
              built.delete(query.queryId);
              return target.executeQuery(query);
            };
          }
          const value: unknown = Reflect.get(target, name, target);
          return typeof value === "function" ? (value.bind(target) as unknown) : value;
        },
      });
    return {
      store: {
        ...store,
        read: store.read.withPlugin(recorder),
        write: (work) => store.write((tx) => work(watched(tx))),
      },
      taken: () => taken,
    };
  }

  async function accept(count: number): Promise<readonly string[]> {
    const { store, taken } = recorded();
    const workspace = { id: bench.workspaceId, name: "Test", plan: "business", settings: defaultSettings } as const;
    const now = bench.clock.now();
    const arrivals = Array.from({ length: count }, (_, i) => ({
      account: { id: bench.accountId, channel: "telegram" as const },
      workspace,
      event: {
        kind: "message" as const,
        externalId: newId("evt", now),
        thread: newId("ses", now),
        sender: { key: newId("con", now) },
        sentAt: now,
        text: `Hello ${i}`,
      },
    }));
    await store.write((tx) =>
      ingest(
        tx,
        {
          search: createConversationSearch(bench.store),
          seal: (ref) => ref,
          pauseAfter: () => 0,
          clock: { now: () => now },
        },
        arrivals,
      ),
    );
    return taken().map(({ sql }) => sql);
  }

  /** SQLite gets rows in several consecutive statements. */
  function steps(statements: readonly string[]): number {
    const tables = statements.map((sql) => /^insert into \S+/.exec(sql)?.[0] ?? "");
    return tables.filter((table, at) => table === "" || table !== tables[at - 1]).length;
  }

  it("is one indexed read for a workspace without endpoints, for any number of messages stored together", async () => {
    for (const count of [1, 50]) {
      const all = await accept(count);
      const own = all.filter((sql) => /webhook|["`]events["`]/.test(sql));
      expect(own).toHaveLength(1);
      expect(own[0]).toMatch(/^select .* from .webhooks. where .workspace_id. in \(\?\)$/);
    }
  });

  it("hardly grows with the number of messages stored together", async () => {
    await addWebhook(
      { store: bench.store, clock: bench.clock, secrets, allowPrivate: false },
      { workspaceId: bench.workspaceId, url: "https://shop.example/", events: eventTypes },
    );
    const one = await accept(1);
    const fifty = await accept(50);
    // 100 events take two statements, since the size of a statement is limited.
    expect(steps(fifty) - steps(one)).toBeLessThanOrEqual(2);
    if (bench.store.dialect === "mysql") expect(fifty.length - one.length).toBeLessThanOrEqual(2);
    expect(fifty.length).toBeLessThanOrEqual(one.length * 2);
  });

  it("includes no read of a conversation, and due events are found by indexes", async () => {
    const { id } = await addWebhook(
      { store: bench.store, clock: bench.clock, secrets, allowPrivate: false },
      { workspaceId: bench.workspaceId, url: "https://shop.example/", events: eventTypes },
    );
    // The worker is not notified and the clock does not move, so these events stay queued.
    await accept(20);
    const { store, taken } = recorded();
    const now = bench.clock.now();
    const lease = { id: "ses_test", until: now + 60_000 };
    const rows = await store.write((tx) => claimLanes(tx, [webhookLane(id)], lease, now));
    expect(rows).not.toEqual([]);
    const before = taken().length;
    let sent = 0;
    await deliverWebhooks(
      {
        store,
        clock: bench.clock,
        log: pino({ level: "silent" }),
        wake: { notify: () => undefined },
        open: (sealed) => secrets.open(sealed),
        count: () => undefined,
        guardedFetch: {
          async fetch() {
            sent += 1;
            return {
              status: sent % 2 === 0 ? 200 : 500,
              headers: new Headers(),
              body: new Uint8Array(),
              complete: true,
            };
          },
          close: async () => undefined,
        },
      },
      rows.map(webhookKind.read),
      new AbortController().signal,
    );
    expect(sent).toBeGreaterThan(20);
    const statements = new Map(
      taken()
        .slice(before)
        .map((query) => [query.sql, query]),
    );
    expect(statements.size).toBeGreaterThan(8);
    for (const [sql, query] of statements) {
      expect(sql).not.toMatch(/["`]conversations["`]|["`]messages["`]/);
      if (bench.store.dialect !== "sqlite" || sql.startsWith("insert")) continue;
      const { rows: plan } = await bench.store.read.executeQuery<{ readonly detail: string }>(
        CompiledQuery.raw(`explain query plan ${sql}`, [...query.parameters]),
      );
      expect(
        plan.map(({ detail }) => detail).filter((detail) => detail.startsWith("SCAN")),
        sql,
      ).toEqual([]);
    }
  });

  it("does not keep a full batch of messages from being stored together, for any number of endpoints", async () => {
    for (let count = 0; count < 18; count += 1) {
      await addWebhook(
        { store: bench.store, clock: bench.clock, secrets, allowPrivate: false },
        { workspaceId: bench.workspaceId, url: "https://shop.example/", events: eventTypes },
      );
    }
    const waiting = () =>
      bench.store.read
        .selectFrom("webhook_queue")
        .select((eb) => eb.fn.countAll<number | string>().as("rows"))
        .executeTakeFirstOrThrow();
    const before = Number((await waiting()).rows);
    // Two events each, both queued for each endpoint.
    await accept(200);
    expect(Number((await waiting()).rows) - before).toBe(200 * 2 * 20);
  });
});
