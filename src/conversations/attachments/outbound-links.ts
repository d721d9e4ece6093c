import type { OutboundFile, OutboundMessage } from "#channels/contract.ts";
import { escapeMarkdown } from "#channels/text/escape-markdown.ts";
import { sizeText } from "#domain/files.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { AttachmentRow } from "./attachments.ts";
import type { Channels } from "#channels/channels.ts";
import type { Files } from "#files/contract.ts";

/** Lifetime of file links that are sent to customers. */
const sentLinkMs = 30 * 86_400_000;

/** Adds files to the message: those that the channel carries, and a link in the text for each of the others. */
export function withFiles(
  channels: Channels,
  files: Pick<Files, "link">,
  conversation: Pick<ConversationRow, "account_id" | "channel">,
  message: OutboundMessage,
  attachments: readonly AttachmentRow[],
): OutboundMessage {
  // API clients fetch the files with the message.
  if (attachments.length === 0 || conversation.channel === "api") return message;
  const max = channels.adapter({ id: conversation.account_id }).capabilities.fileBytesMax ?? 0;
  const isCarried = ({ bytes }: AttachmentRow): boolean => bytes !== null && bytes <= max;
  const carried = attachments.filter(isCarried).map(outboundFile);
  const links = attachments
    .filter((file) => !isCarried(file))
    .map(
      ({ id, name, bytes }) => `[${escapeMarkdown(name)}](<${files.link(id, sentLinkMs)}>) (${sizeText(bytes ?? 0)})`,
    );
  return {
    ...message,
    markdown: [message.markdown, ...links].filter((text) => text !== "").join("\n\n"),
    ...(carried.length === 0 ? {} : { files: carried }),
  };
}

const outboundFile = ({ id, name, media_type: mediaType, bytes }: AttachmentRow): OutboundFile => ({
  id,
  name,
  mediaType,
  bytes: bytes ?? 0,
});
