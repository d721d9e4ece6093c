import type { RuleReply } from "./rule-reply-work.ts";
import type { Status } from "#domain/conversation/status.ts";
import { systemActor } from "#domain/conversation/message.ts";
import { lockConversation } from "#database/queries/conversations.ts";
import { agentHasWritten } from "#database/queries/messages.ts";
import type { OutboxRow } from "#database/queries/outbox.ts";
import { finishWork } from "#database/queries/outbox.ts";
import { lockDraft } from "#conversations/transaction/lock-conversation.ts";
import { ruleActor } from "#conversations/automation/rules.ts";
import type { Effects } from "#conversations/transaction/effects.ts";
import { createUnitOfWork } from "#conversations/transaction/unit-of-work.ts";
import type { Channels } from "#channels/channels.ts";
import type { Clock } from "#runtime/clock.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Store, Tx } from "#database/contract.ts";
import { readyIfLoaded, addBotMessage } from "./bot-message.ts";
import { insertNote } from "#conversations/agents/update.ts";
import { settingsIn } from "#database/queries/workspaces.ts";

/**
 * Sends a reply that a rule has queued. It is work of its own because the adapter must be loaded outside a transaction.
 * The reply is dropped if an agent has written or the status has changed meanwhile.
 */
export async function sendRuleReply(
  dependencies: {
    readonly store: Store;
    readonly clock: Clock;
    readonly channels: Channels;
    readonly search: ConversationSearch;
  },
  row: OutboxRow,
): Promise<Effects | null> {
  const { store, clock, channels, search } = dependencies;
  const speech = JSON.parse(row.payload) as RuleReply;
  const found = await store.read
    .selectFrom("conversations")
    .select(["account_id", "via_account_id", "workspace_id"])
    .where("id", "=", speech.conversationId)
    .executeTakeFirst();
  if (found !== undefined) {
    await channels.ready({ id: found.account_id });
    if (found.via_account_id !== null) await readyIfLoaded(channels, found.via_account_id);
  }
  return store.write(async (tx) => {
    await finishWork(tx, [row]);
    const locked =
      found === undefined ? undefined : await lockConversation(tx, found.workspace_id, speech.conversationId);
    if (locked === undefined) return null;
    const settings = await settingsIn(tx, locked.workspace_id);
    const changes = createUnitOfWork(clock.now(), search);
    const draft = changes.track(locked, settings, false);
    const objection = await objectionTo(tx, speech, locked.status);
    draft.asRule(() => {
      if (objection === undefined) {
        const { text, answersSeq } = speech;
        addBotMessage(draft, channels, settings, [], { content: text, ...(answersSeq === null ? {} : { answersSeq }) });
        return;
      }
      draft.audit("rule_fired", ruleActor(speech.rule), { detail: `not said to the customer: ${objection}` });
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

/** Called in the transaction that makes the reply a dead letter. Notifies the agents. */
export async function abandonRuleReply(
  tx: Tx,
  search: ConversationSearch,
  row: OutboxRow,
  reason: string,
  now: number,
): Promise<Effects | null> {
  const { conversationId, rule } = JSON.parse(row.payload) as RuleReply;
  const locked = await lockDraft(tx, search, conversationId, now);
  if (locked === undefined) return null;
  const { changes, draft } = locked;
  const content = `The rule "${rule}" could not reply to the customer: ${reason}`;
  await insertNote(tx, draft, { content, authorEmail: "system" }, systemActor("delivery"), now);
  return changes.flush(tx);
}
