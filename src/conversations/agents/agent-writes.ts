import type { Engine } from "#conversations/contract.ts";
import type { Channels } from "#channels/channels.ts";
import type { Workspace } from "#database/queries/workspaces.ts";
import type { Clock } from "#runtime/clock.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Files } from "#files/contract.ts";
import type { Store, Tx } from "#database/contract.ts";
import { previewReply } from "./preview-reply.ts";
import { sendLane } from "#queue/lanes.ts";
import type { Effects, PublishEffects } from "#conversations/transaction/effects/effects.ts";
import type { FindLocalWorker } from "#conversations/transaction/local-worker.ts";
import { claimForAgent } from "#conversations/transaction/local-worker.ts";
import { writeConversation } from "#conversations/transaction/lock-conversation.ts";
import { createUnitOfWork } from "#conversations/transaction/unit-of-work.ts";
import { applyAction } from "./actions.ts";
import { applyMacro } from "./macros.ts";
import { handleAgentMessage } from "./inbox-messages.ts";
import { readyToReply, storeAgentReply } from "./store-reply.ts";
import { requireConversation, updateConversation } from "./update.ts";
import { insertNote } from "#conversations/transaction/insert-note.ts";

export interface AgentWritesDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly channels: Channels;
  readonly search: ConversationSearch;
  readonly files: Files;
  readonly localWorker: FindLocalWorker;
  readonly publishEffects: PublishEffects;
  readonly workspaceOf: (id: string) => Promise<Workspace>;
}

type AgentWrites = Pick<
  Engine,
  "reply" | "previewReply" | "update" | "addNote" | "applyAction" | "applyMacro" | "postAgentMessage"
>;

/** Changes of a conversation by agents and API clients: one transaction each. */
export function createAgentWrites(dependencies: AgentWritesDependencies): AgentWrites {
  const { channels, search, files, localWorker, publishEffects, workspaceOf } = dependencies;

  /** Publishes the effects after the commit. */
  async function write<R extends { readonly effects: Effects | null }>(
    conversationId: string,
    change: (tx: Tx, now: number) => Promise<R>,
  ): Promise<R> {
    const written = await writeConversation(dependencies, conversationId, change);
    publishEffects(written.effects);
    return written;
  }

  const claimReply = <E extends Effects | null>(tx: Tx, effects: E, conversationId: string, now: number) =>
    claimForAgent(tx, localWorker(), effects, sendLane(conversationId), now);

  return {
    async reply(reply) {
      const { conversationId } = reply;
      const workspace = await workspaceOf(reply.workspaceId);
      const followUp = await readyToReply(dependencies, conversationId);
      const { messageId, seq } = await write(conversationId, async (tx, now) => {
        const replied = await storeAgentReply(tx, channels, search, files, workspace, reply, now, followUp);
        return { ...replied, effects: await claimReply(tx, replied.effects, conversationId, now) };
      });
      return { messageId, seq };
    },
    previewReply: (workspaceId, id, content) => previewReply(dependencies, workspaceId, id, content),
    async update(workspaceId, id, change, actor) {
      const workspace = await workspaceOf(workspaceId);
      if (change.status === "escalated") await readyToReply(dependencies, id);
      await write(id, async (tx, now) => ({
        effects: await updateConversation(tx, channels, search, workspace, id, change, actor, now),
      }));
    },
    async addNote(workspaceId, id, note, actor) {
      const workspace = await workspaceOf(workspaceId);
      const { added } = await write(id, async (tx, now) => {
        const row = await requireConversation(tx, workspace.id, id);
        const changes = createUnitOfWork(now, search);
        const noted = await insertNote(tx, changes.track(row, workspace.settings, false), note, actor, now);
        return { added: noted, effects: await changes.flush(tx) };
      });
      return added;
    },
    async applyAction(workspaceId, id, action, agent, expected) {
      const workspace = await workspaceOf(workspaceId);
      const { result } = await write(id, (tx, now) =>
        applyAction(tx, { channels, search }, workspace, id, action, agent, expected, now),
      );
      return result;
    },
    async applyMacro(workspaceId, id, request, agent) {
      const workspace = await workspaceOf(workspaceId);
      const followUp = await readyToReply(dependencies, id);
      const { result } = await write(id, async (tx, now) => {
        const applied = await applyMacro(tx, dependencies, workspace, id, request, agent, followUp, now);
        return { ...applied, effects: await claimReply(tx, applied.effects, id, now) };
      });
      return result;
    },
    async postAgentMessage(workspaceId, id, message, agent) {
      const workspace = await workspaceOf(workspaceId);
      const followUp = await readyToReply(dependencies, id);
      const { result } = await write(id, async (tx, now) => {
        const handled = await handleAgentMessage(tx, dependencies, workspace, id, message, agent, followUp, now);
        return { ...handled, effects: await claimReply(tx, handled.effects, id, now) };
      });
      return result;
    },
  };
}
