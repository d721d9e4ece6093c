import { randomBytes } from "node:crypto";
import type { Log } from "#runtime/log.ts";
import { createCache } from "#runtime/cache.ts";
import type { Question } from "#answering/contract.ts";
import type { LanguageModel } from "#models/language-model.ts";
import { ModelFailure } from "#models/language-model.ts";
import { maskPersonalData } from "./personal-data.ts";
import type { ModelMetrics } from "./model-composer.ts";
import { problemOf } from "./model-problem.ts";
import type { Turn } from "./prompt.ts";
import { block, conversationBlock, dataRule, titleWithoutCommands } from "./prompt.ts";

export interface WrittenQueries {
  /** Questions that stand alone, in the language of the documents. Empty: the message asks nothing of the documents. */
  readonly queries: readonly string[];
  readonly tokensUsed: number;
}

/** Says in other words what a message asks, for further searches. */
export interface QueryWriter {
  /**
   * Undefined when the model fails. Throws a `Problem` instead where there is no answer without it, and the caller asks
   * for that, see `Question.whenModelFails`.
   */
  write(request: QueryRequest, signal: AbortSignal): Promise<WrittenQueries | undefined>;
}

export interface QueryRequest {
  readonly question: Question;
  /** The headings of the nearest passages. They show the language and the words of the documents. */
  readonly titles: readonly string[];
  /** True: the words of the message alone find no answer. */
  readonly isNeeded: boolean;
}

const queriesMax = 3;
const queryCharactersMax = 200;
const historyMax = 6;
const turnCharactersMax = 600;
const questionCharactersMax = 2_000;
/** The customer waits for this before the answer is written, and an API client waits 30 seconds at most for both. */
const budgetMs = { throw: 4_000, extract: 10_000 } as const;
/** Characters of questions and queries together. */
const cacheCharacters = 500_000;

const noQuery = "NONE";

function instructions(marker: string): string {
  return [
    "You write the searches that find the passage of a company's help documents which answers a customer's message.",
    dataRule(marker, "the titles of some passages, the conversation so far and the message"),
    "Rules:",
    `1. Reply with one to ${queriesMax} lines. Each line is one question that stands alone: take the subject from the conversation where the message leaves it out ("and on a phone?").`,
    "2. Write in the language of the titles. Use the words of the titles where they mean what the customer means, and another wording in each line.",
    "3. Where the message asks several things, write a line for each.",
    "4. Leave out words like EMAIL_1_ab12: they stand for data of the customer.",
    `5. Where the message asks nothing that a company's documents could answer, reply with ${noQuery} and nothing else.`,
  ].join("\n");
}

/** Lets a language model write the queries. The same message is asked once while it is remembered. */
export function createQueryWriter({
  model,
  log,
  counts,
}: {
  readonly model: LanguageModel;
  readonly log: Log;
  readonly counts: Pick<ModelMetrics, "failed">;
}): QueryWriter {
  const remembered = createCache<string, readonly string[]>(cacheCharacters);
  return {
    async write({ question, titles, isNeeded }, signal) {
      const { workspaceId, whenModelFails = "extract" } = question;
      const text = question.text.slice(0, questionCharactersMax);
      const turns = question.history
        .slice(-historyMax)
        .map(({ role, content }) => ({ role, content: content.slice(0, turnCharactersMax) }));
      const key = JSON.stringify([workspaceId, titles, turns, text]);
      const known = remembered.get(key);
      if (known !== undefined) return { queries: known, tokensUsed: 0 };
      try {
        const written = await ask(model, { text, turns, titles }, budgetMs[whenModelFails], signal);
        remembered.set(key, written.queries, key.length);
        return written;
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof ModelFailure)) throw error;
        // A second request would wait for a slow model as long.
        const isThrown = isNeeded && whenModelFails === "throw" && error.kind !== "late";
        if (isNeeded) counts.failed(error.kind, isThrown ? "told" : "extract");
        log.warn({ kind: error.kind, reason: error.message }, "model: writing search queries failed");
        if (isThrown) throw problemOf(error);
        return undefined;
      }
    },
  };
}

interface Asked {
  readonly text: string;
  readonly turns: readonly Turn[];
  readonly titles: readonly string[];
}

async function ask(
  model: LanguageModel,
  { text, turns, titles }: Asked,
  limitMs: number,
  signal: AbortSignal,
): Promise<WrittenQueries> {
  const masked = maskPersonalData([text, ...turns.map(({ content }) => content)], () => randomBytes(3).toString("hex"));
  const [message = "", ...contents] = masked.texts;
  const marker = randomBytes(12).toString("hex");
  const user = [
    ...(titles.length === 0 ? [] : [block("titles", marker, titles.map(titleWithoutCommands))]),
    ...conversationBlock(
      marker,
      turns.map(({ role }, index) => ({ role, content: contents[index] ?? "" })),
    ),
    block("message", marker, [message]),
  ].join("\n\n");
  let said = "";
  const sink = {
    text: (delta: string): void => {
      said += delta;
    },
    restart(): boolean {
      said = "";
      return true;
    },
  };
  const request = { system: instructions(marker), user, temperature: 0, budgetMs: limitMs, isBrief: true as const };
  const { finish, tokensUsed } = await model.write(request, sink, signal);
  return { queries: finish === "refused" ? [] : queriesIn(masked.withoutPlaceholders(said)), tokensUsed };
}

/** One query a line. Models number them, or put them in quotation marks, although nobody asked for it. */
function queriesIn(said: string): readonly string[] {
  const lines = said
    .split("\n")
    .map((line) =>
      line
        .replace(/^\s*(?:[-*•]|\d+[.)])\s+/u, "")
        .replaceAll(/^["'“„«]|["'”“»]$/gu, "")
        .trim()
        .slice(0, queryCharactersMax),
    )
    .filter((line) => /[\p{L}\p{N}]/u.test(line));
  return new RegExp(`^\\W*${noQuery}\\W*$`, "iu").test(lines[0] ?? "") ? [] : [...new Set(lines)].slice(0, queriesMax);
}
