import type { Unit } from "#knowledge/documents/chunk-text.ts";
import type { AskedTerms } from "#answering/understand/asked-terms.ts";
import type { Understood } from "#answering/understand/question.ts";
import type { Placed } from "#answering/rank/merged-passages.ts";
import { weigh } from "#answering/rank/merged-passages.ts";
import { promisesSteps } from "#answering/rank/informative.ts";

const proseWordsMax = 90;
const proseWordsWanted = 45;
/** A section up to this length is returned whole. */
const wholeWordsMax = 60;
/** The same for a section whose title names what is asked: its other sentences are often the exceptions. */
const titledWordsMax = 120;
const titledItemsMax = 10;
const titledFit = 0.3;
const bulletsMax = 6;
const bulletWordsMax = 110;
/** Higher than the limit for bullets: steps that stop half way are useless. */
const stepsMax = 12;
const stepWordsMax = 190;
const tableWordsMax = 190;
/** Maximum distance, in units, from a text that announces steps to the first step. */
const promiseReach = 6;

/** The indexes of the units that make the answer around `at`, in reading order. */
export function spanOf(units: readonly Placed[], at: number, question: Understood, asked: AskedTerms): number[] {
  const unit = units[at]?.unit;
  if (unit === undefined) return [];
  const section = sectionOf(units, at);
  const isTitled = (units[at]?.passage.fit ?? 0) >= titledFit;
  const [wordsMax, itemsMax] = isTitled ? [titledWordsMax, titledItemsMax] : [wholeWordsMax, bulletsMax];
  const isShort = countOf(units, section, "row") <= bulletsMax && countOf(units, section, "item", "row") <= itemsMax;
  if (isShort && wordsAt(units, section) <= wordsMax) return section;
  switch (unit.kind) {
    case "item":
      return withLead(units, listAround(units, at), at, asked);
    case "row":
      // The heading of a table is the question itself: all of its rows are the answer.
      return units[at]?.passage.verbatim === true && at === section[0]
        ? rowsFrom(units, at, tableWordsMax)
        : rowsAround(units, at, asked);
    case "sentence": {
      const list = listAfter(units, at, question);
      if (list !== null) return withLead(units, list, at, asked);
      return prose(units, at);
    }
    case "heading":
    case "code":
      return [at];
  }
}

/** Adds the steps that the last sentence of `span` announces, also from under the next heading, or one before a note. */
export function withPromised(units: readonly Placed[], span: readonly number[]): number[] {
  const last = span.at(-1);
  if (last === undefined || span.some((index) => isStep(units[index]?.unit))) return [...span];
  const promising = span.findLast((index) => promisesMore(units[index]?.unit, index === last));
  if (promising === undefined) return [...span];
  const first = firstStepAfter(units, last, promising === last ? 1 : 0);
  if (first === undefined) return [...span];
  const lead = range(last + 1, first - 1).filter((each) => units[each]?.unit.kind === "sentence");
  return [...span, ...lead, ...firstSteps(units, listAround(units, first), first)];
}

/** A colon within the text introduces what follows it, and promises nothing beyond. */
function promisesMore(unit: Unit | undefined, isLast: boolean): boolean {
  return unit?.kind === "sentence" && promisesSteps(unit.text) && (isLast || !unit.text.trimEnd().endsWith(":"));
}

function firstStepAfter(units: readonly Placed[], last: number, headingsMax: number): number | undefined {
  const next = range(last + 1, last + promiseReach).filter((index) => units[index] !== undefined);
  const first = next.find((index) => units[index]?.unit.kind === "item");
  const headings = next.filter((index) => units[index]?.unit.kind === "heading" && index < (first ?? 0)).length;
  const unit = first === undefined ? undefined : units[first];
  const isFirst = unit?.unit.kind === "item" && unit.unit.number === 1 && unit.informative;
  return isFirst && headings <= headingsMax ? first : undefined;
}

