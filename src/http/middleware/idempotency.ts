import { hash } from "node:crypto";
import type { Selectable } from "kysely";
import { newId } from "#domain/ids.ts";
import { Problem } from "#domain/problem.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { Store, Tx } from "#database/contract.ts";
import { isDuplicate } from "#database/duplicate-key.ts";
import { isDatabaseFault } from "#database/faults.ts";
import type { ProcessWatch } from "#database/process-heartbeat.ts";
import { isProcessGone } from "#database/process-heartbeat.ts";
import type { IdempotencyTable } from "#database/schema/tables.ts";

/** For so long an answer is kept. */
const keptMs = 24 * 3_600_000;

/** Longer than any request can take: after it nobody is waited for, also where its process still says that it runs. */
const leaseMs = 90_000;

/** Old rows that one new claim clears away at most. */
const clearedRowsMax = 20;

export interface KeptResponse {
  readonly status: number;
  readonly body: unknown;
}

export interface IdempotentRequest {
  readonly keyId: string;
  readonly path: string;
  /** The Idempotency-Key header; undefined: the work simply runs. */
  readonly idempotencyKey: string | undefined;
  readonly body: unknown;
}

export interface Idempotency {
  /**
   * Runs `work` once for all requests that say the same, and gives its response to each of them. Only what `work`
   * returns is kept: when it throws, or its process dies, the next request runs it again with the same `workId`, by
   * which it finds what was stored already. Throws Problem duplicate_request_id, and invalid_parameter for a key that
   * cannot be one.
   */
  run(
    request: IdempotentRequest,
    work: (workId: string | undefined) => Promise<KeptResponse>,
  ): Promise<KeptResponse & { readonly replayed: boolean }>;
}

export interface IdempotencyDependencies {
  readonly store: Store;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
  readonly processId: string;
  readonly watch: Pick<ProcessWatch, "silent">;
}

export function createIdempotency({ store, clock, log, processId, watch }: IdempotencyDependencies): Idempotency {
  return {
    async run(request, work) {
      const key = request.idempotencyKey;
      if (key === undefined) return { ...(await work(undefined)), replayed: false };
      if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
        throw new Problem("invalid_parameter", "Idempotency-Key must be 1 to 255 visible ASCII characters.");
      }
      const claim = {
        key_id: request.keyId,
        path: request.path.length > 190 ? hash("sha256", request.path, "hex") : request.path,
        // Hashed: the column is shorter than a key may be, and what callers put into it is theirs.
        idempotency_key: hash("sha256", key, "hex"),
        body_hash: hash("sha256", JSON.stringify(request.body) ?? "", "hex"),
      };
      const held = { ...claim, work_id: newId("req", clock.now()) };
      let kept: KeptResponse | undefined;
      try {
        kept = await take(held);
      } catch (error) {
        // It may have been taken all the same.
        if (isDatabaseFault(error)) await release(held);
        throw error;
      }
      if (kept !== undefined) return { ...kept, replayed: true };
      try {
        const response = await work(held.work_id);
        await settle(held, response);
        return { ...response, replayed: false };
      } catch (error) {
        await release(held);
        throw error;
      }
    },
  };

  type Claim = Readonly<Record<"key_id" | "path" | "idempotency_key" | "body_hash", string>>;
  /** `work_id` is that of the request before this one, where this one goes on with it. */
  type Held = Claim & { work_id: string };

  /** The kept response; undefined: the claim is now ours. */
  async function take(held: Held): Promise<KeptResponse | undefined> {
    const at = clock.now();
    const { body_hash, work_id: newWorkId, ...key } = held;
    try {
      return await store.write(async (tx): Promise<KeptResponse | undefined> => {
        held.work_id = newWorkId;
        const row = await tx
          .selectFrom("idempotency")
          .selectAll()
          .where((eb) => eb.and(key))
          .executeTakeFirst();
        const fresh = {
          body_hash,
          status: null,
          response: null,
          process_id: processId,
          work_id: newWorkId,
          lease_until: at + leaseMs,
          created_at: at,
        };
        if (row === undefined) {
          await clearOld(tx, at);
          await tx
            .insertInto("idempotency")
            .values({ ...key, ...fresh })
            .execute();
          return undefined;
        }
        const old = row.created_at <= at - keptMs;
        const abandoned = row.status === null && (await isAbandoned(tx, row, at));
        if (abandoned || (old && row.status !== null)) {
          // The same again goes on where the one before it ended; whatever else is a request of its own.
          const goesOn = !old && row.body_hash === body_hash && row.work_id !== null;
          const next = goesOn ? { ...fresh, work_id: row.work_id, created_at: row.created_at } : fresh;
          const taken = await tx
            .updateTable("idempotency")
            .set(next)
            .where((eb) => eb.and(key))
            .where("lease_until", "=", row.lease_until)
            .where("created_at", "=", row.created_at)
            .where("process_id", row.process_id === null ? "is" : "=", row.process_id)
            .executeTakeFirst();
          if (taken.numUpdatedRows !== 1n) throw inFlight();
          held.work_id = next.work_id ?? newWorkId;
          return undefined;
        }
        if (row.status === null) throw inFlight();
        if (row.body_hash !== body_hash) {
          throw new Problem("duplicate_request_id", "This Idempotency-Key was used with another body.");
        }
        return { status: row.status, body: JSON.parse(row.response ?? "null") as unknown };
      });
    } catch (error) {
      if (isDuplicate(error)) throw inFlight(error);
      throw error;
    }
  }

  async function isAbandoned(tx: Tx, row: Selectable<IdempotencyTable>, at: number): Promise<boolean> {
    if (row.process_id === null || row.lease_until <= at) return true;
    return row.process_id !== processId && (await isProcessGone(tx, row.process_id, watch.silent()));
  }

  /** Whoever comes first after a day takes a few old rows along, so that no job is needed for it. */
  async function clearOld(tx: Tx, at: number): Promise<void> {
    const old = await tx
      .selectFrom("idempotency")
      .select(["key_id", "path", "idempotency_key"])
      .where("created_at", "<", at - 2 * keptMs)
      .orderBy("created_at")
      .limit(clearedRowsMax)
      .execute();
    for (const row of old) {
      await tx
        .deleteFrom("idempotency")
        .where((eb) => eb.and(row))
        .execute();
    }
  }

  /** Only while it is still ours: who was thought dead must not write over what another has answered since. */
  async function settle({ body_hash: _, ...held }: Held, response: KeptResponse): Promise<void> {
    await store.write((tx) =>
      tx
        .updateTable("idempotency")
        .set({ status: response.status, response: JSON.stringify(response.body), process_id: null })
        .where((eb) => eb.and({ ...held, process_id: processId }))
        .execute(),
    );
  }

  async function release({ body_hash: _, ...held }: Held): Promise<void> {
    const work = async (tx: Tx): Promise<void> => {
      await tx
        .updateTable("idempotency")
        .set({ process_id: null })
        .where((eb) => eb.and({ ...held, process_id: processId }))
        .where("status", "is", null)
        .execute();
    };
    const failed = (error: unknown): void =>
      log.warn({ err: error, workId: held.work_id }, "idempotency: releasing a claim failed");
    await store.writeWhenBack(work, { ms: leaseMs, failed });
  }
}

function inFlight(cause?: unknown): Problem {
  return new Problem("duplicate_request_id", "The first request with this Idempotency-Key is still in flight.", {
    retryAfterS: 1,
    cause,
  });
}
