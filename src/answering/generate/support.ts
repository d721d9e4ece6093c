import { readUnits } from "#knowledge/documents/chunk-text.ts";
import type { Strictness } from "#domain/workspace/settings.ts";
import type { Clause } from "./clauses.ts";
import {
  clausesOf,
  contentTerms,
  cutClauses,
  deniesIn,
  isFunctionWord,
  namesOf,
  informativeTerms,
  withoutMarkup,
} from "./clauses.ts";
import type { Quantity } from "./hard-facts.ts";
import { hardFactsOf, isSameNumber, plain, saysNumber } from "./hard-facts.ts";
import { fold } from "#language/words/runs.ts";
import { wordsOf } from "#language/words/terms.ts";
import { opposites, openers, spelledOut, strictWords } from "./word-lists.ts";

/** A passage prepared for the comparison with statements. */
export interface Evidence {
  /** The clauses of each sentence, item or row, in order. */
  readonly units: readonly (readonly Clause[])[];
  /** Content words of the title. They apply to the whole passage. */
  readonly titled: ReadonlySet<string>;
  readonly terms: ReadonlySet<string>;
  /** All words, folded. */
  readonly words: ReadonlySet<string>;
  readonly letters: ReadonlySet<string>;
  readonly quantities: readonly Quantity[];
  /** True for German, which capitalises every noun. */
  readonly nounsLikeNames: boolean;
  /** The folded text in one line, for the comparison of code. */
  readonly line: string;
}

/** The reason why a statement is not supported. */
export type Objection =
  | "says nothing that can be checked"
  | "too long for one statement"
  | "a number that is not in the source"
  /** "two days" for "48 hours". */
  | "a number word that is not in the source"
  | "a unit that the number does not have in the source"
  | "a link, address or code that is not in the source"
  | "a name that is not in the source"
  /** A subject that may be a name, a day, or a word such as "free". */
  | "a word that is not in the source"
  | "too few of its words are in the source"
  | "its words are not said together in the source"
  | "the source says it of something else"
  | "the source says the opposite"
  | "markup that is not in the source";

/** The share of a statement's content words that the source must have. */
const wordsMin: Readonly<Record<Strictness, number>> = { strict: 0.6, helpful: 0.5 };
/** The share of the matching words that must be close together. */
const togetherMin = 0.7;
const togetherUnits = 3;

/** Longer statements are rejected unread: the comparison would take too long. */
const statementCharactersMax = 1_500;
const passageCharactersMax = 12_000;

const german = [
  "der",
  "die",
  "das",
  "und",
  "nicht",
  "ist",
  "sie",
  "wird",
  "werden",
  "ein",
  "eine",
  "mit",
  "von",
  "fur",
];

/** Normalizes a text to one folded line. */
export const squeeze = (text: string): string => fold(plain(text)).replaceAll(/\s+/gu, " ").trim();

export function evidenceOf(given: {
  readonly title: string;
  readonly text: string;
  readonly url: string | null;
}): Evidence {
  const passage = { ...given, text: given.text.slice(0, passageCharactersMax) };
  const title = withoutMarkup(passage.title.replaceAll(" › ", ". "));
  const text = withoutMarkup(passage.text);
  let before: ReadonlySet<string> = new Set();
  let heading: { readonly group: number; readonly terms: readonly string[] } | undefined;
  const units = readUnits(passage.text).map((unit) => {
    const clauses = clausesOf(withoutMarkup(unit.text), before);
    before = new Set(clauses.flatMap(({ reach }) => [...reach]));
    if (unit.kind !== "row") return clauses;
    // The first row is the heading of the others, unless it has numbers.
    if (heading?.group !== unit.group) {
      const hasNumbers = clauses.some(({ quantities }) => quantities.length > 0);
      heading = { group: unit.group, terms: hasNumbers ? [] : clauses.flatMap(({ terms }) => [...terms]) };
    }
    const named = heading.terms;
    return clauses.map((clause) => ({ ...clause, reach: new Set([...clause.terms, ...named]) }));
  });
  const whole = `${title}\n${text}`;
  const facts = hardFactsOf(whole);
  const words = new Set(wordsOf(whole));
  return {
    units,
    titled: new Set(contentTerms(title)),
    terms: new Set(contentTerms(whole)),
    words,
    letters: new Set([...facts.letters, ...(passage.url === null ? [] : hardFactsOf(plain(passage.url)).letters)]),
    quantities: facts.quantities,
    nounsLikeNames: german.filter((word) => words.has(word)).length >= 2,
    line: squeeze(`${passage.title} ${passage.text}`),
  };
}

