import { Routes } from "discord.js";
import Type from "typebox";
import { Value } from "typebox/value";
import { DeliveryError } from "#channels/errors.ts";
import { describe, deliveryError } from "./errors.ts";
import { forwardedIn } from "./payloads.ts";
import type { Calls } from "./client.ts";

const messageSchema = Type.Object({
  attachments: Type.Array(Type.Object({ id: Type.String(), url: Type.String() })),
  message_snapshots: Type.Optional(Type.Unknown()),
});

const ownHosts: ReadonlySet<string> = new Set(["cdn.discordapp.com", "media.discordapp.net"]);

/**
 * Fetches a customer's file. Signed addresses expire after a day, so a new one is read from the message. It must point to
 * Discord or to `base_url`.
 */
export async function fetchFile(
  {
    calls,
    baseUrl,
    fetch,
  }: { readonly calls: Calls; readonly baseUrl: string | undefined; readonly fetch: typeof globalThis.fetch },
  ref: string,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const [channelId = "", messageId = "", fileId = ""] = ref.split("/");
  let message: unknown;
  try {
    message = await calls.get(Routes.channelMessage(channelId, messageId), signal);
  } catch (error) {
    const failure = deliveryError(error);
    // A read is safe to retry.
    if (failure.outcome !== "unknown") throw failure;
    throw new DeliveryError("not_sent", failure.message, { cause: error });
  }
  const all = Value.Check(messageSchema, message)
    ? [...message.attachments, ...forwardedIn(message).flatMap(({ attachments = [] }) => attachments)]
    : [];
  const attachment = all.find(({ id }) => id === fileId);
  if (attachment?.url === undefined) throw new DeliveryError("rejected", "the file was deleted on Discord");
  const address = URL.parse(attachment.url);
  if (address === null || !isOwn(address, baseUrl)) {
    throw new DeliveryError("rejected", "the file's address does not lead to Discord");
  }
  let response: Response;
  try {
    response = await fetch(address, { signal, redirect: "error" });
  } catch (error) {
    throw new DeliveryError("not_sent", `the file cannot be fetched (${describe(error)})`, { cause: error });
  }
  if (!response.ok || response.body === null) {
    await response.body?.cancel();
    const gone = response.status >= 400 && response.status < 500 && response.status !== 429;
    throw new DeliveryError(gone ? "rejected" : "not_sent", `Discord answers ${response.status} for the file`);
  }
  return response.body;
}

function isOwn(address: URL, baseUrl: string | undefined): boolean {
  if (address.protocol === "https:" && ownHosts.has(address.hostname)) return true;
  return baseUrl !== undefined && address.origin === new URL(baseUrl).origin;
}
