import type { Attempt, ChannelHost, Receipt, SendContext } from "#channels/contract.ts";
import type { Part } from "#channels/inbound-event.ts";
import { DeliveryError } from "#channels/errors.ts";
import type { Api } from "./client.ts";
import { findOurs } from "./sent-parts.ts";
import type { Conversation } from "./payloads.ts";
import { readConversation } from "./payloads.ts";
import { statusOf } from "./errors.ts";
import type { IntercomPart } from "./render.ts";
import { fileBytesMax } from "./render.ts";
import type { Settings } from "./config.ts";

export interface Sending {
  readonly api: Api;
  readonly settings: Settings;
  readonly host: ChannelHost;
}

export async function sendPart({ api, settings, host }: Sending, part: Part, context: SendContext): Promise<Receipt> {
  const { html, files } = part.payload as IntercomPart;
  const { adminId } = settings;
  const attached: { content_type: string; name: string; data: string }[] = [];
  for (const { id, name, mediaType } of files) {
    attached.push({ content_type: mediaType, name, data: await base64Of(context, id) });
  }
  const since = host.clock.now();
  const answer = await api.call((client) =>
    client.conversations.reply(
      {
        conversation_id: context.thread,
        body: {
          message_type: "comment",
          type: "admin",
          admin_id: adminId,
          body: html,
          ...(attached.length === 0 ? {} : { attachment_files: attached }),
        },
      },
      { abortSignal: context.signal },
    ),
  );
  const conversation = readConversation(answer);
  if (conversation === null) throw new DeliveryError("unknown", "what answers is not Intercom");
  // The answer holds the newest parts; the same words may have been said before.
  const newest = { parts: conversation.parts.toReversed() };
  const sent = findOurs(newest, { adminId, kind: "comment", html, since });
  return { externalId: sent === undefined ? null : String(sent.id), state: "sent" };
}

async function base64Of({ file }: SendContext, id: string): Promise<string> {
  if (file === undefined) throw new DeliveryError("rejected", "the file of this message is not stored any more");
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of await file(id)) {
    size += chunk.length;
    if (size > fileBytesMax) throw new DeliveryError("rejected", "the file is too large for Intercom");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("base64");
}

/** So long a reply may take to be seen, after the connection broke. */
const appearsMs = 10_000;

/** Intercom has no key against duplicates, and tells what a conversation holds. */
export async function findPart(
  { api, settings, host }: Sending,
  { thread, signal }: SendContext,
  { part, startedAt, otherExternalIds }: Attempt,
): Promise<Receipt | null> {
  const { html } = part.payload as IntercomPart;
  const conversation = await readThread(api, thread, signal);
  const { adminId } = settings;
  const found = findOurs(conversation, { adminId, kind: "comment", html, since: startedAt, not: otherExternalIds });
  if (found !== undefined) return { externalId: String(found.id), state: "sent" };
  if (host.clock.now() - startedAt < appearsMs) {
    throw new DeliveryError("unknown", "Intercom does not have the reply, and may show it in a moment");
  }
  return null;
}

/** Intercom shows then that something was removed, and not what. */
export async function removePart({ api }: Sending, externalId: string, context: SendContext): Promise<void> {
  await api.call(async (client) => {
    try {
      await client.conversations.redactConversationPart(
        { type: "conversation_part", conversation_id: context.thread, conversation_part_id: externalId },
        { abortSignal: context.signal },
      );
    } catch (error) {
      // What is gone need not be taken away.
      if (statusOf(error) !== 404) throw error;
    }
  });
}

/** Reading does no harm, whatever becomes of the answer. */
export async function readThread(api: Api, thread: string, signal: AbortSignal): Promise<Conversation> {
  const answer = await api.call((client) =>
    client.conversations.find({ conversation_id: thread }, { abortSignal: signal }),
  );
  const conversation = readConversation(answer);
  if (conversation === null) throw new DeliveryError("unknown", "what answers is not Intercom");
  return conversation;
}
