import { linkMark } from "#knowledge/blocks.ts";
import { readUnits } from "#knowledge/chunk-text.ts";
import type { Unit } from "#knowledge/chunk-text.ts";
import type { Candidate } from "#knowledge/index-port.ts";
import type { AskedTerms } from "./asked-terms.ts";
import type { Understood } from "./question.ts";
import type { Ranked } from "./ranking.ts";
import { termsOf, wordCount } from "./terms.ts";

export interface Composed {
  /** Markdown; every sentence of it stands in one of the used passages. */
  readonly text: string;
  /** The passages that the text is taken from, the one most used first. */
  readonly used: readonly Ranked[];
}

/** Shares of what was asked that the headings over a list of steps must hold, and headings and steps together. */
const stepsTitledMin = 0.3;
const stepsToldMin = 0.6;
const proseWordsMax = 90;
const proseWordsWanted = 45;
/** A passage this short is an entry of its own, and given whole. */
const wholeWordsMax = 60;
const bulletsMax = 6;
const bulletWordsMax = 110;
/** Steps that stop half way help nobody. */
const stepsMax = 12;
const stepWordsMax = 190;

/** A unit in its place, with the passage it is from. */
interface Placed {
  readonly unit: Unit;
  readonly passage: Ranked;
  /** What was asked for and stands in the unit; and in it or the headings above it. */
  readonly terms: ReadonlySet<string>;
  readonly titled: ReadonlySet<string>;
}

/**
 * Makes an answer of the passages' own sentences: the one that holds most of what was asked, with those around it that
 * it needs, in reading order; a list as a whole. Undefined when there is nothing that could be an answer.
 */
export function compose(question: Understood, asked: AskedTerms, ranked: readonly Ranked[]): Composed | undefined {
  const best = ranked[0];
  if (best === undefined) return undefined;
  let chosen: { readonly strip: readonly Placed[]; readonly at: number; readonly score: number } | undefined;
  for (const strip of stripsOf(ranked, asked)) {
    for (const [at, placed] of strip.entries()) {
      if (!canAnswer(placed.unit)) continue;
      const score = scoreOf(strip, at, placed, question, asked, best.score);
      if (chosen === undefined || score > chosen.score) chosen = { strip, at, score };
    }
  }
  if (chosen === undefined) return undefined;
  const { strip, at } = chosen;
  const span = spanOf(strip, at, question, asked);
  const placed = withoutLooseEnds(span.map((index) => strip[index]).filter((each) => each !== undefined));
  return { text: render(placed), used: usedOf(placed) };
}

/** Leaves out what only names other pages or announces the text, and a promise ("In this article:") that nothing follows. */
function withoutLooseEnds(placed: readonly Placed[]): Placed[] {
  const kept = placed.filter(
    ({ unit }) => !unit.text.startsWith(linkMark) && !(unit.kind === "sentence" && announcing.test(unit.text)),
  );
  const last = kept.at(-1);
  return kept.length > 1 && last?.unit.kind === "sentence" && last.unit.text.endsWith(":") ? kept.slice(0, -1) : kept;
}

/** Passages that follow each other in a document are read as one, their overlap once. */
function stripsOf(ranked: readonly Ranked[], asked: AskedTerms): Placed[][] {
  const inOrder = ranked.toSorted(
    (left, right) =>
      (left.candidate.documentId < right.candidate.documentId
        ? -1
        : left.candidate.documentId > right.candidate.documentId
          ? 1
          : 0) || left.candidate.position - right.candidate.position,
  );
  const strips: Placed[][] = [];
  let before: Candidate | undefined;
  for (const passage of inOrder) {
    const { candidate } = passage;
    const units = placeUnits(passage, asked);
    const strip = strips.at(-1);
    const follows =
      before?.documentId === candidate.documentId &&
      before.position + 1 === candidate.position &&
      before.title === candidate.title;
    if (strip !== undefined && follows) {
      const overlap = strip.at(-1)?.unit.text === units[0]?.unit.text ? 1 : 0;
      strip.push(...units.slice(overlap));
    } else strips.push(units);
    before = candidate;
  }
  return strips;
}

