import { hash } from "node:crypto";
import { Problem } from "#domain/problem.ts";
import { storedSettings } from "#domain/workspace.ts";
import type { Counter } from "#store/counters.ts";
import { countDown, countUp } from "#store/counters.ts";
import type { Upload } from "./engine.ts";
import type { Clock, Log, Store } from "./ports.ts";

const dayMs = 86_400_000;
const refundMs = 120_000;
const bytesPerUnit = 1_024;

const unitsOf = (bytes: number): number => Math.ceil(bytes / bytesPerUnit);

class Full extends Error {}

/**
 * Counts the bytes of a visitor's upload in the quotas of the visitor, the address and the workspace, before they are
 * read: uploads at the same time count too. Throws Problem rate_limit_day. What it returns gives back all but the bytes
 * that were stored. A process that dies in between leaves them counted until midnight UTC.
 */
export async function takeUploadQuota(
  { store, clock, log }: { readonly store: Store; readonly clock: Clock; readonly log: Log },
  { workspaceId, accountId, uploadedBy, address }: Upload & { readonly address: string },
  bytes: number,
): Promise<(storedBytes: number) => Promise<void>> {
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
  try {
    await store.write(async (tx) => {
      const values = await countUp(tx, counters, unitsOf(bytes));
      if (counters.some(({ mbMax }, i) => mbMax !== null && (values[i] ?? 0) > mbMax * 1_024)) throw new Full();
    });
  } catch (error) {
    if (!(error instanceof Full)) throw error;
    throw new Problem("rate_limit_day", "Too many bytes of files were sent today; the day ends at midnight UTC.", {
      retryAfterS: (windowStart + dayMs - now) / 1_000,
    });
  }
  return async (storedBytes) => {
    const unused = unitsOf(bytes) - unitsOf(storedBytes);
    if (unused <= 0) return;
    const failed = (err: unknown): void => log.warn({ err }, "upload-quota: refund failed");
    // The upload has its own result by now.
    await store.writeWhenBack((tx) => countDown(tx, counters, unused), { ms: refundMs, failed }).catch(failed);
  };
}
