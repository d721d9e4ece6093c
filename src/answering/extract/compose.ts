import { linkMark } from "#knowledge/documents/blocks.ts";
import type { AskedTerms } from "#answering/understand/asked-terms.ts";
import { isCode } from "#answering/rank/confidence.ts";
import { evidencePenalty, hasAskedKind } from "#answering/rank/evidence-penalty.ts";
import type { Understood } from "#answering/understand/question.ts";
import { askingWords, asksOtherwise } from "#answering/understand/question.ts";
import type { Ranked } from "#answering/rank/ranked.ts";
import { renderUnits } from "./render-units.ts";
import { listAround, spanOf, withPromised } from "./span.ts";
import type { Placed } from "#answering/rank/merged-passages.ts";
import { mergedPassages, union, weigh } from "#answering/rank/merged-passages.ts";
import { promisesSteps } from "#answering/rank/informative.ts";
import { wordsOfHeading } from "#answering/rank/title-fit.ts";

export interface Composed {
  /** Markdown. Every sentence is from one of the used passages. */
  readonly text: string;
  /** The passages that the text is taken from, most used first. */
  readonly used: readonly Ranked[];
  /** The units of the text, in its order. */
  readonly units: readonly Placed[];
  /** Confidence that the text answers the question: the best used passage's confidence less the evidence penalty. */
  readonly evidence: number;
}

/** Minimum coverage of the question by the headings over a list of steps, and by headings and steps together. */
const stepsTitledMin = 0.3;
const stepsCoveredMin = 0.8;
/** Bonus for units under a heading that is the question, and for the first unit under it. */
const headedShare = 0.5;
const openingShare = 0.3;
/** Bonus when the heading is the question word for word. Must outweigh sentences that repeat the same words. */
const verbatimShare = 0.6;
/** Bonus for the first unit under such a heading. Must outweigh rows of a table, each of which repeats its headers' words. */
const verbatimOpeningShare = 1.2;
/** Title fit from which a heading without a question mark counts as the question. */
const sameQuestion = 0.75;
/** Cost per position of a passage in its document, up to `laterMax`: the first of similar sections is the usual case. */
const laterCost = 0.005;
const laterMax = 5;
const fragmentTermsMax = 2;
/** Bonus for a unit with the kind of thing asked for, and where the message asks for nothing else ("how long is it?"). */
const kindShare = 0.1;
/** How much more a price, or a number beside the name of what is counted, fits than any number. */
const namedFit = 3;
const measuredShare = 0.4;
/** Weight of the evidence for the whole text, relative to the score of its best sentence. */
const evidenceShare = 3;

/**
 * Makes an answer of the passages' own sentences: the best matching sentence with the neighbours that it needs, in
 * reading order, or a list as a whole. Returns undefined when no unit can be an answer. `ranked` is best first. The
 * answer is taken from the first `count` passages; the others only complete it.
 */
export function compose(
  question: Understood,
  asked: AskedTerms,
  ranked: readonly Ranked[],
  count: number,
  confidenceOfScore: (score: number) => number,
): Composed | undefined {
  const best = ranked[0];
  if (best === undefined) return undefined;
  let chosen: (Pick<Composed, "used" | "evidence"> & { placed: readonly Placed[]; worth: number }) | undefined;
  // A definition often occurs once, in a passage that ranks no better than others that name the thing.
  const from = question.asks === "definition" ? ranked.length : count;
  for (const units of mergedPassages(withNext(ranked, from), asked)) {
    const at = bestPlace(units, question, asked, best.worth, ranked);
    if (at === undefined) continue;
    const span = withPromised(units, spanOf(units, at.index, question, asked));
    const placed = withoutLooseEnds(span.map((index) => units[index]).filter((each) => each !== undefined));
    if (placed.length === 0) continue;
    const penalty = evidencePenalty(placed, question, asked);
    const used = usedOf(placed);
    const evidence = Math.max(...used.map((each) => confidenceOfScore(each.score) + leadIn(placed, each))) - penalty;
    const worth = at.score + evidenceShare * evidence;
    if (chosen === undefined || worth > chosen.worth) chosen = { placed, used, evidence, worth };
  }
  if (chosen === undefined) return undefined;
  const { placed, used, evidence } = chosen;
  return { text: renderUnits(withSection(placed, asked)), used, units: placed, evidence };
}

