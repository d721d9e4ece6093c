import { cannedText } from "#language/canned-texts.ts";
import { Problem } from "#domain/problem.ts";
import type { Answer, Answerer, Question } from "./contract.ts";
import type { Candidate, KnowledgeIndex } from "#knowledge/index/contract.ts";
import type { Composer } from "./composer.ts";
import { searched, sourceOf, sourcesMax, answerFromLookups, uncertainPreface, unknownAnswer } from "./composer.ts";
import { answerToChoice } from "./chosen-suggestion.ts";
import { answerFloor, bandOf } from "./rank/confidence.ts";
import type { Judged } from "./rank/judge.ts";
import { judgeMessage } from "./rank/judge-message.ts";
import { wordLanguages } from "#language/detection.ts";
import { forOneMessage } from "./retrieve/cached-search.ts";
import type { Retrieval } from "./retrieve/retrieve.ts";
import { smallTalk } from "./classify/small-talk.ts";
import { languageOfAsker, languageOfText } from "./understand/asker-language.ts";
import { searchTrace } from "./trace.ts";
import { somePassages } from "./understand/document-languages.ts";

/**
 * Finds passages, judges whether they contain an answer, and lets the composer write it. When they cover too little of
 * the question, the answer is "I don't know" and the composer is not called. Throws the problem `search_unavailable` when
 * nothing is found because the documents are still being indexed for the first time.
 */
export function createAnswerer({
  index,
  composer,
}: {
  readonly index: KnowledgeIndex;
  readonly composer: Composer;
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
      const judged = await judgeMessage(forOneMessage(index), question, signal);
      const answer = await answerFrom(question, judged, signal);
      question.onTrace?.(searchTrace(question, judged, answer));
      return answer;
    },
  };

  async function answerFrom(question: Question, { found, extract }: Judged, signal: AbortSignal): Promise<Answer> {
    const { lookups = [] } = question;
    const enough = extract !== undefined && extract.evidence >= answerFloor[question.strictness];
    if (!enough && lookups.length === 0 && found.partial) {
      throw new Problem("search_unavailable", "The documents are being indexed for the first time. Ask again soon.", {
        retryAfterS: 5,
      });
    }
    if (!enough && lookups.length === 0)
      return streamed(question, unknownAnswer(question, found, await passagesElsewhere(question, found, signal)));
    return composer.compose({ question, found, extract: enough ? extract : undefined }, signal);
  }
}

/** Answers in the documents' own sentences. Everything it says is in the sources that it names. */
export const extractiveComposer: Composer = {
  async compose({ question, found, extract }) {
    const { lookups = [] } = question;
    if (extract === undefined || lookups.length > 0) return streamed(question, answerFromLookups(lookups));
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

/** Streams a complete answer word by word, and returns it. */
function streamed({ onToken }: Question, answer: Answer): Answer {
  if (onToken !== undefined) for (const [piece] of answer.text.matchAll(/\s*\S+\s*/g)) onToken(piece);
  return answer;
}
