import type { Reader, Tx } from "#database/contract.ts";
import { insertRows } from "#database/dialects/insert-rows.ts";
import { chunks } from "#database/queries/customers.ts";
import type { ReactionsTable } from "#database/schema/feedback.ts";
import { isReaction } from "#domain/conversation/reaction.ts";
import type { EventOf } from "#channels/inbound-event.ts";

/** Most different emoji of customers at one message. */
const emojiMax = 20;

type Author = Pick<ReactionsTable, "message_id" | "conversation_id" | "author" | "author_name" | "at">;

/** Stores what a customer added and removed. Returns false if nothing has changed. The conversation must be locked. */
export async function changeReactions(
  tx: Tx,
  author: Author,
  { added, removed }: Pick<EventOf<"reaction">, "added" | "removed">,
): Promise<boolean> {
  const rows = await tx
    .selectFrom("reactions")
    .select(["author", "emoji", "at"])
    .where("message_id", "=", author.message_id)
    .where("role", "=", "user")
    .execute();
  const own = rows.filter((row) => row.author === author.author);
  const isRemoved = (emoji: string) => (removed === "all" ? !added.includes(emoji) : removed.includes(emoji));
  // A removal that arrives late must not take away a reaction that was made after it.
  const gone = own.filter(({ emoji, at }) => isRemoved(emoji) && at <= author.at).map(({ emoji }) => emoji);
  const shown = new Set(
    rows.filter((row) => !(own.includes(row) && gone.includes(row.emoji))).map(({ emoji }) => emoji),
  );
  const fresh = [...new Set(added)].filter((emoji) => {
    if (!isReaction(emoji) || own.some((row) => row.emoji === emoji)) return false;
    if (!shown.has(emoji) && shown.size >= emojiMax) return false;
    shown.add(emoji);
    return true;
  });
  if (gone.length > 0) {
    await tx
      .deleteFrom("reactions")
      .where("message_id", "=", author.message_id)
      .where("role", "=", "user")
      .where("author", "=", author.author)
      .where("emoji", "in", gone)
      .execute();
  }
  await insertRows(
    tx,
    "reactions",
    fresh.map((emoji) => ({ ...author, role: "user" as const, emoji })),
  );
  return gone.length + fresh.length > 0;
}

/** The reactions to these messages, oldest first. */
export async function reactionsOf(
  db: Reader | Tx,
  messages: readonly { readonly id: string; readonly deleted_at: number | null }[],
): Promise<ReadonlyMap<string, readonly ReactionsTable[]>> {
  const rows: ReactionsTable[] = [];
  for (const some of chunks(messages.filter((row) => row.deleted_at === null).map(({ id }) => id))) {
    rows.push(...(await db.selectFrom("reactions").selectAll().where("message_id", "in", some).execute()));
  }
  rows.sort((a, b) => a.at - b.at || (a.emoji < b.emoji ? -1 : 1));
  return Map.groupBy(rows, (row) => row.message_id);
}

export async function forgetReactions(tx: Tx, messageId: string): Promise<void> {
  await tx.deleteFrom("reactions").where("message_id", "=", messageId).execute();
}

/** Deletes the contacts' reactions, also those in conversations of others. */
export async function eraseReactionsOf(tx: Tx, contactIds: readonly string[]): Promise<void> {
  for (const some of chunks(contactIds)) {
    await tx
      .deleteFrom("reactions")
      .where("role", "=", "user")
      .where((eb) =>
        eb.exists(
          eb
            .selectFrom("identities as identity")
            .innerJoin("conversations as conversation", (join) =>
              join
                .onRef("conversation.workspace_id", "=", "identity.workspace_id")
                .onRef("conversation.channel", "=", "identity.kind"),
            )
            .select("identity.value")
            .whereRef("conversation.id", "=", "reactions.conversation_id")
            .whereRef("identity.value", "=", "reactions.author")
            .where("identity.contact_id", "in", some),
        ),
      )
      .execute();
  }
}
