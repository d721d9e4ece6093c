import { isIP } from "node:net";
import type { GuardedLookup } from "#channels/http/guarded-connect.ts";
import { allowedAddress } from "#channels/http/guarded-connect.ts";

/** The libraries take no lookup: the checked address is connected to, and the certificate is that of the name. */
export async function serverFor(
  host: string,
  lookup: GuardedLookup,
): Promise<{ readonly host: string; readonly servername?: string }> {
  if (lookup === undefined) return { host };
  const address = await allowedAddress(lookup, host);
  return isIP(host) === 0 ? { host: address, servername: host } : { host: address };
}
