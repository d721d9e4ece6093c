import type { DeskEvent, DraftChoice } from "#channels/desk/contract.ts";
import { Problem } from "#domain/problem.ts";
import { nameInConversation } from "#database/queries/agents.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import { postById, savePost, threadOf, writtenId } from "#database/queries/desk.ts";
import type { DeskPostsTable } from "#database/schema/desk.ts";
import { applyAction, agentActor, holderOf } from "#conversations/agents/actions.ts";
import { requestEdit } from "#conversations/delivery/edit-sent.ts";
import type { Effects } from "#conversations/transaction/effects.ts";
import { createUnitOfWork } from "#conversations/transaction/unit-of-work.ts";
import type { Channels } from "#channels/channels.ts";
import type { Tx } from "#database/contract.ts";
import { replyAsAgent } from "#conversations/agents/replies.ts";
import { insertNote, requireConversation } from "#conversations/agents/update.ts";
import type { EditEvent, PendingEdit } from "./pending-edits.ts";
import { editOf, lastEdit, saidMark } from "./pending-edits.ts";
import type { EventContext, DeskEventResult } from "./event-context.ts";
import { syncAlso } from "#conversations/transaction/desk-sync-work.ts";
import type { StoredDeskMessage } from "#agent-desk/desk-service.ts";
import { insertWork } from "#database/queries/outbox.ts";

type Chose = Extract<DeskEvent, { kind: "chose" }>;

/** Prefix of a note to colleagues. */
const noteSign = "//";
const textMax = 10_000;

const nothing: DeskEventResult = { effects: null, notice: null };

/** Stores a text that an agent wrote in a thread: as a reply, a note, or a draft until its author decides. */
export async function storeAgentMessage(
  tx: Tx,
  context: EventContext,
  conversationId: string,
  given: StoredDeskMessage,
): Promise<DeskEventResult> {
  const { accountId, workspace, agent } = context;
  const id = writtenId(accountId, given.messageId);
  const before = await postById(tx, id);
  if (before !== undefined && before.kind !== "parked") return nothing;
  // Applies edits that arrived before the text itself, or while it waited for its files.
  const parked = lastEdit([pendingEditIn(before), ...context.pendingEdits]);
  if (parked?.kind === "removed") {
    if (before === undefined)
      await savePostOfMessage(tx, context, { conversationId, messageId: given.messageId }, "parked", null, parked);
    return nothing;
  }
  const text = (parked?.text ?? given.text).trim();
  const revision = parked?.revision === undefined ? {} : { revision: parked.revision };
  const row = await requireConversation(tx, workspace.id, conversationId);
  const post = (kind: DeskPostsTable["kind"], refId: string | null, kept?: HeldDraft | SentPost): Promise<void> =>
    savePostOfMessage(tx, context, { conversationId: row.id, messageId: given.messageId }, kind, refId, {
      ...kept,
      ...revision,
    });
  const { prefetched } = context;
  const told = [...prefetched.refusals, ...(given.unsent ?? [])];
  const refused = async (reason: string): Promise<DeskEventResult> => {
    await post("refused", null);
    return { effects: null, notice: { text: [reason, ...told].join(" ") } };
  };
  const thread = await threadOf(tx, row.id);
  if (thread?.external_id !== given.thread || thread.channel !== workspace.settings.desk?.channel) {
    // After the desk moved to another channel, a conversation without news has no thread there yet.
    const work = await syncAlso(tx, row.id, [], context.now);
    if (work !== null) await insertWork(tx, [work], context.now);
    return refused("Nothing was sent: this conversation has a new thread by now, and goes on there.");
  }
  if (text === "" && prefetched.files.length === 0) {
    return given.files.length === 0 && told.length === 0 ? nothing : refused("Nothing was sent.");
  }
  if (text.length > textMax) return refused(`Nothing was sent: a reply has at most ${textMax} characters.`);
  // A text that began as a note stays a note, even if an edit removed the prefix.
  if (isNote(text) || isNote(given.text)) {
    const files = given.files.map(({ name }) => ({ id: null, name }));
    const kept: HeldDraft = { text: withoutSign(text), files, by: given.by, signed: true };
    if (noteText(kept) === "") return refused("Nothing was noted: the note is empty.");
    const notice = isNote(text) ? null : { text: staysNoteText };
    return holdDraft(tx, context, row, kept, (noteId) => post("note", noteId, kept), notice);
  }
  const holder = holderOf(row);
  const isOthers = holder !== null && holder !== agent.email;
  const choices = { conversationId: row.id, messageId: given.messageId };
  const files = prefetched.files.map(({ id: file, name }) => ({ id: file, name }));
  const draft: HeldDraft = { text, files, by: given.by, ...(isOthers ? { askedOf: holder } : {}) };
  if (isOthers) {
    return holdDraft(tx, context, row, draft, (noteId) => post("draft", noteId, draft), {
      text: [await heldText(tx, row, holder), ...told].join(" "),
      choices: { ...choices, options: heldOptions },
    });
  }
  if (workspace.settings.desk?.replyMode === "explicit") {
    return holdDraft(tx, context, row, draft, (noteId) => post("draft", noteId, draft), {
      text: ["Kept as an internal note. Send it to the customer?", ...told].join(" "),
      choices: { ...choices, options: ["send", "note"] },
    });
  }
  if (row.status === "archived") {
    return refused("Nothing was sent: the conversation is archived. Reopen it to reply.");
  }
  const ids = files.map(({ id: file }) => file);
  const attached = { ids, uploadedBy: agent.email };
  const { effects, messageId } = await reply(tx, context, row.id, given.messageId, text, attached);
  await post("message", messageId, { said: saidMark(text) });
  const notices = [...told, ...(await linkedNotice(tx, context.channels, row, ids))];
  return { effects, notice: notices.length === 0 ? null : { text: notices.join(" ") } };
}

