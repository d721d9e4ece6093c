import { createHybridIndex } from "#knowledge/vectors/hybrid-index.ts";
import { builtInCalibration, createBuiltInEmbedder } from "#knowledge/vectors/encoder/built-in-embedder.ts";
import { createVectors } from "#knowledge/vectors/vectors.ts";
import type { KnowledgeIndex } from "#knowledge/index/contract.ts";
import { queueVectors, vectorLane } from "#knowledge/index/work.ts";
import type { OpenStore } from "#database/open.ts";
import type { Calibration } from "#models/embedding.ts";
import { silentLog } from "#test/support/knowledge/knowledge.ts";

const clock = { now: () => Date.now(), timer: () => () => undefined };

/** Opens the index with the built-in encoder, once every passage has its vectors. `changed` replaces its calibration. */
export type WithMeaning = (changed?: Partial<Calibration>) => KnowledgeIndex;

export async function withMeaning(store: OpenStore, words: KnowledgeIndex, workspaceId: string): Promise<WithMeaning> {
  const embedder = createBuiltInEmbedder({ log: silentLog });
  const vectors = createVectors({ store, embedder, clock, log: silentLog });
  await store.write((tx) => queueVectors(tx, workspaceId, clock.now()));
  const { signal } = new AbortController();
  for (;;) {
    const rows = await store.read
      .selectFrom("outbox")
      .selectAll()
      .where("lane", "=", vectorLane(workspaceId))
      .execute();
    if (rows.length === 0) break;
    await store.write((tx) =>
      tx
        .updateTable("outbox")
        .set({ lease_id: "bench", lease_until: clock.now() + 600_000 })
        .where("lane", "=", vectorLane(workspaceId))
        .execute(),
    );
    await vectors.work.run(
      rows.map((row) => ({ ...vectors.work.read(row), lease_id: "bench" })),
      signal,
    );
  }
  await vectors.prepare(workspaceId);
  return (changed) => {
    const calibration = { ...builtInCalibration, ...changed };
    return createHybridIndex({
      words,
      vectors,
      embedder: { ...embedder, calibration },
      read: store.read,
      log: silentLog,
    });
  };
}
