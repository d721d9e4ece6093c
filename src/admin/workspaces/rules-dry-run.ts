import type { Facts, Happening, Rule } from "#domain/workspace/automation.ts";
import { describeAction, dueAt, reasonToFire } from "#domain/workspace/automation.ts";
import type { BusinessHours } from "#domain/workspace/business-hours.ts";
import { isOpen } from "#domain/workspace/business-hours.ts";
import { languageOf } from "#language/message-language.ts";
import type { Status } from "#domain/conversation/status.ts";
import { statuses } from "#domain/conversation/status.ts";
import { Problem } from "#domain/problem.ts";
import type { Priority, SlaTargets } from "#domain/conversation/sla.ts";
import { clockOnStatus, freshClock, nextSlaChange, priorities, slaState } from "#domain/conversation/sla.ts";
import type { Reader, Store } from "#database/contract.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { AuditTable, MessagesTable } from "#database/schema/tables.ts";

export interface DryRun {
  readonly workspaceId: string;
  readonly rules: readonly Rule[];
  readonly businessHours: BusinessHours | null;
  readonly slaTargets: SlaTargets;
  readonly conversationId: string | undefined;
  /** The newest so many conversations. */
  readonly limit: number;
  readonly now: number;
}

export interface WouldFire {
  readonly conversation_id: string;
  readonly at: string;
  readonly rule: string;
  readonly because: readonly string[];
  readonly would: readonly string[];
}

const pageSize = 100;

/**
 * Goes through stored conversations, event by event, and tells where rules would have fired and why. Nothing is changed,
 * and what a rule would have done is not taken for done: each is told of for itself.
 */
export async function dryRunRules(
  store: Store,
  run: DryRun,
): Promise<{ readonly conversations: number; readonly fired: readonly WouldFire[] }> {
  const fired: WouldFire[] = [];
  let conversations = 0;
  for await (const row of conversationsOf(store.read, run)) {
    conversations += 1;
    fired.push(...(await replay(store.read, run, row)));
  }
  if (run.conversationId !== undefined && conversations === 0)
    throw new Problem("conversation_not_found", `there is no conversation ${run.conversationId} in this workspace`);
  return { conversations, fired };
}

async function* conversationsOf(db: Reader, run: DryRun): AsyncIterable<ConversationRow> {
  let left = run.limit;
  let after: { readonly at: number; readonly id: string } | undefined;
  while (left > 0) {
    const position = after;
    let query = db.selectFrom("conversations").selectAll().where("workspace_id", "=", run.workspaceId);
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

async function replay(db: Reader, run: DryRun, row: ConversationRow): Promise<readonly WouldFire[]> {
  const steps = await stepsOf(db, row);
  const contact = await db
    .selectFrom("contacts")
    .select(["attributes", "user_id"])
    .where("id", "=", row.contact_id)
    .executeTakeFirst();
  const { plan } = JSON.parse(contact?.attributes ?? "{}") as { readonly plan?: unknown };
  const fired: WouldFire[] = [];
  const firedAt = new Map<string, number>();
  const tags = new Set<string>();
  let status: Status = "open";
  let priority: Priority = "normal";
  let assigned = false;
  let written: "nobody" | "customer" | "bot" | "agent" = "nobody";
  let activity = 0;
  let clock = freshClock(row.started_at);
  let lastMessageAt = row.started_at;
  let statusAt = row.started_at;

  const factsAt = (at: number, happening: Happening): Facts => ({
    channel: row.channel,
    status,
    tags: [...tags],
    priority,
    language: () => (happening.kind === "message" ? languageOf(happening.message.content) : null),
    plan: (contact?.user_id ?? null) !== null && typeof plan === "string" ? plan.trim().toLowerCase() : null,
    verified: row.customer_verified === 1,
    open: run.businessHours === null ? null : isOpen(run.businessHours, at),
    // While people have it, what the bot says is no answer.
    unanswered: written === "customer" || (written === "bot" && status !== "open"),
    assigned,
  });

  const look = (at: number, happening: Happening, byPerson: boolean): void => {
    for (const rule of run.rules) {
      const because = reasonToFire(rule, happening, factsAt(at, happening));
      if (because === undefined || (!byPerson && firedAt.get(rule.name) === activity)) continue;
      firedAt.set(rule.name, activity);
      const would = rule.actions.map(describeAction);
      fired.push({ conversation_id: row.id, at: new Date(at).toISOString(), rule: rule.name, because, would });
    }
  };

  /** What the clock alone would have set off between two steps. */
  const pass = (from: number, to: number): void => {
    const due = run.rules
      .map((rule) => ({ rule, at: dueAt(rule, status, { lastMessageAt, statusAt, startedAt: row.started_at }) }))
      .flatMap(({ rule, at }) =>
        at !== null && at > from && at <= to ? [{ at, happening: { kind: "time", rule: rule.name } as const }] : [],
      );
    const slow: { readonly at: number; readonly happening: Happening }[] = [...due];
    const target = run.slaTargets[priority];
    let next = nextSlaChange(clock, target, from);
    while (next !== null && next <= to) {
      const state = slaState(clock, target, next);
      if (state !== "in_compliance") slow.push({ at: next, happening: { kind: "sla", state } });
      next = nextSlaChange(clock, target, next);
    }
    for (const { at, happening } of slow.toSorted((left, right) => left.at - right.at)) look(at, happening, false);
  };

  let now = row.started_at;
  for (const step of steps) {
    pass(now, step.at);
    now = Math.max(now, step.at);
    if (step.kind === "message") {
      const { role, confidence } = step.message;
      const byPerson = role !== "assistant";
      if (byPerson) activity += 1;
      lastMessageAt = step.at;
      if (role === "user") written = "customer";
      else if (role === "agent") written = "agent";
      else if (written === "customer") written = "bot";
      look(step.at, { kind: "message", by: role, message: step.message, confidence }, byPerson);
      continue;
    }
    const { action, actor_type, actor_id, from_value, to_value } = step.entry;
    const byPerson = personal.has(actor_type);
    if (byPerson) activity += 1;
    const happenings: Happening[] = [];
    if (action === "status_changed" && from_value !== null) {
      const to = statuses.find((each) => each === to_value);
      const from = statuses.find((each) => each === from_value);
      if (to === undefined || from === undefined) continue;
      clock = clockOnStatus(clock, from, to, step.at);
      status = to;
      statusAt = step.at;
      if (to === "open") assigned = false;
      happenings.push({ kind: "status", from, to });
    } else if (action === "tagged" && to_value !== null) {
      tags.add(to_value);
      happenings.push({ kind: "tagged", tag: to_value });
    } else if (action === "untagged" && from_value !== null) {
      tags.delete(from_value);
      happenings.push({ kind: "untagged", tag: from_value });
    } else if (action === "priority_changed") {
      priority = priorities.find((each) => each === to_value) ?? priority;
    } else if (action === "assigned") {
      assigned = to_value !== null;
    }
    // What a rule has done triggers none.
    if (actor_id?.startsWith("rule:") === true) continue;
    for (const happening of happenings) look(step.at, happening, byPerson);
  }
  pass(now, run.now);
  return fired;
}

async function stepsOf(db: Reader, { id }: ConversationRow): Promise<readonly Step[]> {
  const messages = await db
    .selectFrom("messages")
    .selectAll()
    .where("conversation_id", "=", id)
    .orderBy("seq")
    .execute();
  const entries = await db.selectFrom("audit").selectAll().where("conversation_id", "=", id).orderBy("id").execute();
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