/** The revision of the text that was applied. A missing revision is older than any other. */
interface RevisedPost {
  readonly revision?: number;
}

/** A post that was sent to the customer. */
interface SentPost extends RevisedPost {
  /** Hash of the text at the desk, see {@link saidMark}. Older versions did not store it. */
  readonly said?: string;
  /** An edit by its author that is not sent yet. */
  readonly change?: string;
}

/** A draft or a note. A file without an id is not stored and exists at the desk only. */
interface HeldDraft extends RevisedPost {
  readonly text: string;
  readonly files: readonly { readonly id: string | null; readonly name: string }[];
  /** Whether the author used the prefix of a note. */
  readonly signed?: boolean;
  /** The author's id on the platform, which does not change with their e-mail address. */
  readonly by?: string;
  /** The owner of the conversation when the author was asked what to do. */
  readonly askedOf?: string;
}

const staysNoteText =
  "This stays an internal note. To send it, use the shortcut on your message, or write it again without //.";

const heldOptions: readonly DraftChoice[] = ["send", "take_over", "note"];

const heldText = async (tx: Tx, row: ConversationRow, holder: string): Promise<string> =>
  `${await nameInConversation(tx, row, holder)} has this conversation, so this was kept as an internal note and not sent.`;

export const isNote = (text: string): boolean => text.trimStart().startsWith(noteSign);

const withoutSign = (text: string): string => (isNote(text) ? text.trimStart().slice(noteSign.length).trim() : text);

/** The note's text in the inbox. */
const noteText = ({ text, files }: HeldDraft): string =>
  [text, ...files.map(({ name }) => `📎 ${name}`)].filter((line) => line !== "").join("\n");

/** Notice for the author: the channel cannot carry these files, so the reply has links to them. */
async function linkedNotice(
  tx: Tx,
  channels: Channels,
  row: ConversationRow,
  ids: readonly string[],
): Promise<readonly string[]> {
  if (ids.length === 0 || row.channel === "api") return [];
  const max = channels.fileBytesMax({ id: row.account_id });
  const files = await tx.selectFrom("attachments").select(["name", "bytes"]).where("id", "in", ids).execute();
  const linked = files.filter(({ bytes }) => bytes === null || bytes > max).map(({ name }) => name);
  if (linked.length === 0) return [];
  const why = max === 0 ? `${row.channel} carries no files` : `${row.channel} carries no file of this size`;
  return [`The customer got an address that opens ${linked.join(", ")}, because ${why}.`];
}

async function reply(
  tx: Tx,
  context: EventContext,
  conversationId: string,
  messageId: string,
  text: string,
  { ids, uploadedBy }: { readonly ids: readonly string[]; readonly uploadedBy: string },
) {
  const { channels, search, files, workspace, accountId, agent, followUp, now } = context;
  return replyAsAgent(
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
    },
    now,
    followUp,
  );
}

