import { cannedText } from "#language/canned-texts.ts";
import { Problem } from "#domain/problem.ts";
import { streamed } from "./streamed.ts";
import type { Answer, Answerer, Question } from "./contract.ts";
import type { Candidate, KnowledgeIndex } from "#knowledge/index/contract.ts";
import type { Composer } from "./composer.ts";
import type { QueryWriter, WrittenQueries } from "./generate/query-writer.ts";
import { searched, sourceOf, sourcesMax, answerFromLookups, uncertainPreface, unknownAnswer } from "./composer.ts";
import { answerToChoice } from "./chosen-suggestion.ts";
import { answerFloor, bandOf } from "./rank/confidence.ts";
import type { Judged } from "./rank/judge.ts";
import { evidenceOf } from "./rank/judge.ts";
import { judgeMessage } from "./rank/judge-message.ts";
import type { ChoosePassages } from "./rank/chosen-passages.ts";
import type { Found } from "./rank/search-further.ts";
import { foundByMessage, merged, searchFurther } from "./rank/search-further.ts";
import { wordLanguages } from "#language/detection.ts";
import { forOneMessage } from "./retrieve/cached-search.ts";
import { textToCompare } from "./retrieve/retrieve.ts";
import type { Retrieval } from "./retrieve/retrieve.ts";
import { smallTalk } from "./classify/small-talk.ts";
import { languageOfAsker, languageOfText } from "./understand/asker-language.ts";
import { searchTrace } from "./trace.ts";
import { questionsIn } from "./understand/multi-question.ts";
import type { Understood } from "./understand/question.ts";
import { somePassages } from "./understand/document-languages.ts";

interface FurtherSearch extends WrittenQueries {
  /** Passages of each search, best first. */
  readonly rankings?: readonly (readonly Found[])[];
}

/** Passages that a language model reads at most. */
const readMax = 10;
/** Passages of which a reranker chooses those that a language model reads. */
const choiceMax = 40;
/** Headings that the language model sees before it searches. */
const titlesMax = 20;

/**
 * Finds passages, judges whether they contain an answer, and lets the composer write it. When they cover too little of
 * the question, `queryWriter` says in other words what is asked, and the composer decides from what these find. Without
 * it the answer is "I don't know", and the composer is not called. Throws the problem `search_unavailable` when nothing
 * is found because the documents are still being indexed for the first time.
 */
