import type { WorkDeclaration } from "#database/work.ts";
import { declareTurn } from "./answering/turn-work.ts";
import { declareGrouping } from "./feedback/group-questions.ts";
import { declareIndexing } from "./transaction/effects/search-indexing.ts";
import { declareConversationMove } from "./contacts/move-conversations.ts";
import { declareReschedule } from "./automation/reschedule-timers.ts";
import { declareHandOn } from "./agents/hand-on.ts";
import { declareSignOut } from "./agents/sign-out.ts";
import { declarePurge } from "./retention/remove-workspace.ts";
import { declareErasure } from "./retention/queued-erasure.ts";
import { declareDailyCleanup } from "./retention/daily-cleanup.ts";
import { declareReportBackfill } from "./reporting/backfill.ts";
import { writeConversation } from "./transaction/lock-conversation.ts";
import type { Accepted, InboundEvent } from "#channels/contract.ts";
import type { Channel } from "#domain/conversation/message.ts";
import { Problem } from "#domain/problem.ts";
import type { FindLocalWorker } from "./transaction/local-worker.ts";
import { createAgentWrites } from "./agents/agent-writes.ts";
import { editAbilities, showTyping } from "./delivery/channel-abilities.ts";
import { createWaitUntilIdle } from "./transaction/wait-until-idle.ts";
import type { PauseAfter } from "./answering/turn.ts";
import { holdUnfinished } from "./inbound/unfinished-messages.ts";
import { createIngestBatches } from "./inbound/ingest-batches.ts";
import { declareReplyEdit } from "./delivery/edit-sent.ts";
import { createApiQuery } from "./answering/api-query.ts";
import { declareReaction } from "./feedback/reactions/send-reaction.ts";
import type { PublishEffects } from "./work/effects.ts";
import { createPublishEffects } from "./transaction/effects/publish-effects.ts";
import type { Checkpoint } from "#runtime/checkpoints.ts";
import { declareTimer, conversationsWithDueTimer, applyDueChangesNow } from "./automation/timer-work.ts";
import { declareSend } from "./delivery/deliver.ts";
import { createDeliveryTracker } from "./delivery/delivery-tracker.ts";
import type { Engine } from "./contract.ts";
import { prefetchFiles } from "./attachments/prefetch.ts";
import { declareFileFetch } from "./attachments/fetch-file.ts";
import { declareFileRemoval } from "./attachments/remove-files.ts";
import { dropUpload, uploadFile } from "./attachments/store-upload.ts";
import type { Answerer, JudgeAnger } from "#answering/contract.ts";
import type { Channels } from "#channels/channels.ts";
import type { Clock } from "#runtime/clock.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Fanout, Wake } from "#runtime/signals.ts";
import type { Files } from "#files/contract.ts";
import type { Log } from "#runtime/log.ts";
import type { Store, Tx } from "#database/contract.ts";
import { declareReroute } from "./delivery/reroute/reroute.ts";
import { tryQuestion } from "./trial/trial.ts";
import { viewWindow } from "./delivery/reroute/reply-window.ts";
import type { AnswerTurnDependencies } from "./answering/answer-turn.ts";
import { declareRuleReply } from "./answering/rule-reply.ts";
import { declareSurvey } from "./feedback/survey.ts";
import { createTurnCommitter } from "./answering/turn-committer.ts";
import { declarePlatformSync } from "./delivery/platform-sync.ts";
import { removeConversation } from "./retention/remove-conversation.ts";
import type { InboundBurstGauge } from "#queue/backpressure.ts";
import type { Workspace, Workspaces } from "#database/queries/workspaces.ts";

export interface EngineDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly workspaces: Workspaces;
  readonly accounts: Accounts;
  readonly channels: Channels;
  readonly answerer: Answerer;
  readonly humanRequestIn: (text: string, phrases: readonly string[] | null) => string | undefined;
  readonly pauseAfter: PauseAfter;
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