/** Stores a draft, shown to colleagues as a note. */
async function holdDraft(
  tx: Tx,
  { search, workspace, agent, now }: EventContext,
  row: ConversationRow,
  kept: HeldDraft,
  saved: (noteId: string) => Promise<void>,
  notice: DeskEventResult["notice"],
): Promise<DeskEventResult> {
  const changes = createUnitOfWork(now, search);
  const draft = changes.track(row, workspace.settings, false);
  const note = await insertNote(
    tx,
    draft,
    { content: noteText(kept), authorEmail: agent.email },
    agentActor(agent),
    now,
  );
  await saved(note.id);
  return { effects: await changes.flush(tx), notice };
}

const pendingEditIn = (post: DeskPostsTable | undefined): PendingEdit | undefined =>
  post?.kind === "parked" && post.parked !== null ? (JSON.parse(post.parked) as PendingEdit) : undefined;

interface MessagePlace {
  readonly conversationId: string;
  readonly messageId: string;
}

const savePostOfMessage = (
  tx: Tx,
  { accountId, now }: Pick<EventContext, "accountId" | "now">,
  { conversationId, messageId }: MessagePlace,
  kind: DeskPostsTable["kind"],
  refId: string | null,
  parked: HeldDraft | SentPost | PendingEdit,
): Promise<void> =>
  savePost(tx, {
    id: writtenId(accountId, messageId),
    conversation_id: conversationId,
    account_id: accountId,
    direction: "in",
    kind,
    ref_id: refId,
    part: 0,
    state: "posted",
    external_id: messageId,
    parked: JSON.stringify(parked),
    mark: null,
    created_at: now,
  });

/** Undefined for drafts of older versions, whose text is the note itself. */
const heldDraftIn = ({ parked }: DeskPostsTable): HeldDraft | undefined =>
  parked === null ? undefined : (JSON.parse(parked) as HeldDraft);

const changeIn = ({ parked }: DeskPostsTable): string | undefined =>
  parked === null ? undefined : (JSON.parse(parked) as SentPost).change;

const revisionIn = ({ parked }: DeskPostsTable): number =>
  parked === null ? 0 : ((JSON.parse(parked) as RevisedPost).revision ?? 0);

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
      notice: { text: "This text was not sent, and a change does not send it: write it again." },
    };
  }
  if (post.ref_id === null) return nothing;
  if (post.kind === "note" || post.kind === "draft") {
    return editNote(tx, context, conversationId, { ...post, ref_id: post.ref_id }, content, revision);
  }
  const said = saidMark(content);
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
const currentState = (tx: Tx, id: string) =>
  tx.selectFrom("messages").select("content").where("id", "=", id).where("deleted_at", "is", null).executeTakeFirst();

async function editSentMessage(
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
  const before = heldDraftIn(post);
  const kept = content === null ? null : { files: [], ...before, text: withoutSign(content), revision };
  const text = kept === null ? null : noteText(kept);
  const changes = createUnitOfWork(now, search);
  const draft = changes.track(await requireConversation(tx, workspace.id, conversationId), workspace.settings, false);
  if (text === null || text === "") await tx.deleteFrom("notes").where("id", "=", noteId).execute();
  else await tx.updateTable("notes").set({ content: text }).where("id", "=", noteId).execute();
  await savePost(tx, { ...post, parked: JSON.stringify(kept ?? takenBack) });
  draft.syncDesk({ kind: "changed", id: noteId });
  const unsigned = post.kind === "note" && before?.signed === true && content !== null && !isNote(content);
  return { effects: await changes.flush(tx), notice: unsigned ? { text: staysNoteText } : null };
}

