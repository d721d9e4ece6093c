import { openingStateOf, weekdayIn } from "#domain/workspace/business-hours.ts";
import { fill } from "#domain/workspace/skill-template.ts";
import type { BuiltinSkill, LookupSkill, Skill } from "#domain/workspace/skill.ts";
import type { Answer, Lookup, Question } from "#answering/contract.ts";
import { languageOfAsker, cannedTextFor } from "#answering/understand/asker-language.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { Choice } from "./chosen-by-phrase.ts";
import type { LookUps, Outcome } from "./look-up.ts";
import { lookupOf, notFoundText } from "./result.ts";
import type { ArgumentValues } from "./skill-arguments.ts";

type Call = Extract<Choice, { kind: "call" }>;

/** One skill's part of the answer. */
export type SkillResult =
  | { readonly kind: "lookup"; readonly lookup: Lookup }
  | { readonly kind: "text"; readonly text: string; readonly helped: boolean; readonly lead?: Answer["lead"] }
  | { readonly kind: "escalate" };

interface SkillRun {
  readonly result: SkillResult;
  readonly outcome: string;
}

interface RunOptions {
  readonly lookUps: LookUps;
  readonly clock: Clock;
  readonly log: Log;
}

/** Runs one skill. `outcome`: for the audit log, without the customer's words and the server's answer. */
export async function runSkill(
  options: RunOptions,
  { skill, values }: Call,
  question: Question,
  end: number,
  signal: AbortSignal,
): Promise<SkillRun> {
  switch (skill.kind) {
    case "lookup":
      return lookUp(options, skill, values, question, end, signal);
    case "talk_to_human":
      return { result: { kind: "escalate" }, outcome: "handed over" };
    case "business_hours":
      return {
        result: { kind: "text", text: hoursText(skill, question, options.clock.now()), helped: true },
        outcome: "told the hours",
      };
    case "capture_lead": {
      const lead = leadOf(values);
      if (lead === undefined)
        return {
          result: { kind: "text", text: cannedTextFor(question, "lead_wanted"), helped: true },
          outcome: "there was nothing to keep",
        };
      const text = skill.answer ?? cannedTextFor(question, "lead_kept");
      return { result: { kind: "text", text, helped: true, lead }, outcome: "kept" };
    }
  }
}

async function lookUp(
  { lookUps, log }: RunOptions,
  skill: LookupSkill,
  values: ArgumentValues,
  question: Question,
  end: number,
  signal: AbortSignal,
): Promise<SkillRun> {
  const { settings, turn } = question;
  if (lacksVerifiedCustomer(skill, question)) {
    const text = settings.lookupUnverifiedMessage;
    return { result: { kind: "text", text, helped: false }, outcome: "not called: the customer is not verified" };
  }
  if (question.isTrial === true && !skill.safe) {
    return { result: { kind: "text", text: "", helped: true }, outcome: "not called: this is a trial" };
  }
  const outcome = await lookUps.call(skill, values, turn, end - performance.now(), signal);
  const lookup = resultOf(skill, values, outcome, question);
  if (lookup.kind !== "failed") return { result: lookup.result, outcome: lookup.outcome };
  log.warn({ skill: skill.name, reason: lookup.reason }, "skills: lookup failed");
  const text = lookup.unsure ? settings.lookupUnsureMessage : settings.lookupFailedMessage;
  return { result: { kind: "text", text, helped: false }, outcome: `failed: ${lookup.reason}` };
}

function resultOf(
  skill: LookupSkill,
  values: ArgumentValues,
  outcome: Outcome,
  question: Question,
):
  | { readonly kind: "done"; readonly result: SkillResult; readonly outcome: string }
  | { readonly kind: "failed"; readonly reason: string; readonly unsure: boolean } {
  switch (outcome.kind) {
    case "failed":
      return outcome;
    case "not_found": {
      const text = notFoundText(skill, values, cannedTextFor(question, "lookup_none"));
      return { kind: "done", result: { kind: "text", text, helped: true }, outcome: "found nothing" };
    }
    case "found": {
      const lookup = lookupOf(skill, outcome.body, values);
      return lookup === undefined
        ? { kind: "failed", reason: "its answer lacks a field that the skill tells", unsure: !skill.safe }
        : { kind: "done", result: { kind: "lookup", lookup }, outcome: "answered" };
    }
  }
}

function hoursText(skill: BuiltinSkill, question: Question, now: number): string {
  const { businessHours, unknownMessage } = question.settings;
  // The configuration requires hours for this skill, but they may have been removed since.
  if (businessHours === null) return unknownMessage;
  const { open, time, day, today } = openingStateOf(businessHours, now);
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

/** Whether the skill requires a verified customer, and this one is not verified. */
export function lacksVerifiedCustomer(skill: Skill, { turn }: Question): boolean {
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
