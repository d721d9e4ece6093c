import { hash } from "node:crypto";
import { Problem } from "#domain/problem.ts";
import { storedSettings } from "#domain/workspace/settings.ts";
import type { Counter } from "#database/queries/counters.ts";
import { countDown, countUp } from "#database/queries/counters.ts";
import type { Upload } from "./upload.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { Store } from "#database/contract.ts";

const dayMs = 86_400_000;
const refundMs = 120_000;
const bytesPerUnit = 1_024;

const unitsOf = (bytes: number): number => Math.ceil(bytes / bytesPerUnit);

class Full extends Error {}

export interface UploadQuota {
  /** The upload may have so many bytes. */
  readonly bytesMax: number;
  /** Problem rate_limit_day, for an upload with more of them. */
  full(cause?: unknown): Problem;
  /** Gives back all but the bytes that were stored. */
  refund(storedBytes: number): Promise<void>;
}

/**
 * Counts the bytes of a visitor's upload in the quotas of the visitor, the address and the workspace, before they are
 * read: uploads at the same time count too. An upload that did not declare its bytes gets what is left of the quotas, at
 * most `bytes`. Throws Problem rate_limit_day. A process that dies before the refund leaves the bytes counted until
 * midnight UTC.
 */
export async function takeUploadQuota(
  { store, clock, log }: { readonly store: Store; readonly clock: Clock; readonly log: Log },
  { workspaceId, accountId, uploadedBy, address, declaredBytes }: Upload & { readonly address: string },
  bytes: number,
): Promise<UploadQuota> {
  const now = clock.now();
  const row = await store.read
    .selectFrom("workspaces")
    .select("settings")
    .where("id", "=", workspaceId)
    .executeTakeFirstOrThrow();
  const { uploadMbVisitor, uploadMbAddress, uploadMbWorkspace } = storedSettings(row.settings);
  const windowStart = now - (now % dayMs);
  const counters: readonly (Counter & { readonly mbMax: number | null })[] = [
    { name: `upload:address:${hash("sha256", address)}`, windowStart, mbMax: uploadMbAddress },
    { name: `upload:visitor:${hash("sha256", `${accountId}\n${uploadedBy}`)}`, windowStart, mbMax: uploadMbVisitor },
    { name: `upload:workspace:${workspaceId}`, windowStart, mbMax: uploadMbWorkspace },
  ];
  const full = (cause?: unknown): Problem =>
    new Problem("rate_limit_day", "Too many bytes of files were sent today; the day ends at midnight UTC.", {
      retryAfterS: (windowStart + dayMs - now) / 1_000,
      cause,
    });
  const units = unitsOf(bytes);
  let taken: number;
  try {
    taken = await store.write(async (tx) => {
      const values = await countUp(tx, counters, units);
      const over = counters.map(({ mbMax }, i) => (mbMax === null ? 0 : (values[i] ?? 0) - mbMax * 1_024));
      const excess = Math.max(0, ...over);
      if (excess > 0 && (declaredBytes !== undefined || excess >= units)) throw new Full();
      if (excess > 0) await countDown(tx, counters, excess);
      return units - excess;
    });
  } catch (error) {
    throw error instanceof Full ? full(error) : error;
  }
  return {
    bytesMax: Math.min(bytes, taken * bytesPerUnit),
    full,
    async refund(storedBytes) {
      const unused = taken - unitsOf(storedBytes);
      if (unused <= 0) return;
      const failed = (err: unknown): void => log.warn({ err }, "upload-quota: refund failed");
      // The upload has its own result by now.
      await store.writeWhenBack((tx) => countDown(tx, counters, unused), { ms: refundMs, failed }).catch(failed);
    },
  };
}
