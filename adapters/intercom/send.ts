import type { Attempt, ChannelHost, Receipt, SendContext } from "#channels/contract.ts";
import type { Part } from "#channels/inbound-event.ts";
import { DeliveryError } from "#channels/errors.ts";
import type { Api } from "./client.ts";
import { findOurs } from "./sent-parts.ts";
import type { Conversation } from "./payloads.ts";
import { readConversation } from "./payloads.ts";
import { statusOf } from "./errors.ts";
import type { IntercomPart } from "./render.ts";
import { fileBytesMax, htmlOf } from "./render.ts";
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
  if (conversation === null) throw new DeliveryError("unknown", "the answer is not Intercom's");
  // Newest first: an older part may have the same text.
  const newest = { parts: conversation.parts.toReversed() };
  const sent = findOurs(newest, { adminId, kind: "comment", html, since });
  return { externalId: sent === undefined ? null : String(sent.id), state: "sent" };
}

/** Writes to a contact in the messenger. A conversation begins with the contact's answer. */
export async function sendFirst(
  { api, settings }: Pick<Sending, "api" | "settings">,
  contact: string,
  text: string,
  signal: AbortSignal,
): Promise<void> {
  const html = htmlOf([{ text, styles: [] }]);
  const from = { type: "admin", id: Number(settings.adminId) } as const;
  const to = { type: "user", id: contact } as const;
  await api.call(async (client) => {
    try {
      await client.messages.create({ message_type: "inapp", body: html, from, to }, { abortSignal: signal });
    } catch (error) {
      if (statusOf(error) !== 404) throw error;
      throw new DeliveryError("rejected", "Intercom has no contact with this ID");
    }
  });
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

/** The time a reply may take to appear after the connection broke. */
const appearsMs = 10_000;

/** Finds a reply that may have been sent by its text, since Intercom has no idempotency key. null: not sent. */
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

/** Redacts a reply. Intercom shows a placeholder. */
export async function removePart({ api }: Sending, externalId: string, context: SendContext): Promise<void> {
  await api.call(async (client) => {
    try {
      await client.conversations.redactConversationPart(
        { type: "conversation_part", conversation_id: context.thread, conversation_part_id: externalId },
        { abortSignal: context.signal },
      );
    } catch (error) {
      // The part is already gone.
      if (statusOf(error) !== 404) throw error;
    }
  });
}

/** Reads a conversation. */
export async function readThread(api: Api, thread: string, signal: AbortSignal): Promise<Conversation> {
  const answer = await api.call((client) =>
    client.conversations.find({ conversation_id: thread }, { abortSignal: signal }),
  );
  const conversation = readConversation(answer);
  if (conversation === null) throw new DeliveryError("unknown", "the answer is not Intercom's");
  return conversation;
}
