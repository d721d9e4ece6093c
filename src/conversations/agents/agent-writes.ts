import type { Channels } from "#channels/channels.ts";
import type { Workspace } from "#database/queries/workspaces.ts";
import type { Clock } from "#runtime/clock.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Files } from "#files/contract.ts";
import type { Store, Tx } from "#database/contract.ts";
import type { Actor } from "#domain/conversation/message.ts";
import type { Expected } from "#channels/desk/contract.ts";
import type { AgentReply, ConversationChange } from "./requests.ts";
import { previewReply } from "./preview-reply.ts";
import type { PreviewedReply } from "./preview-reply.ts";
import { sendLane } from "#queue/lanes.ts";
import type { Effects, PublishEffects } from "#conversations/work/effects.ts";
import type { FindLocalWorker } from "#conversations/transaction/local-worker.ts";
import { claimForAgent } from "#conversations/transaction/local-worker.ts";
import { requireConversation, writeConversation } from "#conversations/transaction/lock-conversation.ts";
import { createUnitOfWork } from "#conversations/transaction/unit-of-work.ts";
import { applyAction } from "./actions.ts";
import type { ActingAgent, Action, ActionResult } from "./actions.ts";
import { applyMacro } from "./macros.ts";
import type { MacroRequest } from "./macros.ts";
import { handleAgentMessage } from "./inbox-messages.ts";
import type { AgentMessage, AgentMessageResult } from "./inbox-messages.ts";
import { readyToReply, storeAgentReply } from "./store-reply.ts";
import { updateConversation } from "./update.ts";
import { insertNote } from "#conversations/transaction/insert-note.ts";
import type { NewNote, Note } from "#conversations/transaction/note.ts";

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

/** Changes of a conversation by agents and API clients: one transaction each. */
export interface AgentWrites {
  /** Queues an agent's reply for the customer's channel. Claims an open or escalated conversation. */
  reply(reply: AgentReply): Promise<{ readonly messageId: string; readonly seq: number }>;
  /** The messages that the customer would get for an agent's reply. */
  previewReply(workspaceId: string, conversationId: string, content: string): Promise<PreviewedReply>;
  /** Applies all fields of the change, or none. */
  update(workspaceId: string, conversationId: string, change: ConversationChange, actor: Actor): Promise<void>;
  /** Applies an agent's action. With `expected`, only if the conversation still has that state. */
  applyAction(
    workspaceId: string,
    conversationId: string,
    action: Action,
    agent: ActingAgent,
    expected?: Expected,
  ): Promise<ActionResult>;
  /** Does all actions of a macro, or none. Refused like {@link applyAction}, and its reply like {@link postAgentMessage}. */
  applyMacro(
    workspaceId: string,
    conversationId: string,
    request: MacroRequest,
    agent: ActingAgent,
  ): Promise<AgentMessageResult>;
  /** Posts an agent's message from the inbox. Refused if a colleague has the conversation, or a newer message exists. */
  postAgentMessage(
    workspaceId: string,
    conversationId: string,
    message: AgentMessage,
    agent: ActingAgent,
  ): Promise<AgentMessageResult>;
  addNote(workspaceId: string, conversationId: string, note: NewNote, actor: Actor): Promise<Note>;
}

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
