import type { Tx } from "#database/contract.ts";
import type { Heartbeats } from "#database/clock-skew.ts";
import { insertRows } from "#database/dialects/insert-rows.ts";
import { notSilent } from "#database/process-heartbeat.ts";

/**
 * How many requests of each API key are in flight, at this process and at the others on its database. A process alone
 * on its database writes nothing; it begins with the first request that sees another process.
 */
export interface RequestsInFlight {
  /** Enters a request at this process; the end of it, to be called once. */
  enter(keyId: string): () => void;
  /** At this process. */
  here(keyId: string): number;
  /** Whether other processes believe something of this one that is over. */
  hasNews(): boolean;
  /** Tells the other processes what this one has. They are told once `committed` was called, after the commit. */
  tell(tx: Tx): Promise<Told>;
  /** What the others have, by key. Exact while no other process can {@link tell} of these keys. */
  elsewhere(tx: Tx, keyIds: readonly string[], silent: Heartbeats): Promise<ReadonlyMap<string, number>>;
}

export interface Told {
  committed(): void;
}

interface Count {
  here: number;
  /** What the others were last told. */
  told: number;
}

export function createRequestsInFlight(processId: string): RequestsInFlight {
  const counts = new Map<string, Count>();

  function settle(told: readonly { readonly key_id: string; readonly count: number }[]): void {
    for (const { key_id, count } of told) {
      // They may all have ended meanwhile.
      const kept = counts.get(key_id) ?? { here: 0, told: 0 };
      kept.told = count;
      if (kept.here === 0 && count === 0) counts.delete(key_id);
      else counts.set(key_id, kept);
    }
  }

  return {
    enter(keyId) {
      const count = counts.get(keyId) ?? { here: 0, told: 0 };
      counts.set(keyId, count);
      count.here += 1;
      return () => {
        count.here -= 1;
        if (count.here === 0 && count.told === 0) counts.delete(keyId);
      };
    },
    here: (keyId) => counts.get(keyId)?.here ?? 0,
    hasNews: () => counts.values().some(({ here, told }) => told > 0 && here !== told),
    async tell(tx) {
      const rows = [...counts]
        .filter(([, { here, told }]) => here !== told)
        .map(([key_id, { here }]) => ({ key_id, process_id: processId, count: here }))
        // In one order, so that two processes cannot wait for each other.
        .toSorted((a, b) => (a.key_id < b.key_id ? -1 : 1));
      const going = rows.filter(({ count }) => count > 0);
      const ended = rows.filter(({ count }) => count === 0).map(({ key_id }) => key_id);
      if (ended.length > 0) {
        const ours = tx.deleteFrom("requests_in_flight").where("process_id", "=", processId);
        await ours.where("key_id", "in", ended).execute();
      }
      await insertRows(tx, "requests_in_flight", going, { keys: ["key_id", "process_id"], replace: ["count"] });
      return { committed: () => settle(rows) };
    },
    async elsewhere(tx, keyIds, silent) {
      const rows = await tx
        .selectFrom("requests_in_flight as r")
        .innerJoin("processes", "processes.id", "r.process_id")
        .select(({ fn }) => ["r.key_id as keyId", fn.sum<number | string>("r.count").as("count")])
        .where("r.key_id", "in", keyIds)
        .where("r.process_id", "<>", processId)
        // What a killed process had in flight is over.
        .where(notSilent(silent))
        .groupBy("r.key_id")
        .execute();
      return new Map(rows.map(({ keyId, count }) => [keyId, Number(count)]));
    },
  };
}
