import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import type { TurnPayload } from "./turn-kind.ts";
import { prepareRead } from "#database/dialects/prepared.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { Workspace } from "#database/queries/workspaces.ts";
import type { MessagesTable } from "#database/schema/tables.ts";
import type { Store } from "#database/contract.ts";
import { hasTrait } from "#channels/catalog.ts";
import { withoutRepeatedSentences } from "#language/words/repeated-sentences.ts";
import type { QuestionOptions } from "#conversations/work/question-options.ts";

type RecentMessage = Pick<
  MessagesTable,
  | "id"
  | "seq"
  | "role"
  | "content"
  | "kind"
  | "sources"
  | "audience"
  | "author_id"
  | "files"
  | "metadata"
  | "refers_to"
  | "forwarded"
  | "created_at"
>;

/** One answer of the bot in the making: the messages that it answers, and what it needs of the conversation. */
export interface Turn {
  readonly workspace: Workspace;
  readonly conversation: ConversationRow;
  /** With the bot's texts in the customer's language. */
  readonly settings: WorkspaceSettings;
  readonly options: QuestionOptions;
  /** Over the API each query gets its own answer. */
  readonly perQuery: boolean;
  /** The newest messages, oldest first, at most {@link messagesMax}. */
  readonly messages: readonly RecentMessage[];
  /** The customer's messages to answer, oldest first. */
  readonly unanswered: readonly RecentMessage[];
  readonly first: RecentMessage;
  readonly last: RecentMessage;
  /** The customer's newest message. A deleted one has no text to answer, but must not count as new. */
  readonly lastCustomerSeq: number;
  /** Added to the conversation's count of low answers by a low answer. */
  readonly lowStep: 0 | 1;
}

/** Turns that share the customer's thought: what follows the last answer so soon was not written in reply to it. */
const sameQuestionMs = 5_000;

const historyMax = 12;

export const messagesMax = 50;

/**
 * How long the answer to a message waits for the rest of it, in milliseconds. `isContinued`: an earlier message of the
 * customer is not answered yet.
 */
export type PauseAfter = (message: string, isContinued: boolean) => number;

export interface TurnDependencies {
  readonly store: Store;
  /** Returns the settings with the bot's texts in the language of these messages, newest first. */
  readonly inLanguageOf: (settings: WorkspaceSettings, newestFirst: readonly string[]) => WorkspaceSettings;
  readonly pauseAfter: PauseAfter;
}

/** Reads the messages of a turn. Returns undefined if none is left to answer. */
export async function loadTurn(
  { store, inLanguageOf, pauseAfter }: TurnDependencies,
  workspace: Workspace,
  conversation: ConversationRow,
  { seq, options = {} }: TurnPayload,
): Promise<Turn | undefined> {
  const perQuery = conversation.channel === "api";
  const messages = await recentMessages(store, conversation, perQuery ? seq : undefined);
  const fromCustomer = messages.filter(({ role }) => role === "user");
  const toAnswer = fromCustomer.filter(
    (message) =>
      (message.content !== "" || (message.files ?? 0) > 0) &&
      (perQuery ? message.seq === seq : message.seq > conversation.settled_seq),
  );
  const unanswered = hasTrait(conversation.channel, "complete-messages") ? withoutQuotes(toAnswer, messages) : toAnswer;
  const [first] = unanswered;
  const last = unanswered.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const newestFirst = fromCustomer.map(({ content }) => content).toReversed();
  return {
    workspace,
    conversation,
    settings: inLanguageOf(workspace.settings, newestFirst),
    options,
    perQuery,
    messages,
    unanswered,
    first,
    last,
    lastCustomerSeq: Math.max(...fromCustomer.map((message) => message.seq)),
    lowStep: conversation.low_streak > 0 && !perQuery && isSameQuestion(messages, first, pauseAfter) ? 0 : 1,
  };
}

/** Leaves out what the customers' mails quote of the replies to them, which must not be read as theirs. */
function withoutQuotes(
  written: readonly RecentMessage[],
  messages: readonly RecentMessage[],
): readonly RecentMessage[] {
  const replies = messages.filter(({ role }) => role !== "user").map(({ content }) => content);
  return written.map((message) => {
    const content = withoutRepeatedSentences(message.content, replies);
    return content === "" ? message : { ...message, content };
  });
}

/** Whether the customer wrote this before the last answer, or as a fragment right after it. */
function isSameQuestion(
  messages: readonly RecentMessage[],
  first: RecentMessage,
  pauseAfter: TurnDependencies["pauseAfter"],
): boolean {
  const answer = messages.findLast(({ role }) => role === "assistant");
  if (answer === undefined) return false;
  if (answer.seq > first.seq) return true;
  return first.created_at - answer.created_at < sameQuestionMs && pauseAfter(first.content, false) > 0;
}

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

interface MessageRange extends Readonly<Record<string, string | number>> {
  readonly id: string;
  readonly from: number;
  readonly upTo: number;
}

const messageRows = prepareRead((db, { id, from, upTo }: MessageRange) =>
  db
    .selectFrom("messages")
    .select(["id", "seq", "role", "content", "kind", "sources"])
    .select(["audience", "author_id", "files", "metadata", "refers_to", "forwarded", "created_at"])
    .where("conversation_id", "=", id)
    .where("seq", ">", from)
    .where("seq", "<=", upTo)
    .orderBy("seq", "desc")
    .limit(messagesMax),
);
