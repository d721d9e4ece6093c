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
  /** The position among the part's attachments, followed by the pictures in its text. */
  readonly index: number;
  readonly url?: string;
}

/** The host's limit for a file reference. */
const refMax = 4_096;

/** Omits an address that is too long to store; {@link fetchFile} asks for it again. */
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

/** Excludes pictures on other servers: in e-mails they are mostly tracking pixels. */
export function isIntercomPicture(url: string, baseUrl: string): boolean {
  const address = URL.parse(url);
  return address !== null && isOwn(address, baseUrl);
}

interface FileServer {
  readonly api: Api;
  readonly baseUrl: string;
  readonly fetch: typeof fetch;
}

/**
 * Fetches a customer's file. Intercom's addresses expire; the conversation then has a new one. The token is never sent to
 * the file's address.
 */
export async function fetchFile(
  server: FileServer,
  given: string,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const parsed: unknown = JSON.parse(given);
  if (!Value.Check(refSchema, parsed)) throw new DeliveryError("rejected", "the reference to the file is unreadable");
  const known = parsed.url === undefined ? undefined : await tryFetch(parsed.url, server, signal);
  if (known !== undefined) return known;
  const fresh = await addressOf(server, parsed, signal);
  const found = fresh === undefined ? undefined : await tryFetch(fresh, server, signal);
  if (found === undefined) throw new DeliveryError("rejected", "the file is not in Intercom any more");
  return found;
}

/** undefined: the address has expired or the file is gone. */
async function tryFetch(
  url: string,
  { baseUrl, fetch }: Omit<FileServer, "api">,
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
  { api, baseUrl }: Omit<FileServer, "fetch">,
  { conversation: id, part: partId, index }: FileRef,
  signal: AbortSignal,
): Promise<string | undefined> {
  const conversation = readConversation(await findConversation(api, id, signal));
  const part =
    partId === sourceId ? conversation?.began : conversation?.parts.find((each) => String(each.id) === partId);
  const attached = (part?.attachments ?? []).map(({ url }) => url);
  const pictures = htmlPictures(part?.body ?? "").filter(
    (url) => isIntercomPicture(url, baseUrl) && !attached.includes(url),
  );
  return [...attached, ...pictures][index];
}

/** A read is safe to repeat, so outcome `unknown` becomes `not_sent`. */
async function findConversation(api: Api, id: string, signal: AbortSignal): Promise<unknown> {
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
    throw new DeliveryError("not_sent", `the file arrived incomplete (${networkCode(error)})`);
  }
}
