import { isUnspaced } from "#language/phrases.ts";
import { memoize } from "#runtime/memoize.ts";
import { fold } from "#language/terms.ts";

const wordPattern = /[\p{L}\p{N}\p{M}]+(?:['’ʼ][\p{L}\p{M}]+)*/gu;
const setOf = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/));
/** Negations that apply to a request for a human shortly after them. */
const negations = setOf(
  `not no never dont doesnt didnt cant cannot wont wouldnt shouldnt neednt needn isnt without avoid stop
  hate nobody nor neither
  nicht kein keine keinen keinem keiner keinesfalls keineswegs nie niemals ohne statt anstatt weder
  ne pas jamais sans aucun aucune ni
  nunca jamas sin ningun ninguna tampoco
  non senza nessun nessuno nessuna nao nem sem nenhum nenhuma
  niet geen zonder nooit inte ingen utan aldrig ikke uden uten aldri ei ala ilman не без никогда`,
);
/** The first part of a French negation. Apostrophes are already removed ("n'ai"). */
const frenchNe = /^n(?:ai|as|avons|avez|ont|est|etes|aime|en|y)$/u;
/** Negations that can follow the request: "einen Menschen brauche ich nicht". */
const trailing = setOf("nicht nie niemals pas jamais nunca jamas");
const trailingReach = 4;
/** A negation before one of these does not apply: "this does not work, I want a human". */
const clauseEnd =
  /[.,;:!?¡¿\n()–—]|(?:^|\s)(?:but|so|and|because|then|please|just|let|lemme|connect|get|give|aber|sondern|sonst|und|weil|denn|also|dann|bitte|mais|donc|et|alors|car|veuillez|pero|sino|y|entonces|porque)(?=\s|$)/u;
/** Nor does one before a new request, even without a comma: "non funziona voglio parlare con una persona". */
const wish =
  /(?:^|\s)(?:i want|i need|ich will|je veux|yo quiero|io voglio|eu quero|ik wil|jag vill|jeg vil|mina haluan|я хочу)(?=\s|$)|^\s*\S+\s(?:.*\s)?(?:quiero|voglio|vorrei|quero|haluan|хочу)(?=\s|$)/u;
const negationReach = 6;

/** Words that are a request by themselves: "Human!", "agent please". */
const people = setOf(
  `human person agent operator representative rep
  mensch menschen mitarbeiter mitarbeiterin humain conseiller conseillere personne
  humano humana agente persona operador operadora asesor umano operatore atendente pessoa
  medewerker mens manniska medarbetare menneske medarbejder medarbeider ihminen asiakaspalvelija человек оператор`,
);
/** Words that may accompany them. */
const beside = setOf(
  `please pls plz now a an the real live human hello hi hey bitte jetzt ein einen eine einem einer hallo
  un une s'il svp sil vous te plait bonjour una uno por favor ahora hola per favore ora um uma agora ola
  een alsjeblieft alstublieft nu en tack takk tak venligst kiitos nyt пожалуиста`,
);
const besideMax = 6;

/** Words before a phrase that make it about others, or name a chat: "how do customers get a human?". */
const notOwn = setOf("customers users visitors clients they a the this");

