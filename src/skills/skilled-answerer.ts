import { standingOf, weekdayIn } from "#domain/workspace/business-hours.ts";
import { fill } from "#domain/workspace/skill-template.ts";
import type { BuiltinSkill, LookupSkill, Skill, SkillCall } from "#domain/workspace/skill.ts";
import type { Answer, Answerer, Lookup, Question } from "#answering/contract.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { LanguageModel } from "#models/language-model.ts";
import { languageOfAsker, cannedTextFor } from "#answering/understand/asker-language.ts";
import type { Choice } from "./chosen-by-phrase.ts";
import { chosenByPhrase } from "./chosen-by-phrase.ts";
import { chosenByModel } from "./chosen-by-model.ts";
import type { LookUps, Outcome } from "./look-up.ts";
import { lookupOf, notFoundText } from "./result.ts";
import type { ArgumentValues } from "./skill-arguments.ts";

export interface SkilledOptions {
  /** Answers from the documents, and from what was looked up. */
  readonly documents: Answerer;
  readonly lookUps: LookUps;
  /** Chooses skills by tool calls, where there is one. */
  readonly model: LanguageModel | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** All look-ups of an answer together take no longer. */
  readonly lookUpsMs?: number;
}

/** Beside the choice of the skills and the wording, this leaves an answer within what a client of the API waits. */
const lookUpsMax = 10_000;

type Call = Extract<Choice, { kind: "call" }>;

/** One skill's part of the answer. */
type Done =
  | { readonly kind: "lookup"; readonly lookup: Lookup }
  | { readonly kind: "said"; readonly text: string; readonly helped: boolean; readonly lead?: Answer["lead"] }
  | { readonly kind: "escalate" };

/**
 * Runs the skills that a message asks for, and has the rest answered from the documents. A skill is chosen by its
 * phrases, or, where none is in the message, by the language model's tool calls. Whatever fails is said.
 */
