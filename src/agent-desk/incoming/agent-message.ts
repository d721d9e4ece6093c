import type { DraftChoice } from "#channels/desk/contract.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import { postById, tagsOf, threadOf, writtenId } from "#database/queries/desk.ts";
import type { DeskPostsTable } from "#database/schema/desk.ts";
import { deskChannelOf } from "#domain/workspace/settings.ts";
import { agentActor } from "#conversations/agents/actions.ts";
import { createUnitOfWork } from "#conversations/transaction/unit-of-work.ts";
import type { Channels } from "#channels/channels.ts";
import type { Tx } from "#database/contract.ts";
import { storeAgentReply } from "#conversations/agents/store-reply.ts";
import { requireConversation } from "#conversations/transaction/lock-conversation.ts";
import { insertNote } from "#conversations/transaction/insert-note.ts";
import { decide } from "#conversations/agents/ownership.ts";
import { lastEdit, textMark } from "./pending-edits.ts";
import type { DeskEventResult, EventContext } from "./event-context.ts";
import type { Draft, SentPost } from "./message-posts.ts";
import {
  colleagueChoices,
  colleagueNotice,
  isNote,
  noteText,
  nothing,
  pendingEditIn,
  savePostOfMessage,
  staysNoteText,
  textMax,
  withoutSign,
} from "./message-posts.ts";
import { syncAlso } from "#conversations/work/desk-sync-work.ts";
import type { StoredDeskMessage } from "./event-work.ts";
import { insertWork } from "#database/queries/outbox.ts";

/** Stores a text that an agent wrote in a thread: as a reply, a note, or a draft until its author decides. */
export async function storeAgentMessage(
  tx: Tx,
  context: EventContext,
  conversationId: string,
  given: StoredDeskMessage,
): Promise<DeskEventResult> {
  const { accountId, workspace, prefetched } = context;
  const { messageId } = given;
  const before = await postById(tx, writtenId(accountId, messageId));
  if (before !== undefined && before.kind !== "parked") return nothing;
  // Applies edits that arrived before the text itself, or while it waited for its files.
  const edit = lastEdit([pendingEditIn(before), ...context.pendingEdits]);
  if (edit?.kind === "removed") {
    if (before === undefined) await savePostOfMessage(tx, context, { conversationId, messageId }, "parked", null, edit);
    return nothing;
  }
  const text = (edit?.text ?? given.text).trim();
  const revision = edit?.revision === undefined ? {} : { revision: edit.revision };
  const row = await requireConversation(tx, workspace.id, conversationId);
  const save: SavePost = (kind, refId, state) =>
    savePostOfMessage(tx, context, { conversationId: row.id, messageId }, kind, refId, { ...state, ...revision });
  const notices = [...prefetched.refusalTexts, ...(given.unsent ?? [])];
  const refused = async (reason: string): Promise<DeskEventResult> => {
    await save("refused", null);
    return { effects: null, notice: { text: [reason, ...notices].join(" ") } };
  };
  const thread = await threadOf(tx, row.id);
  const { desk } = workspace.settings;
  const channel = desk === null ? undefined : deskChannelOf(desk, await tagsOf(tx, row.id));
  if (thread?.external_id !== given.thread || thread.channel !== channel) {
    // After the desk moved to another channel, a conversation without news has no thread there yet.
    const work = await syncAlso(tx, row.id, [], context.now);
    if (work !== null) await insertWork(tx, [work], context.now);
    return refused("Nothing was sent: this conversation has a new thread by now, and goes on there.");
  }
  if (text === "" && prefetched.files.length === 0) {
    return given.files.length === 0 && notices.length === 0 ? nothing : refused("Nothing was sent.");
  }
  if (text.length > textMax) return refused(`Nothing was sent: a reply has at most ${textMax} characters.`);
  // A text that began as a note stays a note, even if an edit removed the prefix.
  if (isNote(text) || isNote(given.text)) {
    const files = given.files.map(({ name }) => ({ id: null, name }));
    const note: Draft = { text: withoutSign(text), files, by: given.by, signed: true };
    if (noteText(note) === "") return refused("Nothing was noted: the note is empty.");
    const notice = isNote(text) ? null : { text: staysNoteText };
    return storeDraft(tx, context, row, note, (noteId) => save("note", noteId, note), notice);
  }
  const held = await holdReply(tx, context, row, given, text, save, notices);
  if (held !== null) return held;
  if (row.status === "archived") {
    return refused("Nothing was sent: the conversation is archived. Reopen it to reply.");
  }
  const ids = prefetched.files.map(({ id }) => id);
  const attached = { ids, uploadedBy: context.agent.email };
  const sent = await reply(tx, context, row.id, messageId, text, attached);
  await save("message", sent.messageId, { said: textMark(text) });
  const all = [...notices, ...(await linkedNotice(tx, context.channels, row, ids))];
  return { effects: sent.effects, notice: all.length === 0 ? null : { text: all.join(" ") } };
}

