import { wordsOf } from "./terms.ts";

const set = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/));

const greeting = set("hi hello hey heya hiya howdy yo greetings morning afternoon evening hallo hola bonjour ciao");
const thanks = set("thanks thank thx ty cheers merci danke gracias appreciated");
const farewell = set("bye goodbye cya farewell");
const pleased = set(
  "great perfect awesome cool nice excellent super wonderful worked solved helpful ok okay alright understood",
);
/** Words that such messages also have, and that say nothing alone. */
const filler = set(
  `good day there you so very much a lot again for the your help all everyone team bot assistant to see later now have
  nice one and oh well that it is was this everything works got i me many really u thats its how are doing today ya`,
);
const questionsMax = 9;

/**
 * The reply to a message that only greets, thanks or says goodbye; undefined for all that asks for something, since
 * that is looked up.
 */
export function smallTalkReply(text: string, botName: string): string | undefined {
  const words = wordsOf(text);
  if (words.length === 0 || words.length > questionsMax) return undefined;
  const joined = words.join(" ");
  if (
    /^(?:who|what) (?:are|r) (?:you|u)$|^what can you (?:do|help(?: me)? with)$|^are you (?:a |an )?(?:bot|robot|human|real|person|machine|ai)$/.test(
      joined,
    )
  ) {
    return `I'm ${botName}, an automated assistant: I answer from our documentation. If you would rather talk to a human, just say so.`;
  }
  const social = [greeting, thanks, farewell, pleased];
  if (!words.every((word) => filler.has(word) || social.some((kind) => kind.has(word)))) return undefined;
  const has = (kind: ReadonlySet<string>): boolean => words.some((word) => kind.has(word));
  if (has(thanks)) return "You're welcome! Is there anything else I can help with?";
  if (has(farewell)) return "Goodbye! Come back whenever you have a question.";
  if (has(greeting)) return "Hello! What can I help you with?";
  if (has(pleased)) return "Good to hear. Is there anything else I can help with?";
  return undefined;
}