export function createSkilledAnswerer(options: SkilledOptions): Answerer {
  const { documents, lookUps, model, clock, log, lookUpsMs = lookUpsMax } = options;
  return {
    async answer(question, signal) {
      const { skills } = question.settings;
      if (skills.length === 0) return documents.answer(question, signal);
      const told = chosenByPhrase(skills, question.text, question.history);
      if (told !== undefined) return answerWith([told], question, 0, "phrase", signal);
      if (model === undefined) return documents.answer(question, signal);
      const { choices, tokensUsed } = await chosenByModel(model, log, skills, question, signal);
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
    const calls: SkillCall[] = [];
    const fired: string[] = [];
    const done: Done[] = [];
    const end = performance.now() + lookUpsMs;
    for (const choice of choices) {
      if (choice.kind === "ask") {
        // To ask for an order's number first, and refuse then, would be a waste of the customer's time.
        if (isRefused(choice.skill, question)) {
          done.push({ kind: "said", text: question.settings.lookupUnverifiedMessage, helped: false });
          continue;
        }
        done.push({ kind: "said", text: choice.ask, helped: true });
        continue;
      }
      const { result, outcome } = await run(choice, question, end, signal);
      signal.throwIfAborted();
      done.push(result);
      if (!isRefused(choice.skill, question) && !fired.includes(choice.skill.name)) fired.push(choice.skill.name);
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
        escalate: "the customer asked for a person",
      };
    }
    const lead = done.map((each) => (each.kind === "said" ? each.lead : undefined)).find((each) => each !== undefined);
    const said = done.filter((each) => each.kind === "said");
    const lookups = done.filter((each) => each.kind === "lookup").map(({ lookup }) => lookup);
    const withLead = lead === undefined ? base : { ...base, lead };
    const words = said.map(({ text }) => text).join("\n\n");
    if (lookups.length > 0 && by === "model" && said.length === 0) {
      const answer = await documents.answer({ ...question, lookups }, signal);
      return {
        ...answer,
        ...withLead,
        skillsFired: [...new Set([...fired, ...answer.skillsFired])],
        tokensUsed: tokensUsed + answer.tokensUsed,
      };
    }
    const helped = lookups.length > 0 || said.every((each) => each.helped);
    return spoken(question, {
      ...withLead,
      text: [...lookups.map(({ told }) => told), ...(words === "" ? [] : [words])].join("\n\n"),
      sources: lookups.map(({ title, text }) => ({ title, url: "", chunk: text, score: 1 })),
      confidence: helped ? "high" : "low",
      answered: helped,
    });
  }

  /** Runs one skill; `outcome`: for the audit log, without what the customer wrote or the server answered. */
  async function run(
    { skill, values }: Call,
    question: Question,
    end: number,
    signal: AbortSignal,
  ): Promise<{ readonly result: Done; readonly outcome: string }> {
    switch (skill.kind) {
      case "lookup":
        return lookUp(skill, values, question, end, signal);
      case "talk_to_human":
        return { result: { kind: "escalate" }, outcome: "handed over" };
      case "business_hours":
        return { result: { kind: "said", text: hoursText(skill, question), helped: true }, outcome: "told the hours" };
      case "capture_lead": {
        const lead = leadOf(values);
        if (lead === undefined)
          return {
            result: { kind: "said", text: cannedTextFor(question, "lead_wanted"), helped: true },
            outcome: "there was nothing to keep",
          };
        const text = skill.answer ?? cannedTextFor(question, "lead_kept");
        return { result: { kind: "said", text, helped: true, lead }, outcome: "kept" };
      }
    }
  }

  async function lookUp(
    skill: LookupSkill,
    values: ArgumentValues,
    question: Question,
    end: number,
    signal: AbortSignal,
  ): Promise<{ readonly result: Done; readonly outcome: string }> {
    const { settings, turn } = question;
    if (isRefused(skill, question)) {
      const text = settings.lookupUnverifiedMessage;
      return { result: { kind: "said", text, helped: false }, outcome: "not called: the customer is not verified" };
    }
    const outcome = await lookUps.call(skill, values, turn, end - performance.now(), signal);
    const told = tell(skill, values, outcome, question);
    if (told.kind !== "failed") return { result: told.result, outcome: told.outcome };
    log.warn({ skill: skill.name, reason: told.reason }, "skills: lookup failed");
    const text = told.unsure ? settings.lookupUnsureMessage : settings.lookupFailedMessage;
    return { result: { kind: "said", text, helped: false }, outcome: `failed: ${told.reason}` };
  }

  function tell(
    skill: LookupSkill,
    values: ArgumentValues,
    outcome: Outcome,
    question: Question,
  ):
    | { readonly kind: "done"; readonly result: Done; readonly outcome: string }
    | { readonly kind: "failed"; readonly reason: string; readonly unsure: boolean } {
    switch (outcome.kind) {
      case "failed":
        return outcome;
      case "not_found": {
        const text = notFoundText(skill, values, cannedTextFor(question, "lookup_none"));
        return { kind: "done", result: { kind: "said", text, helped: true }, outcome: "found nothing" };
      }
      case "found": {
        const lookup = lookupOf(skill, outcome.body, values);
        return lookup === undefined
          ? { kind: "failed", reason: "its answer lacks a field that the skill tells", unsure: !skill.safe }
          : { kind: "done", result: { kind: "lookup", lookup }, outcome: "answered" };
      }
    }
  }

  function hoursText(skill: BuiltinSkill, question: Question): string {
    const { businessHours, unknownMessage } = question.settings;
    // The configuration file refuses the skill without hours; they may have been taken away since.
    if (businessHours === null) return unknownMessage;
    const { open, time, day, today } = standingOf(businessHours, clock.now());
    if (time === null) return skill.closed ?? cannedTextFor(question, "hours_closed");
    const value = (name: string): string | undefined =>
      name === "time"
        ? time
        : name === "day"
          ? weekdayIn(languageOfAsker(question), day)
          : name === "timezone"
            ? businessHours.timezone
            : undefined;
    const usual = cannedTextFor(question, open ? "hours_open" : today ? "hours_today" : "hours_later");
    return fill((open ? skill.answer : skill.closed) ?? usual, value) ?? fill(usual, value) ?? usual;
  }
}

/** Whether this is for customers whose identity is proven, and this one's is not. */
function isRefused(skill: Skill, { turn }: Question): boolean {
  return skill.kind === "lookup" && skill.verified && (turn === undefined || turn.user === null);
}

function leadOf({ email, phone, name }: ArgumentValues): Answer["lead"] {
  const lead = {
    ...(typeof email === "string" ? { email } : {}),
    ...(typeof phone === "string" ? { phone } : {}),
    ...(typeof name === "string" ? { name } : {}),
  };
  return Object.keys(lead).length === 0 ? undefined : lead;
}

/** An answer that is there at once, word by word to who listens. */
function spoken({ onToken }: Question, answer: Answer): Answer {
  if (onToken !== undefined) for (const [piece] of answer.text.matchAll(/\s*\S+\s*/g)) onToken(piece);
  return answer;
}
