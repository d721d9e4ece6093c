import type { Attempt, Receipt, SendContext } from "#channels/contract.ts";
import { DeliveryError } from "#channels/errors.ts";
import type { SlackApi } from "../client.ts";
import { fieldsOf } from "../deliveries/deliveries.ts";
import { deliveryError, failureOf } from "../errors.ts";
import { messageIdOf, metadataType, parseThread } from "./thread.ts";
import { fileExternalId } from "./upload.ts";

/** A thousand messages. With more since, the message waits longer, but is never sent twice. */
const pagesMax = 10;
const pageSize = 100;
/** The largest tolerated lead of our clock over Slack's. */
const clockMarginMs = 3_600_000;

/** Searches the part in its thread by its key, which is in the metadata or is the block's id. */
export async function findPart(
  api: SlackApi,
  key: string,
  { thread, signal }: SendContext,
  { startedAt }: Attempt,
): Promise<Receipt | null> {
  try {
    const externalId = await findMessage(api, key, thread, signal, startedAt);
    return externalId === null ? null : { externalId, state: "sent" };
  } catch (error) {
    if (error instanceof DeliveryError) throw error;
    const { message, retryAfterMs } = deliveryError(failureOf(error));
    throw new DeliveryError("unknown", message, retryAfterMs === undefined ? {} : { retryAfterMs });
  }
}

/**
 * The id of the message with this key; null when none was posted. `since`: the earliest time of the post, epoch
 * milliseconds. Rejects with the client's errors.
 */
export async function findMessage(
  api: SlackApi,
  key: string,
  thread: string,
  signal: AbortSignal,
  since: number,
): Promise<string | null> {
  const { channelId, threadTs } = parseThread(thread);
  const client = api.client(signal);
  let cursor: string | undefined;
  for (let page = 0; page < pagesMax; page += 1) {
    const which = {
      channel: channelId,
      include_all_metadata: true,
      limit: pageSize,
      // Bounds the search in long conversations: the message cannot be older.
      oldest: String(Math.max(0, Math.floor((since - clockMarginMs) / 1_000))),
      ...(cursor === undefined ? {} : { cursor }),
    };
    const { messages = [], response_metadata: more } =
      threadTs === undefined
        ? await client.conversations.history(which)
        : await client.conversations.replies({ ...which, ts: threadTs });
    const found = messages.find((message) => hasKey(message, key));
    if (found !== undefined) return fileOf(found) ?? messageIdOf(channelId, found.ts ?? "");
    cursor = more?.next_cursor;
    if (cursor === undefined || cursor === "") return null;
  }
  throw new DeliveryError("unknown", "the Slack thread is too long to look for this message in it");
}

/** A message that shares a file is identified by the file. */
function fileOf(message: object): string | undefined {
  const { files } = fieldsOf(message);
  const { id } = fieldsOf(Array.isArray(files) ? files[0] : undefined);
  return typeof id === "string" ? fileExternalId(id) : undefined;
}

function hasKey(message: object, key: string): boolean {
  const { metadata, blocks } = fieldsOf(message);
  const { event_type: type, event_payload: payload } = fieldsOf(metadata);
  if (type === metadataType && fieldsOf(payload)["delivery"] === key) return true;
  return Array.isArray(blocks) && blocks.some((block) => fieldsOf(block)["block_id"] === key);
}
