import type { Accepted, InboundEvent } from "#channels/contract.ts";
import { DeliveryError } from "#channels/errors.ts";
import type { Channel } from "#domain/conversation/message.ts";
import { systemActor } from "#domain/conversation/message.ts";
import { Problem } from "#domain/problem.ts";
import type { OutboxRow } from "#database/queries/outbox.ts";
import { finishWork } from "#database/queries/outbox.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import { awaitTurn } from "#database/queries/conversations.ts";
import type { FindLocalWorker } from "./transaction/local-worker.ts";
import { claimForAgent } from "./transaction/local-worker.ts";
import { sendLane } from "#queue/lanes.ts";
import { createWaitUntilIdle } from "./transaction/wait-until-idle.ts";
import { indexTexts } from "./transaction/search-indexing.ts";
import { lockDraft } from "./transaction/lock-conversation.ts";
import { applyAction } from "./agents/actions.ts";
import { handleAgentMessage } from "./agents/messages.ts";
import { createIngestBatches } from "./inbound/ingest-batches.ts";
import { abandonEdit, editSentReply } from "./delivery/edit-sent.ts";
import { createApiQuery } from "./answering/api-query.ts";
import type { Effects } from "./transaction/effects.ts";
import { createUnitOfWork } from "./transaction/unit-of-work.ts";
import type { Checkpoint } from "#runtime/checkpoints.ts";
import { dueClocks, runTimer, settleNow } from "./automation/timer-work.ts";
import { abandonDelivery, deliver } from "./delivery/deliver.ts";
import { createDeliveryTracker } from "./delivery/delivery-tracker.ts";
import type { Engine } from "./contract.ts";
import { prefetchFiles } from "./attachments/prefetch.ts";
import { abandonFile, dropUpload, fetchFile, removeFiles, uploadFile } from "./attachments/file-work.ts";
import type { Answerer, JudgeAnger } from "#answering/contract.ts";
import type { Channels } from "#channels/channels.ts";
import type { Clock } from "#runtime/clock.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Fanout, Wake } from "#runtime/signals.ts";
import type { Files } from "#files/contract.ts";
import type { Log } from "#runtime/log.ts";
import type { Store, Tx } from "#database/contract.ts";
import { abandonReroute, reroute } from "./delivery/reroute.ts";
import { viewWindow } from "./delivery/reply-window.ts";
import { readyToReply, replyAsAgent } from "./agents/replies.ts";
import { handOver, handOverSilently } from "./answering/bot-message.ts";
import type { AnswerTurnDependencies } from "./answering/answer-turn.ts";
import { abandonRuleReply, sendRuleReply } from "./answering/rule-reply.ts";
import { createTurnCommitter, readConversation, answerTurn } from "./answering/answer-turn.ts";
import { abandonPush, pushHandover, pushNote, pushStatus } from "./delivery/platform-sync.ts";
import { threadTopic, workspaceTopic } from "#queue/signals/topics.ts";
import { insertNote, removeConversation, requireConversation, updateConversation } from "./agents/update.ts";
import type { InboundBurstGauge } from "#queue/backpressure.ts";
import type { Workspace, Workspaces } from "#database/queries/workspaces.ts";
import { settingsIn } from "#database/queries/workspaces.ts";

export interface EngineDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly workspaces: Workspaces;
  readonly accounts: Accounts;
  readonly channels: Channels;
  readonly answerer: Answerer;
  readonly asksForHuman: (text: string, phrases: readonly string[]) => boolean;
  readonly inLanguageOf: AnswerTurnDependencies["inLanguageOf"];
  readonly judgeAnger: JudgeAnger;
  readonly search: ConversationSearch;
  readonly files: Files;
  readonly fanout: Fanout;
  readonly wake: Wake;
  readonly processId: string;
  /** The URL under which this installation is reached, without a trailing slash. */
  readonly publicUrl: string;
  readonly checkpoint: Checkpoint;
  readonly localWorker: FindLocalWorker;
  readonly inboundBurst: InboundBurstGauge;
}

