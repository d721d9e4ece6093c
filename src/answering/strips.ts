import { readUnits } from "#knowledge/chunk-text.ts";
import type { Unit } from "#knowledge/chunk-text.ts";
import type { Candidate } from "#knowledge/index/index-port.ts";
import type { AskedTerms } from "./asked-terms.ts";
import type { Ranked } from "./ranking.ts";
import { remembered } from "./remembered.ts";
import { tellingOf } from "./telling.ts";

/** A unit in its place, with the passage it is from. */
export interface Placed {
  readonly unit: Unit;
  readonly passage: Ranked;
  /** What was asked for and stands in the unit; and in it or the headings above it. */
  readonly terms: ReadonlySet<string>;
  readonly titled: ReadonlySet<string>;
  /** Tells the reader something. Not so: where else to read, what the page is about, its table of contents. */
  readonly tells: boolean;
}

/** Passages that follow each other in a document are read as one, their overlap once. */
export function stripsOf(ranked: readonly Ranked[], asked: AskedTerms): Placed[][] {
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
    const follows = before?.documentId === candidate.documentId && before.position + 1 === candidate.position;
    if (strip !== undefined && follows) {
      if (before?.title !== candidate.title) strip.push(headingOf(passage, asked));
      const overlap = strip.at(-1)?.unit.text === units[0]?.unit.text ? 1 : 0;
      strip.push(...units.slice(overlap));
    } else strips.push(units);
    before = candidate;
  }
  return strips;
}

/** What parts a section from the one before it. */
function headingOf(passage: Ranked, asked: AskedTerms): Placed {
  const { title, titleTerms } = passage.candidate;
  const terms = askedIn(titleTerms, asked);
  return {
    unit: { kind: "heading", text: title.split(" › ").at(-1) ?? "" },
    passage,
    terms,
    titled: terms,
    tells: true,
  };
}

/** A few hundred passages: the ones that most questions are about. */
const charactersKept = 400_000;

const readPassage = remembered(charactersKept, (text) => {
  const units = readUnits(text);
  return { units, telling: tellingOf(units) };
});

function placeUnits(passage: Ranked, asked: AskedTerms): Placed[] {
  const title = askedIn(passage.candidate.titleTerms, asked);
  let under = title;
  const { units, telling } = readPassage(passage.candidate.text);
  return units.map((unit, index) => {
    const terms = askedIn(asked.termsOf(unit.text), asked);
    // A heading inside the passage speaks for what stands under it.
    if (unit.kind === "heading") under = union(title, terms);
    return { unit, passage, terms, titled: union(under, terms), tells: telling[index] ?? true };
  });
}

function askedIn(terms: readonly string[], asked: AskedTerms): Set<string> {
  return new Set(asked.askedIn(terms).map(({ term }) => term));
}

/** The share of what was asked that these terms hold, by weight. */
export function weigh(terms: ReadonlySet<string>, asked: AskedTerms): number {
  let held = 0;
  let all = 0;
  for (const [term, weight] of asked.weights) {
    all += weight;
    if (terms.has(term)) held += weight;
  }
  return all === 0 ? 0 : held / all;
}

export function union(...sets: readonly (ReadonlySet<string> | undefined)[]): Set<string> {
  const all = new Set<string>();
  for (const set of sets) for (const term of set ?? []) all.add(term);
  return all;
}
