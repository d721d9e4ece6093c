import { sql } from "kysely";
import { Type } from "typebox";
import type { PayloadOf, Work, WorkDeclaration } from "#database/work.ts";
import { declareWork, workKind } from "#database/work.ts";
import { finishWork, insertWork } from "#database/queries/outbox.ts";
import type { Effects } from "#conversations/work/effects.ts";
import { removeOrphanFiles } from "#conversations/attachments/remove-files.ts";
import type { Clock } from "#runtime/clock.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Files } from "#files/contract.ts";
import type { Log } from "#runtime/log.ts";
import type { Store } from "#database/contract.ts";
import { expireContacts, expireConversations, workspacesWithRetention } from "./retention.ts";
import { deleteExpired } from "./delete-rows.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const firstAfterMs = 5 * 60_000;
const everyMs = dayMs;

/** Retention periods of technical data. */
const kept = {
  /** Text of received events. Messages are kept with their conversations. */
  inboundTextMs: 30 * dayMs,
  /** Deduplication keys of received events. */
  inboundMs: 400 * dayMs,
  deadLetterMs: 30 * dayMs,
  idempotencyMs: 2 * dayMs,
  counterMs: 2 * dayMs,
  /** Monthly query counters, and addresses that agents sign in from. */
  monthlyCounterMs: 40 * dayMs,
  processMs: 7 * dayMs,
  /** Skipped messages, as agents see them in the inbox. */
  skippedMs: 30 * dayMs,
  /** Credentials of an app, for another try of its installation. */
  installMs: dayMs,
} as const;

const emptiedAtOnce = 500;

const dailyCleanupLane = "housekeeping";

export interface DailyCleanupDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly search: ConversationSearch;
  readonly files: Files;
  readonly publishEffects: (effects: Effects) => void;
}

/** The installation has a single row of this kind. */
const cleanupKind = workKind(
  "housekeeping",
  Type.Object({
    /** Events received before this time have no text any more. */
    emptiedUntil: Type.Optional(Type.Number()),
  }),
);

/** Stores the installation's single row of this work if it is missing. */
export async function scheduleDailyCleanup(store: Store, clock: Clock): Promise<void> {
  await store.write(async (tx) => {
    const known = await tx
      .selectFrom("outbox")
      .select("id")
      .where("lane", "=", dailyCleanupLane)
      .where("dead_at", "is", null)
      .executeTakeFirst();
    if (known !== undefined) return;
    const now = clock.now();
    await insertWork(tx, [cleanupKind.queued(dailyCleanupLane, {}, now + firstAfterMs)], now);
  });
}

/** Deletes expired data once a day, in small transactions. */
export function declareDailyCleanup(dependencies: DailyCleanupDependencies): WorkDeclaration {
  const { store, clock, log } = dependencies;
  return declareWork(cleanupKind, {
    batch: true,
    // Must never be given up, because nothing else queues it again.
    attemptsMax: Number.POSITIVE_INFINITY,
    lanesMax: 1,
    run,
  });

  async function run(rows: readonly Work<PayloadOf<typeof cleanupKind>>[], signal: AbortSignal): Promise<void> {
    const now = clock.now();
    const retained = await workspacesWithRetention(store.read);
    let emptiedUntil = rows[0]?.payload.emptiedUntil ?? 0;
    const steps: Readonly<Record<string, () => Promise<void>>> = {
      conversations: () => expireConversations(dependencies, retained, signal),
      contacts: () => expireContacts(store, retained, now, signal),
      "texts of events": async () => {
        emptiedUntil = await emptyInbound(store, emptiedUntil, now - kept.inboundTextMs, signal);
      },
      events: () => old("inbound_events", "received_at", kept.inboundMs),
      "sign-ins": () => old("agent_tokens", "expires_at", 0),
      "tokens of clients": () => old("oauth_tokens", "expires_at", 0),
      "idempotency keys": () => old("idempotency", "created_at", kept.idempotencyMs),
      counters: () =>
        deleteExpired(
          store,
          {
            table: "counters",
            column: "window_start",
            before: now - kept.counterMs,
            and: sql`name not like 'queries:%' and name not like 'inbox:known:%'`,
          },
          signal,
        ),
      "monthly counters": () => old("counters", "window_start", kept.monthlyCounterMs),
      installations: () => old("channel_installs", "expires_at", kept.installMs),
      "skipped messages": () => old("skipped_messages", "received_at", kept.skippedMs),
      "dead letters": () => old("outbox", "dead_at", kept.deadLetterMs),
      files: () => removeOrphanFiles(dependencies, signal),
      "passing state of accounts": () => old("account_state", "expires_at", 0),
      processes: () => old("processes", "heartbeat_at", kept.processMs),
      "requests of processes that are gone": async () => {
        await store.write((tx) =>
          tx
            .deleteFrom("requests_in_flight")
            .where("process_id", "not in", (eb) => eb.selectFrom("processes").select("id"))
            .execute(),
        );
      },
      connections: () => old("connection_leases", "lease_until", kept.processMs),
    };
    const failures: unknown[] = [];
    for (const [what, step] of Object.entries(steps)) {
      signal.throwIfAborted();
      try {
        await step();
      } catch (error) {
        signal.throwIfAborted();
        // One failing step must not block the others.
        log.warn({ err: error, what }, "cleanup: step failed, retrying");
        failures.push(error);
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, "housekeeping failed in part");
    await store.write(async (tx) => {
      await finishWork(tx, rows);
      await insertWork(tx, [cleanupKind.queued(dailyCleanupLane, { emptiedUntil }, now + everyMs)], now);
    });

    function old(table: string, column: string, keptMs: number): Promise<void> {
      return deleteExpired(store, { table, column, before: now - keptMs }, signal);
    }
  }
}

/** Removes the text of events received before `until`. Returns the time up to which that is done. */
async function emptyInbound(store: Store, from: number, until: number, signal: AbortSignal): Promise<number> {
  for (let at = from; ;) {
    const rows = await store.read
      .selectFrom("inbound_events")
      .select(["id", "received_at"])
      .where("received_at", ">=", at)
      .where("received_at", "<", until)
      .where("payload", "!=", "{}")
      .orderBy("received_at")
      .limit(emptiedAtOnce)
      .execute();
    const last = rows.at(-1);
    if (last === undefined) return Math.max(from, until);
    const ids = rows.map(({ id }) => id);
    await store.write((tx) => tx.updateTable("inbound_events").set({ payload: "{}" }).where("id", "in", ids).execute());
    at = last.received_at;
    signal.throwIfAborted();
  }
}
