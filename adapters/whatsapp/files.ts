import { DeliveryError } from "#channels/errors.ts";
import { connectionFailure } from "#channels/http/platform-fetch.ts";
import type { GraphApi } from "./client.ts";
import { repeatable } from "./errors.ts";
import type { Settings } from "./config.ts";

export interface FileServer {
  readonly api: GraphApi;
  readonly settings: Settings;
  readonly fetch: typeof globalThis.fetch;
}

const ownHost = /^(?:lookaside\.fbsbx\.com|(?:[a-z0-9-]+\.)+(?:fbcdn\.net|facebook\.com))$/;

/** Fetches a customer's file. Its address expires, so Meta is asked for it each time. */
export async function fetchMedia(
  { api, settings, fetch }: FileServer,
  mediaId: string,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const address = await addressOf(api, settings, mediaId, signal);
  let response: Response;
  try {
    const headers = { authorization: `Bearer ${settings.accessToken}` };
    response = await fetch(address, { headers, signal, redirect: "manual" });
  } catch (error) {
    throw new DeliveryError("not_sent", `the file cannot be fetched (${codeOf(error)})`);
  }
  if (response.ok && response.body !== null) return bytesOf(response.body);
  await response.body?.cancel();
  const { status } = response;
  // The token must not follow a redirect.
  if (status >= 300 && status < 400) throw new DeliveryError("rejected", "Meta leads elsewhere for the file");
  throw new DeliveryError(status === 410 ? "rejected" : "not_sent", `Meta answers ${status} for the file`);
}

async function addressOf(api: GraphApi, settings: Settings, mediaId: string, signal: AbortSignal): Promise<URL> {
  let url: unknown;
  try {
    const path = encodeURIComponent(mediaId);
    ({ url } = await api.get(path, { phone_number_id: settings.phoneNumberId }, signal));
  } catch (error) {
    throw repeatable(error);
  }
  const address = typeof url === "string" ? URL.parse(url) : null;
  if (address !== null && isAtMeta(address, settings.ownServer)) return address;
  throw new DeliveryError("rejected", "the file's address does not lead to Meta");
}

function isAtMeta(address: URL, ownServer: string | undefined): boolean {
  if (address.username !== "" || address.password !== "") return false;
  if (ownServer !== undefined && address.origin === new URL(ownServer).origin) return true;
  return address.protocol === "https:" && address.port === "" && ownHost.test(address.hostname);
}

/** Only the code of a network error: the error itself may hold the request. */
const codeOf = (error: unknown): string => connectionFailure(error).code ?? "no answer";

async function* bytesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw new DeliveryError("not_sent", `the file arrived incomplete (${codeOf(error)})`);
  }
}
