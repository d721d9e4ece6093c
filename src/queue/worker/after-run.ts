import type { Store } from "#database/contract.ts";
import { lanesWithWork } from "#database/queries/outbox.ts";
import type { Clock } from "#runtime/clock.ts";
import type { ConnectionWatch } from "./connection-watch.ts";

interface AfterRunOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly connection: Pick<ConnectionWatch, "guard">;
  /** Called for each lane that has due rows. */
  readonly onReady: (lane: string) => void;
  readonly onLooked: () => void;
  readonly isClosing: () => boolean;
}

/**
 * Looks for rows that arrived while a lane ran, for all lanes that ended in one turn of the event loop. Reads before the
 * worker claims: most lanes have no new rows, and a claim needs a write transaction.
 */
export function createAfterRun({ store, clock, connection, onReady, onLooked, isClosing }: AfterRunOptions) {
  const ended = new Set<string>();
  let looking = false;

  function add(lane: string): void {
    ended.add(lane);
    if (looking || isClosing()) return;
    looking = true;
    setImmediate(() => void connection.guard(look));
  }

  async function look(): Promise<void> {
    const lanes = [...ended];
    ended.clear();
    try {
      for (const lane of await lanesWithWork(store, lanes, clock.now())) onReady(lane);
    } catch (error) {
      for (const lane of lanes) onReady(lane);
      throw error;
    } finally {
      looking = false;
      for (const lane of ended) add(lane);
    }
    onLooked();
  }

  return add;
}
