import type { Agent, DeskEventResult, EventContext } from "./event-context.ts";
import { joined } from "./event-context.ts";
import type { Desk, DeskEvent, DeskNotice, DeskPerson, SnoozeEnd } from "#channels/desk/contract.ts";
import { DeliveryError } from "#channels/errors.ts";
import { Problem } from "#domain/problem.ts";
import { awaitTurn } from "#database/queries/conversations.ts";
import { Type } from "typebox";
import type { PayloadOf, Work, WorkDeclaration } from "#database/work.ts";
import { declareWork, eachRow, workKind } from "#database/work.ts";
import { finishWork, insertWork } from "#database/queries/outbox.ts";
import type { Effects } from "#conversations/work/effects.ts";
import type { Snooze } from "#conversations/agents/requests.ts";
import type { Action } from "#conversations/agents/actions.ts";
import { applyAction, agentActor } from "#conversations/agents/actions.ts";
import { conflictText } from "#conversations/agents/ownership.ts";
import { createUnitOfWork } from "#conversations/transaction/unit-of-work.ts";
import type { FindLocalWorker } from "#conversations/transaction/local-worker.ts";
import { claimForAgent } from "#conversations/transaction/local-worker.ts";
import { sendLane } from "#queue/lanes.ts";
import type { Channels, FollowUp } from "#channels/channels.ts";
import type { Clock } from "#runtime/clock.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Files } from "#files/contract.ts";
import type { Log } from "#runtime/log.ts";
import type { Reader, Store, Tx } from "#database/contract.ts";
import { readyToReply } from "#conversations/agents/store-reply.ts";
import { requireConversation } from "#conversations/transaction/lock-conversation.ts";
import { insertNote } from "#conversations/transaction/insert-note.ts";
import type { Workspaces } from "#database/queries/workspaces.ts";
import { hoursFrom, tomorrowMorning } from "./snooze-times.ts";
import { later } from "#agent-desk/sync/sync.ts";
import type { DeskEventPayload, StoredDeskEvent } from "./event-work.ts";
import { deskEventKind } from "./event-work.ts";
import type { PrefetchedFiles } from "./agent-files.ts";
import { prefetchMessageFiles, noPrefetchedFiles } from "./agent-files.ts";
import { applyAgentReaction } from "./agent-reaction.ts";
import { storeAgentMessage } from "./agent-message.ts";
import { applyDraftChoice } from "./draft-choice.ts";
import { editAgentMessage } from "./message-edits.ts";
import { isNote } from "./message-posts.ts";
import { replyToMessage } from "./reply-to-message.ts";
import { conversationAt } from "./conversation-of-thread.ts";
import { pendingEditsOf } from "./pending-edits.ts";

export interface DeskEventDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly workspaces: Workspaces;
  readonly channels: Channels;
  readonly search: ConversationSearch;
  readonly files: Files;
  readonly localWorker: FindLocalWorker;
  readonly publishEffects: (effects: Effects | null) => void;
}

/** The result of an event, for the agent who caused it. */
const noticeKind = workKind(
  "desk-notice",
  Type.Object({
    accountId: Type.String(),
    by: Type.String(),
    place: Type.String(),
    notice: Type.Unsafe<DeskNotice>(Type.Object({ text: Type.String() })),
  }),
);

export function declareDeskEvents(dependencies: DeskEventDependencies): readonly WorkDeclaration[] {
  return [
    declareWork(deskEventKind, {
      attemptsMax: Number.POSITIVE_INFINITY,
      lanesMax: 16,
      run: eachRow((row, signal) => deskEvent(dependencies, row, signal)),
    }),
    declareWork(noticeKind, {
      attemptsMax: 8,
      lanesMax: 4,
      run: eachRow((row, signal) => deskNotice(dependencies, row, signal)),
    }),
  ];
}

/**
 * Applies an event of the desk. The change and the notice to the agent are stored in one transaction, so that neither is
 * repeated.
 */