/** The units between two headings, within the passage of `at`. Headings are excluded. */
function sectionOf(units: readonly Placed[], at: number): number[] {
  const same = (index: number): boolean =>
    units[index] !== undefined && units[index].unit.kind !== "heading" && units[index].passage === units[at]?.passage;
  let start = at;
  while (same(start - 1)) start -= 1;
  let end = at;
  while (same(end + 1)) end += 1;
  return range(start, end);
}

const range = (start: number, end: number): number[] =>
  Array.from({ length: end - start + 1 }, (_, offset) => start + offset);

function wordsAt(units: readonly Placed[], indexes: readonly number[]): number {
  return indexes.reduce((sum, index) => sum + (units[index]?.words ?? 0), 0);
}

const countOf = (units: readonly Placed[], indexes: readonly number[], ...kinds: readonly Unit["kind"][]): number =>
  indexes.map((index) => units[index]?.unit.kind).filter((kind) => kind !== undefined && kinds.includes(kind)).length;

/** The list around an item: adjacent items, with the code and remarks between two steps. */
export function listAround(units: readonly Placed[], at: number): number[] {
  let start = at;
  while (isInList(units, start - 1)) start -= 1;
  let end = at;
  while (isInList(units, end + 1)) end += 1;
  return range(start, end);
}

/** True for an item, and for a unit between two steps of one numbered list. */
function isInList(units: readonly Placed[], index: number): boolean {
  const unit = units[index]?.unit;
  if (unit === undefined || unit.kind === "heading") return false;
  if (unit.kind === "item") return true;
  const before = numberBefore(units, index);
  const after = numberAfter(units, index);
  return before !== null && after !== null && after === before + 1;
}

const betweenMax = 3;

function numberBefore(units: readonly Placed[], index: number): number | null {
  for (let at = index - 1; at >= index - betweenMax; at -= 1) {
    const unit = units[at]?.unit;
    if (unit === undefined || unit.kind === "heading") return null;
    if (unit.kind === "item" && unit.number !== null && unit.depth === 0) return unit.number;
  }
  return null;
}

function numberAfter(units: readonly Placed[], index: number): number | null {
  for (let at = index + 1; at <= index + betweenMax; at += 1) {
    const unit = units[at]?.unit;
    if (unit === undefined || unit.kind === "heading") return null;
    if (unit.kind === "item") return unit.depth === 0 ? unit.number : null;
  }
  return null;
}

/** The list that this sentence introduces: the next unit, or within four units when the question asks for steps. */
function listAfter(units: readonly Placed[], at: number, question: Understood): number[] | null {
  const next = units[at + 1]?.unit;
  const leads = units[at]?.unit.text.trimEnd().endsWith(":") === true;
  if (next?.kind === "item" && (leads || question.asks === "steps")) return listAround(units, at + 1);
  if (question.asks !== "steps") return null;
  for (let index = at + 1; index <= at + 4; index += 1) {
    const unit = units[index]?.unit;
    if (unit === undefined || unit.kind === "heading" || units[index]?.passage !== units[at]?.passage) return null;
    if (unit.kind === "item") return unit.number === null ? null : listAround(units, index);
  }
  return null;
}

/** A list with its introducing sentence. Long lists are cut to their best items, numbered steps to the first ones. */
function withLead(units: readonly Placed[], list: readonly number[], at: number, asked: AskedTerms): number[] {
  const first = list[0] ?? at;
  const lead = units[first - 1]?.unit.kind === "sentence" ? [first - 1] : [];
  const chosen = at < first && !lead.includes(at) ? range(at, first - 1) : lead;
  const numbered = list.some((index) => isStep(units[index]?.unit));
  const items = numbered ? firstSteps(units, list, at) : bestItems(units, list, at, asked);
  return [...new Set([...chosen, ...items])].toSorted((left, right) => left - right);
}

function isStep(unit: Unit | undefined): boolean {
  return unit?.kind === "item" && unit.number !== null;
}

function firstSteps(units: readonly Placed[], list: readonly number[], at: number): number[] {
  const items: number[] = [];
  let words = 0;
  let steps = 0;
  for (const index of list) {
    words += units[index]?.words ?? 0;
    if (units[index]?.unit.kind === "item") steps += 1;
    if (items.length > 0 && (words > stepWordsMax || steps > stepsMax)) break;
    items.push(index);
  }
  // The matching step is beyond the limit: return it with its neighbours instead.
  return at >= (list[0] ?? at) && !items.includes(at) ? list.filter((index) => Math.abs(index - at) <= 1) : items;
}