interface Word {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

function wordsOf(folded: string): Word[] {
  return [...folded.matchAll(wordPattern)].map((match) => ({
    text: match[0].replaceAll(/['’ʼ]/gu, ""),
    start: match.index,
    end: match.index + match[0].length,
  }));
}

/** Phrases prepared for matching. */
interface PhraseMatcher {
  /** Phrases in scripts without spaces, matched as substrings. */
  readonly unspaced: readonly string[];
  /** The words of all other phrases, by their first word. */
  readonly byFirst: ReadonlyMap<string, readonly (readonly string[])[]>;
}

/** Cached by the array: most workspaces share the default phrases. */
const matcherCache = new WeakMap<readonly string[], PhraseMatcher>();
/** Cached by phrase: custom phrases come from the settings as a new array each time. */
const phraseWords = memoize(200_000, (phrase) => wordsOf(fold(phrase)).map((word) => word.text));

function matcherOf(phrases: readonly string[]): PhraseMatcher {
  const cached = matcherCache.get(phrases);
  if (cached !== undefined) return cached;
  const spaced = phrases.filter((phrase) => !isUnspaced(phrase)).map(phraseWords);
  const matcher = {
    unspaced: phrases.filter(isUnspaced).map((phrase) => fold(phrase).trim()),
    byFirst: Map.groupBy(spaced, ([first = ""]) => first),
  };
  matcherCache.set(phrases, matcher);
  return matcher;
}

/**
 * Whether the customer asks for a human: the text contains one of the phrases and does not negate it ("I don't want to
 * talk to a human"), or consists of a word such as "agent". Case, accents and punctuation are ignored. Always false
 * without phrases.
 */
export function asksForHuman(text: string, phrases: readonly string[]): boolean {
  const folded = fold(text);
  const words = wordsOf(folded);
  if (phrases.length > 0 && namesPersonOnly(words)) return true;
  const { unspaced, byFirst } = matcherOf(phrases);
  const isSaid = (wanted: readonly string[], at: number): boolean =>
    wanted.every((word, offset) => words[at + offset]?.text === word) &&
    !(wanted.length > 2 && isOfOthers(folded, words, at)) &&
    !isDenied(folded, words, at) &&
    !isDeniedAfter(folded, words, at + wanted.length - 1);
  return (
    unspaced.some((phrase) => folded.includes(phrase)) ||
    words.some(({ text: first }, at) => byFirst.get(first)?.some((wanted) => isSaid(wanted, at)))
  );
}

function namesPersonOnly(words: readonly Word[]): boolean {
  return (
    words.length <= besideMax &&
    words.some(({ text }) => people.has(text)) &&
    words.every(({ text }) => people.has(text) || beside.has(text))
  );
}

function isOfOthers(folded: string, words: readonly Word[], at: number): boolean {
  const before = words[at - 1];
  return before !== undefined && notOwn.has(before.text) && /^\s+$/u.test(folded.slice(before.end, words[at]?.start));
}

const isNegation = (word: string): boolean => negations.has(word) || frenchNe.test(word);

function isDenied(folded: string, words: readonly Word[], at: number): boolean {
  const phraseStart = words[at]?.start ?? 0;
  for (let before = at - 1; before >= Math.max(0, at - negationReach); before -= 1) {
    const word = words[before];
    if (word === undefined) return false;
    const between = folded.slice(word.end, phraseStart);
    if (clauseEnd.test(between) || wish.test(between)) return false;
    // "no" is Spanish for "not", but "no puedo hablar con una persona?" asks for it.
    const next = words[before + 1]?.text;
    const passedOver = (word.text === "rather" && next === "than") || (word.text === "instead" && next === "of");
    if (passedOver) return true;
    if (isNegation(word.text)) return !isAsked(folded, words, before);
  }
  return false;
}

/** True for a negation at the end of the clause: "Mit einem Menschen sprechen möchte ich nicht". */
function isDeniedAfter(folded: string, words: readonly Word[], last: number): boolean {
  const phraseEnd = words[last]?.end ?? 0;
  for (let after = last + 1; after <= Math.min(words.length - 1, last + trailingReach); after += 1) {
    const word = words[after];
    if (word === undefined || clauseEnd.test(folded.slice(phraseEnd, word.start))) return false;
    if (trailing.has(word.text)) {
      // "… geht das nicht?" asks for it.
      return !/^\s*\?/u.test(folded.slice(word.end));
    }
  }
  return false;
}

const whys = setOf(
  "why if warum wieso weshalb wenn falls pourquoi si porque perche waarom varfor hvorfor miksi почему",
);
const cans = setOf(
  "can could may why kann konnte darf konnen puis peux pourrais peut puedo podria puede podemos podrian posso possiamo podemos kan kunnen far voinko могу можно",
);
const pronouns = setOf("i you we there someone ich man wir je on nous tu vous ik we jag vi jeg я мы");
const turned = setOf("cant dont wont isnt doesnt cannot");

/** True when the negation is part of a question, which asks for the thing: "can't I", "why don't you let me". */
function isAsked(folded: string, words: readonly Word[], negation: number): boolean {
  const word = (offset: number): string => words[negation + offset]?.text ?? "";
  // "por que no", "est-ce que je ne": the question begins some words before.
  if ([-1, -2, -3, -4, -5].some((offset) => whys.has(word(offset)))) return true;
  if (word(-1) === "que" && word(-2) === "por") return true;
  if (turned.has(word(0)) && pronouns.has(word(1))) return true;
  // "can I not", "kann ich nicht", "ne puis je pas".
  if (pronouns.has(word(-1)) && cans.has(word(-2))) return true;
  const rest = folded.slice(words[negation]?.end ?? 0);
  const asks = /^[^.!\n]*\?/u.test(rest);
  return asks && (cans.has(word(1)) || (word(0) === "pas" && [-1, -2].some((offset) => cans.has(word(offset)))));
}
