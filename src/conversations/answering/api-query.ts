import type { Sender } from "#channels/contract.ts";
import type { Attributes } from "#domain/workspace/audience.ts";
import { tagsOf } from "#domain/workspace/audience.ts";
import { newId } from "#domain/ids.ts";
import { botMayAnswer } from "#domain/conversation/status.ts";
import { Problem } from "#domain/problem.ts";
import { untilAborted } from "#runtime/abort.ts";
import { lockConversation } from "#database/queries/conversations.ts";
import { OutcomeUnknown } from "#database/faults.ts";
import type { OutboxRow } from "#database/queries/outbox.ts";
import { LostLease, finishWork, insertWork } from "#database/queries/outbox.ts";
import type { MessagesTable } from "#database/schema/tables.ts";
import type { IncomingEvent, IngestResult } from "#conversations/inbound/incoming-event.ts";
import type { Effects } from "#conversations/transaction/effects.ts";
import { turnLane } from "#queue/lanes.ts";
import type { Checkpoint } from "#runtime/checkpoints.ts";
import { identityValue } from "#conversations/contacts/contacts.ts";
import type { Query, QueryResult } from "#conversations/contract.ts";
import type { Fanout } from "#runtime/signals.ts";
import type { Log } from "#runtime/log.ts";
import type { Reader, Tx } from "#database/contract.ts";
import type { LiveAnswer, AnswerTurnDependencies } from "./answer-turn.ts";
import type { QuestionOptions } from "./question-options.ts";
import { answerTurn } from "./answer-turn.ts";
import { threadTopic } from "#queue/signals/topics.ts";
import type { Workspace } from "#database/queries/workspaces.ts";

export interface ApiQueryDependencies extends AnswerTurnDependencies {
  readonly log: Log;
  readonly fanout: Fanout;
  readonly processId: string;
  readonly checkpoint: Checkpoint;
  readonly workspaceOf: (id: string) => Promise<Workspace>;
  readonly apiAccount: (workspaceId: string) => Promise<{ readonly id: string; readonly channel: "api" }>;
  readonly enqueue: (arrival: IncomingEvent) => Promise<IngestResult>;
  readonly publishEffects: (effects: Effects | null) => void;
}

const leaseMs = 45_000;
/** How often an answer that another makes is looked for, should the signal of it get lost. */
const lookMs = 250;

interface PendingQuery {
  readonly workspace: Workspace;
  readonly accountId: string;
  readonly externalId: string;
  readonly conversationId: string;
  readonly seq: number;
  readonly options: QuestionOptions;
  /** What the client is told while a person has the conversation. */
  readonly waitingMessage: string;
}

/**
 * Stores a question that came over the API and answers it in this process. A question that was stored before, under the
 * same `clientId`, is not stored again: its answer is given, waited for, or made.
 */
