import type { Channel } from "#domain/conversation/message.ts";
import { Problem } from "#domain/problem.ts";
import type { Channels } from "#channels/channels.ts";
import { readyIfLoaded } from "#conversations/delivery/bot-message.ts";
import type { Reader } from "#database/contract.ts";

interface PreviewDependencies {
  readonly store: { readonly read: Reader };
  readonly channels: Channels;
}

export interface PreviewedReply {
  readonly channel: Channel;
  /** The messages, as plain text. */
  readonly texts: readonly string[];
}

/** The messages that the customer would get for this reply. Nothing is stored. */
export async function previewReply(
  { store, channels }: PreviewDependencies,
  workspaceId: string,
  conversationId: string,
  content: string,
): Promise<PreviewedReply> {
  const row = await store.read
    .selectFrom("conversations")
    .select(["account_id", "channel"])
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", conversationId)
    .executeTakeFirst();
  if (row === undefined) throw new Problem("not_found", "there is no conversation with this id");
  await readyIfLoaded(channels, row.account_id);
  // A client of the API gets the text itself; an account that was removed sends nothing.
  const { channel } = row;
  if (channel === "api" || !channels.loaded({ id: row.account_id })) return { channel, texts: [content] };
  const parts = channels
    .adapter({ id: row.account_id })
    .render({ role: "agent", authorName: null, markdown: content, sources: [] });
  return { channel, texts: parts.map(({ text }) => text) };
}
