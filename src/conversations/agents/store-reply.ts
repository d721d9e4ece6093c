import { systemActor } from "#domain/conversation/message.ts";
import { isChat } from "#channels/catalog.ts";
import { Problem } from "#domain/problem.ts";
import { agentName } from "#database/queries/agents.ts";
import { uploadsForReply } from "#conversations/attachments/attachments.ts";
import type { Effects } from "#conversations/work/effects.ts";
import type { Draft } from "#conversations/transaction/draft.ts";
import { createUnitOfWork } from "#conversations/transaction/unit-of-work.ts";
import { decide } from "./ownership.ts";
import type { AgentReply } from "./requests.ts";
import { withFiles } from "#conversations/attachments/outbound-links.ts";
import type { Channels, FollowUp } from "#channels/channels.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Files } from "#files/contract.ts";
import type { Store, Tx } from "#database/contract.ts";
import { hasTask, needsAction } from "#conversations/delivery/reroute/reroute.ts";
import { windowOf } from "#conversations/delivery/reroute/reply-window.ts";
import { readyIfLoaded, renderParts } from "#conversations/delivery/bot-message.ts";
import { outboundReference } from "#conversations/references/outbound-reference.ts";
import { referenceTo } from "#conversations/references/stored-reference.ts";
import { claim } from "#conversations/transaction/owner.ts";
import { requireConversation } from "#conversations/transaction/lock-conversation.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { Workspace } from "#database/queries/workspaces.ts";

interface StoredReply {
  readonly effects: Effects | null;
  readonly messageId: string;
  readonly seq: number;
}

/**
 * Stores an agent's reply, queues it for the customer's channel, and claims an unclaimed conversation. It does not check
 * the owner: the inbox and the desk do so before (`ownership.ts`), and the API replies in any case.
 */
export async function storeAgentReply(
  tx: Tx,
  channels: Channels,
  search: ConversationSearch,
  files: Pick<Files, "link" | "messageBytesMax">,
  workspace: Workspace,
  reply: AgentReply,
  now: number,
  followUp: FollowUp | undefined,
): Promise<StoredReply> {
  const row = await requireConversation(tx, workspace.id, reply.conversationId);
  const stored = await storedReply(tx, reply);
  if (stored !== undefined) return { effects: null, messageId: stored.id, seq: stored.seq };
  await refuseStale(tx, row, reply);
  if (row.status === "archived")
    throw new Problem("invalid_transition", "the conversation is archived; reopen it to reply");
  const attached = await uploadsForReply(tx, row.id, reply.files ?? [], reply.uploadedBy ?? "", files.messageBytesMax);
  const changes = createUnitOfWork(now, search);
  const draft = changes.track(row, workspace.settings, false);
  if (row.status === "open" || row.status === "escalated") claim(draft, reply.authorEmail, reply.actor);
  const refersTo = reply.refersTo === undefined ? null : await referenceTo(tx, row.id, reply.refersTo);
  const answered = await outboundReference(tx, row, refersTo);
  const authorName = await agentName(tx, workspace.id, reply.authorEmail, reply.authorName);
  const message = draft.addMessage({
    role: "agent",
    content: reply.content,
    authorId: reply.authorEmail,
    authorName,
    externalId: reply.clientId ?? null,
    refersTo,
    files: { fresh: [], uploaded: attached },
    parts: renderParts(
      channels,
      draft.row,
      withFiles(
        channels,
        files,
        draft.row,
        {
          role: "agent",
          authorName,
          markdown: reply.content,
          sources: [],
          ...(answered === undefined ? {} : { refersTo: answered }),
        },
        attached,
      ),
      now,
      // E-mail follow-up exists for website visitors only, and only to an address that they gave.
      isChat(draft.row.channel) && draft.row.customer_email !== null ? followUp : undefined,
    ),
  });
  await settleTask(tx, channels, draft);
  // The agent has answered all messages up to here.
  draft.row.settled_seq = draft.row.last_customer_seq;
  return { effects: await changes.flush(tx), messageId: message.id, seq: message.seq };
}

/** A new reply ends the task of the undelivered one. If it fails too, it becomes a new task. */
async function settleTask(tx: Tx, channels: Channels, draft: Draft): Promise<void> {
  if (windowOf(channels, draft.row, draft.now) === undefined || !(await hasTask(tx, draft.row.id))) return;
  draft.setTags([], [needsAction], systemActor("delivery"));
}

/**
 * Loads the adapters that a reply in this conversation needs. Must be called before the transaction, which renders the
 * reply and must not await. Returns the follow-up route for a visitor who has left the website.
 */
export async function readyToReply(
  { store, channels }: { readonly store: Store; readonly channels: Channels },
  conversationId: string,
): Promise<FollowUp | undefined> {
  const row = await store.read
    .selectFrom("conversations")
    .select(["workspace_id", "account_id", "via_account_id", "channel", "customer_email"])
    .where("id", "=", conversationId)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  await channels.ready({ id: row.account_id });
  if (row.via_account_id !== null) await readyIfLoaded(channels, row.via_account_id);
  return isChat(row.channel) && row.customer_email !== null ? channels.followUp(row.workspace_id) : undefined;
}

/** Refuses a reply whose author has not seen the newest messages. The API replies although a colleague is the owner. */
async function refuseStale(tx: Tx, row: ConversationRow, { authorEmail, basedOnSeq }: AgentReply): Promise<void> {
  const decision = await decide(tx, row, authorEmail, { overrideOwner: true, basedOnSeq });
  if (decision.kind !== "stale") return;
  throw new Problem("invalid_transition", "somebody has written since; read the newest messages before you reply");
}

async function storedReply(tx: Tx, { conversationId, clientId }: AgentReply) {
  if (clientId === undefined) return undefined;
  return tx
    .selectFrom("messages")
    .select(["id", "seq"])
    .where("conversation_id", "=", conversationId)
    .where("external_id", "=", clientId)
    .where("role", "=", "agent")
    .executeTakeFirst();
}
