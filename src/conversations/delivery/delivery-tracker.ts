import { sql } from "kysely";
import type { Receipt } from "#channels/contract.ts";
import type { LeasedRow } from "#database/queries/outbox.ts";
import { LostLease, finishWork, lockWork } from "#database/queries/outbox.ts";
import { prepareStatement } from "#database/dialects/prepared.ts";
import type { DeliveryState } from "#database/schema/tables.ts";
import { statesBefore } from "./delivery-states.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Store, Tx } from "#database/contract.ts";
import { createBatchWriter } from "#queue/batch-writer.ts";

// Stores the state of each part before and after its platform call, so that a crash leaves no doubt which parts may have
// been sent.

interface ClaimedPart {
  readonly row: LeasedRow;
  readonly deliveryId: string;
}

interface SentPart extends ClaimedPart {
  readonly externalId: string | null;
  readonly state: Receipt["state"];
  /** Whether "sending" was stored and the platform can be asked for the outcome. */
  readonly isFoundOut: boolean;
}

interface BegunPart extends ClaimedPart {
  /** The state that was read. It decided whether the platform was asked. */
  readonly state: "queued" | "sending";
}

/** Stores that a part's call begins, and that the platform has the part. */
export interface DeliveryTracker {
  /**
   * Rejects with {@link LostLease} if another process holds the lease, or the state has changed since it was read. The
   * caller must not send the part then.
   */
  begin(part: BegunPart): Promise<void>;
  /**
   * Stores "sending" in the transaction that stores these parts and claims their work, which saves another transaction
   * before the call. Must not be called for a platform that cannot be asked for the outcome: if the process ends before
   * the call, the next one has to ask.
   */
  beginStored(tx: Tx, parts: readonly ClaimedPart[]): Promise<void>;
  /** Whether {@link beginStored} was called for this claim of the work. True only once. */
  takeBegun(row: LeasedRow): boolean;
  /** Resolves with false, and stores nothing, if another outcome was stored already. */
  sent(sent: SentPart): Promise<boolean>;
}

/** Batches the writes of parts that are sent at the same time. */
export function createDeliveryTracker({
  store,
  clock,
}: {
  readonly store: Store;
  readonly clock: Clock;
}): DeliveryTracker {
  /**
   * Claims whose part is in state "sending" and certainly not sent yet: the end of the lease by the id of the work. A later
   * claim of the same work has another end, since another process may have sent the part meanwhile.
   */
  const begun = new Map<number, number | null>();
  const begin = async (tx: Tx, parts: readonly BegunPart[]): Promise<readonly undefined[]> => {
    await lockWork(
      tx,
      parts.map(({ row }) => row),
    );
    for (const state of ["queued", "sending"] as const) {
      const all = parts.filter((part) => part.state === state);
      for (const [leaseId, of] of Map.groupBy(all, ({ row }) => row.lease_id ?? "")) {
        const ids = of.map(({ deliveryId }) => deliveryId);
        const workIds = of.map(({ row }) => row.id);
        const marked = await markSending(tx, { ids, workIds, leaseId, count: of.length, now: clock.now() }, state);
        if (Number(marked.numAffectedRows) !== of.length) throw new LostLease();
      }
    }
    return parts.map(() => undefined);
  };
  const sent = async (tx: Tx, parts: readonly SentPart[]): Promise<readonly undefined[]> => {
    await finishWork(
      tx,
      parts.map(({ row }) => row),
    );
    for (const [state, of] of Map.groupBy(parts, (part) => part.state)) {
      const ids = of.map(({ deliveryId }) => deliveryId);
      const externalIds = of.map(({ externalId }) => externalId);
      const { numAffectedRows } = await markSent(tx, { ids, externalIds, now: clock.now() }, state);
      if (Number(numAffectedRows) !== of.length) throw new ConflictingOutcome();
    }
    return parts.map(() => undefined);
  };
  const beginTogether = createBatchWriter({ store, all: begin });
  const storeSent = (flush: boolean) => createBatchWriter({ store, all: sent, flush });
  // No flush is needed where the platform can be asked: after a loss of power the next start asks it.
  const ofFoundOut = storeSent(false);
  const ofOthers = storeSent(true);
  return {
    begin: beginTogether,
    async beginStored(tx, parts) {
      if (parts.length === 0) return;
      await markStored(tx, { ids: parts.map(({ deliveryId }) => deliveryId), now: clock.now() });
      // If the transaction is rolled back, this claim has no work.
      for (const { row } of parts) begun.set(row.id, row.lease_until);
    },
    takeBegun({ id, lease_until: leaseUntil }) {
      const isOfClaim = begun.get(id) === leaseUntil;
      begun.delete(id);
      return isOfClaim;
    },
    async sent(part) {
      try {
        await (part.isFoundOut ? ofFoundOut : ofOthers)(part);
        return true;
      } catch (error) {
        if (error instanceof ConflictingOutcome) return false;
        throw error;
      }
    },
  };
}

interface Sending extends Readonly<Record<string, string | number | readonly string[] | readonly number[]>> {
  readonly ids: readonly string[];
  readonly workIds: readonly number[];
  readonly leaseId: string;
  readonly count: number;
  readonly now: number;
}

/** Updates no row if the lease has expired, because another worker has sent the part or will. */
const markSending = prepareStatement((db, { ids, workIds, leaseId, count, now }: Sending, shape) => {
  const state = shape as BegunPart["state"];
  return (
    db
      .updateTable("deliveries")
      // `started_at` keeps the time of the first try: the part may have been sent since then.
      .set((eb) => ({
        ...(state === "queued" ? { started_at: now } : {}),
        attempts: eb("attempts", "+", 1),
        state: "sending",
      }))
      .where("id", "in", ids)
      .where("state", "=", state)
      .where(
        (eb) =>
          eb
            .selectFrom("outbox")
            .select((of) => of.fn.countAll<number>().as("held"))
            .where("id", "in", workIds)
            .where("lease_id", "=", leaseId),
        "=",
        count,
      )
  );
});

const markStored = prepareStatement((db, { ids, now }: { readonly ids: readonly string[]; readonly now: number }) =>
  db
    .updateTable("deliveries")
    .set({ state: "sending", attempts: 1, started_at: now })
    .where("id", "in", ids)
    .where("state", "=", "queued"),
);

interface Settling extends Readonly<Record<string, number | readonly (string | null)[]>> {
  readonly ids: readonly string[];
  /** In the order of `ids`. */
  readonly externalIds: readonly (string | null)[];
  readonly now: number;
}

const markSent = prepareStatement((db, { ids, externalIds, now }: Settling, shape) => {
  const state = shape as DeliveryState;
  const cases = ids.map((id, at) => sql`when ${id} then ${externalIds[at]}`);
  return db
    .updateTable("deliveries")
    .set({
      state,
      external_id: sql<string | null>`case id ${sql.join(cases, sql` `)} end`,
      settled_at: now,
      error: null,
    })
    .where("id", "in", ids)
    .where("state", "in", statesBefore(state));
});

/** The platform's report was stored first, or the part was deleted. */
class ConflictingOutcome extends Error {}
