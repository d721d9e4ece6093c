import { hash } from "node:crypto";
import type { Selectable } from "kysely";
import { newId } from "#domain/ids.ts";
import { Problem } from "#domain/problem.ts";
import type { Store, Tx } from "#engine/ports.ts";
import { isDuplicate } from "#store/duplicate.ts";
import { isProcessGone } from "#store/processes.ts";
import type { IdempotencyTable } from "#store/schema.ts";

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

export function createIdempotency(store: Store, now: () => number, processId: string): Idempotency {
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
      const taken = await take(claim);
      if (taken.kind === "kept") return { ...taken.response, replayed: true };
      const held = { ...claim, work_id: taken.workId };
      try {
        const response = await work(taken.workId);
        await settle(held, response);
        return { ...response, replayed: false };
      } catch (error) {
        await release(held);
        throw error;
      }
    },
  };

  type Claim = Readonly<Record<"key_id" | "path" | "idempotency_key" | "body_hash", string>>;
  type Held = Claim & { readonly work_id: string };
  type Taken =
    | { readonly kind: "kept"; readonly response: KeptResponse }
    | { readonly kind: "ours"; readonly workId: string };

  /** The kept response, or the claim that is now ours. */
  async function take(claim: Claim): Promise<Taken> {
    const at = now();
    const { body_hash, ...key } = claim;
    const newWorkId = newId("req", at);
    try {
      return await store.write(async (tx): Promise<Taken> => {
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
          return { kind: "ours", workId: newWorkId };
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
          if (taken.numUpdatedRows === 1n) return { kind: "ours", workId: next.work_id ?? newWorkId };
          throw inFlight();
        }
        if (row.status === null) throw inFlight();
        if (row.body_hash !== body_hash) {
          throw new Problem("duplicate_request_id", "This Idempotency-Key was used with another body.");
        }
        return {
          kind: "kept",
          response: { status: row.status, body: JSON.parse(row.response ?? "null") as unknown },
        };
      });
    } catch (error) {
      if (isDuplicate(error)) throw inFlight(error);
      throw error;
    }
  }

  async function isAbandoned(tx: Tx, row: Selectable<IdempotencyTable>, at: number): Promise<boolean> {
    if (row.process_id === null || row.lease_until <= at) return true;
    return row.process_id !== processId && (await isProcessGone(tx, row.process_id, at));
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
    await store.write((tx) =>
      tx
        .updateTable("idempotency")
        .set({ process_id: null })
        .where((eb) => eb.and({ ...held, process_id: processId }))
        .where("status", "is", null)
        .execute(),
    );
  }
}

function inFlight(cause?: unknown): Problem {
  return new Problem("duplicate_request_id", "The first request with this Idempotency-Key is still in flight.", {
    retryAfterS: 1,
    cause,
  });
}