/** Looks up channel accounts. */
export interface Accounts {
  get(
    id: string,
  ): Promise<{ readonly id: string; readonly workspaceId: string; readonly channel: Channel } | undefined>;
  /** Returns the workspace's built-in API account. */
  api(workspaceId: string): Promise<{ readonly id: string; readonly channel: "api" }>;
}

/** Runs the engine's outbox work. The worker calls one method per kind. */
export interface EngineWork {
  answerTurn(rows: readonly OutboxRow[], signal: AbortSignal): Promise<void>;
  send(rows: readonly OutboxRow[], signal: AbortSignal): Promise<void>;
  timer(rows: readonly OutboxRow[]): Promise<void>;
  index(rows: readonly OutboxRow[], signal: AbortSignal): Promise<void>;
  /** Sends an agent's edit or deletion of a sent reply to the platform. */
  editSentReply(rows: readonly OutboxRow[], signal: AbortSignal): Promise<void>;
  /** Applies a status change to the conversation on its platform. */
  pushStatus(rows: readonly OutboxRow[], signal: AbortSignal): Promise<void>;
  /** Posts a note to the agents who work on the conversation's platform. */
  pushNote(rows: readonly OutboxRow[], signal: AbortSignal): Promise<void>;
  /** Hands the conversation over to agents on its platform. */
  pushHandover(rows: readonly OutboxRow[], signal: AbortSignal): Promise<void>;
  /** Sends replies that automation rules queued. */
  sendRuleReply(rows: readonly OutboxRow[]): Promise<void>;
  reroute(rows: readonly OutboxRow[]): Promise<void>;
  file(rows: readonly OutboxRow[], signal: AbortSignal): Promise<void>;
  unfile(rows: readonly OutboxRow[], signal: AbortSignal): Promise<void>;
  /** Each `abandon…` method returns a callback. Call it only after the transaction has committed. */
  abandonEdit(tx: Tx, row: OutboxRow, reason: string, now: number): Promise<() => void>;
  abandonSend(tx: Tx, row: OutboxRow, reason: string, now: number): Promise<() => void>;
  /** Hands the conversation to agents after the last attempt at an answer has failed. */
  abandonTurn(tx: Tx, row: OutboxRow, reason: string, now: number): Promise<() => void>;
  abandonRuleReply(tx: Tx, row: OutboxRow, reason: string, now: number): Promise<() => void>;
  abandonFile(tx: Tx, row: OutboxRow, reason: string, now: number): Promise<() => void>;
  abandonReroute(tx: Tx, row: OutboxRow, now: number): Promise<() => void>;
  abandonPush(tx: Tx, row: OutboxRow, reason: string, now: number): Promise<() => void>;
}

export interface CreatedEngine extends Engine {
  readonly work: EngineWork;
  /** Publishes the signals of a committed transaction. Must not be called before the commit. */
  publishEffects(effects: Effects | null): void;
}

