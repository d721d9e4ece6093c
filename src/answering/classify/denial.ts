import { fold } from "#language/words/runs.ts";
import type { Denial } from "#language/locale.ts";
import { phrasesOfAllLocales, wordsOfAllLocales } from "#language/locales.ts";
import { runsOf } from "#language/words/runs.ts";

const wordsOf = (list: keyof Denial): readonly string[] => wordsOfAllLocales(({ denial }) => denial[list]);
const setOf = (list: keyof Denial): ReadonlySet<string> =>
  new Set(wordsOf(list).map((word) => fold(word).replaceAll("'", "")));

/** Words for agents. */
const persons = setOf("persons");
const negations = setOf("negations");
/** A clause with any further word is not a denial. */
const others = setOf("others");
/** Denials in scripts without spaces, where words cannot be compared one by one. */
const unspacedDenial = new RegExp(
  phrasesOfAllLocales(({ denial }) => denial.pattern),
  "u",
);
const unspacedMax = 24;
/** Ends of clauses, and conjunctions between a denial and the question. */
const joins = wordsOf("joins").join("|");
const clauseEnd = new RegExp(String.raw`(?<=[.,;:!?)\n–—，、。？！；])|\s(?=(?:${joins})\s)`, "iu");
const joining = new RegExp(String.raw`^\s*(?:${joins})\s+`, "iu");
/** A denial after the question: "How do I cancel without talking to a human". */
const tail = new RegExp(String.raw`\s+(?:${wordsOf("without").join("|")})\s+[^.,;:!?]*$`, "iu");
const textMax = 2_000;

function isDenial(clause: string): boolean {
  if (clause.length <= unspacedMax && unspacedDenial.test(clause)) return true;
  const words = runsOf(fold(clause)).map((word) => word.replaceAll(/['’ʼ]/gu, ""));
  const has = (set: ReadonlySet<string>): boolean => words.some((word) => set.has(word));
  return (
    has(persons) &&
    has(negations) &&
    words.every((word) => persons.has(word) || negations.has(word) || others.has(word))
  );
}

/**
 * Removes a denial such as "I don't want a human" from a question. Called after the escalation check, which handles
 * requests for a human. A text that is only a denial is returned unchanged.
 */
export function withoutDenial(text: string): string {
  if (text.length > textMax) return text;
  const parts = text.split(clauseEnd);
  const asked = parts.filter((part) => !isDenial(part));
  const rest = asked.map((part, at) => {
    const whole = at === 0 && asked.length < parts.length ? part.replace(joining, "") : part;
    const end = /[\s.,;:!?]*$/u.exec(whole)?.[0] ?? "";
    const found = tail.exec(whole.slice(0, whole.length - end.length));
    return found !== null && isDenial(found[0]) ? `${whole.slice(0, found.index)}${end}` : whole;
  });
  const joined = rest.join(" ").replaceAll(/\s+/gu, " ").trim();
  const isSame = asked.length === parts.length && rest.every((part, at) => part === parts[at]);
  return isSame || runsOf(joined).length === 0 ? text : joined;
}
