import { slaState } from "#domain/conversation/sla.ts";
import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import type { Reader } from "#database/contract.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import { slaClock } from "#database/queries/conversations.ts";
import type { Colleague, Person, SlaView } from "#http/inbox/wire.ts";

export async function tagsOf(
  db: Reader,
  conversationIds: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await db
    .selectFrom("conversation_tags")
    .select(["conversation_id", "tag"])
    .where("conversation_id", "in", [...conversationIds])
    .orderBy("tag")
    .execute();
  return new Map(
    [...Map.groupBy(rows, (row) => row.conversation_id)].map(([id, own]) => [id, own.map(({ tag }) => tag)]),
  );
}

/** The workspace's agents who may answer, by name. */
export async function colleagues(db: Reader, workspaceId: string): Promise<Colleague[]> {
  const rows = await db
    .selectFrom("agents")
    .select(["email", "name", "away"])
    .where("workspace_id", "=", workspaceId)
    .where("role", "!=", "viewer")
    .where("invited_until", "is", null)
    .orderBy("name")
    .orderBy("email")
    .execute();
  return rows.map(({ email, name, away }) => ({ email, name, away: away === 1 }));
}

/** The workspace's agents, by address. */
export async function peopleOf(db: Reader, workspaceId: string): Promise<ReadonlyMap<string, Person>> {
  const rows = await db
    .selectFrom("agents")
    .select(["email", "name"])
    .where("workspace_id", "=", workspaceId)
    .execute();
  return new Map(rows.map((row) => [row.email, row]));
}

/** A conversation claimed over the API can have an owner who is not an agent of the workspace. */
export function personOf(people: ReadonlyMap<string, Person>, email: string | null): Person | null {
  return email === null ? null : (people.get(email.toLowerCase()) ?? { email, name: email });
}

export function slaOf(row: ConversationRow, settings: WorkspaceSettings, now: number): SlaView {
  const target = settings.slaTargets[row.priority];
  const clock = slaClock(row);
  return { ...clock, state: slaState(clock, target, now), targetMs: target * 60_000 };
}
