import { within } from "./abort.ts";

/** Closes a resource. */
export type End = () => Promise<unknown>;

/** A close that takes longer hangs. The HTTP server closes its last connections after 8.6 s. */
const endMs = 9_200;

/**
 * Closes all of these at the same time. Errors and timeouts are passed to `failed`, so that none of them keeps the others,
 * and the process, open.
 */
export async function endEach(ends: readonly End[], failed: (error: unknown) => void, ms = endMs): Promise<void> {
  await Promise.all(
    ends.map(async (end) => {
      try {
        await within(ms, end(), () => new Error(`it did not end within ${ms / 1_000} s`));
      } catch (error) {
        failed(error);
      }
    }),
  );
}
