import { htmlText } from "#channels/text/html-text.ts";
import type { Conversation, ConversationPart } from "./payloads.ts";

/** What is looked for among what Intercom holds. */
export interface Wanted {
  readonly adminId: string;
  readonly kind: "comment" | "note";
  readonly html: string;
  /** Epoch milliseconds. */
  readonly since: number;
  /** Parts that are something else for sure. */
  readonly not?: readonly string[];
}

/** Clocks go differently, and Intercom's times have no milliseconds. */
const skewMs = 60_000;

/** The oldest part of ours with these words; Intercom knows no key that it could be found by. */
export function findOurs(
  { parts }: Pick<Conversation, "parts">,
  { adminId, kind, html, since, not = [] }: Wanted,
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

/** The words alone: Intercom writes links and spaces its own way. */
const bare = (html: string): string => htmlText(html.replaceAll(/<\/?a\b[^>]*>/gi, "")).text.replaceAll(/\s+/gu, "");
