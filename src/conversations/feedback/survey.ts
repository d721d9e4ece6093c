import type { Store, Tx } from "#database/contract.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import { lockConversation } from "#database/queries/conversations.ts";
import { finishWork } from "#database/queries/outbox.ts";
import { settingsIn } from "#database/queries/workspaces.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { PayloadOf, Work, WorkDeclaration } from "#database/work.ts";
import { declareWork, eachRow } from "#database/work.ts";
import { insertRows } from "#database/dialects/insert-rows.ts";
import type { Resolution } from "#domain/reporting/tally.ts";
import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import type { Channels } from "#channels/channels.ts";
import { DeliveryError } from "#channels/errors.ts";
import { addBotMessage, readyIfLoaded } from "#conversations/delivery/bot-message.ts";
import { windowOf } from "#conversations/delivery/reroute/reply-window.ts";
import type { Effects, PublishEffects } from "#conversations/work/effects.ts";
import { createUnitOfWork } from "#conversations/transaction/unit-of-work.ts";
import type { Checkpoint } from "#runtime/checkpoints.ts";
import type { Clock } from "#runtime/clock.ts";
import { surveyTextOn } from "./survey-text.ts";
import { surveyKind } from "#conversations/work/survey-work.ts";

interface SurveyDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly channels: Channels;
  readonly search: ConversationSearch;
  readonly checkpoint: Checkpoint;
  readonly publishEffects: PublishEffects;
  readonly inLanguageOf: (settings: WorkspaceSettings, newestFirst: readonly string[]) => WorkspaceSettings;
}

type SurveyWork = Work<PayloadOf<typeof surveyKind>>;

/** Asks for a rating some time after a conversation was resolved, and thanks for a typed one. */
export function declareSurvey(dependencies: SurveyDependencies): WorkDeclaration {
  const { checkpoint, publishEffects } = dependencies;
  return declareWork(surveyKind, {
    attemptsMax: 12,
    run: eachRow(async (row) => {
      checkpoint("survey.before");
      const effects = await sendMessage(dependencies, row);
      checkpoint("survey.stored");
      publishEffects(effects);
    }),
  });
}

/** The adapter must be loaded outside a transaction, because it renders the message inside. */
async function sendMessage(dependencies: SurveyDependencies, work: SurveyWork): Promise<Effects | null> {
  const { store, clock, channels, search, inLanguageOf } = dependencies;
  const { conversationId, thanks } = work.payload;
  const conversation = await store.read
    .selectFrom("conversations")
    .select(["account_id", "via_account_id", "workspace_id"])
    .where("id", "=", conversationId)
    .executeTakeFirst();
  const isConnected = conversation !== undefined && (await isAvailable(channels, conversation.account_id));
  if (conversation !== undefined && conversation.via_account_id !== null) {
    await readyIfLoaded(channels, conversation.via_account_id);
  }
  return store.write(async (tx) => {
    await finishWork(tx, [work]);
    if (conversation === undefined || !isConnected) return null;
    const row = await lockConversation(tx, conversation.workspace_id, conversationId);
    const now = clock.now();
    if (row === undefined || !canAsk(channels, row, now)) return null;
    const isDue = thanks === true || ((await isFirst(tx, row)) && (await wasHelped(tx, row)));
    if (!isDue) return null;
    const settings = inLanguageOf(await settingsIn(tx, row.workspace_id), await customerTexts(tx, row));
    const changes = createUnitOfWork(now, search);
    const draft = changes.track(row, settings, false);
    // A survey and its thanks must not trigger rules.
    const message = draft.asRule(() =>
      thanks === true
        ? addBotMessage(draft, channels, settings, [], { content: settings.ratedMessage })
        : addBotMessage(draft, channels, settings, [], {
            content: surveyTextOn(row.channel, settings.surveyMessage),
            kind: "survey",
          }),
    );
    if (thanks !== true) {
      const { id: messageId, seq } = message;
      const sent = { conversation_id: row.id, message_id: messageId, seq, agent: resolverOf(row), sent_at: now };
      await insertRows(tx, "surveys", [sent]);
    }
    return changes.flush(tx);
  });
}

/** False: the account was removed. */
async function isAvailable(channels: Channels, id: string): Promise<boolean> {
  try {
    await channels.ready({ id });
    return true;
  } catch (error) {
    if (!(error instanceof DeliveryError)) throw error;
    return false;
  }
}

/** A conversation that was opened again is rated after its next resolve. */
function canAsk(channels: Channels, row: ConversationRow, now: number): boolean {
  if (row.status !== "resolved" || row.unreachable !== null) return false;
  if (channels.adapter({ id: row.account_id }).capabilities.noSurveys === true) return false;
  return windowOf(channels, row, now)?.isOpen !== false;
}

async function isFirst(tx: Tx, { id }: ConversationRow): Promise<boolean> {
  const sent = await tx.selectFrom("surveys").select("seq").where("conversation_id", "=", id).executeTakeFirst();
  return sent === undefined;
}

/** A greeting alone is nothing to rate: the bot has found an answer, or an agent has replied. */
async function wasHelped(tx: Tx, { id }: ConversationRow): Promise<boolean> {
  const reply = await tx
    .selectFrom("messages")
    .select("id")
    .where("conversation_id", "=", id)
    .where("deleted_at", "is", null)
    .where((where) => where.or([where("role", "=", "agent"), where("kind", "=", "answer")]))
    .limit(1)
    .executeTakeFirst();
  return reply !== undefined;
}

const textsRead = 5;

/** The customer's last messages, newest first, which decide the language. */
async function customerTexts(tx: Tx, { id }: ConversationRow): Promise<readonly string[]> {
  const rows = await tx
    .selectFrom("messages")
    .select("content")
    .where("conversation_id", "=", id)
    .where("role", "=", "user")
    .where("kind", "is", null)
    .orderBy("seq", "desc")
    .limit(textsRead)
    .execute();
  return rows.map(({ content }) => content);
}

/** The agent who resolved the conversation, as the reports count it. */
function resolverOf({ resolution, assigned_to: owner }: ConversationRow): string | null {
  return resolution === null ? owner : (JSON.parse(resolution) as Resolution).agent;
}