/** Merges the evidence of passages that are cited together. */
function joined(all: readonly Evidence[]): Evidence {
  const [first] = all;
  if (first !== undefined && all.length === 1) return first;
  return {
    units: all.flatMap(({ units }) => units),
    titled: new Set(all.flatMap(({ titled }) => [...titled])),
    terms: new Set(all.flatMap(({ terms }) => [...terms])),
    words: new Set(all.flatMap(({ words }) => [...words])),
    letters: new Set(all.flatMap(({ letters }) => [...letters])),
    quantities: all.flatMap(({ quantities }) => quantities),
    nounsLikeNames: all.some(({ nounsLikeNames }) => nounsLikeNames),
    line: all.map(({ line }) => line).join("\n"),
  };
}

/**
 * Checks a statement against the cited passages. Numbers with their units, links, names and code must be in the source
 * literally; most other words must be there, close together, about the same thing, and with the same negation. Returns
 * undefined when the statement is supported. The check compares words only: it passes some wrong statements and rejects
 * some right ones.
 */
export function objectionTo(
  statement: string,
  cited: readonly Evidence[],
  strictness: Strictness,
): Objection | undefined {
  return objectionsTo(statement, cited, strictness).next().value;
}

/**
 * Whether a statement is wrong whatever a model says about it. `isTranslated`: it is in another language than the source,
 * which may have other words for a name.
 */
export function isVetoed(statement: string, cited: readonly Evidence[], isTranslated: boolean): boolean {
  return objectionsTo(statement, cited, "helpful").some(
    (objection) => vetoes.has(objection) && !(isTranslated && objection === "a name that is not in the source"),
  );
}

/** The other objections hit more than one in twenty true statements in other words (bench/claims.ts). */
const vetoes: ReadonlySet<Objection> = new Set([
  "too long for one statement",
  "a number that is not in the source",
  "a link, address or code that is not in the source",
  "a name that is not in the source",
  "markup that is not in the source",
]);

/** All objections, each when it is found: most callers need only the first. */
function* objectionsTo(
  statement: string,
  cited: readonly Evidence[],
  strictness: Strictness,
): Generator<Objection, undefined> {
  if (statement.length > statementCharactersMax) {
    yield "too long for one statement";
    return undefined;
  }
  const evidence = joined(cited);
  const code = codeIn(statement);
  if (!code.every((each) => evidence.line.includes(squeeze(each))))
    yield "a link, address or code that is not in the source";
  if (!markupIsPlain(statement, evidence)) yield "markup that is not in the source";
  // A link's target is compared as text. Brackets would split it.
  const said = withoutMarkup(statement.replaceAll(link, "$1 ( $2 )"));
  const facts = hardFactsOf(said);
  if (!facts.letters.every((letters) => hasLetters(letters, evidence)))
    yield "a link, address or code that is not in the source";
  const wrong = wrongQuantity(facts.quantities, evidence);
  if (wrong !== undefined) yield wrong;
  const prose = withoutMarkup(withoutLinks(statement.replaceAll(/(`+)[^`]+\1/gu, " ")));
  const unknown = unknownName(prose, evidence);
  if (unknown !== undefined) yield unknown;
  const terms = [...new Set(contentTerms(prose))];
  const quantities = facts.quantities.filter(({ vague }) => !vague);
  if (terms.length === 0 && quantities.length === 0 && code.length === 0 && facts.letters.length === 0)
    yield "says nothing that can be checked";
  const known = terms.map((term) => termIn(term, evidence.terms)).filter((term) => term !== undefined);
  if (terms.length > 0 && known.length / terms.length < wordsMin[strictness])
    yield "too few of its words are in the source";
  if (!standTogether(known, evidence)) yield "its words are not said together in the source";
  for (const part of cutClauses(prose)) {
    const objection = objectionToPart(part, evidence);
    if (objection !== undefined) yield objection;
  }
  return undefined;
}

