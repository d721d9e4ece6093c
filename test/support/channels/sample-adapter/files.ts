import { Readable } from "node:stream";
import { DeliveryError } from "#channels/errors.ts";
import type { Client } from "./client.ts";

export async function fetchSampleFile(
  client: Client,
  ref: string,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const response = await client(`files/${encodeURIComponent(ref)}`, { signal });
  if (!response.ok) throw new DeliveryError("rejected", "the platform does not have this file");
  return Readable.from([Buffer.from(await response.arrayBuffer())]);
}
