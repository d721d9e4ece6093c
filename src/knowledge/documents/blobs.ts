import { createHash } from "node:crypto";
import { newId } from "#domain/ids.ts";
import { Problem } from "#domain/problem.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Store, Tx } from "#database/contract.ts";
import { documentBytesMax } from "./blocks.ts";

/** Bytes that are stored, though no document is made of them yet. */
export interface StoredBlob {
  readonly id: string;
  /** SHA-256, hex. */
  readonly hash: string;
}

export interface Blobs {
  /**
   * Stores bytes as they arrive, a part at a time, each durable before the next is taken. Throws `Problem`
   * payload_too_large soon after the limit. Whatever ends it early leaves nothing, or what {@link removeOrphans} finds.
   */
  store(bytes: AsyncIterable<Uint8Array>): Promise<StoredBlob>;
  /** The bytes as one, or undefined when they are gone. */
  read(bodyId: string): Promise<Uint8Array<ArrayBuffer> | undefined>;
  remove(bodyId: string): Promise<void>;
  /** Removes what uploads that broke off have left; how many. */
  removeOrphans(): Promise<number>;
}

/** MariaDB refuses a statement of more than 16 MB unless it is told otherwise, and ends the connection. */
const partBytes = 1_048_576;
/** An upload that takes longer than this has ended. */
const orphanedAfterMs = 3_600_000;

export function createBlobs(store: Store, clock: Clock): Blobs {
  async function insertPart(bodyId: string, part: number, body: Uint8Array): Promise<void> {
    await store.write((tx) => tx.insertInto("document_body_parts").values({ body_id: bodyId, part, body }).execute());
  }

  async function remove(bodyId: string): Promise<void> {
    await store.write((tx) => deleteBlob(tx, bodyId));
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
            // What is stored is durable, so its memory can be filled anew.
            filled = 0;
          }
        }
        // At least one part, also of an empty file.
        if (filled > 0 || part === 0) await insertPart(id, part, open.subarray(0, filled));
      } catch (error) {
        // What cannot be removed now is removed as an orphan later.
        await remove(id).catch(() => undefined);
        throw error;
      }
      return { id, hash: hash.digest("hex") };
    },
    async read(bodyId) {
      // One part after the other: all at once would be held twice.
      const parts: Uint8Array[] = [];
      for (let part = 0; ; part += 1) {
        const row = await store.read
          .selectFrom("document_body_parts")
          .select("body")
          .where("body_id", "=", bodyId)
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
      // Removed in the middle of the reading: half a document is none.
      const still = await store.read
        .selectFrom("document_bodies")
        .select("id")
        .where("id", "=", bodyId)
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
      // Each by itself: parts are large.
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

/** Gives stored bytes to a document. False when they are gone, taken for an orphan's. */
export async function adoptBlob(tx: Tx, bodyId: string, documentId: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("document_bodies")
    .set({ document_id: documentId })
    .where("id", "=", bodyId)
    .where("document_id", "is", null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

export async function deleteBlob(tx: Tx, bodyId: string): Promise<void> {
  await tx.deleteFrom("document_bodies").where("id", "=", bodyId).execute();
  await tx.deleteFrom("document_body_parts").where("body_id", "=", bodyId).execute();
}
