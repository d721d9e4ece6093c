import type { Attempt, Receipt, SendContext } from "#channel/contract.ts";
import { DeliveryError } from "#channel/errors.ts";
import type { SlackApi } from "./client.ts";
import { fieldsOf } from "./deliveries.ts";
import { deliveryError, failureOf } from "./failures.ts";
import { metadataType } from "./send.ts";
import { messageIdOf, parseThread } from "./thread.ts";
import { fileExternalId } from "./upload.ts";

/** A thousand messages since the first try; whoever has more of them waits longer, but nothing is sent twice. */
const pagesMax = 10;
const pageSize = 100;
/** Slack's clock and ours go differently. */
const skewMs = 60 * 60_000;

/** Looks for the part in its thread: each was posted with its key in the metadata, or as the name of its block. */
export async function findPart(
  api: SlackApi,
  key: string,
  { thread, signal }: SendContext,
  { startedAt }: Pick<Attempt, "startedAt">,
): Promise<Receipt | null> {
  try {
    // What is older cannot be it: a conversation of years would have no end.
    const externalId = await findMessage(api, key, thread, signal, startedAt - skewMs);
    return externalId === null ? null : { externalId, state: "sent" };
  } catch (error) {
    if (error instanceof DeliveryError) throw error;
    const { message, retryAfterMs } = deliveryError(failureOf(error));
    throw new DeliveryError("unknown", message, retryAfterMs === undefined ? {} : { retryAfterMs });
  }
}

/** The id of the message that was posted under this key; null when there is none. Rejects as the client does. */
export async function findMessage(
  api: SlackApi,
  key: string,
  thread: string,
  signal: AbortSignal,
  since = 0,
): Promise<string | null> {
  const { channelId, threadTs } = parseThread(thread);
  const client = api.client(signal);
  let cursor: string | undefined;
  for (let page = 0; page < pagesMax; page += 1) {
    const which = {
      channel: channelId,
      include_all_metadata: true,
      limit: pageSize,
      ...(since > 0 ? { oldest: (since / 1_000).toFixed(6) } : {}),
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

/** A message that shares a file is known by the file. */
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
