import type { Forwarded } from "#channels/inbound-event.ts";
import { aboveForwarded, forwardedText } from "#channels/text/forwarded.ts";
import type { MessagesTable } from "#database/schema/tables.ts";

/** Somebody else's words, as `messages.forwarded` holds them. */
interface StoredForward {
  readonly from?: string;
  readonly is_below?: true;
}

const nameMax = 190;

export function storedForward(forwarded: Forwarded | undefined): string | null {
  if (forwarded === undefined) return null;
  const from = forwarded.from?.trim().slice(0, nameMax).toWellFormed() ?? "";
  const stored: StoredForward = {
    ...(from === "" ? {} : { from }),
    ...(forwarded.isBelow === true ? { is_below: true } : {}),
  };
  return JSON.stringify(stored);
}

/** `from`: the author as the platform names them; null: it does not. */
export interface ShownForward {
  readonly from: string | null;
}

type Row = Pick<MessagesTable, "content" | "forwarded">;

/** Null: the message was not forwarded. */
export function shownForward({ forwarded }: Pick<Row, "forwarded">): ShownForward | null {
  return forwarded === null ? null : { from: (JSON.parse(forwarded) as StoredForward).from ?? null };
}

/** The part of a message that its sender has written, which alone may count as their wish. */
export function ownWords({ content, forwarded }: Row): string {
  if (forwarded === null) return content;
  return (JSON.parse(forwarded) as StoredForward).is_below === true ? aboveForwarded(content) : "";
}

/** The message's text, in which somebody else's words are marked. */
export function markedText({ content, forwarded }: Row): string {
  const isMarked = forwarded === null || (JSON.parse(forwarded) as StoredForward).is_below === true;
  return isMarked || content === "" ? content : forwardedText(content);
}
