import type { Unit } from "#knowledge/documents/chunk-text.ts";
import type { AskedTerms } from "#answering/understand/asked-terms.ts";
import type { Understood } from "#answering/understand/question.ts";
import type { Placed } from "#answering/rank/merged-passages.ts";
import { weigh } from "#answering/rank/merged-passages.ts";
import { promisesSteps } from "#answering/rank/informative.ts";

const proseWordsMax = 90;
const proseWordsWanted = 45;
/** A passage this short is an entry of its own, and given whole. */
const wholeWordsMax = 60;
const bulletsMax = 6;
const bulletWordsMax = 110;
/** Steps that stop half way help nobody. */
const stepsMax = 12;
const stepWordsMax = 190;
/** Between a promise of steps and the first of them may stand a heading and a sentence or two. */
const promiseReach = 4;

/** The places in the strip that are given as the answer, in reading order. */
export function spanOf(strip: readonly Placed[], at: number, question: Understood, asked: AskedTerms): number[] {
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

/** With the steps that its last sentence promises, where they stand right after, if need be under the next heading. */
export function withPromised(strip: readonly Placed[], span: readonly number[]): number[] {
  const last = span.at(-1);
  const unit = last === undefined ? undefined : strip[last]?.unit;
  if (last === undefined || unit?.kind !== "sentence" || !promisesSteps(unit.text)) return [...span];
  const from = last + 1;
  for (let index = from; index <= last + promiseReach; index += 1) {
    const placed = strip[index];
    if (placed === undefined) return [...span];
    if (placed.unit.kind !== "item") continue;
    if (placed.unit.number !== 1 || !placed.tells) return [...span];
    const lead = range(from, index - 1).filter((each) => strip[each]?.unit.kind === "sentence");
    return [...span, ...lead, ...firstSteps(strip, listAround(strip, index), index)];
  }
  return [...span];
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
  return places.reduce((sum, index) => sum + (strip[index]?.words ?? 0), 0);
}

function listedAt(strip: readonly Placed[], places: readonly number[]): number {
  return places.filter((index) => strip[index]?.unit.kind === "item" || strip[index]?.unit.kind === "row").length;
}

/** The list that this item is in: items in a row, and the code and remarks between two steps. */
export function listAround(strip: readonly Placed[], at: number): number[] {
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
    words += strip[index]?.words ?? 0;
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
    words += strip[index]?.words ?? 0;
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
  const words = (index: number): number => strip[index]?.words ?? 0;
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
