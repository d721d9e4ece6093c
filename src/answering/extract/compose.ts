import { linkMark } from "#knowledge/documents/blocks.ts";
import type { Unit } from "#knowledge/documents/chunk-text.ts";
import type { AskedTerms } from "#answering/understand/asked-terms.ts";
import { evidencePenalty, hasAskedKind } from "#answering/rank/evidence-penalty.ts";
import type { Understood } from "#answering/understand/question.ts";
import { askingWords, asksOtherwise } from "#answering/understand/question.ts";
import type { Ranked } from "#answering/rank/ranking.ts";
import { renderUnits } from "./render-units.ts";
import { listAround, spanOf, withPromised } from "./span.ts";
import type { Placed } from "#answering/rank/merged-passages.ts";
import { mergedPassages, union, weigh } from "#answering/rank/merged-passages.ts";
import { promisesSteps } from "#answering/rank/informative.ts";
import { wordsOfHeading } from "#answering/rank/title-fit.ts";

export interface Composed {
  /** Markdown; every sentence of it stands in one of the used passages. */
  readonly text: string;
  /** The passages that the text is taken from, the one most used first. */
  readonly used: readonly Ranked[];
  /** How sure one can be that it answers the question: the best used passage's confidence less what speaks against it. */
  readonly evidence: number;
}

/** Shares of what was asked that the headings over a list of steps must hold, and headings and steps together. */
const stepsTitledMin = 0.3;
const stepsToldMin = 0.8;
/** What a heading that is the question adds to what stands under it, and to what stands under it first. */
const headedShare = 0.5;
const openingShare = 0.3;
/** And where it is so word for word, however well other sentences say the same words. */
const verbatimShare = 0.6;
/** A heading that does not ask is the question from here on. */
const sameQuestion = 0.75;
/** Of two like sections the first is the usual case; each further one costs, the tenth no more than the fifth. */
const laterCost = 0.005;
const laterMax = 5;
const fragmentTermsMax = 2;
/** How sure one can be of a text as a whole counts so many times what its best sentence holds. */
const evidenceShare = 3;

/**
 * Makes an answer of the passages' own sentences: the one that holds most of what was asked, with those around it that
 * it needs, in reading order; a list as a whole. Undefined when there is nothing that could be an answer. Of `ranked`,
 * which is best first, the first `count` are answered from, the rest only completes what these begin.
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
  // What a thing is, is often told once, in a passage that otherwise ranks like any other that names it.
  const from = question.asks === "definition" ? ranked.length : count;
  for (const strip of mergedPassages(withNext(ranked, from), asked)) {
    const at = bestPlace(strip, question, asked, best.worth, ranked);
    if (at === undefined) continue;
    const span = withPromised(strip, spanOf(strip, at.index, question, asked));
    const placed = withoutLooseEnds(span.map((index) => strip[index]).filter((each) => each !== undefined));
    if (placed.length === 0) continue;
    const doubt = evidencePenalty(placed, question, asked);
    const used = usedOf(placed);
    const evidence = Math.max(...used.map(({ score }) => confidenceOfScore(score))) - doubt;
    const worth = at.score + evidenceShare * evidence;
    if (chosen === undefined || worth > chosen.worth) chosen = { placed, used, evidence, worth };
  }
  if (chosen === undefined) return undefined;
  return { text: renderUnits(withSection(chosen.placed, asked)), used: chosen.used, evidence: chosen.evidence };
}

/**
 * Steps under a heading that the question does not name ("On a phone") hold for that case only: the heading is said too.
 * Prose says by itself what it is about.
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

/** The first `count`, and the passages right after them in their documents, where a list may go on. */
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
  strip: readonly Placed[],
  question: Understood,
  asked: AskedTerms,
  bestWorth: number,
  ranked: readonly Ranked[],
): { readonly index: number; readonly score: number } | undefined {
  let best: { readonly index: number; readonly score: number } | undefined;
  let before: Ranked | undefined;
  for (const [index, placed] of strip.entries()) {
    if (!placed.answers) continue;
    const isFirst = placed.passage !== before;
    before = placed.passage;
    const under = headed(placed.passage, isFirst, question, ranked);
    // "Requirements" alone is what a heading names; the text below need not say it again.
    const named =
      under > 0 && isFirst && isFragment(question) ? placed.passage.fit * (1 - weigh(placed.terms, asked)) : 0;
    const score = scoreOf(strip, index, placed, question, asked, bestWorth) + under + named;
    if (best === undefined || score > best.score) best = { index, score };
  }
  return best;
}