/** A Markdown link. Its target may contain one pair of parentheses. */
const link = /!?\[([^\]]*)\]\(([^()\s]*(?:\([^()\s]*\)[^()\s]*)?)[^)]*\)/gu;
const withoutLinks = (text: string): string => text.replaceAll(link, "$1").replaceAll(/\bhttps?:\S+/gu, " ");

function codeIn(statement: string): string[] {
  return [...statement.matchAll(/(`+)([^`]+)\1/gu)].map((match) => match[2] ?? "").filter((code) => code.trim() !== "");
}

/** Images and link definitions can load or hide content and are rejected. Tags must be in the source. */
function markupIsPlain(statement: string, evidence: Evidence): boolean {
  const outside = statement.replaceAll(/(`+)[^`]+\1/gu, " ");
  const tags = [...outside.matchAll(/<[a-z!/?][^>\n]*>?/giu)].map(([tag]) => tag);
  return (
    !/!\[/u.test(outside) &&
    !/^\s*\[[^\]]+\]:/mu.test(outside) &&
    !/\]\s*\[/u.test(outside) &&
    tags.every((tag) => evidence.line.includes(squeeze(tag)))
  );
}

function hasLetters(letters: string, { letters: known, line }: Evidence): boolean {
  if (known.has(letters)) return true;
  // A bare host passes when the source has one of its pages.
  if (!letters.includes("/") && [...known].some((each) => each.startsWith(`${letters}/`))) return true;
  // "BK-100" must match in its own spelling.
  return (
    /^[\p{L}\p{N}]+[-_][\p{L}\p{N}_-]+$/u.test(letters) &&
    new RegExp(`(?<![\\p{L}\\p{N}-])${letters}(?![\\p{L}\\p{N}-])`, "u").test(line)
  );
}

function wrongQuantity(quantities: readonly Quantity[], evidence: Evidence): Objection | undefined {
  // Words come last: they must not hide a number.
  for (const said of quantities.toSorted((left, right) => Number(left.isWord) - Number(right.isWord))) {
    if (said.vague) continue;
    const same = evidence.quantities.filter((has) => isSameNumber(said, has));
    if (same.length === 0)
      return said.isWord ? "a number word that is not in the source" : "a number that is not in the source";
    if (same.some((has) => saysNumber(said, has))) continue;
    // In a table the unit is in the heading.
    const bare =
      same.some(({ unit, isRank }) => unit === null && !isRank) &&
      evidence.units.some((unit) => unit.some((clause) => mentions(clause, said.unit)));
    if (!bare) return "a unit that the number does not have in the source";
  }
  return undefined;
}

const mentions = ({ words }: Clause, unit: string | null): boolean =>
  unit !== null && hardFactsOf(`1 ${words.replaceAll(/[^\p{L}%€$£¥₹]+/gu, " ")}`).quantities[0]?.unit === unit;

