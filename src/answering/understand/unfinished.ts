import { humanRequestIn } from "#answering/classify/escalation.ts";
import { smallTalk } from "#answering/classify/small-talk.ts";
import { phrasesOfAllLocales, wordsOfAllLocales } from "#language/locales.ts";
import { wordsIn } from "#language/words/phrases.ts";
import { asksSomething, wantsSomething } from "./asked-sentences.ts";

/** After a part of a sentence, a greeting, an announcement or a statement, which often precedes a question; in milliseconds. */
const partMs = 2_500;
/** After a short question without its mark, and after the end of a row of messages. */
const unmarkedMs = 1_500;

/** "hmm", "umm", "euh", "ok, err". */
const hesitates = /^(?:ok(?:ay)?[,. ]{1,3})?(?:h+m+|u+h*m+|u+h+|e+r+m*|e+uh*m*|m{2,}|х+м+|э+м*)[.…]{0,3}$/iu;
const link = /^https?:\/\/\S+$/iu;
const charactersMax = 160;
const statementWordsMax = 14;
const partWordsMax = 6;
const shortWordsMax = 6;

const continues: ReadonlySet<string> = new Set(wordsOfAllLocales(({ unfinished }) => unfinished.continues));
const begins: ReadonlySet<string> = new Set(wordsOfAllLocales(({ unfinished }) => unfinished.begins));
const states: ReadonlySet<string> = new Set(wordsOfAllLocales(({ unfinished }) => unfinished.states));
const requests: ReadonlySet<string> = new Set(wordsOfAllLocales(({ unfinished }) => unfinished.requests));
const announces = new RegExp(`^(?:${phrasesOfAllLocales(({ unfinished }) => unfinished.announces)})$`, "u");
const lacksObject = new RegExp(`^(?:${phrasesOfAllLocales(({ unfinished }) => unfinished.lacksObject)})$`, "u");

/**
 * How long the answer to this message waits for the rest of it, in milliseconds: people write "hello", "about the widget"
 * and "how do I change its colour?" as three messages. 0 after a whole question. `isContinued`: an earlier message of the
 * customer is not answered yet.
 */
export function pauseAfter(message: string, isContinued: boolean): number {
  const text = message.trim();
  // A file without text: the question often follows it.
  if (text === "") return partMs;
  if (link.test(text) || hesitates.test(text)) return partMs;
  // Longer messages are complete, and so are addresses.
  if (text.length > charactersMax || /^\S+[@./]\S+$/u.test(text)) return 0;
  const { words } = wordsIn(text);
  if (announces.test(words.join(" "))) return partMs;
  const courtesy = smallTalk(text);
  if (courtesy !== undefined) return courtesy.kind === "hello" ? partMs : 0;
  if (words.length === 0) return isContinued ? unmarkedMs : 0;
  if (humanRequestIn(text, null) !== undefined) return 0;
  if (isPart(text, words, isContinued) || isStatement(text, words)) return partMs;
  if (/[?？؟.!。！]$/u.test(text)) return 0;
  return isContinued || isShortQuestion(text, words) ? unmarkedMs : 0;
}

/** "how long", "does the battery", "kan ik betalen": the rest often follows. */
function isShortQuestion(text: string, words: readonly string[]): boolean {
  return words.length > 1 && words.length <= shortWordsMax && (asksSomething(text) || wantsSomething(text));
}

function isPart(text: string, words: readonly string[], isContinued: boolean): boolean {
  const joined = words.join(" ");
  if (/(?:[,:;…–—-]|\.\.)$/u.test(text)) return true;
  if (/[?？؟.!。！]$/u.test(text)) return false;
  if (lacksObject.test(joined) || continues.has(words.at(-1) ?? "")) return words.length > 1 || isContinued;
  if (words.length > partWordsMax || asksSomething(text)) return false;
  return begins.has(words[0] ?? "") ? words.length > 1 || isContinued : isContinued;
}

function isStatement(text: string, words: readonly string[]): boolean {
  if (words.length < 2 || words.length > statementWordsMax || asksSomething(text)) return false;
  if (requests.has(words[0] ?? "")) return false;
  return /[.!。！]$/u.test(text) || words.some((word) => states.has(word));
}