export interface CreatedEngine extends Engine {
  /** The kinds of work that the worker runs. */
  readonly work: readonly WorkDeclaration[];
  /** Publishes the signals of a committed transaction. Must not be called before the commit. */
  readonly publishEffects: PublishEffects;
}

export function createEngine(given: EngineDependencies): CreatedEngine {
  const { store, clock, log, workspaces, accounts, channels, search, localWorker, inboundBurst } = given;
  const publishEffects = createPublishEffects(given);

  async function workspaceOf(id: string): Promise<Workspace> {
    const workspace = await workspaces.get(id);
    if (workspace === undefined) throw new Problem("workspace_not_found", "there is no workspace with this id");
    return workspace;
  }

  const deliveryTracker = createDeliveryTracker(given);
  const dependencies = {
    ...given,
    commitTurn: createTurnCommitter({ ...given, deliveryTracker }),
    deliveryTracker,
    publishEffects,
    workspaceOf,
  };
  const enqueue = createIngestBatches(dependencies);

  async function ingestNow(accountId: string, event: InboundEvent): Promise<Accepted> {
    const account = await accounts.get(accountId);
    if (account === undefined) throw new Error("this channel account does not exist any more");
    const workspace = await workspaceOf(account.workspaceId);
    const { work: _, ...accepted } = await enqueue({ account, workspace, event });
    return accepted;
  }

  const query = createApiQuery({
    ...dependencies,
    apiAccount: (workspaceId) => accounts.api(workspaceId),
    enqueue: (incoming) => inboundBurst.during(() => enqueue(incoming)),
  });

  const work = [
    declareTurn(dependencies),
    declareSend(dependencies),
    ...declarePlatformSync(dependencies),
    declareReplyEdit(dependencies),
    declareReaction(dependencies),
    declareRuleReply(dependencies),
    declareSurvey(dependencies),
    declareReroute(dependencies),
    declareTimer(dependencies),
    declareIndexing({ ...dependencies, waitUntilIdle: createWaitUntilIdle(store, localWorker) }),
    declareGrouping(dependencies),
    declareFileFetch(dependencies),
    declareFileRemoval(dependencies),
    declareConversationMove(dependencies),
    declareReschedule(dependencies),
    declareSignOut(dependencies),
    declareHandOn(dependencies),
    declarePurge(dependencies),
    declareErasure(dependencies),
    declareDailyCleanup(dependencies),
    declareReportBackfill(dependencies),
  ];

  return {
    ...createAgentWrites(dependencies),
    work,
    publishEffects,
    ingest: (accountId, event) => inboundBurst.during(() => ingestNow(accountId, event)),
    query,
    tryQuestion: (trial, signal) => tryQuestion(dependencies, trial, signal),
    upload: (upload, source, signal) => uploadFile(dependencies, upload, source, signal),
    prefetchFiles: (sources, to, options, signal) => prefetchFiles(dependencies, sources, to, options, signal),
    dropUpload: (upload) => dropUpload(dependencies, upload),
    async remove(workspaceId, id, actor) {
      const workspace = await workspaceOf(workspaceId);
      const remove = (tx: Tx, now: number) => removeConversation(tx, search, workspace, id, actor, now);
      publishEffects(await writeConversation(given, id, remove));
    },
    editAbilities: (accountId, channel) => editAbilities(channels, accountId, channel),
    window: (row) => viewWindow({ read: store.read, channels, log, now: clock.now() }, row),
    async settleClocks(workspaceId) {
      const workspace = await workspaceOf(workspaceId);
      // Only a late worker leaves due timers behind. The limit bounds the duration of one request.
      for (const id of await conversationsWithDueTimer(store.read, workspaceId, clock.now(), 500)) {
        const settle = (tx: Tx, now: number) => applyDueChangesNow(tx, search, workspace, id, now);
        publishEffects(await writeConversation(given, id, settle));
      }
    },
    customerTyping: (accountId, thread) => holdUnfinished({ store, clock, wake: given.wake }, accountId, thread),
    typing: (workspaceId, id, who) => showTyping({ read: store.read, channels }, workspaceId, id, who),
  };
}
