import type { Answer, AnswerTrace } from "#answering/contract.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { Workspace } from "#database/queries/workspaces.ts";
import type { Action, Rule } from "#domain/workspace/automation.ts";
import { describeAction, reasonToFire } from "#domain/workspace/automation.ts";
import type { Channel } from "#domain/conversation/message.ts";
import type { Strictness, WorkspaceSettings } from "#domain/workspace/settings.ts";
import { settingsIn } from "#language/canned-texts.ts";
import type { SpokenLanguage } from "#language/locale.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Decision, DecisionDependencies } from "#conversations/answering/decision.ts";
import { decide, isAnswerSent } from "#conversations/answering/decision.ts";
import type { Turn } from "#conversations/answering/turn.ts";
import { factsOf, isOpenAt } from "#conversations/automation/rules.ts";
import { newConversation } from "#conversations/transaction/new-conversation.ts";

/** A question that an administrator tries. */
export interface Trial {
  readonly workspaceId: string;
  readonly text: string;
  readonly channel: Channel;
  /** Absent: recognised by the text. */
  readonly language?: SpokenLanguage;
  /** Tags of the gated documents that the customer may see. */
  readonly audience: readonly string[];
  /** Absent: the workspace's. */
  readonly strictness?: Strictness;
}

/** A rule that the message would trigger. */
export interface TriedRule {
  readonly name: string;
  readonly because: readonly string[];
  readonly would: readonly string[];
  /** The bot does not answer. */
  readonly decides: boolean;
}

export interface TrialResult {
  /** The messages that the customer would get, in Markdown. */
  readonly replies: readonly string[];
  /** Null: a rule answers in the bot's place. */
  readonly decision: Decision | null;
  readonly answer: Answer | null;
  readonly trace: readonly AnswerTrace[];
  readonly rules: readonly TriedRule[];
  readonly strictness: Strictness;
}

export interface TrialDependencies extends DecisionDependencies {
  readonly clock: Clock;
  readonly workspaceOf: (id: string) => Promise<Workspace>;
  readonly inLanguageOf: (settings: WorkspaceSettings, newestFirst: readonly string[]) => WorkspaceSettings;
}

/** Answers as a turn of a new conversation does, and stores nothing. */
export async function tryQuestion(
  dependencies: TrialDependencies,
  trial: Trial,
  signal: AbortSignal,
): Promise<TrialResult> {
  const { clock, workspaceOf, inLanguageOf } = dependencies;
  const { text, language, audience, strictness } = trial;
  const workspace = await workspaceOf(trial.workspaceId);
  const settings =
    language === undefined ? inLanguageOf(workspace.settings, [text]) : settingsIn(workspace.settings, language);
  const turn = turnOf({ ...workspace, settings }, trial, clock.now());
  const shared = { strictness: strictness ?? settings.strictness };
  const fired = firedRules(turn);
  const rules = fired.map(({ rule, because }) => ({
    name: rule.name,
    because,
    would: rule.actions.map(describeAction),
    decides: rule.actions.some(takesOver),
  }));
  if (rules.some(({ decides }) => decides)) {
    const actions = fired.flatMap(({ rule }) => rule.actions);
    return { ...shared, replies: repliesOfRules(actions, settings), decision: null, answer: null, trace: [], rules };
  }
  const trace: AnswerTrace[] = [];
  const live = {
    isTrial: true,
    onTrace: (step: AnswerTrace) => void trace.push(step),
    ...(language === undefined ? {} : { language }),
  } as const;
  const options = { audience, ...(strictness === undefined ? {} : { strictness }) };
  const decision = await decide(dependencies, { ...turn, options }, live, signal);
  return { ...shared, replies: repliesOf(decision, settings), decision, answer: decision.answer ?? null, trace, rules };
}

/** The turn that the first message of a new customer would start. */
function turnOf(workspace: Workspace, { text, channel }: Trial, now: number): Turn {
  const account = { id: "trial", channel };
  const started = newConversation({ account, workspace }, "trial", "trial", now);
  const conversation: ConversationRow = { ...started, message_count: 1, last_seq: 1, last_customer_seq: 1 };
  const message = {
    id: "trial",
    seq: 1,
    role: "user" as const,
    content: text,
    kind: null,
    sources: null,
    audience: null,
    author_id: null,
    files: null,
    metadata: null,
    refers_to: null,
    forwarded: null,
    created_at: now,
  };
  return {
    workspace,
    conversation,
    settings: workspace.settings,
    options: {},
    perQuery: channel === "api",
    messages: [message],
    unanswered: [message],
    first: message,
    last: message,
    lastCustomerSeq: message.seq,
    lowStep: 1,
  };
}

function firedRules({ conversation, settings, first }: Turn): { rule: Rule; because: readonly string[] }[] {
  const event = { kind: "message", by: "user", message: first, confidence: null } as const;
  const open = isOpenAt(settings, conversation.started_at);
  const facts = factsOf(conversation, event, { tags: [], plan: null, open, unanswered: true });
  return settings.rules.flatMap((rule) => {
    const because = reasonToFire(rule, event, facts);
    return because === undefined ? [] : [{ rule, because }];
  });
}

/** Whether the bot leaves the message to the rule: it has replied, or the conversation is not the bot's any more. */
function takesOver({ kind }: Action): boolean {
  return kind === "reply" || kind === "escalate" || kind === "assign" || kind === "snooze" || kind === "resolve";
}

function repliesOfRules(actions: readonly Action[], settings: WorkspaceSettings): readonly string[] {
  return actions.flatMap((action) =>
    action.kind === "reply" ? [action.text] : action.kind === "escalate" ? [settings.handoverMessage] : [],
  );
}

function repliesOf(decision: Decision, settings: WorkspaceSettings): readonly string[] {
  const handsOver = decision.kind === "escalate" || decision.escalate;
  const texts = isAnswerSent(decision) && decision.answer.text !== "" ? [decision.answer.text] : [];
  return handsOver ? [...texts, settings.handoverMessage] : texts;
}
