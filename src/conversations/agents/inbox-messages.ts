import { Problem } from "#domain/problem.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { ActionResult, ActingAgent } from "./actions.ts";
import { agentActor } from "./actions.ts";
import { decide, describeConflict } from "./ownership.ts";
import { requestEdit } from "#conversations/delivery/edit-sent.ts";
import { waitingEdits } from "#conversations/delivery/reply-edits.ts";
import { requestReaction } from "#conversations/feedback/reactions/agent-reaction.ts";
import type { Effects } from "#conversations/work/effects.ts";
import { createUnitOfWork } from "#conversations/transaction/unit-of-work.ts";
import type { Channels, FollowUp } from "#channels/channels.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Files } from "#files/contract.ts";
import type { Reader, Tx } from "#database/contract.ts";
import { isRepeated, recordRequest } from "./repeated-requests.ts";
import { storeAgentReply } from "./store-reply.ts";
import { requireConversation } from "#conversations/transaction/lock-conversation.ts";
import { insertNote } from "#conversations/transaction/insert-note.ts";
import type { Workspace } from "#database/queries/workspaces.ts";

/** A message that an agent posts in the inbox. `clientId`: idempotency key. */
export type AgentMessage =
  | {
      readonly kind: "reply";
      readonly content: string;
      readonly files: readonly string[];
      readonly clientId: string;
      /** The id of the message that this one answers. */
      readonly refersTo?: string;
      /** The newest message that the agent has seen. Absent: newer messages do not matter. */
      readonly basedOnSeq?: number;
      /** Send it even while a colleague has the conversation. */
      readonly overrideOwner: boolean;
    }
  | { readonly kind: "note"; readonly content: string; readonly clientId?: string }
  /** A new text for the agent's own reply, or null to delete it. `was`: the text that the agent has seen. */
  | { readonly kind: "amend"; readonly messageId: string; readonly content: string | null; readonly was?: string }
  /** The company's reaction to a customer's message; null: none any more. */
  | { readonly kind: "react"; readonly messageId: string; readonly emoji: string | null };

export type AgentMessageResult =
  | ActionResult
  /** A message was written after the one on which this reply is based. */
  | { readonly kind: "stale" }
  | { readonly kind: "refused"; readonly reason: string };

export interface AgentMessageDependencies {
  readonly channels: Channels;
  readonly search: ConversationSearch;
  readonly files: Pick<Files, "link" | "messageBytesMax">;
}

interface StoredMessage {
  readonly result: AgentMessageResult;
  readonly effects: Effects | null;
}

const done: StoredMessage = { result: { kind: "done" }, effects: null };

/** Stores the message, unless it conflicts with a colleague or is based on an old view. */
export async function handleAgentMessage(
  tx: Tx,
  dependencies: AgentMessageDependencies,
  workspace: Workspace,
  conversationId: string,
  message: AgentMessage,
  agent: ActingAgent,
  followUp: FollowUp | undefined,
  now: number,
): Promise<StoredMessage> {
  const row = await requireConversation(tx, workspace.id, conversationId);
  switch (message.kind) {
    case "reply":
      return reply(tx, dependencies, workspace, row, message, agent, followUp, now);
    case "note":
      return note(tx, dependencies, workspace, row, message, agent, now);
    case "amend":
      return editReply(tx, dependencies, row, message, agent, now);
    case "react":
      return resultOf(await requestReaction(tx, dependencies, workspace, row, message, agent, now));
  }
}

async function reply(
  tx: Tx,
  { channels, search, files }: AgentMessageDependencies,
  workspace: Workspace,
  row: ConversationRow,
  { content, files: attached, clientId, refersTo, basedOnSeq, overrideOwner }: Extract<AgentMessage, { kind: "reply" }>,
  agent: ActingAgent,
  followUp: FollowUp | undefined,
  now: number,
): Promise<StoredMessage> {
  // A repeated request succeeds, whatever happened after the first one.
  const before = await tx
    .selectFrom("messages")
    .select("id")
    .where("conversation_id", "=", row.id)
    .where("external_id", "=", clientId)
    .executeTakeFirst();
  if (before !== undefined) return done;
  const decision = await decide(tx, row, agent.email, { overrideOwner, basedOnSeq });
  if (decision.kind === "stale") return { result: decision, effects: null };
  if (decision.kind !== "ok") return { result: await describeConflict(tx, row), effects: null };
  const { effects } = await storeAgentReply(
    tx,
    channels,
    search,
    files,
    workspace,
    {
      workspaceId: workspace.id,
      conversationId: row.id,
      content,
      files: attached,
      uploadedBy: agent.email,
      clientId,
      ...(refersTo === undefined ? {} : { refersTo }),
      authorEmail: agent.email,
      authorName: agent.name,
      actor: agentActor(agent),
    },
    now,
    followUp,
  );
  return { result: { kind: "done" }, effects };
}

async function note(
  tx: Tx,
  { search }: AgentMessageDependencies,
  workspace: Workspace,
  row: ConversationRow,
  { content, clientId }: Extract<AgentMessage, { kind: "note" }>,
  agent: ActingAgent,
  now: number,
): Promise<StoredMessage> {
  if (clientId !== undefined) {
    const request = `note:${clientId}`;
    if (await isRepeated(tx, row, request)) return done;
    await recordRequest(tx, row, request, now);
  }
  const changes = createUnitOfWork(now, search);
  const draft = changes.track(row, workspace.settings, false);
  await insertNote(tx, draft, { content, authorEmail: agent.email }, agentActor(agent), now);
  return { result: { kind: "done" }, effects: await changes.flush(tx) };
}

async function editReply(
  tx: Tx,
  { channels, search }: AgentMessageDependencies,
  row: ConversationRow,
  { messageId, content, was }: Extract<AgentMessage, { kind: "amend" }>,
  agent: ActingAgent,
  now: number,
): Promise<StoredMessage> {
  const message = await tx
    .selectFrom("messages")
    .select(["role", "author_id", "content", "deleted_at"])
    .where("id", "=", messageId)
    .where("conversation_id", "=", row.id)
    .executeTakeFirst();
  if (message === undefined) throw new Problem("not_found", "This message does not exist any more.");
  if (message.role !== "agent" || message.author_id !== agent.email) {
    return refused("Only who wrote a reply can change it or take it back.");
  }
  if (message.deleted_at !== null) return content === null ? done : refused("This reply was taken back already.");
  if (message.content === content) return done;
  if (was !== undefined && message.content !== was) {
    return refused("This reply was changed meanwhile. Read it as it is now before you change it again.");
  }
  return resultOf(await requestEdit(tx, channels, search, { messageId, conversationId: row.id, content }, now));
}

const refused = (reason: string): StoredMessage => ({ result: { kind: "refused", reason }, effects: null });

const resultOf = ({
  refusal,
  effects,
}: {
  readonly refusal: string | null;
  readonly effects: Effects | null;
}): StoredMessage => (refusal === null ? { result: { kind: "done" }, effects } : refused(refusal));

/** Returns edits of replies that have not reached the customer yet, by message. */
export async function editsInProgress(
  db: Reader,
  conversationId: string,
): Promise<ReadonlyMap<string, "edit" | "remove">> {
  const pending = await waitingEdits(db, conversationId);
  return new Map(
    pending.map(({ amendment: { messageId, content } }) => [messageId, content === null ? "remove" : "edit"] as const),
  );
}
