import { handoverReasonOf, undoneDetail } from "#domain/conversation/audit-details.ts";
import type { Actor, Role, Score } from "#domain/conversation/message.ts";
import type { Priority, SlaClock, SlaTargets } from "#domain/conversation/sla.ts";
import { clockOnStatus, freshClock, slaState } from "#domain/conversation/sla.ts";
import type { Status } from "#domain/conversation/status.ts";
import { wakeTarget } from "#domain/conversation/status.ts";
import type { Counter, Duration } from "./metrics.ts";
import { counterOfReason } from "./metrics.ts";

/** An event of a conversation that reports count, as its messages and its audit log hold it. */
export type Fact = { readonly at: number } & (
  | { readonly kind: "started" }
  | { readonly kind: "message"; readonly role: Role; readonly author: string | null }
  | {
      readonly kind: "status";
      readonly from: Status;
      readonly to: Status;
      readonly actor: Pick<Actor, "type" | "id">;
      readonly detail: string | null;
    }
  | { readonly kind: "assigned"; readonly to: string }
  | { readonly kind: "priority"; readonly to: Priority }
  | { readonly kind: "tagged" | "untagged"; readonly tag: string }
  | { readonly kind: "unanswered" }
  | { readonly kind: "surveyed" }
  | { readonly kind: "rated"; readonly score: Score; readonly agent: string | null }
);

/** A resolve as it was counted. Its undo takes back just that, whatever changed in between. */
export interface Resolution {
  readonly at: number;
  readonly openedAt: number;
  readonly agent: string | null;
  readonly tags: readonly string[];
  readonly isSlaMissed: boolean;
  /** No person was involved. */
  readonly isByBot: boolean;
}

/** The state of a conversation on which the counts of later facts depend. */
export interface Progress {
  status: Status;
  snoozedFrom: Status | null;
  assignedTo: string | null;
  priority: Priority;
  clock: SlaClock;
  startedAt: number;
  /** When it was started or last reopened. */
  openedAt: number;
  /** The last resolve since it was opened. */
  resolution: Resolution | null;
  /** When it was handed over to people who have not replied yet. */
  awaitedSince: number | null;
  /** The bot or an agent has replied. */
  replied: boolean;
  /** Since it was opened, the bot has replied. */
  botReplied: boolean;
  /** Since it was opened, it was handed over, or an agent wrote or claimed it. */
  peopleInvolved: boolean;
  readonly tags: Set<string>;
}

/** An increment of a report. */
export interface Count {
  readonly metric: Counter | Duration;
  /** For a duration, in milliseconds. */
  readonly ms?: number;
  /** The moment that decides the day. */
  readonly at: number;
  /** -1 takes an earlier count back. */
  readonly by: 1 | -1;
  readonly agent: string | null;
  readonly tags: readonly string[];
  /** The count concerns tags only. */
  readonly tagsOnly?: true;
}

export function newProgress(startedAt: number): Progress {
  return {
    status: "open",
    snoozedFrom: null,
    assignedTo: null,
    priority: "normal",
    clock: freshClock(startedAt),
    startedAt,
    openedAt: startedAt,
    resolution: null,
    awaitedSince: null,
    replied: false,
    botReplied: false,
    peopleInvolved: false,
    tags: new Set(),
  };
}

/**
 * Counts a conversation's facts, in their order, and moves `progress` on. The transaction that changes a conversation
 * and the recount from stored data both use it, so that they agree.
 */
export function tally(progress: Progress, facts: readonly Fact[], targets: SlaTargets): readonly Count[] {
  const counts: Count[] = [];
  let undoneAt: number | null = null;
  for (const fact of facts) {
    if (fact.kind === "status" && fact.detail === undoneDetail) {
      if (progress.resolution !== null) counts.push(...countsOfResolution(progress.resolution, -1));
      progress.resolution = null;
      changeStatus(progress, fact, true);
      undoneAt = fact.at;
    } else if (undoneAt === fact.at) restore(progress, fact);
    else counts.push(...countsOf(progress, fact, targets));
  }
  return counts;
}

/** The steps by which an undo restores the earlier status count nothing. */
function restore(progress: Progress, fact: Fact): void {
  if (fact.kind === "status") changeStatus(progress, fact, true);
  if (fact.kind === "assigned") progress.assignedTo = fact.to;
}

function countsOf(progress: Progress, fact: Fact, targets: SlaTargets): readonly Count[] {
  const { at } = fact;
  switch (fact.kind) {
    case "started":
      return [counted(progress, "conversations", at)];
    case "unanswered":
      return [{ ...counted(progress, "unanswered", at), tags: [] }];
    case "message":
      return countsOfMessage(progress, fact);
    case "status":
      return countsOfStatus(progress, fact, targets);
    case "assigned":
      progress.assignedTo = fact.to;
      return [counted(progress, "assigned", at, fact.to)];
    case "surveyed":
      return [counted(progress, "surveys", at, progress.resolution?.agent ?? progress.assignedTo)];
    case "rated":
      return [counted(progress, "ratings", at, fact.agent), counted(progress, `rated_${fact.score}`, at, fact.agent)];
    case "priority":
      progress.priority = fact.to;
      return [];
    case "tagged":
    case "untagged":
      return countsOfTag(progress, fact.tag, fact.kind === "tagged");
  }
}