export function createApiQuery(
  dependencies: ApiQueryDependencies,
): (request: Query, signal: AbortSignal) => Promise<QueryResult> {
  const { store, clock, log, fanout, processId, checkpoint, publishEffects } = dependencies;

  return async function ask(request, signal) {
    const workspace = await dependencies.workspaceOf(request.workspaceId);
    const account = await dependencies.apiAccount(workspace.id);
    const thread = await threadOf(request, account.id);
    const options = await optionsOf(request, workspace);
    const now = clock.now();
    const externalId = request.clientId ?? newId("req", now);
    const lease = { id: processId, until: now + leaseMs };
    const arrival: IncomingEvent = {
      account,
      workspace,
      event: {
        kind: "message",
        externalId,
        thread,
        sender: senderOf(request, thread),
        sentAt: now,
        text: request.text,
        ...(request.metadata === undefined ? {} : { metadata: request.metadata }),
      },
      lease,
      options,
      ...(request.conversationId === undefined ? {} : { continues: request.conversationId }),
    };
    const { conversationId, seq, work, duplicate } = await dependencies
      .enqueue(arrival)
      .catch(async (error: unknown) => {
        if (error instanceof OutcomeUnknown) {
          await withdraw({ accountId: account.id, externalId }, (tx) => workOf(tx, account.id, externalId, lease));
        }
        throw error;
      });
    if (conversationId === null || seq === null) throw new Error("a question was stored without a conversation");
    const { waitingMessage } = dependencies.inLanguageOf(workspace.settings, [request.text]);
    const asked = { workspace, accountId: account.id, externalId, conversationId, seq, options, waitingMessage };
    if (duplicate) return goOn(asked, request, signal);
    return work === null ? saidOrWaiting(asked) : answer(asked, work, request, signal);
  };

  async function threadOf(request: Query, accountId: string): Promise<string> {
    if (request.conversationId === undefined) return `api:${newId("ses", clock.now())}`;
    const row = await store.read
      .selectFrom("conversations")
      .select(["id", "context_key", "account_id", "channel"])
      .where("id", "=", request.conversationId)
      .where("workspace_id", "=", request.workspaceId)
      .executeTakeFirst();
    if (row?.id !== request.conversationId) throw conversationNotFound();
    if (row.account_id !== accountId) {
      throw new Problem(
        "invalid_parameter",
        `conversation_id: this conversation belongs to the channel ${row.channel}; only its customer can ask there, and agents reply with POST /v1/conversations/{id}/messages`,
      );
    }
    return row.context_key;
  }

  async function optionsOf(request: Query, workspace: Workspace): Promise<QuestionOptions> {
    const { strictness, topK, temperature, documentIds } = request;
    const audience = await audienceOf(request, workspace);
    return {
      ...(strictness === undefined ? {} : { strictness }),
      ...(topK === undefined ? {} : { topK }),
      ...(temperature === undefined ? {} : { temperature }),
      ...(documentIds === undefined ? {} : { documentIds }),
      ...(audience.length === 0 ? {} : { audience }),
      ...(request.user === undefined ? {} : { userId: request.user.userId }),
    };
  }

  /** It is not the bot's turn; a rule may have said something to it all the same. */
  async function saidOrWaiting(asked: PendingQuery): Promise<QueryResult> {
    const said = await store.read
      .selectFrom("messages")
      .selectAll()
      .where("conversation_id", "=", asked.conversationId)
      .where("role", "=", "assistant")
      .where("answers_seq", "=", asked.seq)
      .orderBy("seq", "desc")
      .limit(1)
      .executeTakeFirst();
    return said === undefined ? waiting(asked) : resultOf(asked, said);
  }

  /** The tags that this asker has. What the request names can only take some of them away. */
  async function audienceOf({ user, audience }: Query, workspace: Workspace): Promise<readonly string[]> {
    if (user === undefined) return [];
    const attributes = user.attributes ?? (await storedAttributes(store.read, workspace.id, user.userId));
    const tags = tagsOf(workspace.settings.audiences, attributes);
    return audience === undefined ? tags : tags.filter((tag) => audience.includes(tag));
  }

  async function answer(
    asked: PendingQuery,
    work: OutboxRow,
    request: Query,
    signal: AbortSignal,
  ): Promise<QueryResult> {
    checkpoint("answer.before");
    try {
      const turn = await answerTurn(dependencies, asked.workspace, [work], liveOf(request), signal);
      checkpoint("answer.stored");
      publishEffects(turn.effects);
      if (turn.reply === null) return await saidOrWaiting(asked);
      const { reply, answer: made } = turn;
      return {
        ...resultOf(asked, reply),
        skillsFired: made?.skillsFired ?? [],
        tokensUsed: made?.tokensUsed ?? 0,
        confidence: made?.confidence ?? null,
      };
    } catch (error) {
      // Another process took it for abandoned, and answers it or has done so.
      if (error instanceof LostLease && !signal.aborted) return goOn(asked, request, signal);
      await withdraw(asked, async () => work);
      throw error;
    }
  }

  /** The client is told that it failed, so it must not be answered behind its back as well. */
  async function withdraw(
    { accountId, externalId }: Pick<PendingQuery, "accountId" | "externalId">,
    find: (tx: Tx) => Promise<OutboxRow | undefined>,
  ): Promise<void> {
    const work = async (tx: Tx): Promise<void> => {
      const row = await find(tx);
      try {
        if (row !== undefined) await finishWork(tx, [row]);
      } catch (error) {
        // Then it is not ours to withdraw.
        if (!(error instanceof LostLease)) throw error;
      }
    };
    const failed = (error: unknown): void =>
      log.warn({ err: error, accountId, externalId }, "ask: withdrawing a failed question failed");
    await store.writeWhenBack(work, { ms: leaseMs, failed });
  }

  /** Gives, waits for or makes the answer to a question that is stored already. */
  async function goOn(asked: PendingQuery, request: Query, signal: AbortSignal): Promise<QueryResult> {
    const { conversationId } = asked;
    const row = await store.read
      .selectFrom("conversations")
      .select("context_key")
      .where("id", "=", conversationId)
      .executeTakeFirst();
    if (row === undefined) throw conversationNotFound();
    let changed = Promise.withResolvers<void>();
    const unsubscribe = fanout.subscribe(threadTopic(asked.accountId, row.context_key), () => changed.resolve());
    try {
      for (;;) {
        signal.throwIfAborted();
        const state = await store.write((tx) => takeUp(tx, asked));
        switch (state.kind) {
          case "answered":
            return resultOf(asked, ...state.messages);
          case "people":
            return waiting(asked);
          case "ours":
            return await answer(asked, state.work, request, signal);
          case "busy": {
            const stopTimer = clock.timer(lookMs, () => changed.resolve());
            try {
              await untilAborted(changed.promise, signal);
            } finally {
              stopTimer();
            }
            changed = Promise.withResolvers();
          }
        }
      }
    } finally {
      unsubscribe();
    }
  }

  type Standing =
    | { readonly kind: "answered"; readonly messages: readonly [MessagesTable, ...MessagesTable[]] }
    /** It is not the bot's turn. */
    | { readonly kind: "people" }
    | { readonly kind: "ours"; readonly work: OutboxRow }
    /** Somebody makes the answer now. */
    | { readonly kind: "busy" };

  async function takeUp(tx: Tx, { workspace, conversationId, seq, options }: PendingQuery): Promise<Standing> {
    const row = await lockConversation(tx, workspace.id, conversationId);
    if (row === undefined) throw conversationNotFound();
    const [last, ...before] = await tx
      .selectFrom("messages")
      .selectAll()
      .where("conversation_id", "=", conversationId)
      .where("role", "=", "assistant")
      .where("answers_seq", "=", seq)
      .orderBy("seq", "desc")
      .execute();
    if (last !== undefined) return { kind: "answered", messages: [last, ...before] };
    if (!botMayAnswer(row.status)) return { kind: "people" };
    const now = clock.now();
    const lane = turnLane(conversationId);
    const lease = { lease_id: processId, lease_until: now + leaseMs };
    const find = async (): Promise<OutboxRow | undefined> =>
      (await tx.selectFrom("outbox").selectAll().where("lane", "=", lane).execute()).find(
        (each) => (JSON.parse(each.payload) as { readonly seq?: number }).seq === seq,
      );
    const stored = await find();
    if (stored === undefined) {
      // It failed, and its client was told so.
      const payload = { conversationId, seq, options };
      const work = { lane, kind: "think", payload, dueAt: now, lease: { id: processId, until: lease.lease_until } };
      await insertWork(tx, [work], now);
      const inserted = await find();
      if (inserted === undefined) throw new Error("work was stored and is not there");
      return { kind: "ours", work: inserted };
    }
    const taken = await tx
      .updateTable("outbox")
      .set(lease)
      .where("id", "=", stored.id)
      .where("dead_at", "is", null)
      .where((eb) => eb.or([eb("lease_id", "is", null), eb("lease_until", "<=", now)]))
      .executeTakeFirst();
    return taken.numUpdatedRows === 1n ? { kind: "ours", work: { ...stored, ...lease } } : { kind: "busy" };
  }
}

