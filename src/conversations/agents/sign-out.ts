import { Type } from "typebox";
import type { Store } from "#database/contract.ts";
import type { NewWork } from "#database/queries/outbox.ts";
import { finishWork } from "#database/queries/outbox.ts";
import type { WorkDeclaration } from "#database/work.ts";
import { declareWork, workKind } from "#database/work.ts";
import { agentTopic } from "#queue/signals/topics.ts";
import type { Fanout } from "#runtime/signals.ts";

/** The end of an agent's live connections in all processes. */
const signOutKind = workKind("signout", Type.Object({ agentId: Type.String() }));

/** Queued when an agent is removed or signed out. */
export const signOutWork = (agentId: string, now: number): NewWork =>
  signOutKind.queued(`signout:${agentId}`, { agentId }, now);

export function declareSignOut({
  store,
  fanout,
}: {
  readonly store: Store;
  readonly fanout: Pick<Fanout, "publish">;
}): WorkDeclaration {
  return declareWork(signOutKind, {
    batch: true,
    attemptsMax: 5,
    async run(rows) {
      for (const { payload } of rows) fanout.publish(agentTopic(payload.agentId), "{}");
      await store.write((tx) => finishWork(tx, rows));
    },
  });
}
