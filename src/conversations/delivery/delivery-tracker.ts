import { sql } from "kysely";
import type { Receipt } from "#channels/contract.ts";
import type { OutboxRow } from "#database/queries/outbox.ts";
import { LostLease, finishWork, lockWork } from "#database/queries/outbox.ts";
import { prepareWork } from "#database/dialects/prepared.ts";
import type { DeliveryState } from "#database/schema/tables.ts";
import { statesBefore } from "#conversations/inbound/event-effects.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Store, Tx } from "#database/contract.ts";
import { createBatchWriter } from "#queue/batch-writer.ts";

// What is stored around the platform call of each part, so that after a crash it is known what may have arrived.

interface SentPart {
  readonly row: OutboxRow;
  readonly deliveryId: string;
  readonly externalId: string | null;
  readonly state: Receipt["state"];
  /** Whether it was stored that its call begins, and the platform can be asked what became of it. */
  readonly isFoundOut: boolean;
}

interface BegunPart extends Pick<SentPart, "row" | "deliveryId"> {
  /** As it was read: whether the platform was asked hangs on it. */
  readonly state: "queued" | "sending";
}

/** What is stored of every part: that its call begins, and that the platform has it. */
export interface DeliveryTracker {
  /**
   * Rejects with {@link LostLease} where it is not this process's any more, or more is known of it than was: then the
   * part must not be sent by it.
   */
  begin(part: BegunPart): Promise<void>;
  /** False: something else was known of it, and nothing is stored. */
  sent(sent: SentPart): Promise<boolean>;
}

/** Those of many parts at the same time are stored together. */
export function createDeliveryTracker({
  store,
  clock,
}: {
  readonly store: Store;
  readonly clock: Clock;
}): DeliveryTracker {
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
  const beginTogether = createBatchWriter({
    store,
    all: begin,
    alone: async (tx, part: BegunPart) => (await begin(tx, [part]))[0],
  });
  const storeSent = (flush: boolean) =>
    createBatchWriter({ store, all: sent, alone: async (tx, part: SentPart) => (await sent(tx, [part]))[0], flush });
  // Where a loss of power leaves only that its call has begun, the platform is asked at the next start.
  const ofFoundOut = storeSent(false);
  const ofOthers = storeSent(true);
  return {
    begin: beginTogether,
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

/** Whoever was held up for longer than their lease finds nothing to mark: another has sent it, or is about to. */
const markSending = prepareWork((db, { ids, workIds, leaseId, count, now }: Sending, shape) => {
  const state = shape as BegunPart["state"];
  return (
    db
      .updateTable("deliveries")
      // What may have arrived has done so since the first try.
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

interface Settling extends Readonly<Record<string, number | readonly (string | null)[]>> {
  readonly ids: readonly string[];
  /** In the order of the ids. */
  readonly externalIds: readonly (string | null)[];
  readonly now: number;
}

const markSent = prepareWork((db, { ids, externalIds, now }: Settling, shape) => {
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

/** The platform's report was faster, or the part is gone. */
class ConflictingOutcome extends Error {}
