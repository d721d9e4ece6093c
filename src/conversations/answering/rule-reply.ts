import type { RuleReply } from "#conversations/work/rule-reply-work.ts";
import { ruleReplyKind } from "#conversations/work/rule-reply-work.ts";
import type { Checkpoint } from "#runtime/checkpoints.ts";
import type { Work, WorkDeclaration } from "#database/work.ts";
import { declareWork, eachRow } from "#database/work.ts";
import type { Status } from "#domain/conversation/status.ts";
import { systemActor } from "#domain/conversation/message.ts";
import { lockConversation } from "#database/queries/conversations.ts";
import { agentHasWritten } from "#database/queries/messages.ts";
import { finishWork } from "#database/queries/outbox.ts";
import { lockDraft } from "#conversations/transaction/lock-conversation.ts";
import { ruleActor } from "#conversations/automation/rule-actions.ts";
import type { Effects, PublishEffects } from "#conversations/work/effects.ts";
import { createUnitOfWork } from "#conversations/transaction/unit-of-work.ts";
import type { Channels } from "#channels/channels.ts";
import type { Clock } from "#runtime/clock.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Store, Tx } from "#database/contract.ts";
import { readyIfLoaded, addBotMessage } from "#conversations/delivery/bot-message.ts";
import { insertNote } from "#conversations/transaction/insert-note.ts";
import { settingsIn } from "#database/queries/workspaces.ts";

export interface RuleReplyDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly channels: Channels;
  readonly search: ConversationSearch;
  readonly checkpoint: Checkpoint;
  readonly publishEffects: PublishEffects;
}

export function declareRuleReply(dependencies: RuleReplyDependencies): WorkDeclaration {
  const { search, checkpoint, publishEffects } = dependencies;
  return declareWork(ruleReplyKind, {
    attemptsMax: 12,
    run: eachRow(async (row) => {
      checkpoint("speak.before");
      const effects = await sendRuleReply(dependencies, row);
      checkpoint("speak.stored");
      publishEffects(effects);
    }),
    async onAbandon(tx, row, reason, now) {
      const effects = await abandonRuleReply(tx, search, row, reason, now);
      return () => publishEffects(effects);
    },
  });
}

/**
 * Sends a reply that a rule has queued. It is work of its own because the adapter must be loaded outside a transaction.
 * The reply is dropped if an agent has written or the status has changed meanwhile.
 */
async function sendRuleReply(dependencies: RuleReplyDependencies, row: Work<RuleReply>): Promise<Effects | null> {
  const { store, clock, channels, search } = dependencies;
  const reply = row.payload;
  const conversation = await store.read
    .selectFrom("conversations")
    .select(["account_id", "via_account_id", "workspace_id"])
    .where("id", "=", reply.conversationId)
    .executeTakeFirst();
  if (conversation !== undefined) {
    await channels.ready({ id: conversation.account_id });
    if (conversation.via_account_id !== null) await readyIfLoaded(channels, conversation.via_account_id);
  }
  return store.write(async (tx) => {
    await finishWork(tx, [row]);
    const locked =
      conversation === undefined
        ? undefined
        : await lockConversation(tx, conversation.workspace_id, reply.conversationId);
    if (locked === undefined) return null;
    const settings = await settingsIn(tx, locked.workspace_id);
    const changes = createUnitOfWork(clock.now(), search);
    const draft = changes.track(locked, settings, false);
    const objection = await objectionTo(tx, reply, locked.status);
    draft.asRule(() => {
      if (objection === undefined) {
        const { text, answersSeq } = reply;
        addBotMessage(draft, channels, settings, [], { content: text, ...(answersSeq === null ? {} : { answersSeq }) });
        return;
      }
      draft.audit("rule_fired", ruleActor(reply.rule), { detail: `not said to the customer: ${objection}` });
      draft.touch();
    });
    return changes.flush(tx);
  });
}

async function objectionTo(tx: Tx, reply: RuleReply, status: Status): Promise<string | undefined> {
  if (status !== reply.status) return `the conversation is ${status} by now`;
  const agent = await agentHasWritten(tx, reply.conversationId, reply.seq);
  return agent ? "an agent has written meanwhile" : undefined;
}

/** Notifies the agents of a reply that could not be sent. */
async function abandonRuleReply(
  tx: Tx,
  search: ConversationSearch,
  { payload: { conversationId, rule } }: Work<RuleReply>,
  reason: string,
  now: number,
): Promise<Effects | null> {
  const locked = await lockDraft(tx, search, conversationId, now);
  if (locked === undefined) return null;
  const { changes, draft } = locked;
  const content = `The rule "${rule}" could not reply to the customer: ${reason}`;
  await insertNote(tx, draft, { content, authorEmail: "system" }, systemActor("delivery"), now);
  return changes.flush(tx);
}