async function deskEvent(
  dependencies: DeskEventDependencies,
  row: Work<DeskEventPayload>,
  signal: AbortSignal,
): Promise<void> {
  const { store, clock, log, workspaces, channels, search, files, localWorker, publishEffects } = dependencies;
  const { accountId, workspaceId, event } = row.payload;
  const found = await deskOf(dependencies, accountId);
  const workspace = await workspaces.get(workspaceId);
  const conversationId =
    "conversationId" in event ? event.conversationId : await conversationAt(store.read, accountId, event.thread);
  if (found === undefined || workspace === undefined || conversationId === undefined) {
    await store.write((tx) => finishWork(tx, [row]));
    return;
  }
  const followUp = await readyFor(dependencies, conversationId);
  let apply: (tx: Tx, now: number) => Promise<DeskEventResult>;
  let effects: Effects | null;
  try {
    if (event.kind === "removed") {
      // Anybody may delete a post, for example for a colleague who has left: a deleted text must not be sent.
      apply = (tx, now) => editAgentMessage(tx, { channels, search, workspace, accountId, now }, conversationId, event);
    } else {
      const agent = await writerOf(store.read, workspaceId, await personOf(found, event.by, signal));
      if (agent.kind === "stranger") {
        log.warn({ account: accountId, reason: agent.reason }, "desk: event of a person who is no agent skipped");
        const notice = { text: `Nothing was done: ${agent.reason}.${unsentText(event)}` };
        publishEffects(await store.write((tx) => finish(tx, { effects: null, notice })));
        return;
      }
      const place = { workspaceId, conversationId, deskAccountId: accountId };
      const prefetched = await prefetchEventFiles(dependencies, place, agent, row, signal);
      apply = async (tx, now) => {
        const pendingEdits = event.kind === "wrote" ? await pendingEditsOf(tx, row, event.messageId) : [];
        const context = {
          channels,
          search,
          files,
          workspace,
          accountId,
          agent,
          followUp,
          prefetched,
          pendingEdits,
          now,
        };
        return run(tx, context, conversationId, event);
      };
    }
    effects = await store.write(async (tx) => {
      await awaitTurn(tx, conversationId);
      const now = clock.now();
      const done = await finish(tx, await apply(tx, now));
      return claimForAgent(tx, localWorker(), done, sendLane(conversationId), now);
    });
  } catch (error) {
    // A retry cannot restore a removed account.
    const refused = error instanceof DeliveryError && error.outcome === "rejected";
    if (!(error instanceof Problem) && !refused) throw error;
    const notice = { text: `Nothing was done: ${error.message}.${unsentText(event)}` };
    effects = await store.write((tx) => finish(tx, { effects: null, notice }));
  }
  publishEffects(effects);

  async function finish(tx: Tx, { effects: done, notice }: DeskEventResult): Promise<Effects | null> {
    await finishWork(tx, [row]);
    if (notice === null) return done;
    const now = clock.now();
    const payload = { accountId, by: event.by, place: event.place, notice };
    // A lane of its own: a notice that fails must not block events.
    const lane = `desk-notice:${row.id}`;
    await insertWork(tx, [noticeKind.queued(lane, payload, now)], now);
    return {
      threads: [],
      workspaces: [],
      ...done,
      wake: [...(done?.wake ?? []), { lane, dueAt: now }],
    };
  }
}

/** The text of a dialog that is closed by now. */
const unsentText = (event: StoredDeskEvent): string =>
  event.kind === "asked" && event.ask.kind === "reply" ? ` Your text was:\n${event.ask.text}` : "";

async function personOf(desk: Desk, by: string, signal: AbortSignal): Promise<DeskPerson> {
  try {
    return await desk.person(by, signal);
  } catch (error) {
    if (error instanceof DeliveryError && error.outcome === "rejected") {
      return { kind: "stranger", reason: error.message };
    }
    throw later(error);
  }
}

/** Refuses agents whose role is viewer. People of the desk need no account of Parley. */
async function writerOf(read: Reader, workspaceId: string, person: DeskPerson): Promise<DeskPerson> {
  if (person.kind === "stranger") return person;
  const viewer = await read
    .selectFrom("agents")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("email", "=", person.email)
    .where("role", "=", "viewer")
    .executeTakeFirst();
  return viewer === undefined ? person : { kind: "stranger", reason: "your role is viewer, which may only read" };
}

/** Stores the files of a text that is, or may become, a reply. */
async function prefetchEventFiles(
  dependencies: DeskEventDependencies,
  to: { readonly workspaceId: string; readonly conversationId: string; readonly deskAccountId: string },
  agent: Agent,
  row: Work<DeskEventPayload>,
  signal: AbortSignal,
): Promise<PrefetchedFiles> {
  const { event } = row.payload;
  if (event.kind !== "wrote" || event.files.length === 0 || isNote(event.text)) return noPrefetchedFiles;
  const ahead = await pendingEditsOf(dependencies.store.read, row, event.messageId);
  if (ahead.some(({ kind }) => kind === "removed")) return noPrefetchedFiles;
  const conversation = await dependencies.store.read
    .selectFrom("conversations")
    .select("account_id")
    .where("id", "=", to.conversationId)
    .where("workspace_id", "=", to.workspaceId)
    .executeTakeFirst();
  if (conversation === undefined) return noPrefetchedFiles;
  const place = { ...to, accountId: conversation.account_id, uploadedBy: agent.email };
  return prefetchMessageFiles(dependencies, event.files, place, row, signal);
}

