import type { OutboundMessage, OutboundReference } from "#channels/contract.ts";
import type { OpenAdapter } from "#channels/channels.ts";
import type { Part } from "#channels/inbound-event.ts";
import { escapeMarkdown } from "#channels/text/escape-markdown.ts";
import type { Reader } from "#database/contract.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { MessagesTable } from "#database/schema/tables.ts";
import { cut, plainText } from "./shown-references.ts";
import { referenceIn } from "./stored-reference.ts";

type Place = Pick<ConversationRow, "id" | "account_id">;

/** The message that an agent answers, as the conversation's platform knows it. Undefined: none, or it was deleted. */
export async function outboundReference(
  db: Reader,
  { id, account_id }: Place,
  refersTo: MessagesTable["refers_to"],
): Promise<OutboundReference | undefined> {
  const messageId = referenceIn(refersTo)?.message_id;
  if (messageId === undefined) return undefined;
  const message = await db
    .selectFrom("messages")
    .select(["role", "content", "external_id", "audience"])
    .where("id", "=", messageId)
    .where("conversation_id", "=", id)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  if (message === undefined) return undefined;
  const externalId = message.role === "user" ? message.external_id : await sentAs(db, messageId, account_id);
  // The reply can reach an address that is not proven: it must not show what only some customers may read.
  return { externalId, text: message.audience === null ? plainText(message) : "" };
}

/** The platform's id of the first part of a reply. */
async function sentAs(db: Reader, messageId: string, accountId: string): Promise<string | null> {
  const part = await db
    .selectFrom("deliveries")
    .select("external_id")
    .where("message_id", "=", messageId)
    .where("account_id", "=", accountId)
    .where("external_id", "is not", null)
    .orderBy("part")
    .executeTakeFirst();
  return part?.external_id ?? null;
}

const quoteMax = 120;

/** Renders the message. The reply begins with a quote where the platform cannot refer to the message that it answers. */
export function renderReply(adapter: OpenAdapter, { refersTo, ...message }: OutboundMessage): readonly Part[] {
  if (refersTo === undefined) return adapter.render(message);
  if (canName(adapter, refersTo.externalId)) return adapter.render({ ...message, refersTo });
  const quote = cut(refersTo.text.replaceAll(/\s+/g, " ").trim(), quoteMax);
  return adapter.render(
    quote === "" ? message : { ...message, markdown: `> ${quotable(quote)}\n\n${message.markdown}` },
  );
}

function canName({ capabilities: { references } }: OpenAdapter, externalId: string | null): boolean {
  return externalId !== null && (references === true || references?.test(externalId) === true);
}

/** Markdown of a line in a quote. A digit or "=" at its beginning would make "> 5 kg", which is no quote. */
const quotable = (line: string): string =>
  escapeMarkdown(line).replace(/^[\d=]/, (first) => `&#${first.charCodeAt(0)};`);

/** The message for another account than the conversation's, whose platform does not know what it answers. */
export const unnamed = (message: OutboundMessage): OutboundMessage =>
  message.refersTo === undefined ? message : { ...message, refersTo: { ...message.refersTo, externalId: null } };
