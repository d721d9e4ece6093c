import type { AnswerTrace } from "#answering/contract.ts";
import type { EscalationCause } from "#conversations/answering/decision.ts";
import type { TrialResult } from "./trial.ts";

export const trialDecisions = ["rule", "handover", "small_talk", "skill", "answer", "refusal"] as const;

/** The step that decided about a tried question. */
export interface Explanation {
  readonly kind: (typeof trialDecisions)[number];
  /** Sentences for the administrator. */
  readonly text: string;
}

export function explain(result: TrialResult): Explanation {
  const { decision, rules, trace } = result;
  if (decision === null) {
    const parts = rules
      .filter(({ decides }) => decides)
      .map(({ name, because, would }) => `${name}, because ${because.join(", and ")}. It would: ${would.join("; ")}.`);
    return { kind: "rule", text: `A rule answers in the bot's place: ${parts.join(" ")}` };
  }
  const skills = trace.find((step) => step.kind === "skills");
  if (decision.kind === "escalate") {
    return { kind: "handover", text: `Agents take over: ${causeText(decision.cause, skills)}.` };
  }
  if (trace.some(({ kind }) => kind === "small_talk")) {
    return { kind: "small_talk", text: "A greeting or a courtesy. The bot does not search the documents for it." };
  }
  const handover = decision.escalate ? " Agents take over after one answer of low confidence." : "";
  if (skills !== undefined) return { kind: "skill", text: `${skillText(skills, result)}${handover}` };
  const text = `${searchText(result)}${choiceText(result)}`;
  return { kind: result.answer?.answered === true ? "answer" : "refusal", text: `${text}${handover}` };
}

type SkillStep = Extract<AnswerTrace, { kind: "skills" }>;

function causeText(cause: EscalationCause, skills: SkillStep | undefined): string {
  switch (cause.kind) {
    case "asked":
      return cause.phrase === null
        ? "the customer asked for a person"
        : `the message asks for a person, by the words "${cause.phrase}"`;
    case "anger":
      return `the message reads as angry (${cause.anger.toFixed(2)}, and the limit is ${cause.limit.toFixed(2)})`;
    case "skill":
      return `the skill ${(skills?.names ?? []).join(", ")} does so`;
  }
}

function skillText({ names, chosenBy }: SkillStep, { answer }: TrialResult): string {
  const outcomes = (answer?.calls ?? []).map(({ skill, outcome }) => `${skill}: ${outcome}`);
  const chosen = `${chosenBy === "phrase" ? "A phrase" : "The language model"} chose the skill ${names.join(", ")}.`;
  const asks = outcomes.length === 0 ? " It asks the customer for what it needs." : "";
  return `${chosen}${asks}${outcomes.map((each) => ` ${each}.`).join("")}`;
}

function choiceText({ trace }: TrialResult): string {
  const choice = trace.find((step) => step.kind === "choice");
  return choice === undefined ? "" : ` A reranker chose the passages, among ${choice.among}.`;
}

const percent = (share: number): string => `${Math.round(100 * Math.min(1, Math.max(0, share)))} %`;

function searchText({ trace, answer, strictness }: TrialResult): string {
  const search = trace.find((step) => step.kind === "search");
  if (search === undefined || search.passages.length === 0) return "No passage has a word of the question.";
  const numbers = `they cover ${percent(search.evidence)} of the question, and ${percent(search.floor)} is needed (strictness in the settings: ${strictness})`;
  const further = trace.find((step) => step.kind === "further_search");
  if (further !== undefined && search.evidence < search.floor) {
    const queries = further.queries.map((query) => `"${query}"`).join(", ");
    const outcome = answer?.answered === true ? "finds the answer in the passages" : "finds no answer in the passages";
    return `The words of the question do not lead to an answer: ${numbers}. The language model searched for ${queries}, and ${outcome}.`;
  }
  if (answer?.answered === true) {
    const doubt = answer.confidence === "low" ? " The bot says that it is not sure." : "";
    return `The passages answer the question: ${numbers}.${doubt}`;
  }
  return search.evidence < search.floor
    ? `The passages do not answer the question: ${numbers}.`
    : `The passages may answer the question, but they do not support what the language model wrote: ${numbers}.`;
}
