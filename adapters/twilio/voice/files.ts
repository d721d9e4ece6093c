import type { Clock } from "#runtime/clock.ts";
import type { GuardedLookup } from "#channels/http/guarded-connect.ts";
import { DeliveryError } from "#channels/errors.ts";
import type { Account } from "../shared/client.ts";
import { fetchMedia } from "../messaging/files.ts";

/** The time a recording may take to become available after Twilio reported it. */
const appearsMs = 3_600_000;

/** Fetches a recording. `ref` is its address, `#` and the time of Twilio's report in milliseconds. */
export async function fetchRecording(
  settings: Account,
  clock: Pick<Clock, "now">,
  ref: string,
  signal: AbortSignal,
  lookup?: GuardedLookup,
): Promise<AsyncIterable<Uint8Array>> {
  const mark = ref.lastIndexOf("#");
  const reportedAt = Number(ref.slice(mark + 1));
  try {
    return await fetchMedia(settings, ref.slice(0, mark), signal, lookup);
  } catch (error) {
    if (error instanceof DeliveryError && error.message.includes("404") && clock.now() - reportedAt < appearsMs) {
      throw new DeliveryError("not_sent", "the recording is not there yet");
    }
    throw error;
  }
}
