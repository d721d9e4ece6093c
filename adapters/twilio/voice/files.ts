import type { Clock } from "#runtime/clock.ts";
import { DeliveryError } from "#channels/errors.ts";
import type { Account } from "../shared/client.ts";
import { fetchMedia } from "../messaging/files.ts";

/** So long a recording may take to be there, after Twilio has told of it. */
const appearsMs = 3_600_000;

/** The bytes of what a caller has recorded, by its address and when it was told of. */
export async function fetchRecording(
  settings: Account,
  clock: Pick<Clock, "now">,
  ref: string,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const mark = ref.lastIndexOf("#");
  const toldAt = Number(ref.slice(mark + 1));
  try {
    return await fetchMedia(settings, ref.slice(0, mark), signal);
  } catch (error) {
    if (error instanceof DeliveryError && error.message.includes("404") && clock.now() - toldAt < appearsMs) {
      throw new DeliveryError("not_sent", "the recording is not there yet");
    }
    throw error;
  }
}
