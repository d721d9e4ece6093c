import type { Action, Facts, Happening, Rule } from "#domain/workspace/automation.ts";
import { describeAction, dueAt, reasonToFire } from "#domain/workspace/automation.ts";
import { isOpen } from "#domain/workspace/business-hours.ts";
import { newId } from "#domain/ids.ts";
import { languageOf } from "#language/message-language.ts";
import { transitionEvent, wakeTarget } from "#domain/conversation/status.ts";
import type { Actor } from "#domain/conversation/message.ts";
import { systemActor } from "#domain/conversation/message.ts";
import { slaState } from "#domain/conversation/sla.ts";
import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import { agentHasWritten } from "#database/queries/messages.ts";
import type { RuleFiringsTable } from "#database/schema/automation.ts";
import { nextAgent } from "./assignment.ts";
import type { Draft } from "#conversations/transaction/draft.ts";
import type { Tx } from "#database/contract.ts";

/** A conversation that this transaction changes, as seen by rules. */
export interface RuleSubject extends Draft {
  readonly row: ConversationRow;
  readonly before: ConversationRow;
  readonly settings: WorkspaceSettings;
  readonly isNew: boolean;
  /** Changes in this transaction that rules did not make. */
  readonly happenings: readonly Happening[];
  /** A customer, an agent or an API client made some of the changes. */
  readonly byPerson: boolean;
  readonly tagsAdded: ReadonlySet<string>;
  readonly tagsRemoved: ReadonlySet<string>;
  /** Queues a reply to the customer. `answers`: `seq` of the customer's messages that it answers. */
  queueRuleReply(text: string, rule: string, answers: readonly number[]): void;
}

/** Limit for a rule and another system that trigger each other. */
const firingsADayMax = 50;
const dayMs = 86_400_000;
const detailMax = 1_900;
const tagsMax = 50;

export const ruleActor = (rule: string): Actor => systemActor(`rule:${rule}`);

/**
 * Runs the workspaces' rules on the changes of this transaction, in the same transaction. Changes made by rules trigger
 * no rule. A rule that a timer or the bot has triggered fires again only after a change by a person.
 */
export async function runRules(tx: Tx, all: readonly RuleSubject[], now: number): Promise<void> {
  const subjects = all.filter(({ settings }) => settings.rules.length > 0);
  if (subjects.length === 0) return;
  const moved = new Map(subjects.map((subject) => [subject, happeningsOf(subject, now)]));
  const concerned = subjects.filter((subject) => (moved.get(subject) ?? []).length > 0);
  const known = concerned.length === 0 ? undefined : await loadRuleFacts(tx, concerned);
  for (const subject of subjects) {
    const { row, settings } = subject;
    if (known !== undefined) await runOn(tx, subject, moved.get(subject) ?? [], known, now);
    if (settings.rules.some(({ when }) => when.kind === "time")) row.rules_until = now;
  }
}

function happeningsOf(subject: RuleSubject, now: number): readonly Happening[] {
  const { row, before, settings, isNew } = subject;
  const found: Happening[] = [...subject.happenings];
  const clock = { elapsedMs: row.sla_elapsed_ms, runningSince: row.sla_running_since };
  const state = slaState(clock, settings.slaTargets[row.priority], now);
  if (!isNew && state !== before.sla_state && state !== "in_compliance") found.push({ kind: "sla", state });
  for (const rule of settings.rules) {
    const at = ruleDueAt(row, rule);
    if (at !== null && at > row.rules_until && at <= now) found.push({ kind: "time", rule: rule.name });
  }
  return found;
}

export function ruleDueAt(row: ConversationRow, rule: Rule): number | null {
  return dueAt(rule, row.status, {
    lastMessageAt: row.last_message_at,
    statusAt: row.status_at,
    startedAt: row.started_at,
  });
}

interface RuleFacts {
  readonly tags: ReadonlyMap<string, ReadonlySet<string>>;
  readonly plans: ReadonlyMap<string, string>;
  /** Conversations whose newest reply is an agent's. */
  readonly answered: ReadonlySet<string>;
  firings(conversationId: string): Promise<Map<string, RuleFiringsTable>>;
}

