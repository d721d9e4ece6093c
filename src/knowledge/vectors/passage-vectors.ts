import { createHash } from "node:crypto";
import type { Reader, Store, Tx } from "#database/contract.ts";
import type { EmbedAll } from "./calibrate.ts";
import type { WorkspaceEncoder } from "./encoder-state.ts";
import { vectorsToBytes } from "./packed.ts";
import { partsOf } from "./parts.ts";

/** Passages that are embedded in one step. */
const batchMax = 32;
/** The built-in encoder takes up to half a second for a long passage on a slow machine; its lease must not expire. */
const localBatchMax = 12;

/** The server has another model under the same name. */
export class OtherDimensions extends Error {}

/** Makes and removes the stored vectors of passages. */
export function createPassageVectors(store: Store, embedAll: EmbedAll, isLocal: boolean) {
  const passagesMax = isLocal ? localBatchMax : batchMax;

  /** Embeds passages after this id. Returns the last id; undefined where no passage is left. */
  async function embedAfter(
    after: string,
    workspaceId: string,
    { model, passage, dimensions }: WorkspaceEncoder,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const missing = await missingPassages(store.read, workspaceId, model, after, passagesMax);
    if (missing.length === 0) return undefined;
    const wanted = missing.map(({ id, title, text }) => {
      const digest = createHash("sha256").update(`${model}\n${title}\n${text}`).digest("base64url");
      return { id, parts: partsOf(title, text), digest };
    });
    const known = await store.read
      .selectFrom("chunk_vectors")
      .select(["digest", "vector"])
      .where("workspace_id", "=", workspaceId)
      .where(
        "digest",
        "in",
        wanted.map(({ digest }) => digest),
      )
      .execute();
    const vectors = new Map<string, Uint8Array>(known.map(({ digest, vector }) => [digest, vector]));
    const fresh = wanted.filter(({ digest }) => !vectors.has(digest));
    const encoded = await embedAll(
      fresh.flatMap(({ parts }) => parts.map((part) => passage + part)),
      signal,
    );
    if (encoded.some((vector) => vector.length > 0 && vector.length !== dimensions)) throw new OtherDimensions();
    let at = 0;
    for (const { digest, parts } of fresh) {
      const own = encoded.slice(at, (at += parts.length)).filter((vector) => vector.length > 0);
      vectors.set(digest, vectorsToBytes(own));
    }
    await store.write(async (tx) => {
      await tx
        .deleteFrom("chunk_vectors")
        .where(
          "chunk_id",
          "in",
          wanted.map(({ id }) => id),
        )
        .execute();
      await tx
        .insertInto("chunk_vectors")
        .values(
          wanted.map(({ id, digest }) => ({
            chunk_id: id,
            workspace_id: workspaceId,
            model,
            digest,
            vector: vectors.get(digest) ?? new Uint8Array(),
          })),
        )
        .execute();
      await raiseStamp(tx, workspaceId);
    });
    return missing.length < passagesMax ? undefined : missing.at(-1)?.id;
  }

  /** Removes the vectors of removed passages and of other models. */
  async function removeOld(workspaceId: string, { model }: WorkspaceEncoder): Promise<void> {
    const old = await store.read
      .selectFrom("chunk_vectors")
      .leftJoin("chunks", "chunks.id", "chunk_vectors.chunk_id")
      .select("chunk_vectors.chunk_id")
      .where("chunk_vectors.workspace_id", "=", workspaceId)
      .where((eb) => eb.or([eb("chunks.id", "is", null), eb("chunk_vectors.model", "<>", model)]))
      .limit(5_000)
      .execute();
    for (let start = 0; start < old.length; start += 500) {
      const ids = old.slice(start, start + 500).map((row) => row.chunk_id);
      await store.write(async (tx) => {
        await tx.deleteFrom("chunk_vectors").where("chunk_id", "in", ids).execute();
        await raiseStamp(tx, workspaceId);
      });
    }
  }

  return { embedAfter, removeOld };
}

/** The passages after this id that have no vector of this model. */
function missingPassages(db: Reader, workspaceId: string, model: string, after: string, limit: number) {
  return db
    .selectFrom("chunks")
    .innerJoin("documents", "documents.id", "chunks.document_id")
    .leftJoin("chunk_vectors", (join) =>
      join.onRef("chunk_vectors.chunk_id", "=", "chunks.id").on("chunk_vectors.model", "=", model),
    )
    .select(["chunks.id", "chunks.title", "chunks.text"])
    .where("chunks.workspace_id", "=", workspaceId)
    .whereRef("chunks.version", "=", "documents.indexed_version")
    .where("chunk_vectors.chunk_id", "is", null)
    .where("chunks.id", ">", after)
    .orderBy("chunks.id")
    .limit(limit)
    .execute();
}

async function raiseStamp(tx: Tx, workspaceId: string): Promise<void> {
  await tx
    .updateTable("vector_models")
    .set((eb) => ({ stamp: eb("stamp", "+", 1) }))
    .where("workspace_id", "=", workspaceId)
    .execute();
}