function bestItems(units: readonly Placed[], list: readonly number[], at: number, asked: AskedTerms): number[] {
  if (list.length <= bulletsMax && wordsAt(units, list) <= bulletWordsMax) return [...list];
  const byWorth = list.toSorted((left, right) => worth(right) - worth(left) || left - right);
  function worth(index: number): number {
    return weigh(units[index]?.terms ?? new Set(), asked) + (index === at ? 1 : 0);
  }
  const items: number[] = [];
  let words = 0;
  for (const index of byWorth) {
    words += units[index]?.words ?? 0;
    if (items.length > 0 && (items.length >= bulletsMax || words > bulletWordsMax)) break;
    // An item without a question term is only returned as part of a complete list.
    if (list.includes(at) && items.length > 0 && worth(index) === 0) break;
    items.push(index);
  }
  return items;
}

function rowsAround(units: readonly Placed[], at: number, asked: AskedTerms): number[] {
  const own = weigh(units[at]?.terms ?? new Set(), asked);
  const rows: number[] = [];
  for (let index = at - 3; index <= at + 3; index += 1) {
    if (units[index]?.unit.kind === "row" && (index === at || weigh(units[index]?.terms ?? new Set(), asked) >= own))
      rows.push(index);
  }
  return rows.slice(0, bulletsMax);
}

/** Matches the beginning of a sentence that refers to the previous one. */
const referring =
  /^(?:["'“‘(]?)(?:it|its|this|that|these|those|they|them|their|he|she|his|her|such|however|but|also|then|therefore|thus|so|otherwise|instead|in this case|in that case|for example|for instance|additionally|furthermore|moreover|and|or|if so|if not|both|neither|the (?:former|latter|same))\b/iu;

/** The sentence with those that it refers to and those that continue it, within its paragraph. */
function prose(units: readonly Placed[], at: number): number[] {
  const group = groupAt(units, at);
  const words = (index: number): number => units[index]?.words ?? 0;
  const isMate = (index: number): boolean => {
    const placed = units[index];
    return placed?.unit.kind === "sentence" && placed.passage === units[at]?.passage && placed.unit.group === group;
  };
  let start = at;
  let sum = words(at);
  while (
    referring.test(units[start]?.unit.text ?? "") &&
    isMate(start - 1) &&
    sum + words(start - 1) <= proseWordsMax
  ) {
    start -= 1;
    sum += words(start);
  }
  let end = at;
  while (
    isMate(end + 1) &&
    sum + words(end + 1) <= proseWordsMax &&
    (sum < proseWordsWanted || referring.test(units[end + 1]?.unit.text ?? ""))
  ) {
    end += 1;
    sum += words(end);
  }
  // A final colon introduces the next unit, which must not be cut off.
  const next = units[end + 1]?.unit;
  if (units[end]?.unit.text.trimEnd().endsWith(":") === true && next !== undefined && next.kind !== "heading") {
    if (next.kind === "item") return [...range(start, end), ...listAround(units, end + 1).slice(0, bulletsMax)];
    if (next.kind === "row") return [...range(start, end), ...rowsFrom(units, end + 1)];
    end += 1;
  }
  return range(start, end);
}

/** The rows from the first one on; with `wordsMax`, as many as have this number of words. */
function rowsFrom(units: readonly Placed[], first: number, wordsMax?: number): number[] {
  const goesOn = (rows: readonly number[]): boolean =>
    wordsMax === undefined ? rows.length <= bulletsMax : wordsAt(units, rows) <= wordsMax;
  let end = first;
  while (units[end + 1]?.unit.kind === "row" && goesOn(range(first, end + 1))) end += 1;
  return range(first, end);
}

function groupAt(units: readonly Placed[], at: number): number | null {
  const unit = units[at]?.unit;
  return unit !== undefined && "group" in unit ? unit.group : null;
}
