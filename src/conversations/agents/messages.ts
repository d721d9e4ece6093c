import { Problem } from "#domain/problem.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { ActionResult, ActingAgent } from "./actions.ts";
import { agentActor, holderOf, conflict } from "./actions.ts";
import { requestEdit } from "#conversations/delivery/edit-sent.ts";
import { waitingEdits } from "./edits.ts";
import type { Effects } from "#conversations/transaction/effects.ts";
import { createUnitOfWork } from "#conversations/transaction/unit-of-work.ts";
import type { Channels, FollowUp } from "#channels/channels.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Files } from "#files/contract.ts";
import type { Reader, Tx } from "#database/contract.ts";
import { replyAsAgent, writtenAfter } from "./replies.ts";
import { insertNote, requireConversation } from "./update.ts";
import type { Workspace } from "#database/queries/workspaces.ts";

/** What an agent says at a desk that shows them the conversation as it is. `clientId`: the same again is the same. */
export type AgentMessage =
  | {
      readonly kind: "reply";
      readonly content: string;
      readonly files: readonly string[];
      readonly clientId: string;
      /** The newest message that they have seen; absent: whatever was written since. */
      readonly basedOnSeq?: number;
      /** Also while a colleague has the conversation. */
      readonly anyway: boolean;
    }
  | { readonly kind: "note"; readonly content: string; readonly clientId?: string }
  /** Another text for a reply of theirs, or null to take it back. `was`: the text that they have seen. */
  | { readonly kind: "amend"; readonly messageId: string; readonly content: string | null; readonly was?: string };

export type AgentMessageResult =
  | ActionResult
  /** Somebody has written since. */
  | { readonly kind: "stale" }
  /** It cannot be done, and why. */
  | { readonly kind: "refused"; readonly reason: string };

export interface AgentMessageDependencies {
  readonly channels: Channels;
  readonly search: ConversationSearch;
  readonly files: Pick<Files, "link" | "messageBytesMax">;
}

interface StoredMessage {
  readonly said: AgentMessageResult;
  readonly effects: Effects | null;
}

const done: StoredMessage = { said: { kind: "done" }, effects: null };

/** Says it, by the same rules as everything that agents do: what a colleague has, and what is news, is asked about first. */
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
  }
}

async function reply(
  tx: Tx,
  { channels, search, files }: AgentMessageDependencies,
  workspace: Workspace,
  row: ConversationRow,
  { content, files: attached, clientId, basedOnSeq, anyway }: Extract<AgentMessage, { kind: "reply" }>,
  agent: ActingAgent,
  followUp: FollowUp | undefined,
  now: number,
): Promise<StoredMessage> {
  // A reply that has arrived already is neither stale nor in anybody's way, whatever came after it.
  const before = await tx
    .selectFrom("messages")
    .select("id")
    .where("conversation_id", "=", row.id)
    .where("external_id", "=", clientId)
    .executeTakeFirst();
  if (before !== undefined) return done;
  const holder = holderOf(row);
  if (!anyway && holder !== null && holder !== agent.email) return { said: await conflict(tx, row), effects: null };
  if (basedOnSeq !== undefined && (await writtenAfter(tx, row.id, basedOnSeq, agent.email))) {
    return { said: { kind: "stale" }, effects: null };
  }
  const { effects } = await replyAsAgent(
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
      authorEmail: agent.email,
      authorName: agent.name,
      actor: agentActor(agent),
    },
    now,
    followUp,
  );
  return { said: { kind: "done" }, effects };
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
  if (clientId !== undefined && !(await isFirst(tx, row, `note:${clientId}`, now))) return done;
  const changes = createUnitOfWork(now, search);
  const draft = changes.track(row, workspace.settings, false);
  await insertNote(tx, draft, { content, authorEmail: agent.email }, agentActor(agent), now);
  return { said: { kind: "done" }, effects: await changes.flush(tx) };
}

/** Whether this was not done before. The conversation is locked, so that two at once are one after the other. */
async function isFirst(tx: Tx, row: ConversationRow, externalId: string, now: number): Promise<boolean> {
  const event = { account_id: row.account_id, external_id: `inbox:${externalId}` };
  const known = await tx
    .selectFrom("inbound_events")
    .select("id")
    .where("account_id", "=", event.account_id)
    .where("external_id", "=", event.external_id)
    .executeTakeFirst();
  if (known !== undefined) return false;
  await tx
    .insertInto("inbound_events")
    .values({
      ...event,
      kind: "desk",
      payload: "{}",
      target_external_id: null,
      conversation_id: row.id,
      message_id: null,
      received_at: now,
    })
    .execute();
  return true;
}

async function editReply(
  tx: Tx,
  { channels, search }: AgentMessageDependencies,
  row: ConversationRow,
  { messageId, content, was }: Extract<AgentMessage, { kind: "amend" }>,
  agent: ActingAgent,
  now: number,
): Promise<StoredMessage> {
  const refused = (reason: string): StoredMessage => ({ said: { kind: "refused", reason }, effects: null });
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
  const { refusal, effects } = await requestEdit(
    tx,
    channels,
    search,
    { messageId, conversationId: row.id, content },
    now,
  );
  return refusal === null ? { said: { kind: "done" }, effects } : refused(refusal);
}

/** Changes of replies that have not reached the customer yet, by message. */
export async function editsInProgress(
  db: Reader,
  conversationId: string,
): Promise<ReadonlyMap<string, "edit" | "remove">> {
  const waiting = await waitingEdits(db, conversationId);
  return new Map(
    waiting.map(({ amendment: { messageId, content } }) => [messageId, content === null ? "remove" : "edit"] as const),
  );
}
