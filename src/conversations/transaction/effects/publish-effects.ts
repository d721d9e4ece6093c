import type { FindLocalWorker } from "#conversations/transaction/local-worker.ts";
import type { PublishEffects } from "#conversations/work/effects.ts";
import { threadTopic, workspaceTopic } from "#queue/signals/topics.ts";
import type { Fanout, Wake } from "#runtime/signals.ts";

interface PublishOptions {
  readonly wake: Wake;
  readonly fanout: Fanout;
  readonly localWorker: FindLocalWorker;
}

export function createPublishEffects({ wake, fanout, localWorker }: PublishOptions): PublishEffects {
  return (effects) => {
    if (effects === null) return;
    // First, because this process holds the lease: if a later step failed, the work would wait until the lease expires.
    if (effects.taken !== undefined) localWorker()?.take(effects.taken);
    for (const [dueAt, works] of Map.groupBy(effects.wake, (work) => work.dueAt)) {
      wake.notify(
        works.map(({ lane }) => lane),
        dueAt,
      );
    }
    for (const { accountId, contextKey, amended } of effects.threads) {
      const signal = { kind: "changed", ...(amended === true ? { amended } : {}) };
      fanout.publish(threadTopic(accountId, contextKey), JSON.stringify(signal));
    }
    for (const { workspaceId, conversationId, assigned } of effects.workspaces) {
      const topic = workspaceTopic(workspaceId);
      fanout.publish(topic, JSON.stringify({ kind: "changed", conversationId }));
      if (assigned === undefined) continue;
      fanout.publish(topic, JSON.stringify({ kind: "assigned", conversationId, ...assigned }));
    }
  };
}
