import type { Tx } from "#database/contract.ts";
import type { Heartbeats } from "#database/clock-skew.ts";
import { insertRows } from "#database/dialects/insert-rows.ts";
import { notSilent } from "#database/process-heartbeat.ts";

/**
 * Counts the requests of each API key in flight, in this process and the others on its database. A single process writes
 * nothing; writing begins with the first request that sees another process.
 */
export interface RequestsInFlight {
  /** Enters a request of this process, and returns the function that ends it, to be called once. */
  enter(keyId: string): () => void;
  /** Requests of this process. */
  here(keyId: string): number;
  /** Whether ended requests are still to be reported to the other processes. */
  hasNews(): boolean;
  /** Writes this process's counts for the others. `committed` must be called after the commit. */
  report(tx: Tx): Promise<CountsReport>;
  /** The other processes' counts by key. Exact while none of them can write the counts of these keys. */
  elsewhere(tx: Tx, keyIds: readonly string[], silent: Heartbeats): Promise<ReadonlyMap<string, number>>;
}

export interface CountsReport {
  committed(): void;
}

interface Count {
  here: number;
  /** The count last written for the others. */
  reported: number;
}

export function createRequestsInFlight(processId: string): RequestsInFlight {
  const counts = new Map<string, Count>();

  function settle(reported: readonly { readonly key_id: string; readonly count: number }[]): void {
    for (const { key_id, count } of reported) {
      // All requests of the key may have ended meanwhile.
      const kept = counts.get(key_id) ?? { here: 0, reported: 0 };
      kept.reported = count;
      if (kept.here === 0 && count === 0) counts.delete(key_id);
      else counts.set(key_id, kept);
    }
  }

  return {
    enter(keyId) {
      const count = counts.get(keyId) ?? { here: 0, reported: 0 };
      counts.set(keyId, count);
      count.here += 1;
      return () => {
        count.here -= 1;
        if (count.here === 0 && count.reported === 0) counts.delete(keyId);
      };
    },
    here: (keyId) => counts.get(keyId)?.here ?? 0,
    hasNews: () => counts.values().some(({ here, reported }) => reported > 0 && here !== reported),
    async report(tx) {
      const rows = [...counts]
        .filter(([, { here, reported }]) => here !== reported)
        .map(([key_id, { here }]) => ({ key_id, process_id: processId, count: here }))
        // A fixed order prevents deadlocks between processes.
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
        // The requests of a killed process have ended.
        .where(notSilent(silent))
        .groupBy("r.key_id")
        .execute();
      return new Map(rows.map(({ keyId, count }) => [keyId, Number(count)]));
    },
  };
}
