import Type from "typebox";
import { Value } from "typebox/value";
import { DeliveryError } from "#channels/errors.ts";
import { htmlPictures } from "#channels/text/html-text.ts";
import type { Api } from "./client.ts";
import { networkCode } from "./errors.ts";
import { readConversation, sourceId } from "./payloads.ts";

const refSchema = Type.Object({
  conversation: Type.String(),
  part: Type.String(),
  index: Type.Integer({ minimum: 0 }),
  url: Type.Optional(Type.String()),
});

interface FileRef {
  readonly conversation: string;
  readonly part: string;
  /** Among the part's attachments, and after them the pictures in its text. */
  readonly index: number;
  readonly url?: string;
}

/** As long as the host keeps one. */
const refMax = 4_096;

/** An address that is too long to be kept is asked for again. */
export function fileRef(ref: FileRef): string {
  const whole = JSON.stringify(ref);
  if (whole.length <= refMax) return whole;
  const { url: _, ...rest } = ref;
  return JSON.stringify(rest);
}

export function fileName(url: string): string {
  const last = URL.parse(url)?.pathname.split("/").at(-1) ?? "";
  try {
    return decodeURIComponent(last) || "file";
  } catch {
    return last || "file";
  }
}

const ownHosts =
  /^(?:[\w-]+\.)*(?:intercomcdn\.(?:com|eu)|intercomusercontent\.com|intercom-attachments(?:-\d{1,3})?\.(?:com|eu)|au\.intercomcdn\.com)$/;

function isOwn(address: URL, baseUrl: string): boolean {
  if (address.protocol === "https:" && ownHosts.test(address.hostname)) return true;
  return address.origin === new URL(baseUrl).origin;
}

/** Pictures of letters lie anywhere, and load to tell that the letter was read. */
export function isIntercomPicture(url: string, baseUrl: string): boolean {
  const address = URL.parse(url);
  return address !== null && isOwn(address, baseUrl);
}

/**
 * The bytes of a file that a customer sent. Intercom's addresses end after a while; then the conversation is asked for a
 * new one. The token never goes along.
 */
export async function fetchFile(
  api: Api,
  baseUrl: string,
  given: string,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const parsed: unknown = JSON.parse(given);
  if (!Value.Check(refSchema, parsed)) throw new DeliveryError("rejected", "Intercom has not told where the file is");
  const known = parsed.url === undefined ? undefined : await tryFetch(parsed.url, baseUrl, signal);
  if (known !== undefined) return known;
  const fresh = await addressOf(api, parsed, baseUrl, signal);
  const found = fresh === undefined ? undefined : await tryFetch(fresh, baseUrl, signal);
  if (found === undefined) throw new DeliveryError("rejected", "the file is not in Intercom any more");
  return found;
}

/** Undefined: it is not there (any more). */
async function tryFetch(
  url: string,
  baseUrl: string,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array> | undefined> {
  const address = URL.parse(url);
  if (address === null || !isOwn(address, baseUrl)) {
    throw new DeliveryError("rejected", "the file's address does not lead to Intercom");
  }
  let response: Response;
  try {
    response = await fetch(address, { signal, redirect: "error" });
  } catch (error) {
    throw new DeliveryError("not_sent", `the file cannot be fetched (${networkCode(error)})`);
  }
  if (response.ok && response.body !== null) return bytesOf(response.body);
  await response.body?.cancel();
  if (response.status === 429 || response.status >= 500) {
    throw new DeliveryError("not_sent", `Intercom answers ${response.status} for the file`);
  }
  return undefined;
}

async function addressOf(
  api: Api,
  { conversation: id, part: partId, index }: FileRef,
  baseUrl: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const conversation = readConversation(await asked(api, id, signal));
  const part =
    partId === sourceId ? conversation?.began : conversation?.parts.find((each) => String(each.id) === partId);
  const attached = (part?.attachments ?? []).map(({ url }) => url);
  const pictures = htmlPictures(part?.body ?? "").filter(
    (url) => isIntercomPicture(url, baseUrl) && !attached.includes(url),
  );
  return [...attached, ...pictures][index];
}

/** Asking twice does no harm. */
async function asked(api: Api, id: string, signal: AbortSignal): Promise<unknown> {
  try {
    return await api.call((client) => client.conversations.find({ conversation_id: id }, { abortSignal: signal }));
  } catch (error) {
    if (!(error instanceof DeliveryError) || error.outcome !== "unknown") throw error;
    throw new DeliveryError("not_sent", error.message, { cause: error });
  }
}

async function* bytesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) yield chunk;
  } catch (error) {
    throw new DeliveryError("not_sent", `the file came only in part (${networkCode(error)})`);
  }
}
