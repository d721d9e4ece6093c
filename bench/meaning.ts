import { createHybridIndex } from "#knowledge/vectors/hybrid-index.ts";
import { createBuiltInEmbedder } from "#knowledge/vectors/encoder/built-in-embedder.ts";
import type { WorkspaceEncoder } from "#knowledge/vectors/encoder-state.ts";
import { evidence } from "#knowledge/vectors/encoder-state.ts";
import { createVectors } from "#knowledge/vectors/vectors.ts";
import type { KnowledgeIndex } from "#knowledge/index/contract.ts";
import { queueVectors, vectorLane } from "#knowledge/index/work.ts";
import type { OpenStore } from "#database/open.ts";
import { createEmbedder } from "#models/embedder.ts";
import type { Calibration, Embedder } from "#models/embedding.ts";
import { silentLog } from "#test/support/knowledge/knowledge.ts";

const clock = { now: () => Date.now(), timer: () => () => undefined };

/** `raw`: the server's similarities are read as those of the built-in encoder, without prefixes. */
export interface Meaning {
  readonly server?: { readonly url: string; readonly model: string };
  readonly raw?: boolean;
}

/** The encoder that a bench measures. A server's key is read from EMBEDDING_API_KEY, as the program does. */
function embedderFor({ server, raw = false }: Meaning): Embedder {
  if (server === undefined) return createBuiltInEmbedder({ log: silentLog });
  const config = {
    provider: "openai-compatible",
    baseUrl: server.url.replace(/\/+$/u, ""),
    name: server.model,
    apiKey: process.env["EMBEDDING_API_KEY"],
    prefixes: raw ? "none" : "auto",
  } as const;
  return createEmbedder(config, clock);
}

/**
 * Opens the index once every passage has its vectors, and a server's encoder is calibrated as the program does it.
 * `changed` replaces how the evidence counts.
 */
export type WithMeaning = (changed?: Partial<Calibration>) => KnowledgeIndex;

export async function withMeaning(
  store: OpenStore,
  words: KnowledgeIndex,
  workspaceId: string,
  meaning: Meaning,
): Promise<WithMeaning> {
  const embedder = embedderFor(meaning);
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
  const row = await store.read
    .selectFrom("vector_models")
    .select("calibration")
    .where("workspace_id", "=", workspaceId)
    .executeTakeFirst();
  if (typeof row?.calibration === "string") console.error(`${workspaceId}: ${row.calibration}`);
  const encoderOf = async (changed?: Partial<Calibration>): Promise<WorkspaceEncoder | undefined> => {
    const encoder = await vectors.encoderOf(workspaceId);
    if (encoder === undefined) return undefined;
    const calibration = encoder.calibration && { ...evidence, ...changed };
    return {
      ...encoder,
      ...(calibration === undefined ? {} : { calibration }),
      ...(meaning.raw === true ? { onScale: (similarity) => similarity } : {}),
    };
  };
  return (changed) =>
    createHybridIndex({
      words,
      vectors: { ...vectors, encoderOf: () => encoderOf(changed) },
      embedder,
      read: store.read,
      log: silentLog,
    });
}