/** Sends an agent the notice of an event's result. */
async function deskNotice(
  dependencies: DeskEventDependencies,
  row: Work<PayloadOf<typeof noticeKind>>,
  signal: AbortSignal,
): Promise<void> {
  const { store, log } = dependencies;
  const { accountId, by, place, notice } = row.payload;
  const found = await deskOf(dependencies, accountId);
  try {
    await found?.notify(by, place, notice, { key: `notice.${row.id}`, signal });
  } catch (error) {
    // A repeated notice is harmless. A notice that the platform rejects is dropped.
    if (!(error instanceof DeliveryError) || error.outcome !== "rejected") throw later(error);
    log.warn({ err: error }, "desk: notice to agent rejected");
  }
  await store.write((tx) => finishWork(tx, [row]));
}

async function deskOf({ channels }: DeskEventDependencies, accountId: string): Promise<Desk | undefined> {
  const account = { id: accountId };
  try {
    await channels.ready(account);
  } catch (error) {
    if (error instanceof DeliveryError && error.outcome === "rejected") return undefined;
    throw error;
  }
  return channels.desk(account);
}

/** Loads the adapters that a reply needs. The transaction must not await. */
async function readyFor(dependencies: DeskEventDependencies, conversationId: string): Promise<FollowUp | undefined> {
  try {
    return await readyToReply(dependencies, conversationId);
  } catch (error) {
    // Without its adapter only replies fail.
    if (!(error instanceof DeliveryError) || error.outcome !== "rejected") throw error;
    return undefined;
  }
}

async function run(
  tx: Tx,
  context: EventContext,
  conversationId: string,
  event: Exclude<StoredDeskEvent, { kind: "removed" }>,
): Promise<DeskEventResult> {
  switch (event.kind) {
    case "wrote":
      return storeAgentMessage(tx, context, conversationId, event);
    case "edited":
      return editAgentMessage(tx, context, conversationId, event);
    case "chose":
      return applyDraftChoice(tx, context, conversationId, event);
    case "reacted":
      return applyAgentReaction(tx, context, conversationId, event);
    case "asked":
      return applyAsk(tx, context, conversationId, event);
  }
}

async function applyAsk(
  tx: Tx,
  context: EventContext,
  conversationId: string,
  event: Extract<DeskEvent, { kind: "asked" }>,
): Promise<DeskEventResult> {
  const { workspace, agent, search, now } = context;
  const { ask } = event;
  if (ask.kind === "note") {
    const row = await requireConversation(tx, workspace.id, conversationId);
    const changes = createUnitOfWork(now, search);
    const draft = changes.track(row, workspace.settings, false);
    await insertNote(tx, draft, { content: ask.text, authorEmail: agent.email }, agentActor(agent), now);
    return { effects: await changes.flush(tx), notice: null };
  }
  if (ask.kind === "reply") return replyToMessage(tx, context, conversationId, event, ask);
  const brought = event.confirm === true ? await showAtDesk(tx, context, conversationId) : null;
  const action = actionOf(ask, agent, now);
  const { result, effects: done } = await applyAction(
    tx,
    context,
    workspace,
    conversationId,
    action,
    agent,
    event.seen,
    now,
  );
  const effects = joined([brought, done]);
  if (result.kind === "conflict") return { effects, notice: { text: conflictText(result, agent.email) } };
  return { effects, notice: event.confirm === true ? { text: doneText(ask.kind) } : null };
}

/** Shows a conversation at the desk after an agent has claimed it by its id. */
async function showAtDesk(tx: Tx, { workspace, search, now }: EventContext, conversationId: string): Promise<Effects> {
  const changes = createUnitOfWork(now, search);
  changes.track(await requireConversation(tx, workspace.id, conversationId), workspace.settings, false).showAtDesk();
  return changes.flush(tx);
}

function actionOf(
  ask: Exclude<Extract<DeskEvent, { kind: "asked" }>["ask"], { kind: "note" | "reply" }>,
  agent: Agent,
  now: number,
): Action {
  switch (ask.kind) {
    case "snooze":
      return { kind: "snooze", snooze: snoozeOf(ask.until, agent, now) };
    case "tag":
      return { kind: "describe", addTags: ask.add, removeTags: ask.remove };
    case "claim":
    case "take_over":
    case "release":
    case "resolve":
    case "archive":
    case "reopen":
      return { kind: ask.kind };
  }
}

function snoozeOf(until: SnoozeEnd, { timeZone }: Agent, now: number): Snooze {
  switch (until.kind) {
    case "hours":
      return { kind: "until", at: hoursFrom(now, until.hours) };
    case "morning":
      return { kind: "until", at: tomorrowMorning(now, timeZone) };
    case "reply":
      return { kind: "until_reply" };
    case "at":
      return { kind: "until", at: until.at };
  }
}

const doneText = (kind: string): string =>
  kind === "claim" || kind === "take_over" ? "The conversation is yours; its thread is where agents work." : "Done.";
