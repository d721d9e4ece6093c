import { randomBytes } from "node:crypto";
import type { Log } from "#runtime/log.ts";
import type { LanguageModel } from "#models/language-model.ts";
import { ModelFailure } from "#models/language-model.ts";
import type { CheckedStatements, Statement } from "./open-statements.ts";
import type { PromptPassage } from "./prompt.ts";
import { block, dataRule } from "./prompt.ts";

/** Lets a language model decide which statements their passages support. */
export interface StatementChecker {
  readonly checked: CheckedStatements;
  /** One call for all statements. `supported` is undefined when the model fails or its reply cannot be read. */
  check(
    given: {
      readonly statements: readonly Statement[];
      /** The passages that statements name by their index. */
      readonly passages: readonly PromptPassage[];
      /** Time that is left for the whole answer, in milliseconds. */
      readonly leftMs: number;
    },
    signal: AbortSignal,
  ): Promise<{ readonly supported: ReadonlySet<Statement> | undefined; readonly tokensUsed: number }>;
}

/** The customer waits for this after the answer is written. */
const budgetMs = 10_000;
const none = "NONE";

function instructions(marker: string): string {
  return [
    "You check the statements of a company's support assistant against the passages of the company's documents that they cite.",
    dataRule(marker, "passages and statements"),
    "Rules:",
    "1. A statement is supported when its passages say all of it, in whatever words or language: about the same thing, for the same people, under the same conditions.",
    "2. It is not supported when it adds anything that they do not say, leaves out a condition or an exception that changes its meaning, says the opposite of them, changes a number or a name, or says of one thing what they say of another.",
    "3. Judge by the passages alone, not by what you know.",
    `4. Reply with the numbers of the supported statements, separated by commas, and nothing else. Reply with ${none} when none is supported.`,
  ].join("\n");
}

export function createStatementChecker({
  model,
  checked,
  log,
}: {
  readonly model: LanguageModel;
  readonly checked: CheckedStatements;
  readonly log: Log;
}): StatementChecker {
  return {
    checked,
    async check({ statements, passages, leftMs }, signal) {
      try {
        const { said, tokensUsed } = await ask(model, statements, passages, Math.min(budgetMs, leftMs), signal);
        const numbers = numbersIn(said, statements.length);
        if (numbers === undefined) log.warn({ characters: said.length }, "model: reply to a check cannot be read");
        const supported = numbers && new Set(statements.filter((_, index) => numbers.has(index + 1)));
        return { supported, tokensUsed };
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof ModelFailure)) throw error;
        log.warn({ kind: error.kind, reason: error.message }, "model: checking statements failed");
        return { supported: undefined, tokensUsed: 0 };
      }
    },
  };
}

async function ask(
  model: LanguageModel,
  statements: readonly Statement[],
  passages: readonly PromptPassage[],
  limitMs: number,
  signal: AbortSignal,
): Promise<{ readonly said: string; readonly tokensUsed: number }> {
  const marker = randomBytes(12).toString("hex");
  const cited = [...new Set(statements.flatMap((each) => each.passages))].toSorted((left, right) => left - right);
  const user = [
    ...cited.map((index) => {
      const { title = "", text = "" } = passages[index] ?? {};
      return block(`passage ${index + 1}`, marker, [`Title: ${title.replaceAll(/\s+/gu, " ")}`, text]);
    }),
    block(
      "statements",
      marker,
      statements.map(
        ({ text, passages: from }, index) =>
          `${index + 1}. (cites ${from.map((each) => each + 1).join(", ")}) ${text.replaceAll(/\s+/gu, " ")}`,
      ),
    ),
  ].join("\n\n");
  let said = "";
  const sink = {
    text(delta: string): void {
      said += delta;
    },
    restart(): boolean {
      said = "";
      return true;
    },
  };
  const request = { system: instructions(marker), user, temperature: 0, budgetMs: limitMs, isBrief: true as const };
  const { finish, tokensUsed } = await model.write(request, sink, signal);
  return { said: finish === "complete" ? said : "", tokensUsed };
}

/** Undefined for a reply with anything else than numbers of the statements. */
function numbersIn(said: string, count: number): ReadonlySet<number> | undefined {
  if (new RegExp(`^\\W*${none}\\W*$`, "iu").test(said)) return new Set();
  if (!/^[\s\d,.;[\]]*\d[\s\d,.;[\]]*$/u.test(said)) return undefined;
  const numbers = (said.match(/\d+/gu) ?? []).map(Number);
  return numbers.every((number) => number >= 1 && number <= count) ? new Set(numbers) : undefined;
}
