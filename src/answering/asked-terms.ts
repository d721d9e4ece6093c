import type { SearchResult } from "#knowledge/index-port.ts";
import { isSoft, stem } from "./terms.ts";

/** What a question asks for, as it is looked for in passages. */
export interface AskedTerms {
  /** What each term of the question weighs. */
  readonly weights: ReadonlyMap<string, number>;
  /** The term of the question that a passage's term stands for; undefined: it was not asked for. */
  askedBy(term: string): string | undefined;
}

/** Words that customers and manuals use for the same thing. Each line is one meaning; a word stands in one line only. */
const meanings = `
  ship shipping shipment deliver delivery dispatch arrive arrival
  refund reimburse reimbursement moneyback
  pay payment paid
  price cost fee
  phone telephone
  email mail
  login signin logon
  delete remove erase
  cancel cancellation terminate
  repair fix
  buy purchase
  photo picture image
  invoice receipt
  discount coupon voucher promo
  broken defective faulty damaged
  install installation setup
  connect connection pair pairing
  subscription membership
  offline internet
`;

const groups: readonly (readonly string[])[] = meanings
  .split("\n")
  .map((line) => [
    ...new Set(
      line
        .trim()
        .split(/\s+/)
        .filter((word) => word !== "")
        .map((word) => stem(word)),
    ),
  ])
  .filter((group) => group.length > 1);
const groupOf: ReadonlyMap<string, readonly string[]> = new Map(
  groups.flatMap((group) => group.map((term) => [term, group])),
);

/** A word of the same meaning counts a little less than the word itself. */
export const synonymShare = 0.8;
/** The most that a soft term can weigh, as a share of an unknown one. A large knowledge base finds that out by itself. */
const softShare = 0.35;

/** The terms to search for: those of the question and those that mean the same. */
export function withSynonyms(terms: readonly string[]): string[] {
  return [...new Set(terms.flatMap((term) => [term, ...(groupOf.get(term) ?? [])]))];
}

/** How much it says that a passage has this term: much when few of the passages have it. Never negative. */
function idf(frequency: number, chunkCount: number): number {
  return Math.log(1 + (chunkCount - frequency + 0.5) / (frequency + 0.5));
}

/** One stem for all that mean the same. */
export function synonymOf(term: string): string {
  return groupOf.get(term)?.[0] ?? term;
}

/** Weight of a term that no passage has: a little more than that of one which a single passage has. */
export function unknownWeight(chunkCount: number): number {
  // In a handful of passages a missing word is no wonder, and must not outweigh those that are there.
  return Math.min(idf(0, chunkCount), 1.2 * idf(1, Math.max(1, chunkCount)));
}

/** Weighs terms by how rare they are in this workspace; `share` makes some count less. */
export function weighTerms(
  terms: readonly string[],
  { frequency, chunkCount }: Pick<SearchResult, "frequency" | "chunkCount">,
  share: (term: string) => number = () => 1,
): AskedTerms {
  const unknown = unknownWeight(chunkCount);
  const weights = new Map<string, number>();
  const asked = new Map<string, string>();
  for (const term of terms) {
    // Two words of one meaning in a question ask for one thing.
    if (asked.has(term)) continue;
    const group = groupOf.get(term) ?? [];
    const found = Math.max(...[term, ...group].map((each) => frequency.get(each) ?? 0));
    const weight = found === 0 ? unknown : idf(found, chunkCount);
    weights.set(term, share(term) * (isSoft(term) ? Math.min(weight, softShare * unknown) : weight));
    for (const each of [term, ...group]) asked.set(each, term);
  }
  return { weights, askedBy: (term) => asked.get(term) };
}