/** A word at the beginning may be a name or not: "Bob manages …", "Sending parcels …". */
function unknownName(prose: string, { words, line }: Evidence): Objection | undefined {
  const isKnown = (name: string): boolean =>
    words.has(name) ||
    line.includes(name) ||
    (spelledOut.get(name)?.some((each) => line.includes(each)) ?? false) ||
    (name.length >= 5 && [...words].some((word) => alike(name, word)));
  const [first = "", second = ""] = wordsOf(prose);
  const unknown = namesOf(prose)
    .flatMap((name) => name.split(" "))
    .flatMap((name, index) => (isKnown(name) ? [] : [{ name, isFirst: index === 0 && name === first }]));
  if (unknown.some(({ isFirst }) => !isFirst)) return "a name that is not in the source";
  const verb = /^(?:is|are|was|were|can|will|has|have|does|must|should|may|cannot)$|[^s]s$/u.test(second);
  const opens = /^\P{L}*\p{Lu}/u.test(prose) && verb && !openers.has(first) && !isFunctionWord(first);
  const strict = wordsOf(prose).filter((word) => strictWords.has(word));
  const isSubject = unknown.length > 0 && opens;
  return isSubject || !strict.every((word) => isKnown(word)) ? "a word that is not in the source" : undefined;
}

/** Whether two words are forms of one word. A substitute for a stemmer in languages that have none. */
function alike(left: string, right: string): boolean {
  let same = 0;
  while (same < left.length && left[same] === right[same]) same += 1;
  return same >= 5 && same >= 0.7 * Math.max(left.length, right.length);
}

function termIn(term: string, terms: ReadonlySet<string>): string | undefined {
  if (terms.has(term)) return term;
  return term.length < 5 ? undefined : [...terms].find((each) => alike(term, each));
}

function standTogether(known: readonly string[], { units, titled }: Evidence): boolean {
  const wanted = known.filter((term) => !titled.has(term));
  if (wanted.length < 3) return true;
  for (let from = 0; from < units.length; from += 1) {
    const near = new Set(
      units.slice(from, from + togetherUnits).flatMap((unit) => unit.flatMap(({ reach }) => [...reach])),
    );
    if (wanted.filter((term) => near.has(term)).length >= togetherMin * wanted.length) return true;
  }
  return false;
}

function objectionToPart(part: string, evidence: Evidence): Objection | undefined {
  const known = (term: string): string => termIn(term, evidence.terms) ?? term;
  const terms = new Set(contentTerms(part).map(known));
  const quantities = hardFactsOf(part).quantities.filter(({ vague }) => !vague);
  const clauses = evidence.units.flat();
  const informative = informativeTerms(part)
    .map(known)
    .filter((term) => !evidence.titled.has(term));
  if (quantities.length > 0 && !saidOf(informative, quantities, clauses)) return "the source says it of something else";
  if (!evidence.nounsLikeNames && !namesFit(namesOf(part), informative, clauses))
    return "the source says it of something else";
  return agrees(part, [...terms], evidence) ? undefined : "the source says the opposite";
}

/**
 * Checks that a number is stated of the right thing when the source has more than one: no word of the statement may occur
 * with another number only.
 */
function saidOf(informative: readonly string[], quantities: readonly Quantity[], clauses: readonly Clause[]): boolean {
  const homes = quantities.map((said) =>
    clauses.filter((clause) =>
      clause.quantities.some(
        (has) => isSameNumber(said, has) && (said.unit === null || has.unit === null || said.unit === has.unit),
      ),
    ),
  );
  // A number that is in no single clause was matched across clauses. The other checks cover it.
  if (homes.some((home) => home.length === 0)) return true;
  const values = new Set(quantities.map(({ value }) => value));
  const hasMany = quantities.length > 1;
  const units = new Set([...quantities, ...homes.flat().flatMap((home) => home.quantities)].map(({ unit }) => unit));
  const [first = []] = homes;
  return first.some((home) => {
    const near = hasMany ? homes.flat() : [home];
    const reach = new Set(near.flatMap((clause) => [...clause.reach]));
    const rivals = clauses.filter(
      (clause) =>
        !near.includes(clause) && clause.quantities.some(({ value, unit }) => !values.has(value) && units.has(unit)),
    );
    const foreign = informative.filter((term) => !reach.has(term) && rivals.some((rival) => rival.terms.has(term)));
    // A clause with another number must not match more of the statement than the number's own clause.
    const own = informative.filter((term) => near.some((clause) => clause.terms.has(term))).length;
    const rival = Math.max(0, ...rivals.map((each) => informative.filter((term) => each.terms.has(term)).length));
    return foreign.length === 0 && rival <= own + (own === 0 ? 0 : 1);
  });
}

