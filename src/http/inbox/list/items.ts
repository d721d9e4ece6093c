import { styledText } from "#channels/text/styled-text.ts";
import { customerLabel } from "#domain/customer/display-name.ts";
import type { Role } from "#domain/conversation/message.ts";
import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import type { Reader } from "#database/contract.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import { peopleOf, personOf, slaOf, tagsOf } from "#http/inbox/conversation/fields.ts";
import type { ListItem } from "#http/inbox/wire.ts";

const previewChars = 160;

export async function listItems(
  db: Reader,
  workspaceId: string,
  settings: WorkspaceSettings,
  rows: readonly ConversationRow[],
  now: number,
): Promise<ListItem[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const [people, previews, tags] = await Promise.all([
    peopleOf(db, workspaceId),
    previewRows(db, ids),
    tagsOf(db, ids),
  ]);
  const previewOf = new Map(previews.map((row) => [row.conversation_id, row]));
  return rows.map((row) => {
    const preview = previewOf.get(row.id);
    return {
      id: row.id,
      channel: row.channel,
      status: row.status,
      priority: row.priority,
      customer: customerLabel(row),
      assignee: personOf(people, row.assigned_to),
      preview: preview === undefined ? null : { role: preview.role, text: previewText(preview) },
      lastRole: preview?.lastRole ?? null,
      lastMessageAt: row.last_message_at,
      startedAt: row.started_at,
      snoozedUntil: row.snoozed_until,
      sla: slaOf(row, settings, now),
      tags: tags.get(row.id) ?? [],
    };
  });
}

/** The customer's last message, or the last message if the customer wrote none. */
const previewRows = (db: Reader, ids: readonly string[]) =>
  db
    .selectFrom("conversations")
    .innerJoin("messages", (join) =>
      join
        .onRef("messages.conversation_id", "=", "conversations.id")
        .on((eb) =>
          eb(
            "messages.seq",
            "=",
            eb
              .case()
              .when("conversations.last_customer_seq", ">", 0)
              .then(eb.ref("conversations.last_customer_seq"))
              .else(eb.ref("conversations.last_seq"))
              .end(),
          ),
        ),
    )
    .innerJoin("messages as newest", (join) =>
      join.onRef("newest.conversation_id", "=", "conversations.id").onRef("newest.seq", "=", "conversations.last_seq"),
    )
    .select([
      "newest.role as lastRole",
      "messages.conversation_id",
      "messages.role",
      "messages.content",
      "messages.files",
      "messages.deleted_at",
    ])
    .where("conversations.id", "in", ids)
    .execute();

interface PreviewedMessage {
  readonly role: Role;
  readonly content: string;
  readonly files: number | null;
  readonly deleted_at: number | null;
}

function previewText({ role, content, files, deleted_at: deletedAt }: PreviewedMessage): string {
  if (deletedAt !== null) return "[deleted]";
  if (content === "" && files !== null) return files === 1 ? "[a file]" : `[${files} files]`;
  const start = content.slice(0, previewChars * 4);
  // Customers write plain text, in which the marks of Markdown are characters.
  const text =
    role === "user"
      ? start
      : styledText(start)
          .map((run) => run.text)
          .join("");
  return text.replaceAll(/\s+/gu, " ").trim().slice(0, previewChars);
}
