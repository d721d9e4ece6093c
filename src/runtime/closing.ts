/** Ends something that was opened. */
export type End = () => Promise<unknown>;

/** An end that takes longer has hung. The HTTP server cuts its last connections off after 8.6 s. */
const endMs = 9_200;

/**
 * Ends each of these, at the same time, whatever becomes of the others. What fails, or does not end in time, is given to
 * `failed`: nothing may keep the rest open, and with it the process.
 */
export async function endEach(ends: readonly End[], failed: (error: unknown) => void, ms = endMs): Promise<void> {
  await Promise.all(
    ends.map(async (end) => {
      try {
        await within(end(), ms);
      } catch (error) {
        failed(error);
      }
    }),
  );
}

async function within(ending: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it did not end within ${ms / 1_000} s`)), ms);
  });
  try {
    await Promise.race([ending, late]);
  } finally {
    clearTimeout(timer);
  }
}
