import type { Selectable } from "kysely";
import { Problem } from "#domain/problem.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { Store, Tx } from "#database/contract.ts";
import { isDuplicate } from "#database/duplicate-key.ts";
import type { ProcessWatch } from "#database/process-heartbeat.ts";
import { isProcessGone } from "#database/process-heartbeat.ts";
import type { IdempotencyTable } from "#database/schema/tables.ts";

/** Time that a response is kept. */
const keptMs = 24 * 3_600_000;

/** Longer than any request can take. A claim expires after it, even if its process runs. */
const leaseMs = 90_000;

/** Most expired rows that a new claim deletes. */
const expiredRowsMax = 20;

export interface KeptResponse {
  readonly status: number;
  readonly body: unknown;
}

export interface ClaimDependencies {
  readonly store: Store;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
  readonly processId: string;
  readonly watch: Pick<ProcessWatch, "silent">;
}

type ClaimKey = Readonly<Record<"key_id" | "path" | "idempotency_key", string>>;

/** A request's claim on its Idempotency-Key. */
export interface Claim {
  readonly key: ClaimKey;
  readonly bodyHash: string;
  /** Names the work. A request that continues an abandoned one takes over its id. */
  workId: string;
}

/** Rows of requests with an Idempotency-Key: running ones with their process, finished ones with their response. */
export interface IdempotencyClaims {
  /** Returns the response of a finished request, or undefined if the claim is taken. Throws Problem duplicate_request_id. */
  take(claim: Claim): Promise<KeptResponse | undefined>;
  /** Stores the response, unless the claim has expired and another request has taken it. */
  finish(claim: Claim, response: KeptResponse): Promise<void>;
  /** Lets the next request take the claim. Retried while the database is unavailable. */
  release(claim: Claim): Promise<void>;
}

export function createIdempotencyClaims({ store, clock, log, processId, watch }: ClaimDependencies): IdempotencyClaims {
  async function isAbandoned(tx: Tx, row: Selectable<IdempotencyTable>, at: number): Promise<boolean> {
    if (row.process_id === null || row.lease_until <= at) return true;
    return row.process_id !== processId && (await isProcessGone(tx, row.process_id, watch.silent()));
  }

  async function takeIn(tx: Tx, claim: Claim, newWorkId: string, at: number): Promise<KeptResponse | undefined> {
    const { key, bodyHash } = claim;
    claim.workId = newWorkId;
    const row = await tx
      .selectFrom("idempotency")
      .selectAll()
      .where((eb) => eb.and(key))
      .executeTakeFirst();
    const fresh = {
      body_hash: bodyHash,
      status: null,
      response: null,
      process_id: processId,
      work_id: newWorkId,
      lease_until: at + leaseMs,
      created_at: at,
    };
    if (row === undefined) {
      await deleteExpired(tx, at);
      await tx
        .insertInto("idempotency")
        .values({ ...key, ...fresh })
        .execute();
      return undefined;
    }
    const isExpired = row.created_at <= at - keptMs;
    const abandoned = row.status === null && (await isAbandoned(tx, row, at));
    if (abandoned || (isExpired && row.status !== null)) {
      // The same request continues the abandoned work. Another body is new work.
      const continues = !isExpired && row.body_hash === bodyHash && row.work_id !== null;
      const next = continues ? { ...fresh, work_id: row.work_id, created_at: row.created_at } : fresh;
      await replace(tx, key, row, next);
      claim.workId = next.work_id ?? newWorkId;
      return undefined;
    }
    if (row.status === null) throw inFlight();
    if (row.body_hash !== bodyHash) {
      throw new Problem("duplicate_request_id", "This Idempotency-Key was used with another body.");
    }
    return { status: row.status, body: JSON.parse(row.response ?? "null") as unknown };
  }

  return {
    async take(claim) {
      const newWorkId = claim.workId;
      const at = clock.now();
      try {
        return await store.write((tx) => takeIn(tx, claim, newWorkId, at));
      } catch (error) {
        if (isDuplicate(error)) throw inFlight(error);
        throw error;
      }
    },

    async finish({ key, workId }, response) {
      await store.write((tx) =>
        tx
          .updateTable("idempotency")
          .set({ status: response.status, response: JSON.stringify(response.body), process_id: null })
          .where((eb) => eb.and({ ...key, work_id: workId, process_id: processId }))
          .execute(),
      );
    },

    async release({ key, workId }) {
      const work = async (tx: Tx): Promise<void> => {
        await tx
          .updateTable("idempotency")
          .set({ process_id: null })
          .where((eb) => eb.and({ ...key, work_id: workId, process_id: processId }))
          .where("status", "is", null)
          .execute();
      };
      const failed = (error: unknown): void =>
        log.warn({ err: error, workId }, "idempotency: releasing a claim failed");
      await store.writeWhenBack(work, { ms: leaseMs, failed });
    },
  };
}

/** Throws if another request has changed the row since it was read. */
async function replace(
  tx: Tx,
  key: ClaimKey,
  row: Selectable<IdempotencyTable>,
  next: Partial<Selectable<IdempotencyTable>>,
): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable("idempotency")
    .set(next)
    .where((eb) => eb.and(key))
    .where("lease_until", "=", row.lease_until)
    .where("created_at", "=", row.created_at)
    .where("process_id", row.process_id === null ? "is" : "=", row.process_id)
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) throw inFlight();
}

/** Runs with new claims, so that no job is needed. */
async function deleteExpired(tx: Tx, at: number): Promise<void> {
  const expired = await tx
    .selectFrom("idempotency")
    .select(["key_id", "path", "idempotency_key"])
    .where("created_at", "<", at - 2 * keptMs)
    .orderBy("created_at")
    .limit(expiredRowsMax)
    .execute();
  for (const row of expired) {
    await tx
      .deleteFrom("idempotency")
      .where((eb) => eb.and(row))
      .execute();
  }
}

function inFlight(cause?: unknown): Problem {
  return new Problem("duplicate_request_id", "The first request with this Idempotency-Key is still in flight.", {
    retryAfterS: 1,
    cause,
  });
}
