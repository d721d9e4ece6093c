import { Type } from "typebox";
import type { Actor } from "#domain/conversation/message.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Channels } from "#channels/channels.ts";
import type { Reader, Store, Tx } from "#database/contract.ts";
import { lockConversation } from "#database/queries/conversations.ts";
import type { NewWork } from "#database/queries/outbox.ts";
import { finishWork } from "#database/queries/outbox.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { PayloadOf, Work, WorkDeclaration } from "#database/work.ts";
import { declareWork, eachRow, workKind } from "#database/work.ts";
import type { Effects, PublishEffects } from "#conversations/work/effects.ts";
import { writeConversation } from "#conversations/transaction/lock-conversation.ts";
import { createUnitOfWork } from "#conversations/transaction/unit-of-work.ts";
import type { Workspace } from "#database/queries/workspaces.ts";
import { updateConversation } from "./update.ts";

/** Conversations that are looked up at once; each is changed in a transaction of its own. */
const pageSize = 50;

/** The conversations of an agent who was removed, or has another address. `to`: their new agent; null: they wait for one. */
const handOnKind = workKind(
  "hand-on",
  Type.Object({
    workspaceId: Type.String(),
    from: Type.String(),
    to: Type.Union([Type.String(), Type.Null()]),
    /** The agent's own id: not removed, but with another address, to which the conversations go as they are. */
    agentId: Type.Optional(Type.String()),
    by: Type.Unsafe<Actor>(Type.Object({ type: Type.String() })),
  }),
);

type HandOn = PayloadOf<typeof handOnKind>;

/** Queued in the transaction that removes the agent, or changes the address. */
export const handOnWork = (given: HandOn, now: number): NewWork =>
  handOnKind.queued(`hand-on:${given.workspaceId}`, given, now);

interface HandOnDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly channels: Channels;
  readonly search: ConversationSearch;
  readonly publishEffects: PublishEffects;
  readonly workspaceOf: (id: string) => Promise<Workspace>;
}

export function declareHandOn(dependencies: HandOnDependencies): WorkDeclaration {
  return declareWork(handOnKind, {
    attemptsMax: 20,
    run: eachRow((row, signal) => handOn(dependencies, row, signal)),
  });
}

async function handOn(dependencies: HandOnDependencies, row: Work<HandOn>, signal: AbortSignal): Promise<void> {
  const { store, publishEffects, workspaceOf } = dependencies;
  const { workspaceId, from } = row.payload;
  const workspace = await workspaceOf(workspaceId);
  while (!(await isTaken(store.read, row.payload))) {
    const held = await store.read
      .selectFrom("conversations")
      .select("id")
      .where("workspace_id", "=", workspaceId)
      .where("status", "in", ["claimed", "snoozed"])
      .where("assigned_to", "=", from)
      .limit(pageSize)
      .execute();
    if (held.length === 0) break;
    for (const { id } of held) {
      signal.throwIfAborted();
      const change = (tx: Tx, now: number) => handOnOne(tx, dependencies, workspace, id, row.payload, now);
      publishEffects(await writeConversation(dependencies, id, change));
    }
  }
  await store.write((tx) => finishWork(tx, [row]));
}

/**
 * Whether an agent has the address by now: one who was removed and added again, got the address back, or is new. The
 * conversations stay with them, since their own are among these. A viewer has none, unless it is the moved agent.
 */
async function isTaken(db: Reader, { workspaceId, from, agentId }: HandOn): Promise<boolean> {
  const agent = await db
    .selectFrom("agents")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("email", "=", from)
    .where((eb) => eb.or([eb("role", "!=", "viewer"), ...(agentId === undefined ? [] : [eb("id", "=", agentId)])]))
    .executeTakeFirst();
  return agent !== undefined;
}

async function handOnOne(
  tx: Tx,
  { channels, search }: HandOnDependencies,
  workspace: Workspace,
  id: string,
  { from, to, by, agentId }: HandOn,
  now: number,
): Promise<Effects | null> {
  const row = await lockConversation(tx, workspace.id, id);
  // The agents have changed it since it was looked up.
  if (row?.assigned_to !== from || (row.status !== "claimed" && row.status !== "snoozed")) return null;
  const address = agentId === undefined ? undefined : await addressOf(tx, agentId);
  if (address !== undefined) {
    const moved = createUnitOfWork(now, search);
    const draft = moved.track(row, workspace.settings, false);
    draft.row.assigned_to = address;
    draft.audit("assigned", by, { from, to: address });
    draft.touch();
    return moved.flush(tx);
  }
  if (to !== null && (await isAgent(tx, workspace.id, to))) {
    const change = { status: "claimed", assignedTo: to, takeOver: true } as const;
    const given = row.status === "claimed" ? { assignedTo: to } : change;
    return updateConversation(tx, channels, search, workspace, id, given, by, now);
  }
  const changes = createUnitOfWork(now, search);
  const draft = changes.track(row, workspace.settings, false);
  draft.setStatus("open", by);
  // A person had the conversation, so the bot does not answer it.
  draft.setStatus("escalated", by, { reason: "its agent was removed" });
  return changes.flush(tx);
}

/** The agent's present address, which may have changed again. Undefined: they were removed since. */
async function addressOf(tx: Tx, agentId: string): Promise<string | undefined> {
  const agent = await tx.selectFrom("agents").select("email").where("id", "=", agentId).executeTakeFirst();
  return agent?.email;
}

/** The new agent can have been removed too. */
async function isAgent(tx: Tx, workspaceId: string, email: string): Promise<boolean> {
  const agent = await tx
    .selectFrom("agents")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("email", "=", email)
    .where("role", "!=", "viewer")
    .executeTakeFirst();
  return agent !== undefined;
}
