import type { Facts, RuleEvent, Rule } from "#domain/workspace/automation.ts";
import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import { describeAction, dueAt, reasonToFire } from "#domain/workspace/automation.ts";
import { isOpen } from "#domain/workspace/business-hours.ts";
import { languageOf } from "#language/message-language.ts";
import { slaState } from "#domain/conversation/sla.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import { slaClock } from "#database/queries/conversations.ts";
import type { Tx } from "#database/contract.ts";
import type { Firing } from "./rule-actions.ts";
import { ownWords } from "#conversations/references/forwarded.ts";
import { ruleActor, runAction } from "./rule-actions.ts";
import type { RuleFacts, RuleSubject } from "./rule-facts.ts";
import { isUnanswered, loadRuleFacts } from "./rule-facts.ts";

/** Limit for a rule and another system that trigger each other. */
const firingsADayMax = 50;
const dayMs = 86_400_000;
const detailMax = 1_900;

/**
 * Runs the workspaces' rules on the changes of this transaction, in the same transaction. Changes made by rules trigger
 * no rule. A rule that a timer or the bot has triggered fires again only after a change by a person.
 */
export async function runRules(tx: Tx, all: readonly RuleSubject[], now: number): Promise<void> {
  const subjects = all.filter(({ settings }) => settings.rules.length > 0);
  if (subjects.length === 0) return;
  const ruleEvents = new Map(subjects.map((subject) => [subject, ruleEventsOf(subject, now)]));
  const changed = subjects.filter((subject) => (ruleEvents.get(subject) ?? []).length > 0);
  const known = changed.length === 0 ? undefined : await loadRuleFacts(tx, changed);
  for (const subject of subjects) {
    const { row, settings } = subject;
    if (known !== undefined) await runOn(tx, subject, ruleEvents.get(subject) ?? [], known, now);
    if (settings.rules.some(({ when }) => when.kind === "time")) row.rules_until = now;
  }
}

function ruleEventsOf(subject: RuleSubject, now: number): readonly RuleEvent[] {
  const { row, before, settings, isNew } = subject;
  const found: RuleEvent[] = [...subject.ruleEvents];
  const state = slaState(slaClock(row), settings.slaTargets[row.priority], now);
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

async function runOn(
  tx: Tx,
  subject: RuleSubject,
  ruleEvents: readonly RuleEvent[],
  known: RuleFacts,
  now: number,
): Promise<void> {
  const { row, settings } = subject;
  const tags = new Set(known.tags.get(row.id));
  const open = isOpenAt(settings, now);
  // A rule fires once per transaction, however many messages it has.
  for (const rule of settings.rules) {
    const reasonsFor = (ruleEvent: RuleEvent): readonly string[] | undefined => {
      const plan = known.plans.get(row.contact_id) ?? null;
      const facts = { tags: [...tags], plan, open, unanswered: isUnanswered(row, known) };
      return reasonToFire(rule, ruleEvent, factsOf(row, ruleEvent, facts));
    };
    for (const [at, ruleEvent] of ruleEvents.entries()) {
      const reasons = reasonsFor(ruleEvent);
      if (reasons === undefined) continue;
      if (await mayFire(tx, subject, rule, known, now)) {
        // The rule answers these messages together. The bot answers the others.
        const answers = ruleEvents
          .slice(at)
          .flatMap((each) => (isCustomers(each) && reasonsFor(each) !== undefined ? [each.message.seq] : []));
        const messageId = ruleEvent.kind === "message" ? ruleEvent.message.id : null;
        await fire(tx, subject, rule, { answers, reasons, messageId, tags, now });
      }
      break;
    }
  }
}

/** Null without business hours. */
export function isOpenAt({ businessHours }: Pick<WorkspaceSettings, "businessHours">, now: number): boolean | null {
  return businessHours === null ? null : isOpen(businessHours, now);
}

/** The facts that rules compare. */
export function factsOf(
  row: ConversationRow,
  ruleEvent: RuleEvent,
  more: Pick<Facts, "tags" | "plan" | "open" | "unanswered">,
): Facts {
  return {
    ...more,
    channel: row.channel,
    status: row.status,
    priority: row.priority,
    ...textFacts(ruleEvent),
    verified: row.customer_verified === 1,
    assigned: row.assigned_to !== null,
  };
}

/** Words of somebody else that a customer passes on fire no rule. */
export function textFacts(ruleEvent: RuleEvent): Pick<Facts, "text" | "language"> {
  const text = ruleEvent.kind === "message" ? ownWords(ruleEvent.message) : "";
  return { text, language: () => (text === "" ? null : languageOf(text)) };
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

const isCustomers = (ruleEvent: RuleEvent): ruleEvent is Extract<RuleEvent, { kind: "message" }> =>
  ruleEvent.kind === "message" && ruleEvent.by === "user";

async function fire(tx: Tx, subject: RuleSubject, rule: Rule, firing: Firing): Promise<void> {
  const { reasons, messageId } = firing;
  const done: string[] = [];
  for (const action of rule.actions) {
    const objection = await runAction(tx, subject, rule, action, firing);
    done.push(objection === undefined ? describeAction(action) : `${describeAction(action)} (left out: ${objection})`);
  }
  const detail = `because ${reasons.join(", and ")}; did: ${done.join("; ")}`;
  subject.audit("rule_fired", ruleActor(rule.name), { to: messageId, detail: detail.slice(0, detailMax) });
  subject.touch();
}
