import { cannedText } from "#language/bot-texts/bot-texts.ts";
import { Problem } from "#domain/problem.ts";
import type { Answer, Answerer, Question } from "./contract.ts";
import type { Candidate, KnowledgeIndex } from "#knowledge/index/contract.ts";
import type { Composer } from "./composer.ts";
import { searched, sourceOf, sourcesMax, toldByLookups, uncertainPreface, unknownAnswer } from "./composer.ts";
import { answerFloor, bandOf } from "./rank/confidence.ts";
import { judgeMessage } from "./rank/judge-message.ts";
import { wordLanguages } from "#language/detection.ts";
import { forOneMessage } from "./retrieve/cached-search.ts";
import type { Found } from "./retrieve/retrieve.ts";
import { smallTalk } from "./classify/small-talk.ts";
import { languageOfAsker, languageToldBy } from "./understand/asker-language.ts";
import { somePassages } from "./understand/document-languages.ts";

/**
 * Finds passages, judges whether they hold an answer, and has it put into words. Where they hold too little of what was
 * asked, it says that it does not know, and no composer is asked; but never because documents are not indexed yet.
 */
export function createAnswerer({
  index,
  composer,
}: {
  readonly index: KnowledgeIndex;
  readonly composer: Composer;
}): Answerer {
  /** A question in another language than the documents may share no word with them. */
  async function passagesElsewhere(
    question: Question,
    found: Found,
    signal: AbortSignal,
  ): Promise<readonly Candidate[]> {
    const language =
      found.ranked.length > 0 ? undefined : wordLanguages.find((each) => each === languageToldBy(question));
    return language === undefined || language === "en" ? [] : somePassages(index, question, language, signal);
  }

  return {
    async answer(question, signal) {
      signal.throwIfAborted();
      const { lookups = [] } = question;
      const talk = lookups.length > 0 ? undefined : smallTalk(question.text);
      if (talk !== undefined) {
        return spoken(question, {
          text: cannedText(question.settings, talk.language ?? languageOfAsker(question), talk.kind),
          sources: [],
          confidence: "high",
          answered: true,
          skillsFired: [],
          tokensUsed: 0,
        });
      }
      const { found, extract } = await judgeMessage(forOneMessage(index), question, signal);
      const enough = extract !== undefined && extract.evidence >= answerFloor[question.strictness];
      if (!enough && lookups.length === 0 && found.partial) {
        throw new Problem("search_unavailable", "The documents are being indexed for the first time. Ask again soon.", {
          retryAfterS: 5,
        });
      }
      if (!enough && lookups.length === 0)
        return spoken(question, unknownAnswer(question, found, await passagesElsewhere(question, found, signal)));
      return composer.compose({ question, found, extract: enough ? extract : undefined }, signal);
    },
  };
}

/** Answers in the documents' own sentences: what it says is written in the sources it names. */
export const extractiveComposer: Composer = {
  async compose({ question, found, extract }) {
    const { lookups = [] } = question;
    if (extract === undefined || lookups.length > 0) return spoken(question, toldByLookups(lookups));
    const confidence = bandOf(extract.evidence);
    return spoken(question, {
      ...searched,
      text: confidence === "low" ? `${uncertainPreface(question)}${extract.text}` : extract.text,
      sources: extract.used.slice(0, Math.min(sourcesMax, question.topK)).map((passage) => sourceOf(passage, found)),
      confidence,
      answered: true,
    });
  },
};

/** Without a language model. */
export function createExtractiveAnswerer({ index }: { readonly index: KnowledgeIndex }): Answerer {
  return createAnswerer({ index, composer: extractiveComposer });
}

/** An answer that is there at once, word by word to who listens. */
function spoken({ onToken }: Question, answer: Answer): Answer {
  if (onToken !== undefined) for (const [piece] of answer.text.matchAll(/\s*\S+\s*/g)) onToken(piece);
  return answer;
}
