import { Type } from "typebox";
import { macroProblems } from "#domain/workspace/macro.ts";
import { versionOfMacro } from "#conversations/agents/macros.ts";
import { answeringAgents } from "#database/queries/agents.ts";
import type { App } from "#http/app-type.ts";
import type { InboxDependencies } from "#http/inbox/dependencies.ts";
import type { MacroView } from "#http/inbox/wire.ts";
import type { AgentRequests } from "./agent-requests.ts";
import { agentOf } from "./agent-requests.ts";
import { clientId, hidden, oneConversation, seenState } from "./schemas.ts";

const macroBody = Type.Object({
  name: Type.String({ maxLength: 100 }),
  /** The version that the agent has seen. */
  version: Type.String({ maxLength: 64 }),
  clientId,
  seen: Type.Object(seenState),
  lastSeq: Type.Integer({ minimum: 0 }),
});

/** The workspace's macros, and their application to a conversation. */
export function macroRoutes(api: App, { store }: Pick<InboxDependencies, "store">, requests: AgentRequests): void {
  api.get("/macros", hidden, async (request): Promise<readonly MacroView[]> => {
    const { id, settings } = await requests.workspaceOf(agentOf(request));
    const agents = settings.macros.length === 0 ? new Set<string>() : await answeringAgents(store.read, id);
    return settings.macros.map((macro) => ({
      ...macro,
      version: versionOfMacro(macro),
      problems: macroProblems(macro, agents),
    }));
  });

  api.post("/conversations/:id/macro", { schema: { ...oneConversation.schema, body: macroBody } }, (request) => {
    const { name, version, clientId: own, seen, lastSeq } = request.body;
    return requests.applyMacro(request, request.params.id, {
      name,
      version,
      clientId: `${agentOf(request).id}:${own}`,
      expected: { status: seen.status, assignedTo: seen.assignedTo ?? null },
      basedOnSeq: lastSeq,
    });
  });
}