function placeUnits(passage: Ranked, asked: AskedTerms): Placed[] {
  const title = askedIn(passage.candidate.titleTerms, asked);
  let under = title;
  return readUnits(passage.candidate.text).map((unit) => {
    const terms = askedIn(termsOf(unit.text), asked);
    // A heading inside the passage speaks for what stands under it.
    if (unit.kind === "heading") under = union(title, terms);
    return { unit, passage, terms, titled: union(under, terms) };
  });
}

function askedIn(terms: readonly string[], asked: AskedTerms): Set<string> {
  return new Set(terms.map((term) => asked.askedBy(term)).filter((term) => term !== undefined));
}

const linkOnly = /^(?:[\p{P}\s]*(?:https?:\/\/|www\.)\S+)+[\p{P}\s]*$/iu;

/** Headings, code, bare links and fragments say nothing by themselves. */
function canAnswer(unit: Unit): boolean {
  if (unit.kind === "heading" || unit.kind === "code" || unit.text.startsWith(linkMark)) return false;
  if (unit.kind === "sentence" && announcing.test(unit.text)) return false;
  return !linkOnly.test(unit.text) && (wordCount(unit.text) >= 3 || /\d/.test(unit.text) || unit.kind !== "sentence");
}

function weigh(terms: ReadonlySet<string>, asked: AskedTerms): number {
  let held = 0;
  let all = 0;
  for (const [term, weight] of asked.weights) {
    all += weight;
    if (terms.has(term)) held += weight;
  }
  return all === 0 ? 0 : held / all;
}

function union(...sets: readonly (ReadonlySet<string> | undefined)[]): Set<string> {
  const all = new Set<string>();
  for (const set of sets) for (const term of set ?? []) all.add(term);
  return all;
}

function scoreOf(
  strip: readonly Placed[],
  at: number,
  { unit, passage, terms, titled }: Placed,
  question: Understood,
  asked: AskedTerms,
  bestScore: number,
): number {
  const window = union(strip[at - 1]?.terms, terms, strip[at + 1]?.terms);
  const emptyWords = unit.text.trimEnd().endsWith("?") || pointing.test(unit.text) ? 0.4 : 0;
  // Steps need not name what they do: the heading above them has.
  const about = weigh(titled, asked);
  const list = question.asks === "steps" && about >= stepsTitledMin ? stepsFrom(strip, at) : [];
  const told = list.length === 0 ? 0 : weigh(union(titled, ...list.map((index) => strip[index]?.terms)), asked);
  const steps = told >= stepsToldMin ? told + 0.25 : 0;
  return (
    Math.max(weigh(terms, asked), steps) +
    0.25 * weigh(window, asked) +
    0.5 * (bestScore === 0 ? 0 : passage.score / bestScore) +
    0.15 * about +
    0.1 * fits(strip, at, unit, question) -
    emptyWords
  );
}

/** Says what the text is going to say. */
const announcing =
  /^(?:learn (?:how|about|more|to)|in this (?:article|guide|section|tutorial|page)\\b.{0,40}$|this (?:quick |short )?(?:article|guide|section|tutorial|page) (?:will |explains|describes|shows|covers|tells)|read (?:more|about)|see also|for more (?:information|details))\b/i;

/** Sends the reader elsewhere. */
const pointing =
  /\b(?:see|read|visit|check|follow) (?:this|these|our|the) (?:article|guide|page|instructions|documentation|tutorial)s?\b/i;

/** The numbered list that this is the first step of, or the sentence right before; empty where there is none. */
function stepsFrom(strip: readonly Placed[], at: number): number[] {
  const first = strip[at]?.unit.kind === "sentence" ? at + 1 : at;
  const unit = strip[first]?.unit;
  return unit?.kind === "item" && unit.number === 1 && unit.depth === 0 ? listAround(strip, first) : [];
}

