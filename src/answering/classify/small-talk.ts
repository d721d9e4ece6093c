import type { SpokenLanguage } from "#language/locale.ts";
import { en } from "#language/locales/en.ts";
import type { CannedKey } from "#language/text-keys.ts";
import { courtesyIn } from "./courtesies.ts";
import { wordsOf } from "#language/words/terms.ts";

const set = (words: string): ReadonlySet<string> => new Set(words.split(/[|\s]+/));

const greeting = set(en.courtesies.hello);
const thanks = set(en.courtesies.thanks);
const farewell = set(en.courtesies.goodbye);
const pleased = set(
  "great perfect awesome cool nice excellent super wonderful worked solved helpful ok okay alright understood",
);
/** Other words of such messages, without meaning of their own. */
const filler = set(en.courtesies.beside);
/** Matches a request for help that does not say with what. */
const askingForHelp =
  /^(?:(?:hi|hello|hey|there) )*(?:(?:please|pls|plz) )?(?:help|help me|(?:i )?need (?:some )?help|(?:can|could) (?:you|u|someone|anyone) help(?: me)?|i have a (?:quick )?question|(?:quick )?question)(?: (?:please|pls|plz|me|out))?$/;
const questionsMax = 9;
/** Emoji that count as small talk. Unhappy ones must not: their sender may want an agent. */
const emoji: readonly (readonly [RegExp, CannedKey])[] = [
  [/👋/u, "hello"],
  [/🙏/u, "thanks"],
  [/[👍👌👏🙌🤝💪🎉🥳🎊✅💯🔥🚀🤩😀😃😄😁😊🙂😎😍🥰😘🤗❤♥💚💙💛💜🧡]/u, "pleased"],
];
const pleasantOnly = new RegExp(
  `^(?:${emoji.map(([each]) => each.source).join("|")}|[\\u{1F3FB}-\\u{1F3FF}\\uFE0F\\u200D\\s!.])+$`,
  "u",
);

/**
 * Classifies a message that only greets, thanks or says goodbye. Returns undefined for every message that asks for
 * something.
 */
export function smallTalk(text: string): SmallTalk | undefined {
  const courtesy = courtesyIn(text);
  if (courtesy !== undefined) return courtesy;
  const shown = shownKind(text);
  if (shown !== undefined) return { language: undefined, kind: shown };
  const kind = englishKind(text);
  return kind === undefined ? undefined : { language: "en", kind };
}

function shownKind(text: string): CannedKey | undefined {
  return pleasantOnly.test(text) ? emoji.find(([each]) => each.test(text))?.[1] : undefined;
}

export interface SmallTalk {
  /** Undefined when the message has no language, such as an emoji. */
  readonly language: SpokenLanguage | undefined;
  readonly kind: CannedKey;
}

function englishKind(text: string): CannedKey | undefined {
  const words = wordsOf(text);
  if (words.length === 0 || words.length > questionsMax) return undefined;
  const joined = words.join(" ");
  if (
    /^(?:who|what) (?:are|r) (?:you|u)$|^what can you (?:do|help(?: me)? with)$|^are you (?:a |an )?(?:bot|robot|human|real|person|machine|ai)$/.test(
      joined,
    )
  ) {
    return "about";
  }
  const social = [greeting, thanks, farewell, pleased];
  if (askingForHelp.test(joined)) return "hello";
  if (!words.every((word) => filler.has(word) || social.some((kind) => kind.has(word)))) return undefined;
  const has = (kind: ReadonlySet<string>): boolean => words.some((word) => kind.has(word));
  if (has(thanks)) return "thanks";
  if (has(farewell)) return "goodbye";
  if (has(greeting)) return "hello";
  if (has(pleased)) return "pleased";
  return undefined;
}
