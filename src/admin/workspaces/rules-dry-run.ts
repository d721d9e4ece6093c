import type { Facts, Miss, RuleEvent, Rule } from "#domain/workspace/automation.ts";
import { describeAction, dueAt, missOf, reasonToFire, untriggered } from "#domain/workspace/automation.ts";
import type { BusinessHours } from "#domain/workspace/business-hours.ts";
import { isOpen } from "#domain/workspace/business-hours.ts";
import type { Status } from "#domain/conversation/status.ts";
import { statuses } from "#domain/conversation/status.ts";
import { Problem } from "#domain/problem.ts";
import type { Priority, SlaTargets } from "#domain/conversation/sla.ts";
import { clockOnStatus, freshClock, nextSlaChange, priorities, slaState } from "#domain/conversation/sla.ts";
import type { Reader, Store } from "#database/contract.ts";
import { textFacts } from "#conversations/automation/rules.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { AuditTable, MessagesTable } from "#database/schema/tables.ts";

export interface DryRun {
  readonly workspaceId: string;
  readonly rules: readonly Rule[];
  readonly businessHours: BusinessHours | null;
  readonly slaTargets: SlaTargets;
  readonly conversationId: string | undefined;
  /** Maximum number of conversations; the newest are used. */
  readonly limit: number;
  /** Conversations that began earlier are left out. */
  readonly startedSince?: number;
  /** Stops when this time has passed. */
  readonly withinMs?: number;
  readonly now: number;
}

export interface WouldFire {
  readonly conversation_id: string;
  readonly at: string;
  readonly rule: string;
  readonly because: readonly string[];
  readonly would: readonly string[];
}

/** A rule that would not have fired on a conversation, and the condition that was the last to be missing. */
export interface WouldNotFire {
  readonly conversation_id: string;
  readonly rule: string;
  readonly because: string;
}

export interface DryRunResult {
  readonly conversations: number;
  readonly fired: readonly WouldFire[];
  readonly notFired: readonly WouldNotFire[];
  /** False: the time was up before all conversations were looked at. */
  readonly isComplete: boolean;
}

const pageSize = 100;
/** Messages, and entries of the audit log, of one conversation. Later ones are left out. */
const stepsMax = 2_000;

/**
 * Replays stored conversations, event by event, and returns which rules would have fired and why. Nothing is changed, and
 * actions of rules are not simulated: each rule is reported on its own.
 */
export async function dryRunRules(store: Store, run: DryRun): Promise<DryRunResult> {
  const fired: WouldFire[] = [];
  const notFired: WouldNotFire[] = [];
  const end = performance.now() + (run.withinMs ?? Infinity);
  let conversations = 0;
  let isComplete = true;
  for await (const row of conversationsOf(store.read, run)) {
    if (performance.now() > end) {
      isComplete = false;
      break;
    }
    conversations += 1;
    const replayed = await replay(store.read, run, row);
    fired.push(...replayed.fired);
    notFired.push(...replayed.notFired);
  }
  if (run.conversationId !== undefined && conversations === 0)
    throw new Problem("conversation_not_found", `there is no conversation ${run.conversationId} in this workspace`);
  return { conversations, fired, notFired, isComplete };
}

async function* conversationsOf(db: Reader, run: DryRun): AsyncIterable<ConversationRow> {
  let left = run.limit;
  let after: { readonly at: number; readonly id: string } | undefined;
  while (left > 0) {
    const position = after;
    let query = db.selectFrom("conversations").selectAll().where("workspace_id", "=", run.workspaceId);
    if (run.startedSince !== undefined) query = query.where("started_at", ">=", run.startedSince);
    if (run.conversationId !== undefined) query = query.where("id", "=", run.conversationId);
    if (position !== undefined) {
      query = query
        .where("started_at", "<=", position.at)
        .where((eb) => eb.or([eb("started_at", "<", position.at), eb("id", "<", position.id)]));
    }
    const size = Math.min(left, pageSize);
    const rows = await query.orderBy("started_at", "desc").orderBy("id", "desc").limit(size).execute();
    yield* rows;
    left -= rows.length;
    const last = rows.at(-1);
    if (last === undefined || rows.length < size) return;
    after = { at: last.started_at, id: last.id };
  }
}

