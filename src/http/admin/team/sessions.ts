import { Type } from "typebox";
import { Problem } from "#domain/problem.ts";
import { agentTopic } from "#queue/signals/topics.ts";
import { requireAgent } from "#admin/team/agents.ts";
import { deviceOf } from "#admin/team/device.ts";
import { endSessionById, endSessions, listSessions, sessionIdOf } from "#admin/team/sessions.ts";
import { administratorOf } from "#http/admin/administrator.ts";
import { adminResponses } from "#http/admin/schemas.ts";
import type { App } from "#http/app-type.ts";
import { sessionToken } from "#http/sign-in/session.ts";
import type { Resources } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";
import { iso, isoOrNull, oneAgent, tags } from "./schemas.ts";

export const agentSession = Type.Object(
  {
    id: Type.String(),
    method: schemas.nullable(
      Type.Enum(["link", "password", "provider"], {
        description: "How the session began; null: in an earlier version",
      }),
    ),
    device: Type.Union([Type.String(), Type.Null()], { description: "From the browser's own description" }),
    network: Type.Union([Type.String(), Type.Null()], { description: "An IPv4 address, or an IPv6 network" }),
    current: Type.Boolean({ description: "This request came in this session" }),
    last_seen_at: schemas.nullable(schemas.time),
    created_at: schemas.time,
    expires_at: schemas.time,
  },
  { title: "AgentSession" },
);

const listSchema = {
  tags,
  operationId: "listAgentSessions",
  summary: "List the sessions of an agent, the last used first",
  params: oneAgent,
  response: adminResponses(
    { 200: Type.Object({ sessions: Type.Array(agentSession) }, { title: "AgentSessionList" }) },
    [],
  ),
};

const endSchema = {
  tags,
  operationId: "endAgentSession",
  summary: "End one session",
  params: Type.Object({ id: Type.String(), session_id: Type.String({ description: "The session" }) }),
  response: adminResponses({ 204: schemas.noContent }, []),
};

const endAllSchema = {
  tags,
  operationId: "endAgentSessions",
  summary: "Sign an agent out everywhere: ends all sessions, and links for signing in and for a new password",
  params: oneAgent,
  response: adminResponses({ 204: schemas.noContent }, []),
};

type SessionRow = Awaited<ReturnType<typeof listSessions>>[number];

/** `own`: the id of the session that the request came in. */
export const sessionView = (row: SessionRow, own: string | null) => ({
  id: row.id,
  method: row.method,
  device: deviceOf(row.user_agent),
  network: row.network,
  current: row.id === own,
  last_seen_at: isoOrNull(row.last_seen_at),
  created_at: iso(row.created_at),
  expires_at: iso(row.expires_at),
});

/**
 * The sessions of any agent of the workspace; access tokens are apart from them. Live connections end by the signal, or
 * by queued work where a crash prevents it.
 */
export function agentSessionRoutes(app: App, { store, clock, fanout }: Resources): void {
  app.get("/agents/:id/sessions", { schema: listSchema }, async (request) => {
    const { workspaceId } = administratorOf(request);
    const token = sessionToken(request);
    const own = token === undefined ? null : sessionIdOf(token);
    const { id } = await requireAgent(store.read, workspaceId, request.params.id);
    const sessions = await listSessions(store.read, id, clock.now());
    return {
      sessions: sessions.map((row) => sessionView(row, own)),
    };
  });

  app.delete("/agents/:id/sessions/:session_id", { schema: endSchema }, async (request, reply) => {
    const { workspaceId, actor: by } = administratorOf(request);
    const { id, session_id: sessionId } = request.params;
    const isEnded = await store.write(async (tx) => {
      const agent = await requireAgent(tx, workspaceId, id);
      return endSessionById(tx, sessionId, { workspaceId, agent, by, now: clock.now() });
    });
    if (!isEnded) throw new Problem("not_found", "This agent has no such session.");
    fanout.publish(agentTopic(id), "{}");
    return reply.code(204).send();
  });

  app.delete("/agents/:id/sessions", { schema: endAllSchema }, async (request, reply) => {
    const { workspaceId, actor: by } = administratorOf(request);
    await store.write(async (tx) => {
      const agent = await requireAgent(tx, workspaceId, request.params.id);
      await endSessions(tx, { workspaceId, agent, by, now: clock.now() });
    });
    fanout.publish(agentTopic(request.params.id), "{}");
    return reply.code(204).send();
  });
}