/** Like {@link saidOf}, for names: facts about one person or product must not be stated of another. */
function namesFit(names: readonly string[], informative: readonly string[], clauses: readonly Clause[]): boolean {
  const placeOf = (name: string, clause: Clause): number => clause.names.findIndex((each) => sameName(each, name));
  const homes = clauses.filter((clause) => names.some((name) => placeOf(name, clause) !== -1));
  if (homes.length === 0) return true;
  const reach = new Set(homes.flatMap((clause) => [...clause.reach]));
  const rivals = clauses.filter((clause) => !homes.includes(clause) && clause.names.length > 0);
  if (informative.some((term) => !reach.has(term) && rivals.some(({ terms }) => terms.has(term)))) return false;
  const [one, two] = names;
  if (one === undefined || two === undefined || names.length > 2) return true;
  // "Anna reports to Bob" is not "Bob reports to Anna".
  const both = homes.filter((clause) => placeOf(one, clause) !== -1 && placeOf(two, clause) !== -1);
  return (
    both.length === 0 ||
    both.some((clause) => placeOf(one, clause) < placeOf(two, clause) || / by /u.test(clause.words))
  );
}

/** "Bob" and "Bob Stone" are the same name. */
const sameName = (left: string, right: string): boolean =>
  left === right || ` ${left} `.includes(` ${right} `) || ` ${right} `.includes(` ${left} `);

/** The shortest clauses that match most of the statement must have the same negation as the statement. */
function agrees(part: string, terms: readonly string[], { units, titled }: Evidence): boolean {
  const wanted = terms.filter(
    (term) => !titled.has(term) || units.some((unit) => unit.some((clause) => clause.terms.has(term))),
  );
  if (wanted.length === 0) return true;
  const says = fold(part);
  const denies = deniesIn(part);
  let most = 0;
  let best: { readonly length: number; readonly own: number; readonly clauses: readonly Clause[] }[] = [];
  for (const unit of units) {
    for (let from = 0; from < unit.length; from += 1) {
      for (let length = 1; length <= unit.length - from && length <= 3; length += 1) {
        const clauses = unit.slice(from, from + length);
        const matched = wanted.filter((term) => clauses.some(({ within }) => within.has(term))).length;
        const own = wanted.filter((term) => clauses.some(({ terms: said }) => said.has(term))).length;
        if (matched > most) {
          most = matched;
          best = [];
        }
        if (matched === most) best.push({ length, own, clauses });
      }
    }
  }
  // One shared word does not prove the same subject.
  if (most === 0 || (most === 1 && wanted.length > 1)) return true;
  const shortest = Math.min(...best.map(({ length }) => length));
  const short = best.filter(({ length }) => length === shortest);
  // Clauses with the terms themselves take precedence over clauses that only refer to them.
  const mostOwn = Math.max(...short.map(({ own }) => own));
  return short
    .filter(({ own }) => own === mostOwn)
    .some(({ clauses }) => {
      if (clauses.some((clause) => clause.denies) !== denies) return false;
      const words = clauses.map((clause) => clause.words).join(" ");
      return opposites.every(
        ([left, right]) => !isReversed(left, right, says, words) && !isReversed(right, left, says, words),
      );
    });
}

const isReversed = (said: RegExp, opposite: RegExp, statement: string, source: string): boolean =>
  said.test(statement) && !opposite.test(statement) && opposite.test(source) && !said.test(source);
