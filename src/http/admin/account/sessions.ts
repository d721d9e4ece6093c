import { Type } from "typebox";
import { Problem } from "#domain/problem.ts";
import { agentTopic } from "#queue/signals/topics.ts";
import type { OwnAccount } from "#admin/sign-in/own-account.ts";
import { endSessionById, endSessions, listSessions, sessionIdOf } from "#admin/team/sessions.ts";
import { adminResponses } from "#http/admin/schemas.ts";
import { agentSession, sessionView } from "#http/admin/team/sessions.ts";
import type { App } from "#http/app-type.ts";
import type { Resources } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";
import { own, ownAccountOf } from "./own.ts";

const listSchema = {
  tags: ["Administration"],
  operationId: "listOwnSessions",
  summary: "List your sessions, the last used first",
  response: adminResponses(
    { 200: Type.Object({ sessions: Type.Array(agentSession) }, { title: "OwnSessionList" }) },
    [],
  ),
};

const endSchema = {
  tags: ["Administration"],
  operationId: "endOwnSession",
  summary: "End one of your sessions",
  params: Type.Object({ id: Type.String() }),
  response: adminResponses({ 204: schemas.noContent }, []),
};

const endOthersSchema = {
  tags: ["Administration"],
  operationId: "endOtherSessions",
  summary: "End all your sessions but this one, and your sign-in links",
  response: adminResponses({ 204: schemas.noContent }, []),
};

/** An agent's own sessions. */
export function sessionRoutes(app: App, { store, clock, fanout }: Resources): void {
  const end = ({ workspaceId, agentId, email, actor }: OwnAccount) => ({
    workspaceId,
    agent: { id: agentId, email },
    by: actor,
    now: clock.now(),
  });

  app.get("/me/sessions", { config: own, schema: listSchema }, async (request) => {
    const { agentId, session } = ownAccountOf(request);
    const sessions = await listSessions(store.read, agentId, clock.now());
    return { sessions: sessions.map((row) => sessionView(row, sessionIdOf(session))) };
  });

  app.delete("/me/sessions/:id", { config: own, schema: endSchema }, async (request, reply) => {
    const account = ownAccountOf(request);
    const isEnded = await store.write((tx) => endSessionById(tx, request.params.id, end(account)));
    if (!isEnded) throw new Problem("not_found", "You have no such session.");
    fanout.publish(agentTopic(account.agentId), "{}");
    return reply.code(204).send();
  });

  app.delete("/me/sessions", { config: own, schema: endOthersSchema }, async (request, reply) => {
    const account = ownAccountOf(request);
    await store.write((tx) => endSessions(tx, end(account), account.session));
    fanout.publish(agentTopic(account.agentId), "{}");
    return reply.code(204).send();
  });
}
