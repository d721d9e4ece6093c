import type { Tx } from "#database/contract.ts";
import { turnKind } from "./turn-kind.ts";
import { OutcomeUnknown } from "#database/faults.ts";
import type { OutboxRow } from "#database/queries/outbox.ts";
import { finishWork, LostLease } from "#database/queries/outbox.ts";
import type { Workspace } from "#database/queries/workspaces.ts";
import { threadTopic } from "#queue/signals/topics.ts";
import { untilAborted } from "#runtime/abort.ts";
import type { Checkpoint } from "#runtime/checkpoints.ts";
import type { Log } from "#runtime/log.ts";
import type { Fanout } from "#runtime/signals.ts";
import type { Query, QueryResult } from "./query.ts";
import type { IncomingEvent, IngestResult } from "#conversations/transaction/incoming-event.ts";
import type { Effects } from "#conversations/work/effects.ts";
import type { AnswerTurnDependencies } from "./answer-turn.ts";
import { answerTurn } from "./answer-turn.ts";
import type { LiveAnswer } from "./decision.ts";
import { conversationNotFound, queryEvent, queryOptions } from "./query-event.ts";
import type { Lease, StoredQuery } from "./stored-query.ts";
import { leaseQuery, resultOf, ruleReplyOrWaiting, waitingResult, workOfEvent } from "./stored-query.ts";

export interface ApiQueryDependencies extends AnswerTurnDependencies {
  readonly log: Log;
  readonly fanout: Fanout;
  readonly processId: string;
  readonly checkpoint: Checkpoint;
  readonly workspaceOf: (id: string) => Promise<Workspace>;
  readonly apiAccount: (workspaceId: string) => Promise<{ readonly id: string; readonly channel: "api" }>;
  readonly enqueue: (incoming: IncomingEvent) => Promise<IngestResult>;
  readonly publishEffects: (effects: Effects | null) => void;
}

const leaseMs = 45_000;
/** How often to look for another process's answer, in case its signal is lost. */
const pollMs = 250;

/**
 * Stores an API query and answers it in this process. A repeated `clientId` does not store the query again: its answer
 * is returned, awaited or made.
 */
export function createApiQuery(
  dependencies: ApiQueryDependencies,
): (request: Query, signal: AbortSignal) => Promise<QueryResult> {
  const { store, clock, log, fanout, processId, checkpoint, publishEffects } = dependencies;
  const newLease = (): Lease => ({ id: processId, until: clock.now() + leaseMs });

  async function answerQuery(request: Query, signal: AbortSignal): Promise<QueryResult> {
    const workspace = await dependencies.workspaceOf(request.workspaceId);
    const account = await dependencies.apiAccount(workspace.id);
    const event = await queryEvent(store.read, request, account, clock.now());
    const options = await queryOptions(store.read, request, workspace);
    const lease = newLease();
    const continues = request.conversationId;
    const incoming = { account, workspace, event, lease, options, ...(continues === undefined ? {} : { continues }) };
    const key = { accountId: account.id, externalId: event.externalId };
    const { conversationId, seq, work, duplicate } = await dependencies
      .enqueue(incoming)
      .catch(async (error: unknown) => {
        if (error instanceof OutcomeUnknown) await withdraw(key, (tx) => workOfEvent(tx, key, lease));
        throw error;
      });
    if (conversationId === null || seq === null) throw new Error("a query was stored without a conversation");
    const { waitingMessage } = dependencies.inLanguageOf(workspace.settings, [request.text]);
    const query: StoredQuery = { ...key, workspace, conversationId, seq, options, waitingMessage };
    if (duplicate) return resume(query, request, signal);
    return work === null ? ruleReplyOrWaiting(store.read, query) : answer(query, work, request, signal);
  }

  async function answer(
    query: StoredQuery,
    work: OutboxRow,
    request: Query,
    signal: AbortSignal,
  ): Promise<QueryResult> {
    checkpoint("answer.before");
    try {
      const turn = await answerTurn(dependencies, query.workspace, [turnKind.read(work)], liveOf(request), signal);
      checkpoint("answer.stored");
      publishEffects(turn.effects);
      if (turn.reply === null) return await ruleReplyOrWaiting(store.read, query);
      return {
        ...resultOf(query, turn.reply),
        skillsFired: turn.answer?.skillsFired ?? [],
        tokensUsed: turn.answer?.tokensUsed ?? 0,
        confidence: turn.answer?.confidence ?? null,
      };
    } catch (error) {
      // The lease expired, and another process answers or has answered.
      if (error instanceof LostLease && !signal.aborted) return resume(query, request, signal);
      await withdraw(query, async () => work);
      throw error;
    }
  }

  /** Deletes the query's work. The client gets an error, so a later answer must not be stored. */
  async function withdraw(
    { accountId, externalId }: Pick<StoredQuery, "accountId" | "externalId">,
    find: (tx: Tx) => Promise<OutboxRow | undefined>,
  ): Promise<void> {
    const work = async (tx: Tx): Promise<void> => {
      const row = await find(tx);
      try {
        if (row !== undefined) await finishWork(tx, [row]);
      } catch (error) {
        // Another process has the work now.
        if (!(error instanceof LostLease)) throw error;
      }
    };
    const failed = (error: unknown): void =>
      log.warn({ err: error, accountId, externalId }, "ask: withdrawing a failed question failed");
    await store.writeWhenBack(work, { ms: leaseMs, failed });
  }

  /** Returns, awaits or makes the answer to a query that was stored before. */
  async function resume(query: StoredQuery, request: Query, signal: AbortSignal): Promise<QueryResult> {
    const row = await store.read
      .selectFrom("conversations")
      .select("context_key")
      .where("id", "=", query.conversationId)
      .executeTakeFirst();
    if (row === undefined) throw conversationNotFound();
    let changed = Promise.withResolvers<void>();
    const unsubscribe = fanout.subscribe(threadTopic(query.accountId, row.context_key), () => changed.resolve());
    try {
      for (;;) {
        signal.throwIfAborted();
        const state = await store.write((tx) => leaseQuery(tx, query, newLease(), clock.now()));
        if (state.kind === "answered") return resultOf(query, ...state.messages);
        if (state.kind === "agents") return waitingResult(query);
        if (state.kind === "leased") return await answer(query, state.work, request, signal);
        const stopTimer = clock.timer(pollMs, () => changed.resolve());
        try {
          await untilAborted(changed.promise, signal);
        } finally {
          stopTimer();
        }
        changed = Promise.withResolvers();
      }
    } finally {
      unsubscribe();
    }
  }

  return answerQuery;
}

function liveOf({ onToken }: Query): LiveAnswer {
  return { whenModelFails: "throw", ...(onToken === undefined ? {} : { onToken }) };
}