function counted(progress: Progress, metric: Counter, at: number, agent: string | null = null): Count {
  return { metric, at, by: 1, agent, tags: [...progress.tags] };
}

function timed(progress: Progress, metric: Duration, from: number, to: number, agent: string | null = null): Count {
  return { ...counted(progress, "conversations", to, agent), metric, ms: Math.max(0, to - from) };
}

const messagesBy = {
  user: "messages_by_customers",
  assistant: "messages_by_bot",
  agent: "messages_by_agents",
} as const;

function countsOfMessage(
  progress: Progress,
  { at, role, author: name }: Extract<Fact, { kind: "message" }>,
): readonly Count[] {
  const author = role === "agent" ? name : null;
  const counts: Count[] = [{ ...counted(progress, messagesBy[role], at, author), tags: [] }];
  if (role === "user") return counts;
  if (!progress.replied) {
    counts.push({ ...timed(progress, "first_reply", progress.startedAt, at, author), tags: [] });
  }
  progress.replied = true;
  if (role === "assistant") progress.botReplied = true;
  else {
    if (progress.awaitedSince !== null) {
      counts.push(timed(progress, "person_reply", progress.awaitedSince, at, author));
    }
    progress.awaitedSince = null;
    progress.peopleInvolved = true;
  }
  return counts;
}

/** A conversation counts under a tag on the day of its start, as long as it has the tag. */
function countsOfTag(progress: Progress, tag: string, isAdded: boolean): readonly Count[] {
  if (progress.tags.has(tag) === isAdded) return [];
  if (isAdded) progress.tags.add(tag);
  else progress.tags.delete(tag);
  const count = counted(progress, "conversations", progress.startedAt);
  return [{ ...count, by: isAdded ? 1 : -1, tags: [tag], tagsOnly: true }];
}

type StatusFact = Extract<Fact, { kind: "status" }>;

const isClosed = (status: Status): boolean => status === "resolved" || status === "archived";

function countsOfStatus(progress: Progress, fact: StatusFact, targets: SlaTargets): readonly Count[] {
  const { from, to, at, actor, detail } = fact;
  const counts: Count[] = [];
  if (to === "resolved" && !isClosed(from)) {
    progress.resolution = resolutionOf(progress, fact, targets);
    counts.push(...countsOfResolution(progress.resolution, 1));
  }
  if (isClosed(from) && (to === "open" || to === "snoozed")) {
    counts.push(counted(progress, "reopened", at, progress.assignedTo));
    const unanswered = { awaitedSince: null, botReplied: false, peopleInvolved: false };
    Object.assign(progress, { openedAt: at, resolution: null, ...unanswered });
  }
  if (to === "escalated" && isWithBot(from, progress.snoozedFrom)) {
    counts.push(counted(progress, "handed_over", at));
    counts.push(counted(progress, counterOfReason(handoverReasonOf(actor, detail)), at));
    Object.assign(progress, { awaitedSince: at, peopleInvolved: true });
  }
  if (to === "claimed") progress.peopleInvolved = true;
  if (to === "open") progress.awaitedSince = null;
  changeStatus(progress, fact);
  return counts;
}

const isWithBot = (from: Status, snoozedFrom: Status | null): boolean =>
  from === "open" || (from === "snoozed" && wakeTarget(snoozedFrom) === "open");

function resolutionOf(progress: Progress, { actor, at }: StatusFact, targets: SlaTargets): Resolution {
  return {
    at,
    openedAt: progress.openedAt,
    agent: progress.assignedTo ?? (actor.type === "agent" ? actor.id : null),
    tags: [...progress.tags],
    isSlaMissed: slaState(progress.clock, targets[progress.priority], at) === "breached",
    isByBot: progress.botReplied && !progress.peopleInvolved,
  };
}

function countsOfResolution(resolution: Resolution, by: 1 | -1): readonly Count[] {
  const { at, openedAt, agent, tags, isSlaMissed, isByBot } = resolution;
  const of = { at, by, agent, tags } as const;
  return [
    { ...of, metric: "resolved" },
    { ...of, metric: "resolution", ms: Math.max(0, at - openedAt) },
    { ...of, metric: isSlaMissed ? "sla_missed" : "sla_met" },
    ...(isByBot ? [{ ...of, metric: "resolved_by_bot", agent: null } as const] : []),
  ];
}

function changeStatus(progress: Progress, { from, to, at }: StatusFact, undoes = false): void {
  progress.clock = clockOnStatus(progress.clock, from, to, at, undoes);
  progress.snoozedFrom = to === "snoozed" ? from : null;
  progress.status = to;
  if (to === "open") progress.assignedTo = null;
}