type Step =
  | { readonly at: number; readonly order: string; readonly kind: "message"; readonly message: MessagesTable }
  | { readonly at: number; readonly order: string; readonly kind: "entry"; readonly entry: AuditTable };

const personal: ReadonlySet<string> = new Set(["customer", "agent", "api_key"]);

/** The conversation as it was at a step of the replay. */
interface ReplayState {
  status: Status;
  priority: Priority;
  readonly tags: Set<string>;
  assigned: boolean;
  lastWriter: "nobody" | "customer" | "bot" | "agent";
  clock: ReturnType<typeof freshClock>;
  lastMessageAt: number;
  statusAt: number;
  /** Number of steps by people. Between two of them, a rule fires once. */
  activity: number;
}

async function replay(
  db: Reader,
  run: DryRun,
  row: ConversationRow,
): Promise<Pick<DryRunResult, "fired" | "notFired">> {
  const steps = await stepsOf(db, row);
  const plan = await planOf(db, row);
  const fired: WouldFire[] = [];
  const firedAt = new Map<string, number>();
  const misses = new Map<string, Miss>();
  const state: ReplayState = {
    status: "open",
    priority: "normal",
    tags: new Set(),
    assigned: false,
    lastWriter: "nobody",
    clock: freshClock(row.started_at),
    lastMessageAt: row.started_at,
    statusAt: row.started_at,
    activity: 0,
  };

  const tryRules = (at: number, ruleEvent: RuleEvent, byPerson: boolean): void => {
    for (const rule of run.rules) {
      const facts = factsAt(run, row, state, plan, at, ruleEvent);
      const because = reasonToFire(rule, ruleEvent, facts);
      const miss = because === undefined ? missOf(rule, ruleEvent, facts) : undefined;
      if (miss !== undefined && miss.held >= (misses.get(rule.name)?.held ?? 0)) misses.set(rule.name, miss);
      if (because === undefined || (!byPerson && firedAt.get(rule.name) === state.activity)) continue;
      firedAt.set(rule.name, state.activity);
      const would = rule.actions.map(describeAction);
      fired.push({ conversation_id: row.id, at: new Date(at).toISOString(), rule: rule.name, because, would });
    }
  };
  const passTime = (from: number, to: number): void => {
    for (const { at, ruleEvent } of timedRuleEvents(run, row, state, from, to)) tryRules(at, ruleEvent, false);
  };

  let now = row.started_at;
  for (const step of steps) {
    passTime(now, step.at);
    now = Math.max(now, step.at);
    if (step.kind === "message") {
      const { message } = step;
      const { role, confidence } = message;
      const byPerson = role !== "assistant";
      applyMessage(state, step.at, role);
      tryRules(step.at, { kind: "message", by: role, message, confidence }, byPerson);
      continue;
    }
    const { actor_type, actor_id } = step.entry;
    const byPerson = personal.has(actor_type);
    if (byPerson) state.activity += 1;
    const ruleEvent = applyEntry(state, step.at, step.entry);
    // Actions of rules trigger no rules.
    if (ruleEvent === null || actor_id?.startsWith("rule:") === true) continue;
    tryRules(step.at, ruleEvent, byPerson);
  }
  passTime(now, run.now);
  const notFired = run.rules
    .filter(({ name }) => !firedAt.has(name))
    .map(({ name }) => ({
      conversation_id: row.id,
      rule: name,
      because: (misses.get(name) ?? untriggered).reason,
    }));
  return { fired, notFired };
}

/** The plan of a verified customer. */
async function planOf(db: Reader, { contact_id: id }: ConversationRow): Promise<string | null> {
  const contact = await db
    .selectFrom("contacts")
    .select(["attributes", "user_id"])
    .where("id", "=", id)
    .executeTakeFirst();
  const { plan } = JSON.parse(contact?.attributes ?? "{}") as { readonly plan?: unknown };
  return (contact?.user_id ?? null) !== null && typeof plan === "string" ? plan.trim().toLowerCase() : null;
}