export function createEngine(given: EngineDependencies): CreatedEngine {
  const dependencies = {
    ...given,
    commitTurn: createTurnCommitter(given),
    deliveryTracker: createDeliveryTracker(given),
  };
  const {
    store,
    clock,
    log,
    workspaces,
    accounts,
    channels,
    search,
    files,
    fanout,
    wake,
    checkpoint,
    localWorker,
    inboundBurst,
  } = dependencies;

  async function workspaceOf(id: string): Promise<Workspace> {
    const workspace = await workspaces.get(id);
    if (workspace === undefined) throw new Problem("workspace_not_found", "there is no workspace with this id");
    return workspace;
  }

  /** Must not be called before the transaction has committed. */
  function publishEffects(effects: Effects | null): void {
    if (effects === null) return;
    // First, because this process holds the lease: if a later step failed, the work would wait until the lease expires.
    if (effects.taken !== undefined) localWorker()?.take(effects.taken);
    for (const [dueAt, works] of Map.groupBy(effects.wake, (work) => work.dueAt)) {
      wake.notify(
        works.map(({ lane }) => lane),
        dueAt,
      );
    }
    for (const { accountId, contextKey, amended } of effects.threads) {
      const signal = { kind: "changed", ...(amended === true ? { amended } : {}) };
      fanout.publish(threadTopic(accountId, contextKey), JSON.stringify(signal));
    }
    for (const { workspaceId, conversationId, assigned } of effects.workspaces) {
      const topic = workspaceTopic(workspaceId);
      fanout.publish(topic, JSON.stringify({ kind: "changed", conversationId }));
      if (assigned !== undefined)
        fanout.publish(topic, JSON.stringify({ kind: "assigned", conversationId, ...assigned }));
    }
  }

  /** Runs `work` under the conversation's lock. `now` is read after the lock is held. */
  const writeConversation = <T>(conversationId: string, work: (tx: Tx, now: number) => Promise<T>): Promise<T> =>
    store.write(async (tx) => {
      await awaitTurn(tx, conversationId);
      return work(tx, clock.now());
    });

  const claimReply = <E extends Effects | null>(tx: Tx, effects: E, conversationId: string, now: number) =>
    claimForAgent(tx, localWorker(), effects, sendLane(conversationId), now);

  const waitUntilIdle = createWaitUntilIdle(store, localWorker);
  const enqueue = createIngestBatches({ ...dependencies, publishEffects });

  async function ingestNow(accountId: string, event: InboundEvent): Promise<Accepted> {
    const account = await accounts.get(accountId);
    if (account === undefined) throw new Error("this channel account does not exist any more");
    const workspace = await workspaceOf(account.workspaceId);
    const { work: _, ...accepted } = await enqueue({ account, workspace, event });
    return accepted;
  }

  const query = createApiQuery({
    ...dependencies,
    workspaceOf,
    apiAccount: (workspaceId) => accounts.api(workspaceId),
    enqueue: (incoming) => inboundBurst.during(() => enqueue(incoming)),
    publishEffects,
  });

  const work: EngineWork = {
    async answerTurn(rows, signal) {
      const conversation = await conversationOfWork(rows);
      const workspace = await workspaceOfWork(rows, conversation);
      if (workspace === undefined) return;
      // An API query always gets its own answer. On other channels one answer covers several messages.
      const groups = conversation?.channel === "api" ? rows.map((row) => [row]) : [rows];
      checkpoint("answer.before");
      for (const [at, group] of groups.entries()) {
        // The previous answer changed the conversation, so later turns must read it again.
        const read = at === 0 ? conversation : undefined;
        const { effects } = await answerTurn(dependencies, workspace, group, {}, signal, read);
        checkpoint("answer.stored");
        publishEffects(effects);
      }
    },
    async send(rows, signal) {
      for (const row of rows) await deliver({ ...dependencies, publishEffects }, row, signal);
    },
    async timer(rows) {
      const conversation = await conversationOfWork(rows);
      const workspace = await workspaceOfWork(rows, conversation);
      if (conversation === undefined || workspace === undefined) return;
      publishEffects(await writeConversation(conversation.id, (tx, now) => runTimer(tx, search, workspace, rows, now)));
    },
    index: (rows, signal) => indexTexts({ ...dependencies, waitUntilIdle }, rows, signal),
    async editSentReply(rows, signal) {
      for (const row of rows) await editSentReply({ ...dependencies, publishEffects }, row, signal);
    },
    async pushStatus(rows, signal) {
      for (const row of rows) await pushStatus({ ...dependencies, publishEffects }, row, signal);
    },
    async pushNote(rows, signal) {
      for (const row of rows) await pushNote({ ...dependencies, publishEffects }, row, signal);
    },
    async pushHandover(rows, signal) {
      for (const row of rows) await pushHandover({ ...dependencies, publishEffects }, row, signal);
    },
    async abandonPush(tx, row, reason, now) {
      const effects = await abandonPush(tx, search, row, reason, now);
      return () => publishEffects(effects);
    },
    async abandonEdit(tx, row, reason, now) {
      const effects = await abandonEdit(tx, search, row, reason, now);
      return () => publishEffects(effects);
    },
    async sendRuleReply(rows) {
      for (const row of rows) {
        checkpoint("speak.before");
        const effects = await sendRuleReply(dependencies, row);
        checkpoint("speak.stored");
        publishEffects(effects);
      }
    },
    async abandonRuleReply(tx, row, reason, now) {
      const effects = await abandonRuleReply(tx, search, row, reason, now);
      return () => publishEffects(effects);
    },
    async reroute(rows) {
      for (const row of rows) publishEffects(await reroute(dependencies, row));
    },
    async abandonReroute(tx, row, now) {
      const effects = await abandonReroute(tx, search, row, now);
      return () => publishEffects(effects);
    },
    async file(rows, signal) {
      for (const row of rows) await fetchFile({ ...dependencies, publishEffects }, row, signal);
    },
    unfile: (rows, signal) => removeFiles(dependencies, rows, signal),
    async abandonFile(tx, row, reason, now) {
      const effects = await abandonFile(tx, row, reason, now);
      return () => publishEffects(effects);
    },
    async abandonSend(tx, row, reason, now) {
      const effects = await abandonDelivery(tx, dependencies, row, reason, now);
      return () => publishEffects(effects);
    },
    async abandonTurn(tx, row, reason, now) {
      const id = conversationOf(row);
      const locked = await lockDraft(tx, search, id, now);
      if (locked === undefined || locked.draft.row.status !== "open") return () => undefined;
      const { changes, draft } = locked;
      const settings = await settingsIn(tx, draft.row.workspace_id);
      const actor = systemActor("escalation");
      // The account itself may be unusable; the customer can then not be notified.
      const isNotified = draft.row.channel === "api" || channels.loaded({ id: draft.row.account_id });
      if (isNotified) handOver(draft, channels, settings, actor, { reason: "answer failed" });
      else handOverSilently(draft, actor, "answer failed");
      const content = `The bot could not answer${isNotified ? "" : ", and the customer was not told"}: ${reason}`;
      await insertNote(tx, draft, { content, authorEmail: null }, actor, now);
      const effects = await changes.flush(tx);
      return () => publishEffects(effects);
    },
  };

  /** All rows of one batch belong to one conversation. */
  async function conversationOfWork([first]: readonly OutboxRow[]): Promise<ConversationRow | undefined> {
    return first === undefined ? undefined : readConversation(store, conversationOf(first));
  }

  /** Returns undefined, and deletes the work, if the conversation or its workspace no longer exists. */
  async function workspaceOfWork(
    rows: readonly OutboxRow[],
    conversation: ConversationRow | undefined,
  ): Promise<Workspace | undefined> {
    const workspace = conversation === undefined ? undefined : await workspaces.get(conversation.workspace_id);
    if (workspace === undefined && rows.length > 0) await store.write((tx) => finishWork(tx, rows));
    return workspace;
  }

  return {
    work,
    publishEffects,
    ingest: (accountId, event) => inboundBurst.during(() => ingestNow(accountId, event)),
    query,
    async reply(reply) {
      const workspace = await workspaceOf(reply.workspaceId);
      const followUp = await readyToReply(dependencies, reply.conversationId);
      const { effects, messageId, seq } = await writeConversation(reply.conversationId, async (tx, now) => {
        const replied = await replyAsAgent(tx, channels, search, files, workspace, reply, now, followUp);
        return { ...replied, effects: await claimReply(tx, replied.effects, reply.conversationId, now) };
      });
      publishEffects(effects);
      return { messageId, seq };
    },
    upload: (upload, source, signal) => uploadFile({ ...dependencies, publishEffects }, upload, source, signal),
    prefetchFiles: (sources, to, options, signal) =>
      prefetchFiles({ ...dependencies, publishEffects }, sources, to, options, signal),
    dropUpload: (upload) => dropUpload({ ...dependencies, publishEffects }, upload),
    async update(workspaceId, conversationId, change, actor) {
      const workspace = await workspaceOf(workspaceId);
      if (change.status === "escalated") await readyToReply(dependencies, conversationId);
      publishEffects(
        await writeConversation(conversationId, (tx, now) =>
          updateConversation(tx, channels, search, workspace, conversationId, change, actor, now),
        ),
      );
    },
    async addNote(workspaceId, conversationId, note, actor) {
      const workspace = await workspaceOf(workspaceId);
      const { added, effects } = await writeConversation(conversationId, async (tx, now) => {
        const row = await requireConversation(tx, workspace.id, conversationId);
        const changes = createUnitOfWork(now, search);
        const noted = await insertNote(tx, changes.track(row, workspace.settings, false), note, actor, now);
        return { added: noted, effects: await changes.flush(tx) };
      });
      publishEffects(effects);
      return added;
    },
    async remove(workspaceId, conversationId, actor) {
      const workspace = await workspaceOf(workspaceId);
      publishEffects(
        await writeConversation(conversationId, (tx, now) =>
          removeConversation(tx, search, workspace, conversationId, actor, now),
        ),
      );
    },
    async applyAction(workspaceId, conversationId, action, agent, expected) {
      const workspace = await workspaceOf(workspaceId);
      const { acted, effects } = await writeConversation(conversationId, (tx, now) =>
        applyAction(tx, { channels, search }, workspace, conversationId, action, agent, expected, now),
      );
      publishEffects(effects);
      return acted;
    },
    async postAgentMessage(workspaceId, conversationId, message, agent) {
      const workspace = await workspaceOf(workspaceId);
      const followUp = await readyToReply(dependencies, conversationId);
      const { said, effects } = await writeConversation(conversationId, async (tx, now) => {
        const acted = await handleAgentMessage(
          tx,
          dependencies,
          workspace,
          conversationId,
          message,
          agent,
          followUp,
          now,
        );
        return { ...acted, effects: await claimReply(tx, acted.effects, conversationId, now) };
      });
      publishEffects(effects);
      return said;
    },
    async editsInProgress(accountId, channel) {
      if (channel === "api") return { edit: true, remove: true };
      try {
        await channels.ready({ id: accountId });
      } catch (error) {
        // Replies of a removed account can no longer be edited.
        if (!(error instanceof DeliveryError)) throw error;
        return { edit: false, remove: false };
      }
      return { edit: channels.can({ id: accountId }, "edit"), remove: channels.can({ id: accountId }, "remove") };
    },
    window: (row) => viewWindow({ read: store.read, channels, log, now: clock.now() }, row),
    async settleClocks(workspaceId) {
      const workspace = await workspaceOf(workspaceId);
      // Only a late worker leaves due timers behind. The limit bounds the duration of one request.
      for (const id of await dueClocks(store.read, workspaceId, clock.now(), 500)) {
        publishEffects(await writeConversation(id, (tx, now) => settleNow(tx, search, workspace, id, now)));
      }
    },
    async typing(workspaceId, conversationId, who) {
      const row = await store.read
        .selectFrom("conversations")
        .select(["account_id", "channel", "context_key"])
        .where("id", "=", conversationId)
        .where("workspace_id", "=", workspaceId)
        .executeTakeFirst();
      if (row === undefined) throw new Problem("conversation_not_found", "there is no conversation with this id");
      // API conversations show no typing indicator.
      if (row.channel === "api") return;
      const account = { id: row.account_id };
      await channels.ready(account);
      channels.typing(account, row.context_key, who);
    },
  };
}

function conversationOf(row: OutboxRow): string {
  return (JSON.parse(row.payload) as { readonly conversationId: string }).conversationId;
}
