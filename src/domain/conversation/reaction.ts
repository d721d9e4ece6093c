/** Emoji with which agents react, which every channel with reactions takes. */
export const agentReactions = ["👍", "❤️", "🎉", "🙏", "👌", "👀"] as const;

export type AgentReactionSign = (typeof agentReactions)[number];

/** Most UTF-16 units of an emoji, or of a name such as `:party:`. */
const emojiLengthMax = 32;

export const isReaction = (emoji: string): boolean =>
  emoji !== "" && emoji.length <= emojiLengthMax && emoji.isWellFormed() && !/[\p{Cc}\p{White_Space}]/u.test(emoji);

const skinTones = /\p{Emoji_Modifier}|\uFE0F/gu;

/** The one of {@link agentReactions} that this emoji is, in any colour. */
export function agentReactionIn(emoji: string): AgentReactionSign | undefined {
  const sign = emoji.replaceAll(skinTones, "");
  return agentReactions.find((each) => each.replaceAll(skinTones, "") === sign);
}

/** The opinion that a thumb of any colour is; undefined for other emoji. */
export function thumbOf(emoji: string): "up" | "down" | undefined {
  const sign = emoji.replaceAll(skinTones, "");
  return sign === "👍" ? "up" : sign === "👎" ? "down" : undefined;
}