function factsAt(
  run: DryRun,
  row: ConversationRow,
  { status, tags, priority, assigned, lastWriter }: ReplayState,
  plan: string | null,
  at: number,
  ruleEvent: RuleEvent,
): Facts {
  return {
    channel: row.channel,
    status,
    tags: [...tags],
    priority,
    ...textFacts(ruleEvent),
    plan,
    verified: row.customer_verified === 1,
    open: run.businessHours === null ? null : isOpen(run.businessHours, at),
    // While agents have the conversation, a message of the bot is no answer.
    unanswered: lastWriter === "customer" || (lastWriter === "bot" && status !== "open"),
    assigned,
  };
}

/** Due times of rules and changes of the SLA state after `from` and up to `to`, in order. */
function timedRuleEvents(
  { rules, slaTargets }: DryRun,
  { started_at: startedAt }: ConversationRow,
  { status, priority, clock, lastMessageAt, statusAt }: ReplayState,
  from: number,
  to: number,
): readonly { readonly at: number; readonly ruleEvent: RuleEvent }[] {
  const timed: { readonly at: number; readonly ruleEvent: RuleEvent }[] = rules.flatMap((rule) => {
    const at = dueAt(rule, status, { lastMessageAt, statusAt, startedAt });
    return at !== null && at > from && at <= to ? [{ at, ruleEvent: { kind: "time", rule: rule.name } as const }] : [];
  });
  const target = slaTargets[priority];
  let next = nextSlaChange(clock, target, from);
  while (next !== null && next <= to) {
    const state = slaState(clock, target, next);
    if (state !== "in_compliance") timed.push({ at: next, ruleEvent: { kind: "sla", state } });
    next = nextSlaChange(clock, target, next);
  }
  return timed.toSorted((left, right) => left.at - right.at);
}

function applyMessage(state: ReplayState, at: number, role: MessagesTable["role"]): void {
  if (role !== "assistant") state.activity += 1;
  state.lastMessageAt = at;
  if (role === "user") state.lastWriter = "customer";
  else if (role === "agent") state.lastWriter = "agent";
  else if (state.lastWriter === "customer") state.lastWriter = "bot";
}

/** Returns the trigger that rules can react to, or null. */
function applyEntry(
  state: ReplayState,
  at: number,
  { action, from_value: fromValue, to_value: toValue }: AuditTable,
): RuleEvent | null {
  if (action === "status_changed" && fromValue !== null) {
    const to = statuses.find((each) => each === toValue);
    const from = statuses.find((each) => each === fromValue);
    if (to === undefined || from === undefined) return null;
    state.clock = clockOnStatus(state.clock, from, to, at);
    state.status = to;
    state.statusAt = at;
    if (to === "open") state.assigned = false;
    return { kind: "status", from, to };
  }
  if (action === "tagged" && toValue !== null) {
    state.tags.add(toValue);
    return { kind: "tagged", tag: toValue };
  }
  if (action === "untagged" && fromValue !== null) {
    state.tags.delete(fromValue);
    return { kind: "untagged", tag: fromValue };
  }
  if (action === "priority_changed") state.priority = priorities.find((each) => each === toValue) ?? state.priority;
  else if (action === "assigned") state.assigned = toValue !== null;
  return null;
}

async function stepsOf(db: Reader, { id }: ConversationRow): Promise<readonly Step[]> {
  const messages = await db
    .selectFrom("messages")
    .selectAll()
    .where("conversation_id", "=", id)
    .orderBy("seq")
    .limit(stepsMax)
    .execute();
  const entries = await db
    .selectFrom("audit")
    .selectAll()
    .where("conversation_id", "=", id)
    .orderBy("id")
    .limit(stepsMax)
    .execute();
  // Ids of one process sort by creation, whatever their kind.
  const order = (of: string): string => of.slice(of.indexOf("_") + 1);
  const steps: Step[] = [
    ...messages.map((message) => ({
      at: message.created_at,
      order: order(message.id),
      kind: "message" as const,
      message,
    })),
    ...entries.map((entry) => ({ at: entry.created_at, order: order(entry.id), kind: "entry" as const, entry })),
  ];
  return steps.toSorted(
    (left, right) => left.at - right.at || (left.order < right.order ? -1 : left.order > right.order ? 1 : 0),
  );
}
