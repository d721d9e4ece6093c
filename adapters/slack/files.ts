import { DeliveryError } from "#channels/errors.ts";
import type { SlackApi } from "./client.ts";
import { isSlackAddress } from "./client.ts";
import { deliveryError, failureOf } from "./errors.ts";
import { fieldsOf, parseJson } from "./deliveries/deliveries.ts";
import type { SlackFile, SlackMessage } from "./deliveries/payloads.ts";
import { filled } from "./deliveries/payloads.ts";

/** The host's limit of a reference, in characters. */
const refMax = 4_096;

/** A reference for a later fetch; undefined when the file has no address. */
export function fileRef(file: SlackFile): string | undefined {
  const id = filled(file.id)?.slice(0, 60);
  // Files of another workspace have no address until `files.info` is called.
  const url = filled(file.url_private_download) ?? filled(file.url_private);
  if (id === undefined && url === undefined) return undefined;
  const ref = JSON.stringify({ id, url: file.file_access === "check_file_info" ? undefined : url });
  return ref.length <= refMax ? ref : JSON.stringify({ id });
}

/** Limits of the calls for one message: its acknowledgement waits for them. */
const askedMax = 10;
const askedMs = 1_000;

/** Completes files of other workspaces, of which an event contains only the id. */
export async function withFileInfo(api: SlackApi, message: SlackMessage): Promise<SlackMessage> {
  const { files } = message;
  if (!files?.some(isIncomplete)) return message;
  let left = askedMax;
  const completed = await Promise.all(
    files.map(async (file): Promise<SlackFile> => {
      const { id } = file;
      if (!isIncomplete(file) || !id || (left -= 1) < 0) return file;
      try {
        const { file: found = {} } = await api.within(askedMs).files.info({ file: id });
        const { name, title, mimetype, size, mode } = found;
        return {
          ...file,
          name: name ?? null,
          title: title ?? null,
          mimetype: mimetype ?? null,
          size: size ?? null,
          mode: mode ?? null,
          is_external: found.is_external ?? null,
          url_private: found.url_private ?? null,
        };
      } catch {
        // The file is still fetched, without its own name.
        return file;
      }
    }),
  );
  return { ...message, files: completed };
}

const isIncomplete = (file: SlackFile): boolean =>
  file.file_access === "check_file_info" && filled(file.name) === undefined;

/** Fetches a customer's file with the bot's token, so only from Slack's servers. */
export async function fetchSlackFile(
  api: SlackApi,
  ref: string,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const { id, url: known } = fieldsOf(parseJson(ref));
  const url = typeof known === "string" ? known : await addressOf(api, id, signal);
  if (!isSlackAddress(url, api.baseUrl)) throw new DeliveryError("rejected", "the file does not lie with Slack");
  let response: Response;
  try {
    response = await api.fetchFile(url, signal);
  } catch (error) {
    throw asNotFetched(error);
  }
  const { status, body } = response;
  if (status === 200 && body !== null && !isSignInPage(response)) return bytesOf(body);
  await body?.cancel();
  if (status === 429 || status >= 500) {
    const retryAfterMs = Number(response.headers.get("retry-after") ?? "0") * 1_000;
    const options = retryAfterMs > 0 ? { retryAfterMs } : {};
    throw new DeliveryError("not_sent", `Slack does not give the file now (HTTP ${status})`, options);
  }
  if (status === 404 || status === 410) throw new DeliveryError("rejected", "the file is not in Slack any more");
  // Slack answers a token without the scope with its sign-in page, or redirects to it.
  throw new DeliveryError(
    "rejected",
    "Slack does not give the file to the app: add the scope files:read under OAuth & Permissions, and install the app again",
  );
}

async function addressOf(api: SlackApi, id: unknown, signal: AbortSignal): Promise<string> {
  if (typeof id !== "string") throw new DeliveryError("rejected", "Slack does not say where the file is");
  try {
    const { file } = await api.client(signal).files.info({ file: id });
    const url = filled(file?.url_private_download) ?? filled(file?.url_private);
    if (url === undefined) throw new DeliveryError("rejected", "Slack does not tell where the file is");
    return url;
  } catch (error) {
    throw asNotFetched(error);
  }
}

/** A read is always safe to retry. */
function asNotFetched(error: unknown): DeliveryError {
  const failed = error instanceof DeliveryError ? error : deliveryError(failureOf(error));
  if (failed.outcome !== "unknown") return failed;
  return new DeliveryError("not_sent", failed.message, { cause: failed.cause });
}

/** An HTML file has a file name in its headers; the sign-in page has none. */
function isSignInPage({ headers }: Response): boolean {
  const isHtml = (headers.get("content-type") ?? "").toLowerCase().startsWith("text/html");
  return isHtml && !(headers.get("content-disposition") ?? "").toLowerCase().startsWith("attachment");
}

async function* bytesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) yield chunk;
  } catch (error) {
    throw asNotFetched(error);
  }
}
