import type { Receipt, SendContext } from "#channels/contract.ts";
import { DeliveryError } from "#channels/errors.ts";
import type { Part } from "#channels/inbound-event.ts";
import type { Client } from "./client.ts";
import type { SamplePayload } from "./render.ts";

/** The body of one call. */
export interface SamplePost {
  readonly chat: string;
  readonly text: string;
  readonly key: string;
  readonly file?: { readonly name: string; readonly base64: string };
}

export async function sendPart(client: Client, part: Part, context: SendContext): Promise<Receipt> {
  const { text, file } = part.payload as SamplePayload;
  const post: SamplePost = {
    chat: context.thread,
    text,
    key: context.key,
    ...(file === undefined ? {} : { file: { name: file.name, base64: await base64Of(file.id, context) } }),
  };
  let response: Response;
  try {
    response = await client("messages", { method: "POST", body: JSON.stringify(post), signal: context.signal });
  } catch (error) {
    throw new DeliveryError("unknown", "the connection to the platform broke", { cause: error });
  }
  const answer = (await response.json()) as { readonly id: string; readonly error?: string };
  if (response.ok) return { externalId: answer.id, state: "sent" };
  if (response.status === 429) {
    const retryAfterMs = Number(response.headers.get("retry-after")) * 1_000;
    throw new DeliveryError("not_sent", "the platform is busy", { retryAfterMs });
  }
  throw new DeliveryError("rejected", `the platform refused it: ${answer.error ?? "no reason given"}`);
}

/** The receipt of the part sent under `key`; null if the platform has none. */
export async function findPart(client: Client, key: string, signal: AbortSignal): Promise<Receipt | null> {
  const response = await client(`messages?key=${encodeURIComponent(key)}`, { signal });
  const { id } = (await response.json()) as { readonly id: string | null };
  return id === null ? null : { externalId: id, state: "sent" };
}

async function base64Of(fileId: string, { file }: SendContext): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of (await file?.(fileId)) ?? []) chunks.push(chunk);
  return Buffer.concat(chunks).toString("base64");
}
