import { hash } from "node:crypto";
import { Problem } from "#domain/problem.ts";
import type { Store, Tx } from "#engine/ports.ts";
import { isDuplicate } from "#store/duplicate.ts";

/** For so long an answer is kept. */
const keptMs = 24 * 3_600_000;

/** Longer than any request can take: after it, the process that held the claim is gone. */
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
   * returns is kept: when it throws, the next request runs it again. Throws Problem duplicate_request_id, and
   * invalid_parameter for a key that cannot be one.
   */
  run(
    request: IdempotentRequest,
    work: () => Promise<KeptResponse>,
  ): Promise<KeptResponse & { readonly replayed: boolean }>;
}

export function createIdempotency(store: Store, now: () => number): Idempotency {
  return {
    async run(request, work) {
      const key = request.idempotencyKey;
      if (key === undefined) return { ...(await work()), replayed: false };
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
      const kept = await take(claim);
      if (kept !== null) return { ...kept, replayed: true };
      try {
        const response = await work();
        await settle(claim, response);
        return { ...response, replayed: false };
      } catch (error) {
        await release(claim);
        throw error;
      }
    },
  };

  type Claim = Readonly<Record<"key_id" | "path" | "idempotency_key" | "body_hash", string>>;

  /** The kept response, or null when the claim is now ours. */
  async function take(claim: Claim): Promise<KeptResponse | null> {
    const at = now();
    const { body_hash, ...key } = claim;
    try {
      return await store.write(async (tx) => {
        const row = await tx
          .selectFrom("idempotency")
          .selectAll()
          .where((eb) => eb.and(key))
          .executeTakeFirst();
        const fresh = { body_hash, status: null, response: null, lease_until: at + leaseMs, created_at: at };
        if (row === undefined) {
          await clearOld(tx, at);
          await tx
            .insertInto("idempotency")
            .values({ ...key, ...fresh })
            .execute();
          return null;
        }
        const over = row.status === null ? row.lease_until <= at : row.created_at <= at - keptMs;
        if (over) {
          const taken = await tx
            .updateTable("idempotency")
            .set(fresh)
            .where((eb) => eb.and(key))
            .where("lease_until", "=", row.lease_until)
            .where("created_at", "=", row.created_at)
            .executeTakeFirst();
          if (taken.numUpdatedRows === 1n) return null;
        }
        if (row.status === null || over) throw inFlight();
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

  async function settle({ body_hash: _, ...key }: Claim, response: KeptResponse): Promise<void> {
    await store.write((tx) =>
      tx
        .updateTable("idempotency")
        .set({ status: response.status, response: JSON.stringify(response.body) })
        .where((eb) => eb.and(key))
        .execute(),
    );
  }

  async function release({ body_hash: _, ...key }: Claim): Promise<void> {
    await store.write((tx) =>
      tx
        .deleteFrom("idempotency")
        .where((eb) => eb.and(key))
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
