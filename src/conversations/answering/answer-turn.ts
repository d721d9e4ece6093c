import type { QuestionOptions } from "./question-options.ts";
import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import { tagsOf } from "#domain/workspace/audience.ts";
import type { Actor } from "#domain/conversation/message.ts";
import { isChat, systemActor } from "#domain/conversation/message.ts";
import { Problem } from "#domain/problem.ts";
import { letterBody } from "#language/mail-body.ts";
import { botMayAnswer } from "#domain/conversation/status.ts";
import type { SkillCall } from "#domain/workspace/skill.ts";
import type { Confidence } from "#domain/conversation/message.ts";
import { untilAborted } from "#runtime/abort.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import { lockConversations } from "#database/queries/conversations.ts";
import type { OutboxRow } from "#database/queries/outbox.ts";
import { finishWork, hasWork } from "#database/queries/outbox.ts";
import { prepareRead } from "#database/dialects/prepared.ts";
import type { MessagesTable } from "#database/schema/tables.ts";
import type { Draft } from "#conversations/transaction/draft.ts";
import type { Effects } from "#conversations/transaction/effects.ts";
import { createUnitOfWork } from "#conversations/transaction/unit-of-work.ts";
import { claimDetails, verifiedUser } from "#conversations/contacts/verified-user.ts";
import type { FindLocalWorker } from "#conversations/transaction/local-worker.ts";
import { claimInline } from "#conversations/transaction/local-worker.ts";
import type { Answer, Answerer, JudgeAnger, Question } from "#answering/contract.ts";
import type { Channels } from "#channels/channels.ts";
import type { Clock } from "#runtime/clock.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Store, Tx } from "#database/contract.ts";
import { turnLane } from "#queue/lanes.ts";
import { handOver, readyIfLoaded, addBotMessage } from "./bot-message.ts";
import { createBatchWriter } from "#queue/batch-writer.ts";
import type { Workspace } from "#database/queries/workspaces.ts";

export interface AnswerTurnDependencies {
  readonly store: Store;
  /** Made by {@link createTurnCommitter}; all turns share it, so that their commits are batched. */
  readonly commitTurn: (turn: TurnCommit) => Promise<TurnResult>;
  readonly clock: Clock;
  readonly answerer: Answerer;
  readonly channels: Channels;
  readonly search: ConversationSearch;
  readonly asksForHuman: (text: string, phrases: readonly string[]) => boolean;
  /** Returns the settings with the bot's texts in the language of these messages, newest first. */
  readonly inLanguageOf: (settings: WorkspaceSettings, newestFirst: readonly string[]) => WorkspaceSettings;
  readonly judgeAnger: JudgeAnger;
}

/** Options of an API query whose client waits for the answer. */
export type LiveAnswer = Pick<Question, "onToken" | "whenModelFails">;

export interface TurnResult {
  readonly effects: Effects | null;
  /** The stored reply. Null if it was no longer the bot's turn. */
  readonly reply: MessagesTable | null;
  readonly answer: Answer | null;
}

const historyMax = 12;
const sourcesMax = 5;
/** A customer who keeps writing gets an answer to their messages after this time. */
const patienceMs = 2_000;

const silent: TurnResult = { effects: null, reply: null, answer: null };

type Decision =
  | { readonly kind: "answer"; readonly answer: Answer; readonly escalate: boolean }
  | { readonly kind: "escalate"; readonly reason: string; readonly answer?: Answer }
  /** Files without text, which the bot cannot read. Counts as an unknown answer. */
  | { readonly kind: "files_only"; readonly escalate: boolean; readonly answer?: undefined };

/**
 * Answers the customer's messages since the last settled one: one answer for several messages, or, over the API, one for
 * each query. The reply is stored only if it is still the bot's turn. If the customer has written meanwhile, the answer is
 * discarded once, within {@link patienceMs}, so that one reply answers all messages.
 */
