import { askedForPerson } from "#domain/conversation/audit-details.ts";
import type { SkillCall } from "#domain/workspace/skill.ts";
import type { Answer, Answerer, Question } from "#answering/contract.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { LanguageModel } from "#models/language-model.ts";
import { streamed } from "#answering/streamed.ts";
import type { Choice } from "./chosen-by-phrase.ts";
import { chosenByPhrase } from "./chosen-by-phrase.ts";
import { chosenByModel } from "./chosen-by-model.ts";
import type { LookUps } from "./look-up.ts";
import type { SkillResult } from "./run-skill.ts";
import { lacksVerifiedCustomer, runSkill } from "./run-skill.ts";

export interface SkilledOptions {
  /** Answers from the documents and from results of look-ups. */
  readonly documents: Answerer;
  readonly lookUps: LookUps;
  /** Chooses skills by tool calls; undefined: only phrases choose skills. */
  readonly model: LanguageModel | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** Time limit for all look-ups of an answer together. */
  readonly lookUpsMs?: number;
}

/** With the choice of skills and the wording, an answer stays within the API's time limit. */
const lookUpsMax = 10_000;

/**
 * Runs the skills that a message requests, and answers everything else from the documents. Skills are chosen by their
 * phrases, or else by the language model's tool calls. Failures are reported to the customer.
 */
export function createSkilledAnswerer(options: SkilledOptions): Answerer {
  const { documents, lookUps, model, clock, log, lookUpsMs = lookUpsMax } = options;
  return {
    async answer(question, signal) {
      const { skills } = question.settings;
      if (skills.length === 0) return documents.answer(question, signal);
      const text = question.ownText ?? question.text;
      const chosen = chosenByPhrase(skills, text, question.history);
      if (chosen !== undefined) return answerWith([chosen], question, 0, "phrase", signal);
      if (model === undefined) return documents.answer(question, signal);
      const { choices, tokensUsed } = await chosenByModel(model, log, skills, { ...question, text }, signal);
      signal.throwIfAborted();
      if (choices.length > 0) return answerWith(choices, question, tokensUsed, "model", signal);
      const answer = await documents.answer(question, signal);
      return { ...answer, tokensUsed: answer.tokensUsed + tokensUsed };
    },
  };

  async function answerWith(
    choices: readonly Choice[],
    question: Question,
    tokensUsed: number,
    by: "phrase" | "model",
    signal: AbortSignal,
  ): Promise<Answer> {
    question.onTrace?.({ kind: "skills", names: choices.map(({ skill }) => skill.name), chosenBy: by });
    const calls: SkillCall[] = [];
    const fired: string[] = [];
    const done: SkillResult[] = [];
    const end = performance.now() + lookUpsMs;
    for (const choice of choices) {
      if (choice.kind === "ask") {
        // Refused before asking for arguments, to save the customer's time.
        if (lacksVerifiedCustomer(choice.skill, question)) {
          done.push({ kind: "text", text: question.settings.lookupUnverifiedMessage, helped: false });
          continue;
        }
        done.push({ kind: "text", text: choice.ask, helped: true });
        continue;
      }
      const { result, outcome } = await runSkill({ lookUps, clock, log }, choice, question, end, signal);
      signal.throwIfAborted();
      done.push(result);
      if (!lacksVerifiedCustomer(choice.skill, question) && !fired.includes(choice.skill.name))
        fired.push(choice.skill.name);
      calls.push({
        skill: choice.skill.name,
        arguments: Object.keys(choice.values),
        outcome: `chosen by ${by === "phrase" ? "a phrase" : "the model"}: ${outcome}`,
      });
    }
    const base = { skillsFired: fired, tokensUsed, calls };
    if (done.some(({ kind }) => kind === "escalate")) {
      return {
        ...base,
        text: "",
        sources: [],
        confidence: "high",
        answered: true,
        escalate: askedForPerson,
      };
    }
    const lead = done.map((each) => (each.kind === "text" ? each.lead : undefined)).find((each) => each !== undefined);
    const texts = done.filter((each) => each.kind === "text");
    const lookups = done.filter((each) => each.kind === "lookup").map(({ lookup }) => lookup);
    const withLead = lead === undefined ? base : { ...base, lead };
    const joined = texts.map((each) => each.text).join("\n\n");
    if (lookups.length > 0 && by === "model" && texts.length === 0) {
      const answer = await documents.answer({ ...question, lookups }, signal);
      return {
        ...answer,
        ...withLead,
        skillsFired: [...new Set([...fired, ...answer.skillsFired])],
        tokensUsed: tokensUsed + answer.tokensUsed,
      };
    }
    const helped = lookups.length > 0 || texts.every((each) => each.helped);
    return streamed(question, {
      ...withLead,
      text: [...lookups.map(({ message }) => message), ...(joined === "" ? [] : [joined])].join("\n\n"),
      sources: lookups.map(({ title, text }) => ({ title, url: "", chunk: text, score: 1 })),
      confidence: helped ? "high" : "low",
      answered: helped,
    });
  }
}