export function createAnswerer({
  index,
  composer,
  queryWriter,
  choosePassages,
}: {
  readonly index: KnowledgeIndex;
  readonly composer: Composer;
  /** Absent: without a language model. */
  readonly queryWriter?: QueryWriter;
  /** Absent: the model reads the passages that words and vectors rank best. */
  readonly choosePassages?: ChoosePassages;
}): Answerer {
  /** A question in another language may share no word with the documents. */
  async function passagesElsewhere(
    question: Question,
    found: Retrieval,
    signal: AbortSignal,
  ): Promise<readonly Candidate[]> {
    const language =
      found.ranked.length > 0 ? undefined : wordLanguages.find((each) => each === languageOfText(question));
    return language === undefined || language === "en" ? [] : somePassages(index, question, language, signal);
  }

  return {
    async answer(asked, signal) {
      signal.throwIfAborted();
      const choice = await answerToChoice(index, asked, signal);
      if (choice?.answer !== undefined) return streamed(asked, choice.answer);
      const question = choice?.question ?? asked;
      const { lookups = [] } = question;
      const talk = lookups.length > 0 ? undefined : smallTalk(question.text);
      if (talk !== undefined) {
        question.onTrace?.({ kind: "small_talk" });
        return streamed(question, {
          text: cannedText(question.settings, talk.language ?? languageOfAsker(question), talk.kind),
          sources: [],
          confidence: "high",
          answered: true,
          skillsFired: [],
          tokensUsed: 0,
        });
      }
      const begun = performance.now();
      const searches = forOneMessage(index);
      const judged = await judgeMessage(searches, question, signal);
      const further = await searchedFurther(searches, question, judged, signal);
      const read = await passagesToRead(question, judged, further, signal);
      const answer = await answerFrom(question, judged, { read, begun }, signal);
      question.onTrace?.(searchTrace(question, judged, read, answer));
      return { ...answer, tokensUsed: answer.tokensUsed + (further?.tokensUsed ?? 0) };
    },
  };

  /** Undefined where the words of the message are enough, or ask nothing of the documents. */
  async function searchedFurther(
    searches: KnowledgeIndex,
    question: Question,
    judged: Judged,
    signal: AbortSignal,
  ): Promise<FurtherSearch | undefined> {
    const { found } = judged;
    const evidence = evidenceOf(judged);
    const isClear = bandOf(evidence) === "high" && found.question.borrowed.length === 0;
    if (queryWriter === undefined || isClear || found.partial || (question.lookups ?? []).length > 0) return undefined;
    const near = [
      ...found.ranked.map(({ candidate }) => candidate),
      ...(await passagesElsewhere(question, found, signal)),
    ];
    const titles = [...new Set(near.map(({ title }) => title))].slice(0, titlesMax);
    const isNeeded = evidence < answerFloor[question.strictness];
    const written = await queryWriter.write({ question, titles, isNeeded }, signal);
    if (written === undefined || written.queries.length === 0) return written;
    const { queries } = written;
    question.onTrace?.({ kind: "further_search", queries });
    return { ...written, rankings: await searchFurther(searches, question, queries, judged, signal) };
  }

  /** Undefined: those that the composer takes from the search for the message, if these answer it. */
  async function passagesToRead(
    question: Question,
    judged: Judged,
    further: FurtherSearch | undefined,
    signal: AbortSignal,
  ): Promise<readonly Found[] | undefined> {
    const { rankings = [], queries = [] } = further ?? {};
    const isSearched = rankings.some((ranking) => ranking.length > 0);
    const pool = isSearched
      ? merged(rankings, choiceMax)
      : isEnough(question, judged)
        ? foundByMessage(judged).slice(0, choiceMax)
        : [];
    if (choosePassages !== undefined && pool.length > 1 && (question.lookups ?? []).length === 0) {
      const asked = queries.length > 0 ? queries : textsToCompare(question, judged.found.question);
      const chosen = await choosePassages(question, asked, pool, signal);
      if (chosen !== undefined) {
        question.onTrace?.({ kind: "choice", among: pool.length });
        return chosen;
      }
    }
    return isSearched ? merged(rankings, readMax) : undefined;
  }

  async function answerFrom(
    question: Question,
    { found, extract }: Judged,
    { read, begun }: { readonly read: readonly Found[] | undefined; readonly begun: number },
    signal: AbortSignal,
  ): Promise<Answer> {
    const { lookups = [] } = question;
    const enough = isEnough(question, { extract });
    const isAnswerable = enough || lookups.length > 0 || read !== undefined;
    if (!isAnswerable && found.partial) {
      throw new Problem("search_unavailable", "The documents are being indexed for the first time. Ask again soon.", {
        retryAfterS: 5,
      });
    }
    if (!isAnswerable)
      return streamed(question, unknownAnswer({ question, found }, await passagesElsewhere(question, found, signal)));
    const spentMs = performance.now() - begun;
    const judged = { question, found, extract: enough ? extract : undefined, spentMs };
    return composer.compose(read === undefined ? judged : { ...judged, read }, signal);
  }
}

/** Each question of the message, or the message. */
function textsToCompare(question: Question, understood: Understood): readonly string[] {
  const parts = questionsIn(question.text);
  const texts = parts.length > 1 ? parts : [question.text];
  return texts.map((text) => textToCompare({ ...question, text }, understood));
}

function isEnough({ strictness }: Question, { extract }: Pick<Judged, "extract">): boolean {
  return extract !== undefined && extract.evidence >= answerFloor[strictness];
}

/** Answers in the documents' own sentences. Everything it says is in the sources that it names. */
export const extractiveComposer: Composer = {
  async compose(request) {
    const { question, found, extract } = request;
    const { lookups = [] } = question;
    if (lookups.length > 0) return streamed(question, answerFromLookups(lookups));
    if (extract === undefined) return streamed(question, unknownAnswer(request));
    const confidence = bandOf(extract.evidence);
    return streamed(question, {
      ...searched,
      text: confidence === "low" ? `${uncertainPreface(question)}${extract.text}` : extract.text,
      sources: extract.used.slice(0, Math.min(sourcesMax, question.topK)).map((passage) => sourceOf(passage, found)),
      confidence,
      answered: true,
    });
  },
};

/** An answerer without a language model. */
export function createExtractiveAnswerer({ index }: { readonly index: KnowledgeIndex }): Answerer {
  return createAnswerer({ index, composer: extractiveComposer });
}