/** The queued work of a question whose COMMIT got no answer; undefined: it was not stored. */
async function workOf(
  tx: Tx,
  accountId: string,
  externalId: string,
  lease: { readonly id: string; readonly until: number },
): Promise<OutboxRow | undefined> {
  const event = await tx
    .selectFrom("inbound_events")
    .select("conversation_id")
    .where("account_id", "=", accountId)
    .where("external_id", "=", externalId)
    .executeTakeFirst();
  if (typeof event?.conversation_id !== "string") return undefined;
  return tx
    .selectFrom("outbox")
    .selectAll()
    .where("lane", "=", turnLane(event.conversation_id))
    .where("lease_id", "=", lease.id)
    .where("lease_until", "=", lease.until)
    .executeTakeFirst();
}

function conversationNotFound(): Problem {
  return new Problem("conversation_not_found", "there is no conversation with this id");
}

async function storedAttributes(db: Reader, workspaceId: string, userId: string): Promise<Attributes> {
  const row = await db
    .selectFrom("identities")
    .innerJoin("contacts as owner", "owner.id", "identities.contact_id")
    // Who is known under several contacts is known by the one that stands for them.
    .innerJoin("contacts as root", "root.id", "owner.root_id")
    .select(["root.attributes", "root.user_id"])
    .where("identities.workspace_id", "=", workspaceId)
    .where("identities.kind", "=", "user_id")
    .where("identities.value", "=", identityValue(userId))
    .executeTakeFirst();
  return row?.user_id === userId ? (JSON.parse(row.attributes) as Attributes) : {};
}

/** The newest message says what the client reads; what was said before it in the same answer tells how it was made. */
function resultOf(
  { conversationId }: PendingQuery,
  last: MessagesTable,
  ...before: readonly MessagesTable[]
): QueryResult {
  const made = [last, ...before].find(({ confidence }) => confidence !== null) ?? last;
  return {
    answer: last.content,
    sources: JSON.parse(last.sources ?? "[]") as QueryResult["sources"],
    conversationId,
    messageId: last.id,
    skillsFired: JSON.parse(made.skills ?? "[]") as string[],
    tokensUsed: made.tokens_used ?? 0,
    confidence: made.confidence,
  };
}

function waiting({ waitingMessage, conversationId }: PendingQuery): QueryResult {
  return {
    answer: waitingMessage,
    sources: [],
    conversationId,
    messageId: null,
    skillsFired: [],
    tokensUsed: 0,
    confidence: null,
  };
}

/** A user id that nothing proves names a contact of its own, never the one it claims to be. */
function senderOf({ user, claimed }: Query, thread: string): Sender {
  // The thread's own key: a later turn that names nobody is still this user's.
  return {
    key: thread,
    ...(user === undefined ? {} : { verified: user }),
    ...(claimed === undefined ? {} : { claimed }),
  };
}

function liveOf({ onToken }: Query): LiveAnswer {
  return { whenModelFails: "tell", ...(onToken === undefined ? {} : { onToken }) };
}