/** A word or two that are no sentence. */
function isFragment({ own, borrowed, asking }: Understood): boolean {
  return asking === null && borrowed.length === 0 && own.length <= fragmentTermsMax;
}

/** Under a heading that is the question stands its answer, and the answer comes first. */
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
  return (headedShare + (opens ? openingShare : 0) + (verbatim ? verbatimShare : 0)) * fit ** 2;
}

/** Leaves out what only names other pages or announces the text, and a promise ("In this article:") that nothing follows. */
function withoutLooseEnds(placed: readonly Placed[]): Placed[] {
  // A step that is a link ("1. Open the settings") is a step all the same.
  const inSteps = placed.some(({ unit }) => unit.kind === "item" && unit.number !== null);
  const kept = placed.filter(
    ({ unit, tells }) => tells || (unit.kind === "item" && (inSteps || !unit.text.startsWith(linkMark))),
  );
  const last = kept.at(-1);
  return kept.length > 1 && last?.unit.kind === "sentence" && last.unit.text.endsWith(":") ? kept.slice(0, -1) : kept;
}

function scoreOf(
  strip: readonly Placed[],
  at: number,
  { unit, passage, terms, titled }: Placed,
  question: Understood,
  asked: AskedTerms,
  bestWorth: number,
): number {
  const window = union(strip[at - 1]?.terms, terms, strip[at + 1]?.terms);
  const emptyWords =
    unit.text.trimEnd().endsWith("?") || (unit.kind === "sentence" && promisesSteps(unit.text) && !hasList(strip, at))
      ? 0.4
      : 0;
  // Steps need not name what they do: the heading above them has.
  const about = weigh(titled, asked);
  const list = question.asks === "steps" && about >= stepsTitledMin ? stepsFrom(strip, at) : [];
  const told = list.length === 0 ? 0 : weigh(union(titled, ...list.map((index) => strip[index]?.terms)), asked);
  const steps = told >= stepsToldMin ? told + 0.25 : 0;
  return (
    Math.max(weigh(terms, asked), steps) +
    0.25 * weigh(window, asked) +
    0.5 * (bestWorth === 0 ? 0 : passage.worth / bestWorth) -
    laterCost * Math.min(laterMax, passage.candidate.position) +
    0.15 * about +
    0.1 * fits(strip, at, unit, question, asked) -
    emptyWords
  );
}

/** A list, a listing or a table comes right after. */
function hasList(strip: readonly Placed[], at: number): boolean {
  const kind = strip[at + 1]?.unit.kind;
  return kind === "item" || kind === "row" || kind === "code";
}

/** The numbered list that this is the first step of, or the sentence right before; empty where there is none. */
function stepsFrom(strip: readonly Placed[], at: number): number[] {
  const first = strip[at]?.unit.kind === "sentence" ? at + 1 : at;
  const unit = strip[first]?.unit;
  return unit?.kind === "item" && unit.number === 1 && unit.depth === 0 ? listAround(strip, first) : [];
}

/** 1 where the unit has the kind of thing that was asked for. */
function fits(strip: readonly Placed[], at: number, unit: Unit, question: Understood, asked: AskedTerms): number {
  switch (question.asks) {
    case "amount":
    case "number":
    case "time":
    case "difference":
    case "definition":
      return hasAskedKind(unit.text, question.asks, asked) ? 1 : 0;
    case "person":
      return /\s\p{Lu}\p{L}+/u.test(unit.text) ? 1 : 0;
    case "steps":
      return (unit.kind === "item" && unit.number !== null) ||
        (unit.kind === "sentence" && strip[at + 1]?.unit.kind === "item")
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
