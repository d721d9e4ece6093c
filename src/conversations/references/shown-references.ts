import { styledText, textOf } from "#channels/text/styled-text.ts";
import type { Reader } from "#database/contract.ts";
import type { MessagesTable } from "#database/schema/tables.ts";
import type { Role } from "#domain/conversation/message.ts";
import { referenceIn } from "./stored-reference.ts";

/** The earlier message that a message answers, for agents. */
export interface ShownReference {
  /** Null: the message is not known here. */
  readonly id: string | null;
  readonly role: Role | null;
  readonly author: string | null;
  /** Plain text, cut. */
  readonly text: string;
}

const referenceTextMax = 300;

/** The earlier messages that these answer, by the id of the answering one. A message that was deleted since is not shown. */
export async function shownReferences(
  db: Reader,
  rows: readonly Pick<MessagesTable, "id" | "conversation_id" | "refers_to" | "deleted_at">[],
): Promise<ReadonlyMap<string, ShownReference>> {
  const references = rows.flatMap((row) => {
    const reference = referenceIn(row.refers_to);
    return reference === null || row.deleted_at !== null ? [] : [{ id: row.id, ...reference }];
  });
  const ids = references.flatMap(({ message_id }) => (message_id === undefined ? [] : [message_id]));
  const named =
    ids.length === 0
      ? []
      : await db
          .selectFrom("messages")
          .select(["id", "role", "author_name", "content", "deleted_at"])
          .where("id", "in", ids)
          .where("conversation_id", "=", rows[0]?.conversation_id ?? "")
          .execute();
  return new Map(
    references.flatMap(({ id, message_id, text }): [string, ShownReference][] => {
      const message = named.find((each) => each.id === message_id);
      if (message?.deleted_at !== undefined && message.deleted_at !== null) return [];
      const shown = text ?? (message === undefined ? "" : plainText(message));
      if (shown === "") return [];
      const by = { id: message?.id ?? null, role: message?.role ?? null, author: message?.author_name ?? null };
      return [[id, { ...by, text: cut(shown, referenceTextMax) }]];
    }),
  );
}

export const cut = (text: string, max: number): string =>
  text.length > max ? `${text.slice(0, max).toWellFormed()}…` : text;

/** Customers write plain text, the others Markdown. */
export const plainText = ({ role, content }: Pick<MessagesTable, "role" | "content">): string =>
  role === "user" ? content : textOf(styledText(content, []));
