import type { Store } from "#database/contract.ts";
import { removeInBatches } from "./delete-rows.ts";
import { deleteOwned, purgePlan } from "./purge-plan.ts";

/** A document's bytes are large, so that a transaction deletes a few parts only. */
const partsPerBatch = 4;

export async function removeDocument(store: Store, id: string, signal: AbortSignal): Promise<void> {
  // The crawl goes first, so that no page of the website is stored any more.
  await store.write(async (tx) => {
    await deleteOwned(tx, "crawl", [id]);
    await tx.deleteFrom("outbox").where("lane", "=", `recrawl:${id}`).execute();
  });
  const parts = store.read
    .selectFrom("document_body_parts")
    .innerJoin("document_bodies", "document_bodies.id", "body_id")
    .select(["body_id", "part"])
    .where("document_id", "=", id)
    .limit(partsPerBatch);
  await removeInBatches(
    store,
    signal,
    () => parts.execute(),
    async (tx, batch) => {
      for (const { body_id: bodyId, part } of batch) {
        await tx.deleteFrom("document_body_parts").where("body_id", "=", bodyId).where("part", "=", part).execute();
      }
    },
  );
  const chunks = store.read
    .selectFrom("chunks")
    .select("id")
    .where("document_id", "=", id)
    .limit(purgePlan.chunk.batch);
  await removeInBatches(
    store,
    signal,
    () => chunks.execute(),
    (tx, batch) =>
      deleteOwned(
        tx,
        "chunk",
        batch.map((chunk) => chunk.id),
      ),
  );
  await store.write(async (tx) => {
    await tx.deleteFrom("outbox").where("lane", "=", `ingest:${id}`).execute();
    await deleteOwned(tx, "document", [id]);
  });
}

/** Deletes the crawl work of documents that are gone. Several websites share a lane, so the lane does not name them. */
export async function removeCrawlWork(store: Store, signal: AbortSignal): Promise<void> {
  for (let after = 0; ;) {
    signal.throwIfAborted();
    const rows = await store.read
      .selectFrom("outbox")
      .select(["id", "payload"])
      .where("kind", "=", "crawl")
      .where("id", ">", after)
      .orderBy("id")
      .limit(500)
      .execute();
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.id;
    const documentOf = new Map(
      rows.map(({ id, payload }) => [id, (JSON.parse(payload) as { readonly documentId: string }).documentId]),
    );
    const documentIds = [...new Set(documentOf.values())];
    const documents = await store.read.selectFrom("documents").select("id").where("id", "in", documentIds).execute();
    const existing = new Set(documents.map(({ id }) => id));
    const orphans = rows.filter(({ id }) => !existing.has(documentOf.get(id) ?? "")).map(({ id }) => id);
    if (orphans.length > 0) await store.write((tx) => tx.deleteFrom("outbox").where("id", "in", orphans).execute());
  }
}