/** Applies the author's choice for a draft. Repeating the choice has no effect. */
export async function applyDraftChoice(
  tx: Tx,
  context: EventContext,
  conversationId: string,
  given: Chose,
): Promise<DeskEventResult> {
  const { accountId, workspace, agent, channels, search, now } = context;
  const post = await postById(tx, writtenId(accountId, given.messageId));
  const choice: DraftChoice = given.choice;
  if (post === undefined || post.conversation_id !== conversationId || post.ref_id === null) {
    return { effects: null, notice: { text: "This text is not known here any more: write it again." } };
  }
  if (post.kind === "message") {
    const content = changeIn(post);
    if (choice !== "send" || content === undefined) return sentAlready(tx, context, conversationId, choice);
    const sent: SentPost = { revision: revisionIn(post), said: saidMark(content) };
    await savePost(tx, { ...post, parked: JSON.stringify(sent) });
    const isThere = (await currentState(tx, post.ref_id)) !== undefined;
    return isThere ? editSentMessage(tx, context, { messageId: post.ref_id, conversationId, content }) : nothing;
  }
  const note = await tx.selectFrom("notes").selectAll().where("id", "=", post.ref_id).executeTakeFirst();
  if (note === undefined) return { effects: null, notice: { text: "This text was taken back." } };
  const kept: HeldDraft = heldDraftIn(post) ?? { text: note.content, files: [] };
  if (kept.by === undefined ? note.author !== agent.email : kept.by !== given.by) {
    return { effects: null, notice: { text: "Only who wrote it can send it." } };
  }
  if (choice === "note") {
    await savePost(tx, { ...post, kind: "note" });
    return nothing;
  }
  const row = await requireConversation(tx, workspace.id, conversationId);
  if (row.status === "archived") {
    throw new Problem("invalid_transition", "the conversation is archived; reopen it to reply");
  }
  const files = kept.files.flatMap(({ id }) => (id === null ? [] : [id]));
  const left = kept.files.flatMap(({ id, name }) => (id === null ? [name] : []));
  if (kept.text === "" && files.length === 0) {
    return { effects: null, notice: { text: `Nothing was sent: ${stayText(left)}` } };
  }
  const holder = holderOf(row);
  // The owner may have changed since the author was asked.
  if (choice === "send" && holder !== null && holder !== agent.email && holder !== kept.askedOf) {
    await savePost(tx, { ...post, parked: JSON.stringify({ ...kept, askedOf: holder } satisfies HeldDraft) });
    const { messageId } = given;
    const choices = { conversationId, messageId, options: heldOptions };
    return { effects: null, notice: { text: await heldText(tx, row, holder), choices } };
  }
  const before: (Effects | null)[] = [];
  if (choice === "take_over") {
    const { effects } = await applyAction(
      tx,
      { channels, search },
      workspace,
      conversationId,
      { kind: "take_over" },
      agent,
      undefined,
      now,
    );
    before.push(effects);
  }
  // The draft becomes a reply, so its note is deleted.
  await tx.deleteFrom("notes").where("id", "=", note.id).execute();
  const attached = { ids: files, uploadedBy: note.author };
  const { effects, messageId } = await reply(tx, context, conversationId, given.messageId, kept.text, attached);
  await savePost(tx, {
    ...post,
    kind: "message",
    ref_id: messageId,
    parked: JSON.stringify({ revision: revisionIn(post), said: saidMark(kept.text) } satisfies SentPost),
  });
  // The reply's post may have been queued before the desk knew that its text is there already.
  const items = [{ kind: "fate", id: messageId } as const, { kind: "changed", id: note.id } as const];
  const work = await syncAlso(tx, conversationId, items, now);
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

/** A choice for a draft that is sent already. A repeated click succeeds silently; the author of another choice is told. */
async function sentAlready(
  tx: Tx,
  { workspace, agent }: EventContext,
  conversationId: string,
  choice: DraftChoice,
): Promise<DeskEventResult> {
  if (choice === "note") return { effects: null, notice: { text: "It was sent already." } };
  const row = await requireConversation(tx, workspace.id, conversationId);
  const holder = holderOf(row);
  if (choice !== "take_over" || holder === null || holder === agent.email) return nothing;
  const name = await nameInConversation(tx, row, holder);
  const text = `It was sent already, and ${name} still has this conversation. To take it over, use the shortcut “Conversation” on a message of the thread.`;
  return { effects: null, notice: { text } };
}

export function joined(all: readonly (Effects | null)[]): Effects {
  const some = all.filter((effects) => effects !== null);
  return {
    wake: some.flatMap(({ wake }) => wake),
    threads: some.flatMap(({ threads }) => threads),
    workspaces: some.flatMap(({ workspaces }) => workspaces),
  };
}
