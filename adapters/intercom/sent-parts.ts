import { htmlText } from "#channels/text/html-text.ts";
import type { Conversation, ConversationPart } from "./payloads.ts";

/** Identifies one of our replies or notes in a conversation. */
export interface PartQuery {
  readonly adminId: string;
  readonly kind: "comment" | "note";
  readonly html: string;
  /** Epoch milliseconds. */
  readonly since: number;
  /** Ids of parts that are other messages. */
  readonly not?: readonly string[];
}

/** Allows for clock skew and for Intercom's times without milliseconds. */
const skewMs = 60_000;

/** The first of our parts with this text. Intercom has no idempotency key to search by. */
export function findOurs(
  { parts }: Pick<Conversation, "parts">,
  { adminId, kind, html, since, not = [] }: PartQuery,
): ConversationPart | undefined {
  const text = bare(html);
  return parts.find(
    ({ id, author, part_type: type, body, created_at: createdAt }) =>
      author.type === "admin" &&
      String(author.id) === adminId &&
      type.startsWith("note") === (kind === "note") &&
      createdAt * 1_000 >= since - skewMs &&
      !not.includes(String(id)) &&
      bare(body ?? "") === text,
  );
}

/** The bare text: Intercom rewrites links and spaces. */
const bare = (html: string): string => htmlText(html.replaceAll(/<\/?a\b[^>]*>/gi, "")).text.replaceAll(/\s+/gu, "");