type SavePost = (kind: DeskPostsTable["kind"], refId: string | null, state?: Draft | SentPost) => Promise<void>;

/** Stores a draft if a colleague owns the conversation, or if replies need a confirmation. Null: the reply can be sent. */
async function holdReply(
  tx: Tx,
  context: EventContext,
  row: ConversationRow,
  { messageId, by }: StoredDeskMessage,
  text: string,
  save: SavePost,
  notices: readonly string[],
): Promise<DeskEventResult | null> {
  const { workspace, agent, prefetched } = context;
  const decision = await decide(tx, row, agent.email);
  const colleague = decision.kind === "colleague" ? decision.email : null;
  const isExplicit = workspace.settings.desk?.replyMode === "explicit";
  if (colleague === null && !isExplicit) return null;
  const files = prefetched.files.map(({ id, name }) => ({ id, name }));
  const draft: Draft = { text, files, by, ...(colleague === null ? {} : { askedOf: colleague }) };
  const question =
    colleague === null
      ? "Kept as an internal note. Send it to the customer?"
      : await colleagueNotice(tx, row, colleague);
  const options: readonly DraftChoice[] = colleague === null ? ["send", "note"] : colleagueChoices;
  return storeDraft(tx, context, row, draft, (noteId) => save("draft", noteId, draft), {
    text: [question, ...notices].join(" "),
    choices: { conversationId: row.id, messageId, options },
  });
}

/** Notice for the author: the channel cannot carry these files, so the reply has links to them. */
export async function linkedNotice(
  tx: Tx,
  channels: Channels,
  row: ConversationRow,
  ids: readonly string[],
): Promise<readonly string[]> {
  if (ids.length === 0 || row.channel === "api") return [];
  const max = channels.adapter({ id: row.account_id }).capabilities.fileBytesMax ?? 0;
  const files = await tx.selectFrom("attachments").select(["name", "bytes"]).where("id", "in", ids).execute();
  const linked = files.filter(({ bytes }) => bytes === null || bytes > max).map(({ name }) => name);
  if (linked.length === 0) return [];
  const why = max === 0 ? `${row.channel} carries no files` : `${row.channel} carries no file of this size`;
  return [`The customer got an address that opens ${linked.join(", ")}, because ${why}.`];
}

export async function reply(
  tx: Tx,
  context: EventContext,
  conversationId: string,
  messageId: string,
  text: string,
  given: { readonly ids: readonly string[]; readonly uploadedBy: string; readonly refersTo?: string },
) {
  const { ids, uploadedBy, refersTo } = given;
  const { channels, search, files, workspace, accountId, agent, followUp, now } = context;
  return storeAgentReply(
    tx,
    channels,
    search,
    files,
    workspace,
    {
      workspaceId: workspace.id,
      conversationId,
      content: text,
      authorEmail: agent.email,
      authorName: agent.name,
      clientId: writtenId(accountId, messageId),
      actor: agentActor(agent),
      ...(ids.length === 0 ? {} : { files: ids, uploadedBy }),
      ...(refersTo === undefined ? {} : { refersTo }),
    },
    now,
    followUp,
  );
}

/** Stores a draft, shown to colleagues as a note. */
async function storeDraft(
  tx: Tx,
  { search, workspace, agent, now }: EventContext,
  row: ConversationRow,
  text: Draft,
  saved: (noteId: string) => Promise<void>,
  notice: DeskEventResult["notice"],
): Promise<DeskEventResult> {
  const changes = createUnitOfWork(now, search);
  const draft = changes.track(row, workspace.settings, false);
  const note = await insertNote(
    tx,
    draft,
    { content: noteText(text), authorEmail: agent.email },
    agentActor(agent),
    now,
  );
  await saved(note.id);
  return { effects: await changes.flush(tx), notice };
}