async function loadRuleFacts(tx: Tx, subjects: readonly RuleSubject[]): Promise<RuleFacts> {
  const stored = subjects.filter(({ isNew }) => !isNew).map(({ row }) => row.id);
  const tagRows =
    stored.length === 0
      ? []
      : await tx
          .selectFrom("conversation_tags")
          .select(["conversation_id", "tag"])
          .where("conversation_id", "in", stored)
          .execute();
  const tags = new Map(
    subjects.map(({ row, tagsAdded, tagsRemoved }) => {
      const held = tagRows.filter((each) => each.conversation_id === row.id).map(({ tag }) => tag);
      return [row.id, new Set([...held, ...tagsAdded].filter((tag) => !tagsRemoved.has(tag)))] as const;
    }),
  );
  const asksForPlan = subjects.some(({ settings }) =>
    settings.rules.some(({ conditions }) => conditions.plans !== undefined),
  );
  const contacts = !asksForPlan
    ? []
    : await tx
        .selectFrom("contacts")
        .select(["id", "attributes", "user_id"])
        .where("id", "in", [...new Set(subjects.map(({ row }) => row.contact_id))])
        .execute();
  const plans = new Map(contacts.flatMap(({ id, attributes, user_id }) => planOf(id, attributes, user_id)));
  const firings = new Map<string, Map<string, RuleFiringsTable>>();
  return {
    tags,
    plans,
    answered: await answeredByAgents(tx, subjects),
    async firings(conversationId) {
      const held = firings.get(conversationId);
      if (held !== undefined) return held;
      const rows = await tx
        .selectFrom("rule_firings")
        .selectAll()
        .where("conversation_id", "=", conversationId)
        .execute();
      const read = new Map(rows.map((row) => [row.rule, row]));
      firings.set(conversationId, read);
      return read;
    },
  };
}

async function answeredByAgents(tx: Tx, subjects: readonly RuleSubject[]): Promise<ReadonlySet<string>> {
  const answered = new Set<string>();
  for (const { row, settings, isNew, happenings } of subjects) {
    if (!settings.rules.some(({ conditions }) => conditions.unanswered !== undefined)) continue;
    const now = happenings.findLast(({ kind }) => kind === "message");
    if (now?.kind === "message" && now.by !== "assistant") {
      if (now.by === "agent") answered.add(row.id);
      continue;
    }
    if (isNew) continue;
    if (await agentHasWritten(tx, row.id, row.last_customer_seq)) answered.add(row.id);
  }
  return answered;
}

/** Returns the plan if the customer's identity is verified. */
function planOf(id: string, attributes: string, userId: string | null): (readonly [string, string])[] {
  const { plan } = JSON.parse(attributes) as { readonly plan?: unknown };
  return userId !== null && typeof plan === "string" ? [[id, plan.trim().toLowerCase()]] : [];
}

async function runOn(
  tx: Tx,
  subject: RuleSubject,
  happenings: readonly Happening[],
  known: RuleFacts,
  now: number,
): Promise<void> {
  const { row, settings } = subject;
  const tags = new Set(known.tags.get(row.id));
  const { businessHours } = settings;
  const open = businessHours === null ? null : isOpen(businessHours, now);
  // A rule fires once per transaction, however many messages it has.
  for (const rule of settings.rules) {
    const reasonsFor = (happening: Happening): readonly string[] | undefined => {
      const facts: Facts = {
        channel: row.channel,
        status: row.status,
        tags: [...tags],
        priority: row.priority,
        language: () => (happening.kind === "message" ? languageOf(happening.message.content) : null),
        plan: known.plans.get(row.contact_id) ?? null,
        verified: row.customer_verified === 1,
        open,
        unanswered: isUnanswered(row, known),
        assigned: row.assigned_to !== null,
      };
      return reasonToFire(rule, happening, facts);
    };
    for (const [at, happening] of happenings.entries()) {
      const reasons = reasonsFor(happening);
      if (reasons === undefined) continue;
      if (await mayFire(tx, subject, rule, known, now)) {
        // The rule answers these messages together. The bot answers the others.
        const answers = happenings
          .slice(at)
          .flatMap((each) => (isCustomers(each) && reasonsFor(each) !== undefined ? [each.message.seq] : []));
        await fire(tx, subject, rule, { answers, reasons, tags, now });
      }
      break;
    }
  }
}

/** Messages of the bot are no answer while agents have the conversation. */
function isUnanswered(row: ConversationRow, { answered }: RuleFacts): boolean {
  if (row.last_customer_seq === 0 || answered.has(row.id)) return false;
  return row.status !== "open" || row.last_seq === row.last_customer_seq;
}

/** Returns whether the rule may fire, and stores the firing. */
async function mayFire(tx: Tx, subject: RuleSubject, rule: Rule, known: RuleFacts, now: number): Promise<boolean> {
  const { row, byPerson } = subject;
  const firings = await known.firings(row.id);
  const before = firings.get(rule.name);
  if (before !== undefined && !byPerson && before.activity === row.activity) return false;
  const day = Math.floor(now / dayMs);
  const count = before?.day === day ? before.count + 1 : 1;
  if (count > firingsADayMax) {
    if (count === firingsADayMax + 1) {
      const detail = `not fired any more today: it has fired ${firingsADayMax} times, as rules do that set each other off by way of another system`;
      subject.audit("rule_fired", ruleActor(rule.name), { detail });
    } else return false;
  }
  const next = { conversation_id: row.id, rule: rule.name, activity: row.activity, day, count };
  firings.set(rule.name, next);
  if (before === undefined) await tx.insertInto("rule_firings").values(next).execute();
  else {
    await tx
      .updateTable("rule_firings")
      .set(next)
      .where("conversation_id", "=", row.id)
      .where("rule", "=", rule.name)
      .execute();
  }
  return count <= firingsADayMax;
}