/**
 * The lead of a passage, as evidence for these units of it. A row of a table is no sentence that could mean something: it
 * is not doubted for its distance, and not at all where it has a code of the question.
 */
function leadIn(placed: readonly Placed[], { lead, near, doubt }: Ranked): number {
  if (!placed.every(({ unit }) => unit.kind === "row")) return lead + near - doubt;
  return placed.some(({ terms }) => [...terms].some(isCode)) ? Math.max(0, lead) : lead;
}

/**
 * Prefixes steps with their heading when the question does not name it ("On a phone"): the steps hold for that case only.
 * Prose needs no such prefix.
 */
function withSection(placed: readonly Placed[], asked: AskedTerms): Placed[] {
  const first = placed[0];
  const parts = first?.passage.candidate.title.split(" › ") ?? [];
  const section = parts.length > 1 ? parts.at(-1) : undefined;
  const isSteps = placed.some(({ unit }) => unit.kind === "item" && unit.number !== null);
  if (first === undefined || section === undefined || !isSteps || placed.some(({ unit }) => unit.kind === "heading"))
    return [...placed];
  const named = asked.termsOf(section);
  if (named.length === 0 || asked.askedIn(named).length > 0) return [...placed];
  return [{ ...first, unit: { kind: "heading", text: section.replace(/:$/, "") } }, ...placed];
}

/** The first `count` passages, and those that follow them in their documents, where a list may continue. */
function withNext(ranked: readonly Ranked[], count: number): Ranked[] {
  const first = ranked.slice(0, count);
  const follows = (next: Ranked): boolean =>
    first.some(
      ({ candidate }) =>
        candidate.documentId === next.candidate.documentId && candidate.position + 1 === next.candidate.position,
    );
  return [...first, ...ranked.slice(count).filter(follows)];
}

function bestPlace(
  units: readonly Placed[],
  question: Understood,
  asked: AskedTerms,
  bestWorth: number,
  ranked: readonly Ranked[],
): { readonly index: number; readonly score: number } | undefined {
  let best: { readonly index: number; readonly score: number } | undefined;
  let before: Ranked | undefined;
  for (const [index, placed] of units.entries()) {
    if (!placed.answers) continue;
    const isFirst = placed.passage !== before;
    before = placed.passage;
    const under = headed(placed.passage, isFirst, question, ranked);
    // For a question such as "Requirements" the heading is the match. The text below need not repeat it.
    const named =
      under > 0 && isFirst && isFragment(question) ? placed.passage.fit * (1 - weigh(placed.terms, asked)) : 0;
    const score = scoreOf(units, index, placed, question, asked, bestWorth) + under + named;
    if (best === undefined || score > best.score) best = { index, score };
  }
  return best;
}

/** True for a question of one or two words that is not a sentence. */
function isFragment({ own, borrowed, asking }: Understood): boolean {
  return asking === null && borrowed.length === 0 && own.length <= fragmentTermsMax;
}

/** The bonus for a unit under a heading that is the question. Zero when the heading asks something else. */
function headed(
  { candidate, fit, verbatim }: Ranked,
  isFirst: boolean,
  question: Understood,
  ranked: readonly Ranked[],
): number {
  if (fit === 0) return 0;
  if (candidate.title.endsWith("?")) {
    const asking = askingWords(wordsOfHeading(candidate.title), question.language);
    if (asksOtherwise(asking, question.asking)) return 0;
  } else if (fit < sameQuestion) return 0;
  const goesOn = (each: Ranked): boolean =>
    each.candidate.documentId === candidate.documentId &&
    each.candidate.title === candidate.title &&
    each.candidate.position < candidate.position;
  const opens = isFirst && !ranked.some(goesOn);
  const opening = verbatim ? verbatimOpeningShare : openingShare;
  return (headedShare + (opens ? opening : 0) + (verbatim ? verbatimShare : 0)) * fit ** 2;
}