export async function answerTurn(
  { store, commitTurn, answerer, channels, asksForHuman, inLanguageOf, judgeAnger }: AnswerTurnDependencies,
  workspace: Workspace,
  rows: readonly OutboxRow[],
  live: LiveAnswer,
  signal: AbortSignal,
  /** The conversation, if the caller has just read it. */
  read?: ConversationRow,
): Promise<TurnResult> {
  const [first] = rows;
  if (first === undefined) return silent;
  const { conversationId, seq, options } = JSON.parse(first.payload) as {
    readonly conversationId: string;
    readonly seq: number;
    readonly options?: QuestionOptions;
  };
  const conversation = read ?? (await readConversation(store, conversationId));
  if (conversation === undefined || !botMayAnswer(conversation.status)) return finish(null);
  await channels.ready({ id: conversation.account_id });
  if (conversation.via_account_id !== null) await readyIfLoaded(channels, conversation.via_account_id);
  const perQuestion = conversation.channel === "api";
  const messages = await recentMessages(store, conversation, perQuestion ? seq : undefined);
  let audience = options?.audience ?? [];
  const asked = messages.filter(
    (message) =>
      message.role === "user" &&
      (message.content !== "" || (message.files ?? 0) > 0) &&
      (perQuestion ? message.seq === seq : message.seq > conversation.settled_seq),
  );
  const last = asked.at(-1);
  if (last === undefined) return finish(null);
  // A deleted message has no text to answer, and must not count as a new one.
  const known = Math.max(...messages.filter(({ role }) => role === "user").map((message) => message.seq));
  const written = messages.filter(({ role }) => role === "user").map(({ content }) => content);
  const settings = inLanguageOf(workspace.settings, written.toReversed());
  const text = asked
    .map(({ content }) => content)
    .filter((content) => content !== "")
    .join("\n");

  const stopTyping = perQuestion
    ? undefined
    : channels.typingSoon({ id: conversation.account_id }, conversation.context_key, {
        role: "assistant",
        name: settings.botName,
      });
  let turn: Decision;
  let isHeld = false;
  try {
    turn = await decide(conversation);
  } catch (error) {
    // The turn is retried soon, so the typing indicator stays on.
    isHeld = error instanceof Problem && error.code === "search_unavailable";
    throw error;
  } finally {
    if (!isHeld) stopTyping?.();
  }
  return finish(turn);

  async function decide(current: ConversationRow): Promise<Decision> {
    if (
      asked.some(
        ({ content, metadata }) =>
          // Metadata of API messages belongs to the client and is not ours to interpret.
          asksForHuman(content, settings.escalationPhrases) || (!perQuestion && hasChosen(metadata)),
      )
    ) {
      return { kind: "escalate", reason: "the customer asked for a person" };
    }
    const streakWith = (confidence: Confidence): number => (confidence === "low" ? current.low_streak + 1 : 0);
    if (text === "") {
      return { kind: "files_only", escalate: streakWith("low") >= settings.lowAnswersToEscalate };
    }
    const { angerToEscalate, angerJudgedBy } = settings;
    if (angerToEscalate !== null && (await judgeAnger(text, angerJudgedBy, signal)) >= angerToEscalate) {
      return { kind: "escalate", reason: "the customer seems to be angry or frustrated" };
    }
    const { userId, ...choices } = options ?? {};
    const user = await askerOf(current, userId);
    // Only one person reads a chat session, so its answers may use documents with an audience.
    if (user !== null && isChat(current.channel)) audience = tagsOf(settings.audiences, user.attributes);
    const question: Question = {
      workspaceId: workspace.id,
      // Salutation and signature of a letter are no part of the question.
      text: asked
        .map(({ content }) => letterBody(content))
        .filter((content) => content !== "")
        .join("\n"),
      history: messages
        // Replies sent while the first of them waited belong to the history.
        .filter(({ seq: at, role }) => at < (asked[0]?.seq ?? 0) || role !== "user")
        .filter(({ content }) => content !== "")
        // Excludes replies that used documents which this customer may not see.
        .filter((message) => tagsIn(message.audience).every((tag) => audience.includes(tag)))
        .map(({ role, content }) => ({ role, content })),
      strictness: settings.strictness,
      topK: sourcesMax,
      settings,
      turn: {
        conversationId,
        firstSeq: asked[0]?.seq ?? 0,
        user,
      },
      ...choices,
      audience,
      // On channels an extract is better than no answer. An API client gets the error instead (`live`).
      whenModelFails: "extract",
      ...live,
    };
    const answer = await untilAborted(answerer.answer(question, signal), signal);
    signal.throwIfAborted();
    if (answer.escalate !== undefined) return { kind: "escalate", reason: answer.escalate, answer };
    return { kind: "answer", answer, escalate: streakWith(answer.confidence) >= settings.lowAnswersToEscalate };
  }

  /** Needed by skills and for the chat's document audience only. */
  async function askerOf(current: ConversationRow, userId: string | undefined) {
    if (settings.skills.length === 0 && !isChat(current.channel)) return null;
    return verifiedUser(store.read, current, messages, asked, perQuestion ? { userId } : undefined);
  }

  function finish(found: Decision | null): Promise<TurnResult> {
    if (found === null || last === undefined) return commitTurn({ rows, signal });
    const { seq: lastSeq } = last;
    return commitTurn({
      rows,
      signal,
      said: {
        workspaceId: workspace.id,
        conversationId,
        settings,
        async say(tx, draft, now) {
          const { row } = draft;
          if (!botMayAnswer(row.status)) return null;
          if (!perQuestion && row.settled_seq >= lastSeq) return null;
          // A newer message has its own work, unless a rule has answered it.
          const goesOn = !perQuestion && row.last_customer_seq > known && (await hasWork(tx, turnLane(row.id)));
          if (goesOn && mayWait(now)) return null;
          const answersSeq = perQuestion ? lastSeq : known;
          const reply = commitResult(
            draft,
            found,
            answersSeq,
            perQuestion || goesOn ? answersSeq : row.last_customer_seq,
          );
          for (const { skill, outcome, arguments: names } of callsOf(found.answer)) {
            const told = names.length === 0 ? "" : ` (${names.join(", ")})`;
            draft.audit("skill_called", assistant(settings.botName), { to: skill, detail: `${outcome}${told}` });
          }
          if (found.answer?.lead !== undefined) await claimDetails(tx, draft, found.answer.lead, now);
          return { reply, answer: found.answer ?? null };
        },
      },
    });
  }

  /** Whether this answer may be discarded in favour of one that includes newer messages. */
  function mayWait(now: number): boolean {
    const oldest = asked[0];
    if (oldest === undefined || now - oldest.created_at >= patienceMs) return false;
    // A discarded answer has deleted the rows of its messages, so it is discarded once only.
    const seqs = new Set(rows.map(({ payload }) => (JSON.parse(payload) as { readonly seq: number }).seq));
    return messages.length < messagesMax && asked.every((message) => seqs.has(message.seq));
  }

  function commitResult(draft: Draft, found: Decision, answersSeq: number, settledSeq: number): MessagesTable {
    const { row } = draft;
    row.settled_seq = Math.max(row.settled_seq, settledSeq);
    const answer = found.kind === "answer" ? found.answer : null;
    const escalate = found.kind === "escalate" || found.escalate;
    let reply: MessagesTable | undefined;
    if (found.kind === "files_only" && !escalate) {
      row.low_streak += 1;
      reply = addBotMessage(draft, channels, settings, [], {
        content: settings.filesOnlyMessage,
        answersSeq,
        confidence: "low",
      });
    }
    if (answer !== null && (answer.answered || !escalate)) {
      row.low_streak = answer.confidence === "low" ? row.low_streak + 1 : 0;
      const said = {
        content: answer.text,
        answersSeq,
        confidence: answer.confidence,
        skills: JSON.stringify(answer.skillsFired),
        tokensUsed: answer.tokensUsed,
        audience: audience.length === 0 ? null : JSON.stringify(audience),
      };
      reply = addBotMessage(draft, channels, settings, answer.sources.slice(0, sourcesMax), said, escalate);
    }
    if (!escalate) {
      if (reply === undefined) throw new Error("a turn that does not escalate has an answer");
      return reply;
    }
    const reason =
      found.kind === "escalate" ? found.reason : `${settings.lowAnswersToEscalate} answers in a row of low confidence`;
    const spent = found.kind === "escalate" ? found.answer : undefined;
    return handOver(draft, channels, settings, systemActor("escalation"), {
      reason,
      answersSeq,
      ...(spent === undefined ? {} : { skills: spent.skillsFired, tokensUsed: spent.tokensUsed }),
    });
  }
}

