import { locales } from "#language/locales.ts";
import { namesOf } from "./clauses.ts";
import { hardFactsOf, plain } from "./hard-facts.ts";

const charactersMax = 120;

/** Sentences that need no source: greetings, transitions and closings without a statement. */
const phrases = Object.values(locales).flatMap(({ pleasantries }) => pleasantries);
const pattern = new RegExp(`^(?:(?:${phrases.join("|")})[\\s,.!:;–—?]*){1,3}$`, "iu");

export function isPleasantry(sentence: string): boolean {
  if (sentence.length > charactersMax) return false;
  const said = plain(sentence)
    .replaceAll("’", "'")
    .replaceAll(/[*_]/gu, "")
    .replaceAll(/\p{Extended_Pictographic}|\ufe0f/gu, "")
    .trim();
  if (/[`<>[\]()@/\\]/u.test(said)) return false;
  const { quantities, letters } = hardFactsOf(said);
  const named = namesOf(said.slice(1)).length > 0 && !/^(?:hallo|guten)/iu.test(said);
  return quantities.every(({ vague }) => vague) && letters.length === 0 && !named && pattern.test(said);
}
