import { pastPassage } from "#answering/retrieve/past-passage.ts";
import type { KnowledgeIndex } from "#knowledge/index/contract.ts";
import { isSoft, wordsOf } from "#language/words/terms.ts";
import { renderUnits } from "#answering/extract/render-units.ts";
import { answerFloor, belowHigh } from "./confidence.ts";
import { hasAskedKind } from "./evidence-penalty.ts";
import type { JudgeRequest, Judged } from "./judge.ts";
import { judgeOne } from "./judge.ts";

/** Longer messages bring their own subject. */
const wordsMax = 14;
/** The share of the message's own terms that the answer and its headings must have. Measured by bench:answers. */
const coverageMin = 0.6;

/**
 * Judges a message within the document that the previous answer cites: customers go on about it without naming it ("and
 * the deposit?"). Undefined where there is no such document, or it does not answer.
 */
export async function judgeCited(
  index: KnowledgeIndex,
  lookup: JudgeRequest,
  signal: AbortSignal,
): Promise<Judged | undefined> {
  if (wordsOf(lookup.text).length > wordsMax) return undefined;
  const at = lookup.history.findLastIndex(({ role }) => role !== "user");
  const said = lookup.history[at];
  const source = said?.isRefusal === true ? undefined : said?.sources?.[0];
  if (said === undefined || source === undefined) return undefined;
  const cited = await pastPassage(index, lookup, at, source, signal);
  if (cited === undefined) return undefined;
  const { documentId } = cited.passage.candidate;
  const judged = await judgeOne(index, { ...lookup, documentIds: [documentId] }, signal);
  const { found, extract } = judged;
  if (extract === undefined || extract.evidence <= 0) return undefined;
  const own = found.question.own.filter((term) => !isSoft(term));
  // The same text again would be no answer to another question.
  if (said.content.includes(extract.text)) return askedPart(judged, said.content);
  const text = [extract.text, ...extract.used.map(({ candidate }) => candidate.title)].join("\n");
  const named = new Set(found.asked.askedIn(found.asked.termsOf(text)).map(({ term }) => term));
  const share = own.length === 0 ? 1 : own.filter((term) => named.has(term)).length / own.length;
  if (share < coverageMin) return undefined;
  const evidence = Math.min(Math.max(extract.evidence, answerFloor.strict), belowHigh);
  return { ...judged, extract: { ...extract, evidence } };
}

/**
 * The part of an answer that has all terms of the question and the kind of thing it asks for, when the answer was given
 * already. Undefined where no unit has them, or the customer has read nothing else.
 */
function askedPart({ found, extract }: Judged, said: string): Judged | undefined {
  const { question, asked } = found;
  const own = question.own.filter((term) => !isSoft(term));
  if (extract === undefined || own.length === 0) return undefined;
  const unit = extract.units.find(
    ({ unit: { kind, text }, terms }) =>
      kind !== "heading" && own.every((term) => terms.has(term)) && hasAskedKind(text, question.asks, asked),
  );
  if (unit === undefined) return undefined;
  const text = renderUnits([unit]);
  if (text === said.trim()) return undefined;
  const evidence = Math.min(Math.max(extract.evidence, answerFloor.strict), belowHigh);
  return { found, extract: { text, used: [unit.passage], units: [unit], evidence } };
}
