import type { ModelUsage } from "#answering/budgeted-answerer.ts";
import type { Store } from "#database/contract.ts";
import { addModelTokens, modelTokensUsed } from "#database/queries/counters.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";

/** Counts in the database, so that all processes share a budget. */
export function createModelUsage({
  store,
  clock,
  log,
}: {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}): ModelUsage {
  return {
    used: (workspaceId) => modelTokensUsed(store.read, workspaceId, clock.now()),
    async add(workspaceId, tokens, max) {
      try {
        const sum = await store.write((tx) => addModelTokens(tx, workspaceId, tokens, clock.now()), { flush: false });
        if (max !== null && sum >= max && sum - tokens < max) {
          log.warn({ workspaceId, tokens: sum, max }, "model: tokens of the month are used up");
        }
      } catch (error) {
        // The customer gets the answer all the same.
        log.error({ err: error, workspaceId, tokens }, "model: counting tokens failed");
      }
    },
  };
}