/** The result of one turn, to be stored. */
export interface TurnCommit {
  /** The outbox rows that the turn ends. */
  readonly rows: readonly OutboxRow[];
  readonly signal: AbortSignal;
  /** Absent: no reply. */
  readonly said?: {
    readonly workspaceId: string;
    readonly conversationId: string;
    readonly settings: WorkspaceSettings;
    /** Returns null if it is no longer the bot's turn. */
    say(tx: Tx, draft: Draft, now: number): Promise<Pick<TurnResult, "reply" | "answer"> | null>;
  };
}

/** Stores the results of turns that end at the same time in one transaction. */
export function createTurnCommitter({
  store,
  clock,
  search,
  localWorker,
}: {
  readonly store: Store;
  readonly clock: Clock;
  readonly search: ConversationSearch;
  readonly localWorker: FindLocalWorker;
}): (turn: TurnCommit) => Promise<TurnResult> {
  async function commitAll(tx: Tx, turns: readonly TurnCommit[]): Promise<readonly TurnResult[]> {
    // A turn that was aborted must not be stored.
    for (const { signal } of turns) signal.throwIfAborted();
    // Throws LostLease if another process has taken over: that one replies.
    await finishWork(
      tx,
      turns.flatMap(({ rows }) => rows),
    );
    const ids = turns.flatMap(({ said }) => said?.conversationId ?? []);
    const conversations = new Map((await lockConversations(tx, ids)).map((row) => [row.id, row]));
    const changes = createUnitOfWork(clock.now(), search);
    const thoughts: TurnResult[] = [];
    let first: number | undefined;
    for (const { said } of turns) {
      const row = said === undefined ? undefined : conversations.get(said.conversationId);
      const outcome =
        said === undefined || row === undefined || row.workspace_id !== said.workspaceId
          ? null
          : await said.say(tx, changes.track(row, said.settings, false), changes.now);
      if (outcome !== null) first ??= thoughts.length;
      thoughts.push(outcome === null ? silent : { ...outcome, effects: null });
    }
    if (first === undefined) return thoughts;
    // These are the effects of all turns, so only the first returns them.
    const effects = await claimInline(tx, localWorker(), await changes.flush(tx), changes.now);
    return thoughts.map((thought, at) => (at === first ? { ...thought, effects } : thought));
  }

  return createBatchWriter({
    store,
    all: commitAll,
    async alone(tx, turn) {
      const [thought = silent] = await commitAll(tx, [turn]);
      return thought;
    },
  });
}

