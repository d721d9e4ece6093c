import { Type } from "typebox";
import type { Team } from "#admin/team/teams.ts";
import { changeTeam, createTeam, listTeams, removeTeam } from "#admin/team/teams.ts";
import { administratorOf } from "#http/admin/administrator.ts";
import { adminResponses, givenName } from "#http/admin/schemas.ts";
import type { App } from "#http/app-type.ts";
import type { Resources } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";
import { idList, iso, tags } from "./schemas.ts";

const oneTeam = Type.Object({ id: Type.String() });
const team = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    agent_ids: Type.Array(Type.String()),
    expected_agents: Type.Array(Type.String(), {
      description: "E-mail addresses that join the team once an agent has them",
    }),
    managed_by: Type.Enum(["file", "dashboard"], { description: "Only `dashboard` can be changed here" }),
    created_at: schemas.time,
  },
  { title: "Team" },
);

const listSchema = {
  tags,
  operationId: "listTeams",
  summary: "List the teams of the workspace, by name",
  response: adminResponses({ 200: Type.Object({ teams: Type.Array(team) }, { title: "TeamList" }) }, []),
};

const createSchema = {
  tags,
  operationId: "createTeam",
  summary: "Make a team of agents",
  body: Type.Object({ name: givenName, agent_ids: Type.Optional(idList) }, { title: "TeamRequest" }),
  response: adminResponses({ 201: team }, [...schemas.withBody, "already_exists"]),
};

const changeSchema = {
  tags,
  operationId: "changeTeam",
  summary: "Rename a team, or replace its members",
  params: oneTeam,
  body: Type.Object({ name: Type.Optional(givenName), agent_ids: Type.Optional(idList) }, { title: "TeamChange" }),
  response: adminResponses({ 200: team }, [...schemas.withBody, "already_exists", "managed_by_file"]),
};

const removeSchema = {
  tags,
  operationId: "removeTeam",
  summary: "Remove a team; its agents stay",
  params: oneTeam,
  response: adminResponses({ 204: schemas.noContent }, ["managed_by_file"]),
};

/** Named sets of agents. */
export function teamRoutes(app: App, { store, clock }: Resources): void {
  app.get("/teams", { schema: listSchema }, async (request) => ({
    teams: (await listTeams(store.read, administratorOf(request).workspaceId)).map(item),
  }));

  app.post("/teams", { schema: createSchema }, async (request, reply) => {
    const { workspaceId, actor: by } = administratorOf(request);
    const { name, agent_ids: agentIds } = request.body;
    const made = await createTeam(store, clock, { workspaceId, by, name, agentIds });
    return reply.code(201).send(item(made));
  });

  app.patch("/teams/:id", { schema: changeSchema }, async (request) => {
    const { workspaceId, actor: by } = administratorOf(request);
    const { name, agent_ids: agentIds } = request.body;
    return item(await changeTeam(store, clock, request.params.id, { workspaceId, by, name, agentIds }));
  });

  app.delete("/teams/:id", { schema: removeSchema }, async (request, reply) => {
    const { workspaceId, actor: by } = administratorOf(request);
    await removeTeam(store, clock, request.params.id, { workspaceId, by });
    return reply.code(204).send();
  });
}

const item = ({ id, name, agentIds, expectedAgents, managedBy, createdAt }: Team) => ({
  id,
  name,
  agent_ids: [...agentIds],
  expected_agents: [...expectedAgents],
  managed_by: managedBy,
  created_at: iso(createdAt),
});
