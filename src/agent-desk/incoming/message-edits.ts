import { requestEdit } from "#conversations/delivery/edit-sent.ts";
import { createUnitOfWork } from "#conversations/transaction/unit-of-work.ts";
import { requireConversation } from "#conversations/transaction/lock-conversation.ts";
import { postById, savePost, writtenId } from "#database/queries/desk.ts";
import type { DeskPostsTable } from "#database/schema/desk.ts";
import type { Tx } from "#database/contract.ts";
import type { DeskEventResult, EventContext } from "./event-context.ts";
import type { RevisedPost, SentPost } from "./message-posts.ts";
import {
  draftIn,
  isNote,
  noteText,
  nothing,
  pendingEditIn,
  revisionIn,
  savePostOfMessage,
  staysNoteText,
  textMax,
  withoutSign,
} from "./message-posts.ts";
import type { EditEvent } from "./pending-edits.ts";
import { editOf, lastEdit, textMark } from "./pending-edits.ts";

/** Applies an edit or a deletion at the desk to the reply, note or draft that the text became. */
export async function editAgentMessage(
  tx: Tx,
  context: Pick<EventContext, "accountId" | "workspace" | "channels" | "search" | "now">,
  conversationId: string,
  given: EditEvent,
): Promise<DeskEventResult> {
  const { accountId, workspace } = context;
  const id = writtenId(accountId, given.messageId);
  const post = await postById(tx, id);
  const change = editOf(given);
  const content = change.text;
  if (post === undefined || post.kind === "parked") {
    // The edit arrived before the text.
    const last = lastEdit([pendingEditIn(post), change]);
    if (last === change) {
      await savePostOfMessage(tx, context, { conversationId, messageId: given.messageId }, "parked", null, change);
    }
    return nothing;
  }
  // A redelivery can arrive after a newer edit.
  if (given.kind === "edited" && given.revision <= revisionIn(post)) return nothing;
  const revision = given.kind === "edited" ? given.revision : revisionIn(post);
  if (post.kind === "refused" && given.kind === "edited") {
    return {
      effects: null,
      notice: { text: "This text was not sent, and an edit does not send it. Write it again." },
    };
  }
  if (post.ref_id === null) return nothing;
  if (post.kind === "note" || post.kind === "draft") {
    return editNote(tx, context, conversationId, { ...post, ref_id: post.ref_id }, content, revision);
  }
  const said = textMark(content);
  const keepSent = (sent: SentPost): Promise<void> => savePost(tx, { ...post, parked: JSON.stringify(sent) });
  await keepSent({ revision, said });
  const message = await currentState(tx, post.ref_id);
  if (message === undefined || message.content === content) return nothing;
  if (content !== null && isNote(content)) {
    const text = `Nothing was changed: a reply that was sent is no note any more, and the customer sees it as it was. Delete your message to take it back.`;
    return { effects: null, notice: { text } };
  }
  if (content === "" || (content !== null && content.length > textMax)) {
    return { effects: null, notice: { text: `Nothing was changed: a reply has 1 to ${textMax} characters.` } };
  }
  if (content !== null && workspace.settings.desk?.replyMode === "explicit") {
    await keepSent({ revision, said, change: content });
    const choices = { conversationId, messageId: given.messageId, options: ["send"] as const };
    return {
      effects: null,
      notice: { text: "The customer sees your reply as it was. Send them the change?", choices },
    };
  }
  return editSentMessage(tx, context, { messageId: post.ref_id, conversationId, content });
}

/** Returns the message's text, or undefined if it was deleted. */
export const currentState = (tx: Tx, id: string) =>
  tx.selectFrom("messages").select("content").where("id", "=", id).where("deleted_at", "is", null).executeTakeFirst();

export async function editSentMessage(
  tx: Tx,
  { channels, search, now }: Pick<EventContext, "channels" | "search" | "now">,
  amendment: Parameters<typeof requestEdit>[3],
): Promise<DeskEventResult> {
  const { refusal, effects } = await requestEdit(tx, channels, search, amendment, now);
  return { effects, notice: refusal === null ? null : { text: refusal } };
}

/** Marks a deletion: no edit is newer. */
const takenBack: RevisedPost = { revision: Number.MAX_SAFE_INTEGER };

async function editNote(
  tx: Tx,
  { search, workspace, now }: Pick<EventContext, "search" | "workspace" | "now">,
  conversationId: string,
  post: DeskPostsTable & { readonly ref_id: string },
  content: string | null,
  revision: number,
): Promise<DeskEventResult> {
  const { ref_id: noteId } = post;
  const before = draftIn(post);
  const draft = content === null ? null : { files: [], ...before, text: withoutSign(content), revision };
  const text = draft === null ? null : noteText(draft);
  const changes = createUnitOfWork(now, search);
  const conversation = changes.track(
    await requireConversation(tx, workspace.id, conversationId),
    workspace.settings,
    false,
  );
  if (text === null || text === "") await tx.deleteFrom("notes").where("id", "=", noteId).execute();
  else await tx.updateTable("notes").set({ content: text }).where("id", "=", noteId).execute();
  await savePost(tx, { ...post, parked: JSON.stringify(draft ?? takenBack) });
  conversation.syncDesk({ kind: "changed", id: noteId });
  const unsigned = post.kind === "note" && before?.signed === true && content !== null && !isNote(content);
  return { effects: await changes.flush(tx), notice: unsigned ? { text: staysNoteText } : null };
}
