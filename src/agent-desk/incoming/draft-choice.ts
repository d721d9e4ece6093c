import type { DeskEvent, DraftChoice } from "#channels/desk/contract.ts";
import { Problem } from "#domain/problem.ts";
import { applyAction } from "#conversations/agents/actions.ts";
import { requireConversation } from "#conversations/transaction/lock-conversation.ts";
import { syncAlso } from "#conversations/work/desk-sync-work.ts";
import type { Effects } from "#conversations/work/effects.ts";
import { nameInConversation } from "#database/queries/agents.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import { postById, savePost, writtenId } from "#database/queries/desk.ts";
import { insertWork } from "#database/queries/outbox.ts";
import type { DeskPostsTable } from "#database/schema/desk.ts";
import type { NotesTable } from "#database/schema/tables.ts";
import type { Tx } from "#database/contract.ts";
import { decide } from "#conversations/agents/ownership.ts";
import { linkedNotice, reply } from "./agent-message.ts";
import type { DeskEventResult, EventContext } from "./event-context.ts";
import { joined } from "./event-context.ts";
import { currentState, editSentMessage } from "./message-edits.ts";
import type { Draft, SentPost } from "./message-posts.ts";
import {
  changeIn,
  colleagueChoices,
  colleagueNotice,
  draftIn,
  noteSign,
  nothing,
  revisionIn,
} from "./message-posts.ts";
import { textMark } from "./pending-edits.ts";

type Chose = Extract<DeskEvent, { kind: "chose" }>;

/** A post that became a note, a draft or a reply. */
type ReferringPost = DeskPostsTable & { readonly ref_id: string };

/** Applies the author's choice for a draft. Repeating the choice has no effect. */
export async function applyDraftChoice(
  tx: Tx,
  context: EventContext,
  conversationId: string,
  given: Chose,
): Promise<DeskEventResult> {
  const { accountId, workspace, agent } = context;
  const { choice } = given;
  const stored = await postById(tx, writtenId(accountId, given.messageId));
  if (stored === undefined || stored.conversation_id !== conversationId || stored.ref_id === null) {
    return { effects: null, notice: { text: "This text is no longer stored. Write it again." } };
  }
  const post: ReferringPost = { ...stored, ref_id: stored.ref_id };
  if (post.kind === "message") return chooseForReply(tx, context, conversationId, post, choice);
  const note = await tx.selectFrom("notes").selectAll().where("id", "=", post.ref_id).executeTakeFirst();
  if (note === undefined) return { effects: null, notice: { text: "This text was deleted." } };
  const draft: Draft = draftIn(post) ?? { text: note.content, files: [] };
  if (draft.by === undefined ? note.author !== agent.email : draft.by !== given.by) {
    return { effects: null, notice: { text: "Only its author can send it." } };
  }
  if (choice === "note") {
    await savePost(tx, { ...post, kind: "note" });
    return nothing;
  }
  const row = await requireConversation(tx, workspace.id, conversationId);
  if (row.status === "archived") {
    throw new Problem("invalid_transition", "the conversation is archived; reopen it to reply");
  }
  const hasContent = draft.text !== "" || draft.files.some(({ id }) => id !== null);
  const decision = await decide(tx, row, agent.email, { overrideOwner: choice !== "send" });
  // The owner may have changed since the author was asked.
  if (hasContent && decision.kind === "colleague" && decision.email !== draft.askedOf) {
    await savePost(tx, { ...post, parked: JSON.stringify({ ...draft, askedOf: decision.email } satisfies Draft) });
    const choices = { conversationId, messageId: given.messageId, options: colleagueChoices };
    return { effects: null, notice: { text: await colleagueNotice(tx, row, decision.email), choices } };
  }
  return sendDraft(tx, context, row, {
    post,
    note,
    draft,
    messageId: given.messageId,
    takeOver: choice === "take_over",
  });
}

/** The choice for an edit of a reply that was sent, if one is kept. */
async function chooseForReply(
  tx: Tx,
  context: EventContext,
  conversationId: string,
  post: ReferringPost,
  choice: DraftChoice,
): Promise<DeskEventResult> {
  const content = changeIn(post);
  if (choice !== "send" || content === undefined) return sentAlready(tx, context, conversationId, choice);
  const sent: SentPost = { revision: revisionIn(post), said: textMark(content) };
  await savePost(tx, { ...post, parked: JSON.stringify(sent) });
  if ((await currentState(tx, post.ref_id)) === undefined) return nothing;
  return editSentMessage(tx, context, { messageId: post.ref_id, conversationId, content });
}

interface DraftToSend {
  readonly post: ReferringPost;
  readonly note: NotesTable;
  readonly draft: Draft;
  /** The text's id at the desk. */
  readonly messageId: string;
  readonly takeOver: boolean;
}

/** Turns a draft into a reply and deletes the note that showed it. */
async function sendDraft(
  tx: Tx,
  context: EventContext,
  row: ConversationRow,
  { post, note, draft, messageId: writtenAs, takeOver }: DraftToSend,
): Promise<DeskEventResult> {
  const { workspace, agent, channels, search, now } = context;
  const files = draft.files.flatMap(({ id }) => (id === null ? [] : [id]));
  const left = draft.files.flatMap(({ id, name }) => (id === null ? [name] : []));
  if (draft.text === "" && files.length === 0) {
    return { effects: null, notice: { text: `Nothing was sent: ${stayText(left)}` } };
  }
  const before: (Effects | null)[] = [];
  if (takeOver) {
    const action = { kind: "take_over" } as const;
    const { effects } = await applyAction(tx, { channels, search }, workspace, row.id, action, agent, undefined, now);
    before.push(effects);
  }
  await tx.deleteFrom("notes").where("id", "=", note.id).execute();
  const attached = { ids: files, uploadedBy: note.author };
  const { effects, messageId } = await reply(tx, context, row.id, writtenAs, draft.text, attached);
  const sent: SentPost = { revision: revisionIn(post), said: textMark(draft.text) };
  await savePost(tx, { ...post, kind: "message", ref_id: messageId, parked: JSON.stringify(sent) });
  // The reply's post may have been queued before the desk knew that the agent's own post shows the text.
  const items = [{ kind: "fate", id: messageId } as const, { kind: "changed", id: note.id } as const];
  const work = await syncAlso(tx, row.id, items, now);
  if (work !== null) await insertWork(tx, [work], now);
  const notices = [
    ...(await linkedNotice(tx, channels, row, files)),
    ...(left.length === 0 ? [] : [`The text was sent without its files: ${stayText(left)}`]),
  ];
  return {
    effects: joined([...before, effects]),
    notice: notices.length === 0 ? null : { text: notices.join(" ") },
  };
}

const stayText = (names: readonly string[]): string =>
  `files of a note stay at the desk (${names.join(", ")}). Attach them to a message without ${noteSign} to send them.`;

/** A choice for a draft that was sent already. A repeated click succeeds silently; another choice gets a notice. */
async function sentAlready(
  tx: Tx,
  { workspace, agent }: EventContext,
  conversationId: string,
  choice: DraftChoice,
): Promise<DeskEventResult> {
  if (choice === "note") return { effects: null, notice: { text: "It was sent already." } };
  const row = await requireConversation(tx, workspace.id, conversationId);
  const decision = await decide(tx, row, agent.email);
  if (choice !== "take_over" || decision.kind !== "colleague") return nothing;
  const name = await nameInConversation(tx, row, decision.email);
  const text = `It was sent already, and ${name} still has this conversation. To take it over, use the shortcut “Conversation” on a message of the thread.`;
  return { effects: null, notice: { text } };
}
