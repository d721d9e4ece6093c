import { DeliveryError } from "#channels/errors.ts";
import { createServerFetch } from "#channels/http/guarded-connect.ts";
import type { GuardedLookup } from "#channels/http/guarded-connect.ts";
import { networkCode } from "../shared/errors.ts";
import type { Account } from "../shared/client.ts";

const ownHost = /^(?:[a-z0-9-]+\.)*(?:twilio|twiliocdn)\.com$/;
/** Twilio redirects media downloads to S3. Other Amazon services must not match: anybody can run a server there. */
const storageHost = /^(?:[a-z0-9._-]+\.)?s3(?:[.-][a-z0-9]+)*\.amazonaws\.com$/;
const redirectsMax = 4;

/** Fetches a customer's file. The account's token goes to Twilio only, never to a redirect's target. */
export async function fetchMedia(
  { accountSid, authToken, baseUrl }: Account,
  ref: string,
  signal: AbortSignal,
  lookup?: GuardedLookup,
): Promise<AsyncIterable<Uint8Array>> {
  const fetch = createServerFetch(lookup);
  let address = URL.parse(ref);
  if (address === null || !isAt(address, [ownHost], baseUrl)) {
    throw new DeliveryError("rejected", "the file's address does not lead to Twilio");
  }
  const authorization = `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString("base64")}`;
  for (let step = 0; step <= redirectsMax; step += 1) {
    const response = await get(fetch, address, step === 0 ? { authorization } : {}, signal);
    if (response.ok && response.body !== null) return response.body;
    await response.body?.cancel();
    const next = response.status >= 300 && response.status < 400 ? response.headers.get("location") : null;
    if (next === null) {
      const gone = response.status >= 400 && response.status < 500 && ![401, 408, 429].includes(response.status);
      throw new DeliveryError(gone ? "rejected" : "not_sent", `Twilio answers ${response.status} for the file`);
    }
    address = URL.parse(next, address);
    if (address === null || !isAt(address, [ownHost, storageHost], baseUrl)) {
      throw new DeliveryError("rejected", "Twilio leads elsewhere for the file");
    }
  }
  throw new DeliveryError("rejected", "Twilio leads on and on for the file");
}

async function get(
  fetch: typeof globalThis.fetch,
  address: URL,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Response> {
  try {
    return await fetch(address, { headers, signal, redirect: "manual" });
  } catch (error) {
    throw new DeliveryError("not_sent", `the file cannot be fetched (${networkCode(error)})`);
  }
}

function isAt(address: URL, hosts: readonly RegExp[], baseUrl: string | undefined): boolean {
  if (address.username !== "" || address.password !== "") return false;
  if (baseUrl !== undefined && address.origin === new URL(baseUrl).origin) return true;
  if (address.protocol !== "https:" || address.port !== "") return false;
  return hosts.some((host) => host.test(address.hostname));
}

/** Whether a media download may be redirected to this address. */
export const isStorage = (address: URL): boolean => isAt(address, [ownHost, storageHost], undefined);
