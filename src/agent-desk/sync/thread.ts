import { createHash } from "node:crypto";
import { ChannelGone, ThreadGone } from "#channels/desk/errors.ts";
import { DeliveryError } from "#channels/errors.ts";
import type { Desk, DeskContext } from "#channels/desk/contract.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import { setThread, tagsOf, threadOf } from "#database/queries/desk.ts";
import type { DeskThreadsTable } from "#database/schema/desk.ts";
import type { Channels } from "#channels/channels.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Files } from "#files/contract.ts";
import type { Log } from "#runtime/log.ts";
import type { Store, Tx } from "#database/contract.ts";
import { viewWindow } from "#conversations/delivery/reroute/reply-window.ts";
import { deskChannelOf, deskChannelsOf } from "#domain/workspace/settings.ts";
import type { Workspace, Workspaces } from "#database/queries/workspaces.ts";
import { withEditLimit } from "./edit-limit.ts";
import { startNewThread } from "#conversations/work/desk-erase-work.ts";
import type { OverwriteGuard } from "./overwrite-guard.ts";
import { deskConversations } from "./snapshot.ts";

// A conversation's thread at the desk begins with a card that shows its status.

export interface SyncDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly workspaces: Workspaces;
  readonly channels: Channels;
  readonly files: Pick<Files, "open">;
  readonly publicUrl: string;
}

/** Runs a write under the lease. Throws `LostLease` if another process has it. */
export type LeaseHeld = (work: (tx: Tx) => Promise<unknown>) => Promise<void>;

export interface DeskThread {
  readonly row: ConversationRow;
  readonly workspace: Workspace;
  readonly desk: Desk;
  readonly accountId: string;
  /** The channel for the thread. One that may be open already can be in another. */
  readonly channel: string;
  readonly thread: DeskThreadsTable;
}

/**
 * Returns the conversation's thread at the desk, or undefined if it has none any more. A thread in another account or
 * channel than it belongs to is replaced.
 */
export async function deskThreadOf(
  { store, clock, workspaces, channels }: SyncDependencies,
  conversationId: string,
  held: LeaseHeld,
): Promise<DeskThread | undefined> {
  const row = await store.read
    .selectFrom("conversations")
    .selectAll()
    .where("id", "=", conversationId)
    .executeTakeFirst();
  const workspace = row === undefined ? undefined : await workspaces.get(row.workspace_id);
  const settings = workspace?.settings.desk ?? null;
  if (row === undefined || workspace === undefined || settings === null) return undefined;
  const account = await channels.named(workspace.id, settings.account);
  if (account === undefined) return undefined;
  await channels.ready(account);
  const desk = channels.desk(account);
  if (desk === undefined) return undefined;
  const channel = deskChannelOf(settings, await tagsOf(store.read, conversationId));
  const isMoved = ({ account_id: accountId, channel: at, state }: DeskThreadsTable): boolean => {
    if (accountId === null || (accountId === account.id && at === channel)) return false;
    // A call that may have opened it is looked up where it was made.
    const mayBeOpen = state === "opening" && accountId === account.id && at !== null;
    return !mayBeOpen || !deskChannelsOf(settings).includes(at);
  };
  const before = await threadOf(store.read, conversationId);
  if (before !== undefined && isMoved(before)) {
    await held(async (tx) => {
      const now = await threadOf(tx, conversationId);
      if (now !== undefined && isMoved(now)) await startNewThread(tx, conversationId, clock.now());
    });
  }
  const thread = await threadOf(store.read, conversationId);
  return thread && { row, workspace, desk, accountId: account.id, channel, thread };
}

async function snapshotOf(
  { store, clock, publicUrl, channels, log }: SyncDependencies,
  { row, workspace }: DeskThread,
) {
  const fresh = await store.read.selectFrom("conversations").selectAll().where("id", "=", row.id).executeTakeFirst();
  const now = clock.now();
  const context = {
    db: store.read,
    publicUrl,
    settings: workspace.settings,
    now,
    window: (of: ConversationRow) => viewWindow({ read: store.read, channels, log, now }, of),
  };
  const [card] = await deskConversations(context, fresh === undefined ? [] : [fresh]);
  return card;
}

const hashOf = (card: object): string => createHash("sha256").update(JSON.stringify(card)).digest("hex");

/** Posts the card if there is none yet. Returns the platform's id of the thread. */
export async function beginThread(
  dependencies: SyncDependencies,
  place: DeskThread,
  held: LeaseHeld,
  signal: AbortSignal,
): Promise<string> {
  const { store } = dependencies;
  const { thread, desk, row, accountId, channel } = place;
  if (thread.state === "open" && thread.external_id !== null) return thread.external_id;
  const context = { key: `card.${row.id}.${thread.opened_at}`, signal };
  const begunIn = thread.state === "opening" ? thread.channel : null;
  const found = begunIn === null ? null : await cardIn(begunIn, place, context);
  if (found !== null) {
    await store.write((tx) => setThread(tx, row.id, { state: "open", external_id: found }));
    if (begunIn !== channel) throw new ThreadGone("the conversation belongs to another channel by now");
    return found;
  }
  await held((tx) => setThread(tx, row.id, { state: "opening", account_id: accountId, channel }));
  const card = await snapshotOf(dependencies, place);
  if (card === undefined) throw new Error("the conversation was deleted while its thread was begun");
  let opened: string;
  try {
    opened = await desk.open(channel, { ...card, thread: null }, context);
  } catch (error) {
    if (error instanceof DeliveryError && error.outcome === "not_sent") {
      await held((tx) => setThread(tx, row.id, { state: "new" }));
    }
    throw error;
  }
  const hash = hashOf({ ...card, thread: null });
  await store.write((tx) => setThread(tx, row.id, { state: "open", external_id: opened, card_hash: hash }));
  return opened;
}

/** The card that a call without a response may have posted in this channel; null: there is none, or none that can be used. */
async function cardIn(
  begunIn: string,
  { desk, channel, thread }: DeskThread,
  context: DeskContext,
): Promise<string | null> {
  try {
    return await desk.find({ channel: begunIn }, context, thread.opened_at);
  } catch (error) {
    // The conversation belongs elsewhere, and must not wait until an administrator invites the app again.
    if (error instanceof ChannelGone && begunIn !== channel) return null;
    throw error;
  }
}

/** Updates the card if anything on it has changed. */
export async function updateCard(
  dependencies: SyncDependencies,
  place: DeskThread,
  threadId: string,
  changes: OverwriteGuard,
  signal: AbortSignal,
): Promise<void> {
  const card = await snapshotOf(dependencies, place);
  if (card === undefined) return;
  const shown = { ...card, thread: null };
  const face = hashOf(shown);
  const now = await threadOf(dependencies.store.read, place.row.id);
  if (now === undefined) return;
  const { card_hash: before } = now;
  if (before === face) return;
  await changes.begin(null);
  // Repeating the update is harmless.
  await withEditLimit(
    () => place.desk.update(threadId, shown, { key: `card.${place.row.id}`, signal }),
    (error) => dependencies.log.warn({ err: error, conversation: place.row.id }, "desk: card refused"),
  );
  await dependencies.store.write((tx) => setThread(tx, place.row.id, { card_hash: face }));
}
