import { createHash } from "node:crypto";
import { newId } from "#domain/ids.ts";
import { Problem } from "#domain/problem.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Store, Tx } from "#database/contract.ts";
import { documentBytesMax } from "./blocks.ts";

/** Stored bytes that belong to no document yet. */
export interface StoredBlob {
  readonly id: string;
  /** SHA-256, hex. */
  readonly hash: string;
}

export interface Blobs {
  /**
   * Stores bytes as they arrive, in parts, each durable before the next is read. Throws `Problem` payload_too_large soon
   * after the limit. {@link removeOrphans} finds the rest of an interrupted upload.
   */
  store(bytes: AsyncIterable<Uint8Array>): Promise<StoredBlob>;
  /** Undefined when the bytes were removed. */
  read(blobId: string): Promise<Uint8Array<ArrayBuffer> | undefined>;
  remove(blobId: string): Promise<void>;
  /** Removes the bytes of interrupted uploads, and returns their number. */
  removeOrphans(): Promise<number>;
}

/** MariaDB's default limit closes the connection at a statement of more than 16 MB. */
const partBytes = 1_048_576;
/** No upload takes longer. */
const orphanedAfterMs = 3_600_000;

export function createBlobs(store: Store, clock: Clock): Blobs {
  async function insertPart(blobId: string, part: number, body: Uint8Array): Promise<void> {
    await store.write((tx) => tx.insertInto("document_body_parts").values({ body_id: blobId, part, body }).execute());
  }

  async function remove(blobId: string): Promise<void> {
    await store.write((tx) => deleteBlob(tx, blobId));
  }

  return {
    async store(bytes) {
      const now = clock.now();
      const id = newId("bod", now);
      const hash = createHash("sha256");
      await store.write((tx) =>
        tx.insertInto("document_bodies").values({ id, document_id: null, created_at: now }).execute(),
      );
      try {
        let part = 0;
        let total = 0;
        const open = Buffer.alloc(partBytes);
        let filled = 0;
        for await (const piece of bytes) {
          total += piece.byteLength;
          if (total > documentBytesMax) throw new Problem("payload_too_large", "A document can be 25 MB at most.");
          hash.update(piece);
          for (let at = 0; at < piece.byteLength;) {
            const taken = piece.subarray(at, at + partBytes - filled);
            open.set(taken, filled);
            filled += taken.byteLength;
            at += taken.byteLength;
            if (filled < partBytes) continue;
            await insertPart(id, part, open);
            part += 1;
            // The part is stored, so its memory is reused.
            filled = 0;
          }
        }
        // An empty file has one part too.
        if (filled > 0 || part === 0) await insertPart(id, part, open.subarray(0, filled));
      } catch (error) {
        // removeOrphans tries again later.
        await remove(id).catch(() => undefined);
        throw error;
      }
      return { id, hash: hash.digest("hex") };
    },
    async read(blobId) {
      // One query for all parts would hold the file in memory twice.
      const parts: Uint8Array[] = [];
      for (let part = 0; ; part += 1) {
        const row = await store.read
          .selectFrom("document_body_parts")
          .select("body")
          .where("body_id", "=", blobId)
          .where("part", "=", part)
          .executeTakeFirst();
        if (row === undefined) break;
        parts.push(row.body);
      }
      if (parts.length === 0) return undefined;
      const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
      let at = 0;
      for (const part of parts) {
        whole.set(part, at);
        at += part.byteLength;
      }
      // The bytes may have been removed while the parts were read.
      const still = await store.read
        .selectFrom("document_bodies")
        .select("id")
        .where("id", "=", blobId)
        .executeTakeFirst();
      return still === undefined ? undefined : whole;
    },
    remove,
    async removeOrphans() {
      const rows = await store.read
        .selectFrom("document_bodies")
        .select("id")
        .where("document_id", "is", null)
        .where("created_at", "<", clock.now() - orphanedAfterMs)
        .limit(1_000)
        .execute();
      // One transaction each: parts are large.
      for (const { id } of rows) {
        await store.write(async (tx) => {
          const { numDeletedRows } = await tx
            .deleteFrom("document_bodies")
            .where("id", "=", id)
            .where("document_id", "is", null)
            .executeTakeFirst();
          if (numDeletedRows === 1n) await tx.deleteFrom("document_body_parts").where("body_id", "=", id).execute();
        });
      }
      return rows.length;
    },
  };
}

/** Attaches stored bytes to a document. False when they were removed as orphans. */
export async function adoptBlob(tx: Tx, blobId: string, documentId: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("document_bodies")
    .set({ document_id: documentId })
    .where("id", "=", blobId)
    .where("document_id", "is", null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

export async function deleteBlob(tx: Tx, blobId: string): Promise<void> {
  await tx.deleteFrom("document_bodies").where("id", "=", blobId).execute();
  await tx.deleteFrom("document_body_parts").where("body_id", "=", blobId).execute();
}