const isCustomers = (happening: Happening): happening is Extract<Happening, { kind: "message" }> =>
  happening.kind === "message" && happening.by === "user";

interface Firing {
  /** `seq` of the customer's messages that triggered the rule. */
  readonly answers: readonly number[];
  readonly reasons: readonly string[];
  readonly tags: Set<string>;
  readonly now: number;
}

async function fire(tx: Tx, subject: RuleSubject, rule: Rule, firing: Firing): Promise<void> {
  const { reasons } = firing;
  const done: string[] = [];
  for (const action of rule.actions) {
    const objection = await runAction(tx, subject, rule, action, firing);
    done.push(objection === undefined ? describeAction(action) : `${describeAction(action)} (left out: ${objection})`);
  }
  const detail = `because ${reasons.join(", and ")}; did: ${done.join("; ")}`;
  subject.audit("rule_fired", ruleActor(rule.name), { detail: detail.slice(0, detailMax) });
  subject.touch();
}

/** Runs one action. Returns the reason if it was skipped. */
async function runAction(
  tx: Tx,
  subject: RuleSubject,
  rule: Rule,
  action: Action,
  { answers, tags, now }: Firing,
): Promise<string | undefined> {
  const { row, settings } = subject;
  const actor = ruleActor(rule.name);
  switch (action.kind) {
    case "tag": {
      const add = action.tags.filter((tag) => !tags.has(tag));
      if (add.length === 0) return "it has been tagged so already";
      if (tags.size + add.length > tagsMax) return `a conversation has at most ${tagsMax} tags`;
      for (const tag of add) tags.add(tag);
      subject.setTags(add, [], actor);
      return undefined;
    }
    case "untag": {
      const remove = action.tags.filter((tag) => tags.delete(tag));
      if (remove.length === 0) return "it has no such tag";
      subject.setTags([], remove, actor);
      return undefined;
    }
    case "priority":
      if (row.priority === action.priority) return "it is that already";
      subject.audit("priority_changed", actor, { from: row.priority, to: action.priority });
      row.priority = action.priority;
      return undefined;
    case "assign": {
      if (row.status !== "open" && row.status !== "escalated") {
        return row.assigned_to === null ? `it is ${row.status}` : `it is ${row.assigned_to}'s already`;
      }
      const agent = await nextAgent(tx, row.workspace_id, rule.name, action);
      if (agent.kind === "nobody") return agent.reason;
      subject.setStatus("claimed", actor, { reason: `assigned by the rule ${rule.name}` });
      const entry = subject.audit("assigned", actor, { from: row.assigned_to, to: agent.email });
      // The desk shows the change of owner, because it is not the one who claimed it.
      subject.syncDesk({ kind: "event", id: entry });
      row.assigned_to = agent.email;
      subject.emit("conversation.assigned", actor);
      return undefined;
    }
    case "escalate": {
      const fresh = row.status === "open" || (row.status === "snoozed" && wakeTarget(row.snoozed_from) === "open");
      if (!fresh) return `it is ${row.status}`;
      subject.setStatus("escalated", actor, { reason: action.reason });
      if (!tags.has("escalated")) subject.setTags(["escalated"], [], actor);
      tags.add("escalated");
      row.low_streak = 0;
      row.settled_seq = row.last_customer_seq;
      subject.queueRuleReply(settings.handoverMessage, rule.name, answers);
      return undefined;
    }
    case "note":
      await addNote(tx, subject, action.text, actor, now);
      return undefined;
    case "notify":
      await addNote(tx, subject, action.text, actor, now);
      subject.emit("conversation.notice", actor, { notice: { rule: rule.name, text: action.text } });
      return undefined;
    case "reply":
      if (row.status === "archived") return "it is archived";
      subject.queueRuleReply(action.text, rule.name, answers);
      return undefined;
    case "snooze":
      if (row.status === "snoozed") return "it is snoozed already";
      subject.setStatus("snoozed", actor, { snoozedUntil: now + action.hours * 3_600_000 });
      return undefined;
    case "resolve":
      if (transitionEvent(row.status, "resolved") === undefined) return `it is ${row.status}`;
      subject.setStatus("resolved", actor, { reason: `the rule ${rule.name}` });
      return undefined;
  }
}

async function addNote(tx: Tx, subject: RuleSubject, content: string, actor: Actor, now: number): Promise<void> {
  const id = newId("note", now);
  const author = actor.id ?? actor.type;
  await tx
    .insertInto("notes")
    .values({ id, conversation_id: subject.row.id, content, author, created_at: now })
    .execute();
  subject.audit("note_added", actor, { detail: id });
  subject.syncDesk({ kind: "note", id });
}
