import type { OutboundFile, Receipt, SendContext } from "#channels/contract.ts";
import { DeliveryError } from "#channels/errors.ts";
import type { SlackApi } from "../client.ts";
import { isSlackAddress } from "../client.ts";
import { fieldsOf } from "../deliveries/deliveries.ts";
import { deliveryError, failureOf } from "../errors.ts";
import type { SlackPart } from "../render.ts";
import { richText } from "../render.ts";
import type { SlackThread } from "./thread.ts";

/** Below Slack's limit: a file is held in memory while it is sent. */
export const fileBytesMax = 50 * 1_048_576;

/** A shared file is identified by its own id: Slack reports the id of its message only later. */
const idSign = "file:";
export const fileIdOf = (externalId: string): string | undefined =>
  externalId.startsWith(idSign) ? externalId.slice(idSign.length) : undefined;
export const fileExternalId = (fileId: string): string => `${idSign}${fileId}`;

/**
 * Uploads a file and shares it in the thread. It is invisible before the last of the three calls, so earlier failures are
 * safe to retry. The shared block has the key as its id, by which `findPart` finds the file.
 */
export async function sendFile(
  api: SlackApi,
  { file, comment }: Pick<Extract<SlackPart, { kind: "file" }>, "file" | "comment">,
  { channelId, threadTs }: SlackThread,
  { key, signal, file: open }: Pick<SendContext, "key" | "signal" | "file">,
): Promise<Receipt> {
  if (open === undefined) throw new DeliveryError("rejected", "this version of Parley sends no files");
  const client = api.client(signal);
  let fileId: string;
  try {
    fileId = await upload(api, file, await open(file.id), signal);
  } catch (error) {
    if (error instanceof DeliveryError) throw error;
    const failed = deliveryError(failureOf(error));
    throw failed.outcome === "unknown" ? new DeliveryError("not_sent", failed.message) : failed;
  }
  await client.files.completeUploadExternal({
    files: [{ id: fileId, title: file.name }],
    channel_id: channelId,
    blocks: [richText([{ text: comment, styles: [] }], key)],
    ...(threadTs === undefined ? {} : { thread_ts: threadTs }),
  });
  return { externalId: fileExternalId(fileId), state: "sent" };
}

/** Deletes a file with the messages that share it. Rejects with the client's errors; a deleted file is no error. */
export async function removeFile(api: SlackApi, fileId: string, signal: AbortSignal): Promise<void> {
  const client = api.client(signal);
  const gone = ["file_not_found", "file_deleted"];
  await unlessRefused(gone, async () => {
    const { file } = await client.files.info({ file: fileId });
    for (const { channel, ts } of sharesOf(file)) {
      await unlessRefused(["message_not_found", "channel_not_found"], () => client.chat.delete({ channel, ts }));
    }
  });
  await unlessRefused(gone, () => client.files.delete({ file: fileId }));
}

function sharesOf(file: unknown): readonly { readonly channel: string; readonly ts: string }[] {
  const { public: open, private: closed } = fieldsOf(fieldsOf(file)["shares"]);
  return [open, closed].flatMap((shares) =>
    Object.entries(fieldsOf(shares)).flatMap(([channel, all]) =>
      (Array.isArray(all) ? (all as unknown[]) : []).flatMap((share) => {
        const { ts } = fieldsOf(share);
        return typeof ts === "string" ? [{ channel, ts }] : [];
      }),
    ),
  );
}

/** Runs `run`, and ignores refusals with these codes, which mean that its effect exists already. */
export async function unlessRefused(codes: readonly string[], run: () => Promise<unknown>): Promise<void> {
  try {
    await run();
  } catch (error) {
    const failure = failureOf(error);
    if (failure.kind !== "refused" || !codes.includes(failure.code)) throw error;
  }
}

async function upload(
  api: SlackApi,
  file: OutboundFile,
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<string> {
  const bytes = await collect(file, chunks);
  const { upload_url: url, file_id: fileId } = await api
    .client(signal)
    .files.getUploadURLExternal({ filename: file.name, length: bytes.length });
  if (url === undefined || fileId === undefined || !isSlackAddress(url, api.baseUrl)) {
    throw new DeliveryError("rejected", "Slack does not tell where to upload the file");
  }
  const response = await api.fetch(url, {
    method: "POST",
    headers: { "content-type": "application/octet-stream" },
    body: bytes,
    redirect: "error",
    signal: AbortSignal.any([signal, AbortSignal.timeout(120_000)]),
  });
  await response.body?.cancel();
  if (!response.ok) throw new DeliveryError("not_sent", `Slack did not take the file (HTTP ${response.status})`);
  return fileId;
}

async function collect(file: OutboundFile, chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const all: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > fileBytesMax) throw new DeliveryError("rejected", "the file is too large to be sent to Slack");
    all.push(chunk);
  }
  if (size === 0) throw new DeliveryError("rejected", `the file ${file.name} is empty, which Slack does not take`);
  return new Uint8Array(Buffer.concat(all, size));
}
