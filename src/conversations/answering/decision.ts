import type { Answer, Answerer, JudgeAnger, PastMessage, Question } from "#answering/contract.ts";
import { isChat } from "#channels/catalog.ts";
import type { Store } from "#database/contract.ts";
import { askedForPerson, seemsAngry } from "#domain/conversation/audit-details.ts";
import type { Confidence, Source } from "#domain/conversation/message.ts";
import { tagsOf } from "#domain/workspace/audience.ts";
import { letterBody } from "#language/words/letter-body.ts";
import { untilAborted } from "#runtime/abort.ts";
import { verifiedUser } from "#conversations/contacts/verified-user.ts";
import { markedText, ownWords } from "#conversations/references/forwarded.ts";
import { referenceIn } from "#conversations/references/stored-reference.ts";
import type { Turn } from "./turn.ts";

/** The bot's action in a turn. `escalate`: agents take over. */
export type Decision =
  | {
      readonly kind: "answer";
      readonly answer: Answer;
      /** Tags of the documents that the answer may have used. */
      readonly audience: readonly string[];
      readonly escalate: boolean;
    }
  | { readonly kind: "escalate"; readonly reason: string; readonly cause: EscalationCause; readonly answer?: Answer }
  /** Files without text, which the bot cannot read. Counts as an unknown answer. */
  | { readonly kind: "files_only"; readonly escalate: boolean; readonly answer?: undefined };

/** For administrators who try a question. */
export type EscalationCause =
  /** `phrase`: null where the customer used a button. */
  | { readonly kind: "asked"; readonly phrase: string | null }
  | { readonly kind: "anger"; readonly anger: number; readonly limit: number }
  | { readonly kind: "skill" };

export interface DecisionDependencies {
  readonly store: Store;
  readonly answerer: Answerer;
  readonly humanRequestIn: (text: string, phrases: readonly string[] | null) => string | undefined;
  readonly judgeAnger: JudgeAnger;
}

/** Options of a question whose asker waits for the answer. */
export type LiveAnswer = Pick<Question, "onToken" | "whenModelFails" | "language" | "isTrial" | "onTrace">;

export const sourcesMax = 5;

/** Asks for an answer, unless the customer must talk to a person. Runs outside of transactions. */
export async function decide(
  { store, answerer, humanRequestIn, judgeAnger }: DecisionDependencies,
  turn: Turn,
  live: LiveAnswer,
  signal: AbortSignal,
): Promise<Decision> {
  const { conversation, settings, unanswered, perQuery } = turn;
  for (const message of unanswered) {
    const phrase = humanRequestIn(ownWords(message), settings.escalationPhrases) ?? null;
    // Metadata of API messages belongs to the client and is not ours to interpret.
    if (phrase !== null || (!perQuery && choseAgents(message.metadata))) {
      return { kind: "escalate", reason: askedForPerson, cause: { kind: "asked", phrase } };
    }
  }
  const escalates = (confidence: Confidence): boolean =>
    (confidence === "low" ? conversation.low_streak + turn.lowStep : 0) >= settings.lowAnswersToEscalate;
  const texts = unanswered.map(({ content }) => content).filter((content) => content !== "");
  if (texts.length === 0) return { kind: "files_only", escalate: escalates("low") };
  const { angerToEscalate, angerJudgedBy } = settings;
  const own = unanswered.map(ownWords).filter((text) => text !== "");
  if (angerToEscalate !== null && own.length > 0) {
    const anger = await judgeAnger(own.join("\n"), angerJudgedBy, signal);
    const cause = { kind: "anger", anger, limit: angerToEscalate } as const;
    if (anger >= angerToEscalate) {
      return { kind: "escalate", reason: seemsAngry, cause };
    }
  }
  const question = await questionOf(store, own.length === 0 ? withoutSkills(turn) : turn, live);
  const answer = await untilAborted(answerer.answer(question, signal), signal);
  signal.throwIfAborted();
  if (answer.escalate !== undefined) {
    return { kind: "escalate", reason: answer.escalate, cause: { kind: "skill" }, answer };
  }
  return { kind: "answer", answer, audience: question.audience ?? [], escalate: escalates(answer.confidence) };
}

/** For words of somebody else alone: their wish, their order and their address are not the customer's. */
const withoutSkills = (turn: Turn): Turn => ({ ...turn, settings: { ...turn.settings, skills: [] } });

