import { Problem } from "#domain/problem.ts";
import { channelLabel, channels } from "#channels/catalog.ts";
import { Type } from "typebox";
import { manualDocuments, removeManual } from "#admin/installation/manual.ts";
import type { App } from "#http/app-type.ts";
import { colleagues } from "#http/inbox/conversation/fields.ts";
import type { InboxDependencies } from "#http/inbox/dependencies.ts";
import type { Colleague, Me, SavedReply } from "#http/inbox/wire.ts";
import { waitingOrders } from "#http/inbox/wire.ts";
import type { AgentRequests } from "./agent-requests.ts";
import { agentOf } from "./agent-requests.ts";
import { hidden } from "./schemas.ts";

const meBody = Type.Object({ waitingOrder: Type.Enum(waitingOrders) });

/** The signed-in agent, their colleagues, and what their workspace offers them. */
export function teamRoutes(api: App, dependencies: InboxDependencies, { workspaceOf }: AgentRequests): void {
  const { store, clock } = dependencies;

  api.get("/me", hidden, async (request): Promise<Me> => {
    const agent = agentOf(request);
    const { id, name } = await workspaceOf(agent);
    return {
      agent: { email: agent.email, name: agent.name, role: agent.role, waitingOrder: agent.waiting_order },
      workspace: { id, name },
      channels: Object.fromEntries(channels.map((channel) => [channel, channelLabel(channel)])),
      hasManual: agent.role === "admin" && (await manualDocuments(dependencies, id)).length > 0,
      now: clock.now(),
    };
  });

  api.patch("/me", { schema: { hide: true, body: meBody }, config: { least: "viewer" } }, async (request, reply) => {
    const { waitingOrder } = request.body;
    await store.write((tx) =>
      tx.updateTable("agents").set({ waiting_order: waitingOrder }).where("id", "=", agentOf(request).id).execute(),
    );
    return reply.code(204).send();
  });

  api.get("/agents", hidden, async (request): Promise<readonly Colleague[]> =>
    colleagues(store.read, agentOf(request).workspace_id),
  );

  api.get("/saved-replies", hidden, async (request): Promise<readonly SavedReply[]> => {
    const { savedReplies } = (await workspaceOf(agentOf(request))).settings;
    return Object.entries(savedReplies)
      .map(([name, content]) => ({ name, text: content }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  });

  api.post("/manual/remove", hidden, async (request, reply) => {
    const agent = agentOf(request);
    if (agent.role !== "admin") {
      throw new Problem("insufficient_role", "Only agents with the role admin can remove the manual.");
    }
    const by = { type: "agent", id: agent.email, name: agent.name } as const;
    const documents = await removeManual(dependencies, { workspaceId: agent.workspace_id, by });
    request.log.info({ workspace: agent.workspace_id, agent: agent.id, documents }, "inbox: manual removed");
    return reply.code(204).send();
  });
}