/** Removes cross references and announcements, and an introduction ("In this article:") that nothing follows. */
function withoutLooseEnds(placed: readonly Placed[]): Placed[] {
  // A step that consists of a link ("1. Open the settings") must stay.
  const inSteps = placed.some(({ unit }) => unit.kind === "item" && unit.number !== null);
  const remaining = placed.filter(
    ({ unit, informative }) => informative || (unit.kind === "item" && (inSteps || !unit.text.startsWith(linkMark))),
  );
  const last = remaining.at(-1);
  const endsOpen = remaining.length > 1 && last?.unit.kind === "sentence" && last.unit.text.endsWith(":");
  return endsOpen ? remaining.slice(0, -1) : remaining;
}

function scoreOf(
  units: readonly Placed[],
  at: number,
  { unit, passage, terms, titled }: Placed,
  question: Understood,
  asked: AskedTerms,
  bestWorth: number,
): number {
  const window = union(units[at - 1]?.terms, terms, units[at + 1]?.terms);
  const emptyWords =
    unit.text.trimEnd().endsWith("?") || (unit.kind === "sentence" && promisesSteps(unit.text) && !hasList(units, at))
      ? 0.4
      : 0;
  // Steps need not name their goal when the heading above them does.
  const about = weigh(titled, asked);
  const list = question.asks === "steps" && about >= stepsTitledMin ? stepsFrom(units, at) : [];
  const covered = list.length === 0 ? 0 : weigh(union(titled, ...list.map((index) => units[index]?.terms)), asked);
  const steps = covered >= stepsCoveredMin ? covered + 0.25 : 0;
  return (
    Math.max(weigh(terms, asked), steps) +
    0.25 * weigh(window, asked) +
    0.5 * (bestWorth === 0 ? 0 : passage.worth / bestWorth) -
    laterCost * Math.min(laterMax, passage.candidate.position) +
    0.15 * about +
    (question.measured.length > 0 || question.another ? measuredShare : kindShare) * fits(units, at, question, asked) -
    emptyWords
  );
}

/** True when the next unit is a list item, a table row or code. */
function hasList(units: readonly Placed[], at: number): boolean {
  const kind = units[at + 1]?.unit.kind;
  return kind === "item" || kind === "row" || kind === "code";
}

/** The numbered list that starts at `at`, or right after the sentence at `at`. Empty when there is none. */
function stepsFrom(units: readonly Placed[], at: number): number[] {
  const first = units[at]?.unit.kind === "sentence" ? at + 1 : at;
  const unit = units[first]?.unit;
  return unit?.kind === "item" && unit.number === 1 && unit.depth === 0 ? listAround(units, first) : [];
}

/** 1 when the unit has the kind of thing asked for, else 0. */
function fits(units: readonly Placed[], at: number, question: Understood, asked: AskedTerms): number {
  const { unit, terms } = units[at] ?? {};
  if (unit === undefined || terms === undefined) return 0;
  switch (question.asks) {
    case "amount": {
      const { counted } = question;
      const isCounted = counted !== null && terms.has(asked.askedBy(counted) ?? counted);
      if (!hasAskedKind(unit.text, "amount", asked)) return 0;
      return isCounted ? namedFit : 1;
    }
    case "price":
      if (hasAskedKind(unit.text, "price", asked)) return namedFit;
      return hasAskedKind(unit.text, "amount", asked) ? 1 : 0;
    case "number":
    case "time":
    case "difference":
    case "definition":
      return hasAskedKind(unit.text, question.asks, asked) ? 1 : 0;
    case "person":
      return /\s\p{Lu}\p{L}+/u.test(unit.text) ? 1 : 0;
    case "steps":
      return (unit.kind === "item" && unit.number !== null) ||
        (unit.kind === "sentence" && units[at + 1]?.unit.kind === "item")
        ? 1
        : 0;
    case "anything":
      return 0;
  }
}

function usedOf(placed: readonly Placed[]): Ranked[] {
  const counts = new Map<Ranked, number>();
  for (const { passage, words } of placed) counts.set(passage, (counts.get(passage) ?? 0) + words);
  return [...counts].toSorted((left, right) => right[1] - left[1]).map(([passage]) => passage);
}
