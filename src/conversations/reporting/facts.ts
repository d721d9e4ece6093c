import { foundNoAnswer } from "#domain/conversation/audit-details.ts";
import type { Actor, Score } from "#domain/conversation/message.ts";
import type { Priority } from "#domain/conversation/sla.ts";
import type { Status } from "#domain/conversation/status.ts";
import type { Fact } from "#domain/reporting/tally.ts";
import type { AuditTable, MessagesTable } from "#database/schema/tables.ts";

export type ReportedMessage = Pick<MessagesTable, "id" | "role" | "kind" | "author_id" | "created_at">;
export type ReportedAudit = Pick<
  AuditTable,
  "id" | "action" | "actor_type" | "actor_id" | "from_value" | "to_value" | "detail" | "created_at"
>;

/** The facts in these messages and audit entries of one conversation, in the order in which they were made. */
export function factsOf(messages: readonly ReportedMessage[], audits: readonly ReportedAudit[]): readonly Fact[] {
  const facts = [
    ...messages.map((row) => ({ order: orderOf(row.id), fact: factOfMessage(row) })),
    ...audits.map((row) => ({ order: orderOf(row.id), fact: factOfAudit(row) })),
  ];
  facts.sort((a, b) => (a.order < b.order ? -1 : 1));
  return facts.flatMap(({ fact }) => fact ?? []);
}

/** Ids without their prefix are in the order of creation. */
const orderOf = (id: string): string => id.slice(id.indexOf("_") + 1);

function factOfMessage({ role, kind, author_id: author, created_at: at }: ReportedMessage): Fact | undefined {
  if (kind === "survey") return { kind: "surveyed", at };
  // Its entry in the audit log counts.
  return kind === "rating" ? undefined : { kind: "message", role, author, at };
}

// The columns of audit entries hold what the code of the same action has written.
function factOfAudit(row: ReportedAudit): Fact | undefined {
  const { action, from_value: from, to_value: to, detail, created_at: at } = row;
  switch (action) {
    case "status_changed": {
      if (from === null) return { kind: "started", at };
      const actor = { type: row.actor_type as Actor["type"], id: row.actor_id };
      return { kind: "status", from: from as Status, to: to as Status, actor, detail, at };
    }
    case "assigned":
      return to === null ? undefined : { kind: "assigned", to, at };
    case "priority_changed":
      return { kind: "priority", to: to as Priority, at };
    case "tagged":
      return to === null ? undefined : { kind: "tagged", tag: to, at };
    case "untagged":
      return from === null ? undefined : { kind: "untagged", tag: from, at };
    case "rated":
      return { kind: "rated", score: Number(to) as Score, agent: from, at };
    case "skill_called":
      return detail === foundNoAnswer ? { kind: "unanswered", at } : undefined;
    default:
      return undefined;
  }
}
