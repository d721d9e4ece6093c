import type { DraftChoice } from "#channels/desk/contract.ts";
import { nameInConversation } from "#database/queries/agents.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import { savePost, writtenId } from "#database/queries/desk.ts";
import type { DeskPostsTable } from "#database/schema/desk.ts";
import type { Tx } from "#database/contract.ts";
import type { DeskEventResult, EventContext } from "./event-context.ts";
import type { PendingEdit } from "./pending-edits.ts";

// A text that an agent wrote at the desk is stored as a post with the state of the reply, note or draft that it became.

/** Prefix of a note to colleagues. */
export const noteSign = "//";

export const textMax = 10_000;

export const nothing: DeskEventResult = { effects: null, notice: null };

/** The revision of the text that was applied. A missing revision is older than any other. */
export interface RevisedPost {
  readonly revision?: number;
}

/** A post that was sent to the customer. */
export interface SentPost extends RevisedPost {
  /** Hash of the text at the desk, see {@link saidMark}. Older versions did not store it. */
  readonly said?: string;
  /** An edit by its author that is not sent yet. */
  readonly change?: string;
}

/** A draft or a note. A file without an id is not stored and exists at the desk only. */
export interface Draft extends RevisedPost {
  readonly text: string;
  readonly files: readonly { readonly id: string | null; readonly name: string }[];
  /** The author used the prefix of a note. */
  readonly signed?: boolean;
  /** The author's id on the platform, which does not change with their e-mail address. */
  readonly by?: string;
  /** The owner of the conversation when the author was asked what to do. */
  readonly askedOf?: string;
}

export const staysNoteText =
  "This stays an internal note. To send it, use the shortcut on your message, or write it again without //.";

export const colleagueChoices: readonly DraftChoice[] = ["send", "take_over", "note"];

export const colleagueNotice = async (tx: Tx, row: ConversationRow, owner: string): Promise<string> =>
  `${await nameInConversation(tx, row, owner)} has this conversation, so this was kept as an internal note and not sent.`;

export const isNote = (text: string): boolean => text.trimStart().startsWith(noteSign);

export const withoutSign = (text: string): string =>
  isNote(text) ? text.trimStart().slice(noteSign.length).trim() : text;

/** The note's text in the inbox. */
export const noteText = ({ text, files }: Draft): string =>
  [text, ...files.map(({ name }) => `📎 ${name}`)].filter((line) => line !== "").join("\n");

export const pendingEditIn = (post: DeskPostsTable | undefined): PendingEdit | undefined =>
  post?.kind === "parked" && post.parked !== null ? (JSON.parse(post.parked) as PendingEdit) : undefined;

export interface MessageRef {
  readonly conversationId: string;
  readonly messageId: string;
}

export const savePostOfMessage = (
  tx: Tx,
  { accountId, now }: Pick<EventContext, "accountId" | "now">,
  { conversationId, messageId }: MessageRef,
  kind: DeskPostsTable["kind"],
  refId: string | null,
  parked: Draft | SentPost | PendingEdit,
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
export const draftIn = ({ parked }: DeskPostsTable): Draft | undefined =>
  parked === null ? undefined : (JSON.parse(parked) as Draft);

export const changeIn = ({ parked }: DeskPostsTable): string | undefined =>
  parked === null ? undefined : (JSON.parse(parked) as SentPost).change;

export const revisionIn = ({ parked }: DeskPostsTable): number =>
  parked === null ? 0 : ((JSON.parse(parked) as RevisedPost).revision ?? 0);