/** Whether the customer gets the answer's text: before a hand-over, one without an answer is left out. */
export function isAnswerSent(decision: Decision): decision is Extract<Decision, { kind: "answer" }> {
  return decision.kind === "answer" && (decision.answer.answered || !decision.escalate);
}

async function questionOf(store: Store, turn: Turn, live: LiveAnswer): Promise<Question> {
  const { workspace, conversation, settings, messages, unanswered, first } = turn;
  const { userId, ...options } = turn.options;
  const user = await userOf(store, turn, userId);
  // Only one person reads a chat session, so its answers may use documents with an audience.
  const audience =
    user !== null && isChat(conversation.channel)
      ? tagsOf(settings.audiences, user.attributes)
      : (options.audience ?? []);
  // Excludes replies that used documents which this customer may not see.
  const isSeen = (message: Turn["messages"][number]): boolean =>
    tagsIn(message.audience).every((tag) => audience.includes(tag));
  const referenced = await referencedBy(store, turn, isSeen);
  const history = messages
    // Includes replies sent while the first message waited.
    .filter(({ seq, role }) => seq < first.seq || role !== "user")
    .filter(({ seq, content }) => content !== "" && !referenced.some((each) => each.seq === seq));
  const text = askedIn(unanswered.map(({ content }) => content));
  const ownText = askedIn(unanswered.map(ownWords));
  return {
    workspaceId: workspace.id,
    text,
    ...(ownText === text ? {} : { ownText }),
    history: [...history.filter(isSeen).map(pastMessage), ...referenced.map(({ past }) => past)],
    strictness: settings.strictness,
    topK: sourcesMax,
    settings,
    turn: { conversationId: conversation.id, firstSeq: first.seq, user },
    ...options,
    audience,
    // On channels an extract is better than no answer. An API client gets the error instead (`live`).
    whenModelFails: "extract",
    ...live,
  };
}

/** Salutation and signature of a letter are no part of the question. */
const askedIn = (texts: readonly string[]): string =>
  texts
    .map(letterBody)
    .filter((text) => text !== "")
    .join("\n");

/**
 * The message that the customer answers on the platform, below the question that it answers: "and how long does that take?"
 * is about these.
 */
async function referencedBy(
  store: Store,
  { conversation, unanswered }: Turn,
  isSeen: (message: Turn["messages"][number]) => boolean,
): Promise<readonly { readonly past: PastMessage; readonly seq?: number }[]> {
  const reference = unanswered.map((message) => referenceIn(message.refers_to)).findLast((each) => each !== null);
  if (reference === undefined) return [];
  const { message_id: id, text } = reference;
  // Anybody may have written a message that is not known here. It must not pass for the company's words.
  if (id === undefined) return text === undefined ? [] : [{ past: { role: "user", content: text } }];
  const ofConversation = store.read.selectFrom("messages").selectAll().where("conversation_id", "=", conversation.id);
  const row = await ofConversation.where("id", "=", id).executeTakeFirst();
  if (row === undefined || row.content === "" || !isSeen(row)) return [];
  const past = { ...pastMessage(row), ...(text === undefined ? {} : { content: text }) };
  const question =
    row.answers_seq === null ? undefined : await ofConversation.where("seq", "=", row.answers_seq).executeTakeFirst();
  const asked =
    question === undefined || question.content === "" ? [] : [{ past: pastMessage(question), seq: question.seq }];
  return [...asked, { past, seq: row.seq }];
}

/** Only skills and the document audience of a chat need the user. */
async function userOf(
  store: Store,
  { conversation, settings, messages, unanswered, perQuery }: Turn,
  userId: string | undefined,
) {
  if (settings.skills.length === 0 && !isChat(conversation.channel)) return null;
  return verifiedUser(store.read, conversation, messages, unanswered, perQuery ? { userId } : undefined);
}

/** Whether the customer asked for a person by a button, whose text may be in any language. */
function choseAgents(metadata: string | null): boolean {
  return metadata !== null && (JSON.parse(metadata) as { readonly wants_person?: unknown }).wants_person === true;
}

function pastMessage(message: Turn["messages"][number]): PastMessage {
  const { role, kind, sources } = message;
  const content = markedText(message);
  if ((kind !== "answer" && kind !== "refusal") || sources === null) return { role, content };
  const past = { role, content, sources: JSON.parse(sources) as readonly Source[] };
  return kind === "refusal" ? { ...past, isRefusal: true } : past;
}

const tagsIn = (audience: string | null): readonly string[] =>
  audience === null ? [] : (JSON.parse(audience) as readonly string[]);
