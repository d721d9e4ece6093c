import type { Score } from "#domain/conversation/message.ts";
import type { OutboundMessage } from "./contract.ts";

// Buttons below a message, on platforms with buttons: thumbs below an answer, stars below a survey. Their labels need no
// translation.

/** Stored with the part that carries the buttons. */
export type OpinionButtons = "thumbs" | "stars";

/** The part of a `feedback` or `rating` event that a button decides. */
export type Opinion = { readonly of: { readonly messageId: string } } & (
  | { readonly kind: "feedback"; readonly value: "up" | "down" | null }
  | { readonly kind: "rating"; readonly score: Score }
);

export interface OpinionButton {
  readonly label: string;
  /** For screen readers, where the platform has a text for them. */
  readonly name: string;
  /** Returned by the platform with a press: ASCII, at most 64 bytes. */
  readonly data: string;
}

/** Undefined: the message has no such buttons. */
export function opinionButtonsOf({ kind }: Pick<OutboundMessage, "kind">): OpinionButtons | undefined {
  if (kind === undefined) return undefined;
  return kind === "survey" ? "stars" : "thumbs";
}

/** `given`: the opinion to show as given. A given thumb takes itself back; a rating is final, so its star stays alone. */
export function opinionButtons(buttons: OpinionButtons, messageId: string, given?: Opinion): readonly OpinionButton[] {
  if (buttons === "thumbs") {
    const value = given?.kind === "feedback" ? given.value : null;
    return thumbs.map(({ name, label }) =>
      value === name
        ? { label: `${label} ✓`, name, data: `parley:none:${messageId}` }
        : { label, name, data: `parley:${name}:${messageId}` },
    );
  }
  const score = given?.kind === "rating" ? given.score : undefined;
  return scores
    .filter((each) => score === undefined || each === score)
    .map((each) => ({
      label: `${each} ★${score === undefined ? "" : " ✓"}`,
      name: `${each}/5`,
      data: `parley:${each}:${messageId}`,
    }));
}

const scores: readonly Score[] = [1, 2, 3, 4, 5];
const thumbs = [
  { name: "up", label: "👍" },
  { name: "down", label: "👎" },
] as const;

/** The buttons to show after this opinion was stored. */
export const buttonsAfter = (opinion: Opinion): readonly OpinionButton[] =>
  opinionButtons(opinion.kind === "rating" ? "stars" : "thumbs", opinion.of.messageId, opinion);

/** The opinion of a pressed button; undefined for other buttons. */
export function readOpinion(data: string): Opinion | undefined {
  const [, value, messageId] = /^parley:(up|down|none|[1-5]):([A-Za-z0-9_]{1,50})$/.exec(data) ?? [];
  if (value === undefined || messageId === undefined) return undefined;
  const of = { messageId };
  if (value === "up" || value === "down") return { kind: "feedback", of, value };
  if (value === "none") return { kind: "feedback", of, value: null };
  const score = scores.find((each) => String(each) === value);
  return score === undefined ? undefined : { kind: "rating", of, score };
}
