import type { FastifyRequest } from "fastify";
import { Problem } from "#domain/problem.ts";
import { requireRole } from "#http/sign-in/role.ts";
import type { Action } from "#conversations/agents/actions.ts";
import type { Conflict } from "#conversations/agents/ownership.ts";
import { conflictText } from "#conversations/agents/ownership.ts";
import type { AgentMessage, AgentMessageResult } from "#conversations/agents/inbox-messages.ts";
import type { MacroRequest } from "#conversations/agents/macros.ts";
import type { Engine } from "#conversations/contract.ts";
import type { Workspace } from "#database/queries/workspaces.ts";
import { createWorkspaces } from "#database/queries/workspaces.ts";
import type { App } from "#http/app-type.ts";
import { conversationView } from "#http/inbox/conversation/conversation.ts";
import { writtenSince } from "#http/inbox/conversation/messages.ts";
import type { InboxDependencies } from "#http/inbox/dependencies.ts";
import { InboxRefusal } from "#http/inbox/refusal.ts";
import type { SignedIn } from "#http/sign-in/session.ts";
import { mustSetUpSecondFactor, signedIn } from "#http/sign-in/session.ts";
import type { ConversationView } from "#http/inbox/wire.ts";

const agents = new WeakMap<FastifyRequest, SignedIn>();

/** Refuses requests without a session, and changes by viewers, before their body is read. */
export function requireSession(api: App, { store, clock }: Pick<InboxDependencies, "store" | "clock">): void {
  api.addHook("onRequest", async (request, reply) => {
    void reply.header("cache-control", "no-store");
    const agent = await signedIn(store, clock, request);
    if (agent === undefined) throw new Problem("signed_out", "Your session has ended. Please sign in again.");
    requireRole(agent.role, request);
    if (await mustSetUpSecondFactor(store, agent)) {
      throw new Problem("second_factor_required", "Set up a second factor on the page of your account first.");
    }
    agents.set(request, agent);
  });
}

/** The signed-in agent, in routes behind {@link requireSession}. */
export function agentOf(request: FastifyRequest): SignedIn {
  const agent = agents.get(request);
  if (agent === undefined) throw new Error("inbox: a route is not behind the session check");
  return agent;
}

/** Reads and changes for the signed-in agent. Each method throws InboxRefusal or Problem. */
export interface AgentRequests {
  workspaceOf(agent: SignedIn): Promise<Workspace>;
  view(agent: SignedIn, conversationId: string): Promise<ConversationView>;
  applyAction(
    request: FastifyRequest,
    conversationId: string,
    action: Action,
    expected?: Parameters<Engine["applyAction"]>[4],
  ): Promise<ConversationView>;
  postMessage(request: FastifyRequest, conversationId: string, message: AgentMessage): Promise<ConversationView>;
  applyMacro(request: FastifyRequest, conversationId: string, macro: MacroRequest): Promise<ConversationView>;
}

export function createAgentRequests({ store, engine, clock }: InboxDependencies): AgentRequests {
  const workspaces = createWorkspaces(store, clock);

  async function workspaceOf(agent: SignedIn): Promise<Workspace> {
    const workspace = await workspaces.get(agent.workspace_id);
    if (workspace === undefined) throw new Problem("signed_out", "This workspace does not exist any more.");
    return workspace;
  }

  async function view(agent: SignedIn, id: string): Promise<ConversationView> {
    const { settings } = await workspaceOf(agent);
    return conversationView({ db: store.read, engine }, agent, id, settings, clock.now());
  }

  /** The conversation after a message or a macro. `seenSeq`: the newest message that the agent has seen. */
  async function viewAfter(agent: SignedIn, id: string, result: AgentMessageResult, seenSeq: number) {
    switch (result.kind) {
      case "done":
        return view(agent, id);
      case "conflict":
        throw conflictRefusal(result, agent);
      case "refused":
        throw new InboxRefusal("cannot_be_done", result.reason);
      case "stale":
        throw new InboxRefusal(
          "stale_view",
          "There are newer messages, which you may want to read before you send this.",
          { newer: await writtenSince(store.read, id, seenSeq, agent.email) },
        );
    }
  }

  return {
    workspaceOf,
    view,
    async applyAction(request, id, action, expected) {
      const agent = agentOf(request);
      const result = await engine.applyAction(agent.workspace_id, id, action, agent, expected);
      if (result.kind === "conflict") throw conflictRefusal(result, agent);
      return view(agent, id);
    },
    async postMessage(request, id, message) {
      const agent = agentOf(request);
      const result = await engine.postAgentMessage(agent.workspace_id, id, message, agent);
      return viewAfter(agent, id, result, message.kind === "reply" ? (message.basedOnSeq ?? 0) : 0);
    },
    async applyMacro(request, id, macro) {
      const agent = agentOf(request);
      const result = await engine.applyMacro(agent.workspace_id, id, macro, agent);
      return viewAfter(agent, id, result, macro.basedOnSeq);
    },
  };
}

function conflictRefusal(conflict: Conflict, agent: SignedIn): InboxRefusal {
  const details = conflict.owner === null ? {} : { assignee: conflict.owner };
  return new InboxRefusal("claimed_by_other", conflictText(conflict, agent.email), details);
}