/** 1 where the unit has the kind of thing that was asked for. */
function fits(strip: readonly Placed[], at: number, unit: Unit, question: Understood): number {
  switch (question.asks) {
    case "number":
      return /\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|free)\b/i.test(unit.text) ? 1 : 0;
    case "time":
      return /\d|\b(?:january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|daily|always|after|before)\b/i.test(
        unit.text,
      )
        ? 1
        : 0;
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

/** The places in the strip that are given as the answer, in reading order. */
function spanOf(strip: readonly Placed[], at: number, question: Understood, asked: AskedTerms): number[] {
  const unit = strip[at]?.unit;
  if (unit === undefined) return [];
  const section = sectionOf(strip, at);
  if (wordsAt(strip, section) <= wholeWordsMax && listedAt(strip, section) <= bulletsMax) return section;
  switch (unit.kind) {
    case "item":
      return withLead(strip, listAround(strip, at), at, asked);
    case "row":
      return rowsAround(strip, at, asked);
    case "sentence": {
      const list = listAfter(strip, at, question);
      if (list !== null) return withLead(strip, list, at, asked);
      return prose(strip, at);
    }
    case "heading":
    case "code":
      return [at];
  }
}

/** From heading to heading within the passage that `at` is in; headings themselves left out. */
function sectionOf(strip: readonly Placed[], at: number): number[] {
  const same = (index: number): boolean =>
    strip[index] !== undefined && strip[index].unit.kind !== "heading" && strip[index].passage === strip[at]?.passage;
  let start = at;
  while (same(start - 1)) start -= 1;
  let end = at;
  while (same(end + 1)) end += 1;
  return range(start, end);
}

const range = (start: number, end: number): number[] =>
  Array.from({ length: end - start + 1 }, (_, offset) => start + offset);

function wordsAt(strip: readonly Placed[], places: readonly number[]): number {
  return places.reduce((sum, index) => sum + wordCount(strip[index]?.unit.text ?? ""), 0);
}

function listedAt(strip: readonly Placed[], places: readonly number[]): number {
  return places.filter((index) => strip[index]?.unit.kind === "item" || strip[index]?.unit.kind === "row").length;
}

/** The list that this item is in: items in a row, and the code and remarks between two steps. */
function listAround(strip: readonly Placed[], at: number): number[] {
  let start = at;
  while (isInList(strip, start - 1)) start -= 1;
  let end = at;
  while (isInList(strip, end + 1)) end += 1;
  return range(start, end);
}

/** An item, or what stands between two steps of one numbered list. */
function isInList(strip: readonly Placed[], index: number): boolean {
  const unit = strip[index]?.unit;
  if (unit === undefined || unit.kind === "heading") return false;
  if (unit.kind === "item") return true;
  const before = numberBefore(strip, index);
  const after = numberAfter(strip, index);
  return before !== null && after !== null && after === before + 1;
}

const betweenMax = 3;

function numberBefore(strip: readonly Placed[], index: number): number | null {
  for (let place = index - 1; place >= index - betweenMax; place -= 1) {
    const unit = strip[place]?.unit;
    if (unit === undefined || unit.kind === "heading") return null;
    if (unit.kind === "item" && unit.number !== null && unit.depth === 0) return unit.number;
  }
  return null;
}

function numberAfter(strip: readonly Placed[], index: number): number | null {
  for (let place = index + 1; place <= index + betweenMax; place += 1) {
    const unit = strip[place]?.unit;
    if (unit === undefined || unit.kind === "heading") return null;
    if (unit.kind === "item") return unit.depth === 0 ? unit.number : null;
  }
  return null;
}

/** The list that this sentence leads to: right after it, or, where steps were asked for, soon after. */
function listAfter(strip: readonly Placed[], at: number, question: Understood): number[] | null {
  const next = strip[at + 1]?.unit;
  const leads = strip[at]?.unit.text.trimEnd().endsWith(":") === true;
  if (next?.kind === "item" && (leads || question.asks === "steps")) return listAround(strip, at + 1);
  if (question.asks !== "steps") return null;
  for (let index = at + 1; index <= at + 4; index += 1) {
    const unit = strip[index]?.unit;
    if (unit === undefined || unit.kind === "heading" || strip[index]?.passage !== strip[at]?.passage) return null;
    if (unit.kind === "item") return unit.number === null ? null : listAround(strip, index);
  }
  return null;
}

/** A list with the sentence that introduces it; a long one by its best items, steps by their first. */
function withLead(strip: readonly Placed[], list: readonly number[], at: number, asked: AskedTerms): number[] {
  const first = list[0] ?? at;
  const lead = strip[first - 1]?.unit.kind === "sentence" ? [first - 1] : [];
  const chosen = at < first && !lead.includes(at) ? range(at, first - 1) : lead;
  const numbered = list.some((index) => isStep(strip[index]?.unit));
  const items = numbered ? firstSteps(strip, list, at) : bestItems(strip, list, at, asked);
  return [...new Set([...chosen, ...items])].toSorted((left, right) => left - right);
}

function isStep(unit: Unit | undefined): boolean {
  return unit?.kind === "item" && unit.number !== null;
}

function firstSteps(strip: readonly Placed[], list: readonly number[], at: number): number[] {
  const items: number[] = [];
  let words = 0;
  let steps = 0;
  for (const index of list) {
    words += wordCount(strip[index]?.unit.text ?? "");
    if (strip[index]?.unit.kind === "item") steps += 1;
    if (items.length > 0 && (words > stepWordsMax || steps > stepsMax)) break;
    items.push(index);
  }
  // The step that was asked about lies beyond: then it is the answer, with those around it.
  return at >= (list[0] ?? at) && !items.includes(at) ? list.filter((index) => Math.abs(index - at) <= 1) : items;
}

function bestItems(strip: readonly Placed[], list: readonly number[], at: number, asked: AskedTerms): number[] {
  if (list.length <= bulletsMax && wordsAt(strip, list) <= bulletWordsMax) return [...list];
  const byWorth = list.toSorted((left, right) => worth(right) - worth(left) || left - right);
  function worth(index: number): number {
    return weigh(strip[index]?.terms ?? new Set(), asked) + (index === at ? 1 : 0);
  }
  const items: number[] = [];
  let words = 0;
  for (const index of byWorth) {
    words += wordCount(strip[index]?.unit.text ?? "");
    if (items.length > 0 && (items.length >= bulletsMax || words > bulletWordsMax)) break;
    // An item of which nothing was asked is only given as part of a whole.
    if (list.includes(at) && items.length > 0 && worth(index) === 0) break;
    items.push(index);
  }
  return items;
}

function rowsAround(strip: readonly Placed[], at: number, asked: AskedTerms): number[] {
  const own = weigh(strip[at]?.terms ?? new Set(), asked);
  const rows: number[] = [];
  for (let index = at - 3; index <= at + 3; index += 1) {
    if (strip[index]?.unit.kind === "row" && (index === at || weigh(strip[index]?.terms ?? new Set(), asked) >= own))
      rows.push(index);
  }
  return rows.slice(0, bulletsMax);
}

/** A sentence that begins like this speaks of the one before it. */
const leaning =
  /^(?:["'“‘(]?)(?:it|its|this|that|these|those|they|them|their|he|she|his|her|such|however|but|also|then|therefore|thus|so|otherwise|instead|in this case|in that case|for example|for instance|additionally|furthermore|moreover|and|or|if so|if not|both|neither|the (?:former|latter|same))\b/iu;

/** The sentence with what it leans on before it and what goes on after it, within its paragraph. */
function prose(strip: readonly Placed[], at: number): number[] {
  const group = groupAt(strip, at);
  const words = (index: number): number => wordCount(strip[index]?.unit.text ?? "");
  const isMate = (index: number): boolean => {
    const placed = strip[index];
    return placed?.unit.kind === "sentence" && placed.passage === strip[at]?.passage && placed.unit.group === group;
  };
  let start = at;
  let sum = words(at);
  while (leaning.test(strip[start]?.unit.text ?? "") && isMate(start - 1) && sum + words(start - 1) <= proseWordsMax) {
    start -= 1;
    sum += words(start);
  }
  let end = at;
  while (
    isMate(end + 1) &&
    sum + words(end + 1) <= proseWordsMax &&
    (sum < proseWordsWanted || leaning.test(strip[end + 1]?.unit.text ?? ""))
  ) {
    end += 1;
    sum += words(end);
  }
  // A sentence that ends in a colon promises what comes next.
  const next = strip[end + 1]?.unit;
  if (strip[end]?.unit.text.trimEnd().endsWith(":") === true && next !== undefined && next.kind !== "heading") {
    if (next.kind === "item") return [...range(start, end), ...listAround(strip, end + 1).slice(0, bulletsMax)];
    if (next.kind === "row") return [...range(start, end), ...rowsFrom(strip, end + 1)];
    end += 1;
  }
  return range(start, end);
}

function rowsFrom(strip: readonly Placed[], first: number): number[] {
  let end = first;
  while (strip[end + 1]?.unit.kind === "row" && end - first + 1 < bulletsMax) end += 1;
  return range(first, end);
}

function groupAt(strip: readonly Placed[], at: number): number | null {
  const unit = strip[at]?.unit;
  return unit !== undefined && "group" in unit ? unit.group : null;
}

function usedOf(placed: readonly Placed[]): Ranked[] {
  const counts = new Map<Ranked, number>();
  for (const { passage, unit } of placed) counts.set(passage, (counts.get(passage) ?? 0) + wordCount(unit.text));
  return [...counts].toSorted((left, right) => right[1] - left[1]).map(([passage]) => passage);
}

/** Units as Markdown that shows their words as they are. */
function render(placed: readonly Placed[]): string {
  let text = "";
  let previous: Placed | undefined;
  for (const current of placed) {
    const { unit } = current;
    if (previous !== undefined) {
      const apart = previous.unit.kind !== unit.kind || previous.passage !== current.passage;
      const sameGroup = !apart && "group" in unit && "group" in previous.unit && unit.group === previous.unit.group;
      if (unit.kind === "sentence" && sameGroup) text += " ";
      else if (previous.unit.kind === unit.kind && (unit.kind === "item" || unit.kind === "row")) text += "\n";
      else text += "\n\n";
    }
    text += renderUnit(unit);
    previous = current;
  }
  return text;
}

function renderUnit(unit: Unit): string {
  switch (unit.kind) {
    case "heading":
      return `**${escapeMarkdown(unit.text)}**`;
    case "sentence":
      return escapeMarkdown(unit.text);
    case "item":
      return `${"   ".repeat(unit.depth)}${unit.number === null ? "-" : `${unit.number}.`} ${escapeMarkdown(unit.text)}`;
    case "row":
      return `- ${escapeMarkdown(unit.text.replaceAll(" | ", ", "))}`;
    case "code": {
      let fence = "```";
      while (unit.text.includes(fence)) fence += "`";
      return `${fence}\n${unit.text}\n${fence}`;
    }
  }
}

/** Keeps characters of the text from being read as markup; code in backticks stays code. */
function escapeMarkdown(text: string): string {
  return text
    .split(/(`[^`]+`)/)
    .map((part) => {
      if (part.length > 2 && part.startsWith("`") && part.endsWith("`")) return part;
      return part
        .replaceAll(/[\\*~`]/g, String.raw`\$&`)
        .replaceAll(/<(?=[a-z/!?])/gi, String.raw`\<`)
        .replaceAll(/\[(?=[^\]]*\][([:])/g, String.raw`\[`)
        .replaceAll(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, String.raw`\_`)
        .replaceAll(/&(?=#?\w{1,31};)/g, String.raw`\&`);
    })
    .join("")
    .replace(/^(#{1,6}\s|>|[-+]\s|={3,}|-{3,})/, String.raw`\$1`);
}
