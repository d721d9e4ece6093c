import type { Action, Rule } from "#domain/workspace/automation.ts";
import { transitionEvent, wakeTarget } from "#domain/conversation/status.ts";
import type { Actor } from "#domain/conversation/message.ts";
import { systemActor } from "#domain/conversation/message.ts";
import type { Tx } from "#database/contract.ts";
import { insertNote } from "#conversations/transaction/insert-note.ts";
import { escalate } from "#conversations/transaction/owner.ts";
import { nextAgent } from "./assignment.ts";
import type { RuleSubject } from "./rule-facts.ts";

const tagsMax = 50;

export const ruleActor = (rule: string): Actor => systemActor(`rule:${rule}`);

export interface Firing {
  /** `seq` of the customer's messages that triggered the rule. */
  readonly answers: readonly number[];
  readonly reasons: readonly string[];
  /** The message that triggered it. */
  readonly messageId: string | null;
  readonly tags: Set<string>;
  readonly now: number;
}

type ActionOf<K extends Action["kind"]> = Extract<Action, { kind: K }>;

/** Runs one action. Returns the reason if it was skipped. */
export async function runAction(
  tx: Tx,
  subject: RuleSubject,
  rule: Rule,
  action: Action,
  firing: Firing,
): Promise<string | undefined> {
  const { row } = subject;
  const actor = ruleActor(rule.name);
  switch (action.kind) {
    case "tag":
      return addTags(subject, action, firing.tags, actor);
    case "untag": {
      const remove = action.tags.filter((tag) => firing.tags.delete(tag));
      if (remove.length === 0) return "it has no such tag";
      subject.setTags([], remove, actor);
      return undefined;
    }
    case "priority":
      if (row.priority === action.priority) return "it is that already";
      subject.audit("priority_changed", actor, { from: row.priority, to: action.priority });
      row.priority = action.priority;
      return undefined;
    case "assign":
      return assign(tx, subject, rule, action, actor);
    case "escalate":
      return escalateWithReply(subject, rule, action, firing, actor);
    case "note":
      await insertNote(tx, subject, { content: action.text, authorEmail: null }, actor, firing.now);
      return undefined;
    case "notify":
      await insertNote(tx, subject, { content: action.text, authorEmail: null }, actor, firing.now);
      subject.emit("conversation.notice", actor, { notice: { rule: rule.name, text: action.text } });
      return undefined;
    case "reply":
      if (row.status === "archived") return "it is archived";
      subject.queueRuleReply(action.text, rule.name, firing.answers);
      return undefined;
    case "snooze":
      if (row.status === "snoozed") return "it is snoozed already";
      subject.setStatus("snoozed", actor, { snoozedUntil: firing.now + action.hours * 3_600_000 });
      return undefined;
    case "resolve":
      if (transitionEvent(row.status, "resolved") === undefined) return `it is ${row.status}`;
      subject.setStatus("resolved", actor, { reason: `the rule ${rule.name}` });
      return undefined;
  }
}

function addTags(subject: RuleSubject, action: ActionOf<"tag">, tags: Set<string>, actor: Actor): string | undefined {
  const add = action.tags.filter((tag) => !tags.has(tag));
  if (add.length === 0) return "it has been tagged so already";
  if (tags.size + add.length > tagsMax) return `a conversation has at most ${tagsMax} tags`;
  for (const tag of add) tags.add(tag);
  subject.setTags(add, [], actor);
  return undefined;
}

async function assign(
  tx: Tx,
  subject: RuleSubject,
  { name }: Rule,
  action: ActionOf<"assign">,
  actor: Actor,
): Promise<string | undefined> {
  const { row } = subject;
  if (row.status !== "open" && row.status !== "escalated") {
    return row.assigned_to === null ? `it is ${row.status}` : `it is ${row.assigned_to}'s already`;
  }
  const agent = await nextAgent(tx, row.workspace_id, name, action);
  if (agent.kind === "nobody") return agent.reason;
  subject.setStatus("claimed", actor, { reason: `assigned by the rule ${name}` });
  const entry = subject.audit("assigned", actor, { from: row.assigned_to, to: agent.email });
  // The desk shows the change of owner, because it is not the one who claimed it.
  subject.syncDesk({ kind: "event", id: entry });
  row.assigned_to = agent.email;
  subject.emit("conversation.assigned", actor);
  return undefined;
}

function escalateWithReply(
  subject: RuleSubject,
  { name }: Rule,
  { reason }: ActionOf<"escalate">,
  { answers, tags }: Firing,
  actor: Actor,
): string | undefined {
  const { row, settings } = subject;
  const isWithBot = row.status === "open" || (row.status === "snoozed" && wakeTarget(row.snoozed_from) === "open");
  if (!isWithBot) return `it is ${row.status}`;
  escalate(subject, actor, reason, tags.has("escalated"));
  tags.add("escalated");
  subject.queueRuleReply(settings.handoverMessage, name, answers);
  return undefined;
}