/** Records the document search as a skill call, with no more than the answer shows. */
function callsOf(answer: Answer | undefined): readonly SkillCall[] {
  if (answer === undefined) return [];
  const { calls = [], skillsFired, sources, answered } = answer;
  const searched = skillsFired.filter((name) => !calls.some(({ skill }) => skill === name));
  const outcome = answered
    ? `answered, with ${sources.length} ${sources.length === 1 ? "source" : "sources"}`
    : "found no answer";
  return [...calls, ...searched.map((skill) => ({ skill, arguments: [], outcome }))];
}

const assistant = (name: string): Actor => ({ type: "assistant", id: null, name });

/** Whether the customer asked for a person by a button, whose text may be in any language. */
function hasChosen(metadata: string | null): boolean {
  return metadata !== null && (JSON.parse(metadata) as { readonly wants_person?: unknown }).wants_person === true;
}

type RecentMessage = Pick<
  MessagesTable,
  "id" | "seq" | "role" | "content" | "audience" | "author_id" | "files" | "metadata" | "created_at"
>;

/** Of many messages only the newest are read. */
const messagesMax = 50;

/** `upTo`: messages after this one are ignored. */
async function recentMessages(
  store: Store,
  conversation: ConversationRow,
  upTo: number | undefined,
): Promise<RecentMessage[]> {
  const from = Math.min(conversation.settled_seq, conversation.last_customer_seq, upTo ?? Infinity) - historyMax;
  const rows = await messageRows(store, { id: conversation.id, from, upTo: upTo ?? Number.MAX_SAFE_INTEGER });
  return rows.toReversed();
}

export async function readConversation(store: Store, conversationId: string): Promise<ConversationRow | undefined> {
  const [row] = await conversationRows(store, { conversationId });
  return row;
}

const conversationRows = prepareRead((db, { conversationId }: { readonly conversationId: string }) =>
  db.selectFrom("conversations").selectAll().where("id", "=", conversationId),
);

interface MessageRange extends Readonly<Record<string, string | number>> {
  readonly id: string;
  readonly from: number;
  readonly upTo: number;
}

const messageRows = prepareRead((db, { id, from, upTo }: MessageRange) =>
  db
    .selectFrom("messages")
    .select(["id", "seq", "role", "content", "audience", "author_id", "files", "metadata", "created_at"])
    .where("conversation_id", "=", id)
    .where("seq", ">", from)
    .where("seq", "<=", upTo)
    .orderBy("seq", "desc")
    .limit(messagesMax),
);

const tagsIn = (audience: string | null): readonly string[] =>
  audience === null ? [] : (JSON.parse(audience) as readonly string[]);
