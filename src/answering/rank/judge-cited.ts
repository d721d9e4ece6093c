import { pastPassage } from "#answering/retrieve/past-passage.ts";
import type { KnowledgeIndex } from "#knowledge/index/contract.ts";
import { isSoft, wordsOf } from "#language/words/terms.ts";
import { answerFloor, belowHigh } from "./confidence.ts";
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
  // The same text again would be no answer to another question.
  if (extract === undefined || extract.evidence <= 0 || said.content.includes(extract.text)) return undefined;
  const own = found.question.own.filter((term) => !isSoft(term));
  const text = [extract.text, ...extract.used.map(({ candidate }) => candidate.title)].join("\n");
  const named = new Set(found.asked.askedIn(found.asked.termsOf(text)).map(({ term }) => term));
  const share = own.length === 0 ? 1 : own.filter((term) => named.has(term)).length / own.length;
  if (share < coverageMin) return undefined;
  const evidence = Math.min(Math.max(extract.evidence, answerFloor.strict), belowHigh);
  return { ...judged, extract: { ...extract, evidence } };
}
