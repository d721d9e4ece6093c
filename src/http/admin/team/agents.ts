import { Type } from "typebox";
import { Problem } from "#domain/problem.ts";
import { changeAgent, removeAgent } from "#admin/team/agents.ts";
import { heldConversations } from "#admin/team/agent-address.ts";
import { invitationUrl, inviteAgent } from "#admin/team/invitations.ts";
import { listMembers, readMember } from "#admin/team/member-list.ts";
import { administratorOf } from "#http/admin/administrator.ts";
import { adminResponses, givenName } from "#http/admin/schemas.ts";
import type { App } from "#http/app-type.ts";
import { createCursors } from "#http/v1/cursor.ts";
import type { Resources } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";
import {
  agent,
  agentFields,
  agentItem,
  idList,
  inviteBody,
  invitationFields,
  iso,
  oneAgent,
  role,
  tags,
} from "./schemas.ts";

const listSchema = {
  tags,
  operationId: "listAgents",
  summary: "List the agents of the workspace, by their addresses",
  querystring: Type.Object({ limit: schemas.listLimit(50), cursor: schemas.listCursor }),
  response: adminResponses(
    {
      200: Type.Object({ agents: Type.Array(agent), pagination: schemas.pagination }, { title: "AgentList" }),
    },
    ["invalid_cursor"],
  ),
};

const inviteSchema = {
  tags,
  operationId: "inviteAgent",
  summary: "Invite a colleague, who sets a password and is signed in by the link",
  body: inviteBody,
  response: adminResponses({ 201: Type.Object({ agent, ...invitationFields }, { title: "InvitedAgent" }) }, [
    ...schemas.withBody,
    "already_exists",
  ]),
};

const detail = Type.Object(
  {
    ...agentFields,
    conversations: Type.Integer({ description: "Claimed and snoozed conversations that the agent has now" }),
  },
  { title: "AgentDetail" },
);

const readSchema = {
  tags,
  operationId: "readAgent",
  summary: "Read an agent",
  params: oneAgent,
  response: adminResponses({ 200: detail }, []),
};

const changeSchema = {
  tags,
  operationId: "changeAgent",
  summary: "Change an agent's name, address, role, teams, or whether they are away",
  params: oneAgent,
  body: Type.Object(
    {
      name: Type.Optional(givenName),
      email: Type.Optional(
        Type.String({ maxLength: 190, description: "They sign in with it, and conversations are assigned to it" }),
      ),
      role: Type.Optional(role),
      away: Type.Optional(Type.Boolean()),
      team_ids: Type.Optional(idList),
    },
    { title: "AgentChange" },
  ),
  response: adminResponses({ 200: detail }, [...schemas.withBody, "last_admin", "already_exists"]),
};

const removeSchema = {
  tags,
  operationId: "removeAgent",
  summary: "Remove an agent; their sessions end at once",
  params: oneAgent,
  querystring: Type.Object({
    reassign_to: Type.Optional(
      Type.String({ description: "The agent who gets their conversations; absent: these wait in the queue" }),
    ),
  }),
  response: adminResponses({ 204: schemas.noContent }, ["last_admin"]),
};

export function agentRoutes(app: App, resources: Resources): void {
  const { store, clock, cursorKey, options } = resources;
  const cursors = createCursors(cursorKey, "agents", Type.Object({ email: Type.String() }));

  async function read(workspaceId: string, id: string) {
    const member = await readMember(store.read, workspaceId, id);
    if (member === undefined) throw new Problem("not_found", "There is no such agent in this workspace.");
    const conversations = await heldConversations(store.read, workspaceId, member.email);
    return { ...agentItem(member), conversations };
  }

  app.get("/agents", { schema: listSchema }, async (request) => {
    const { workspaceId } = administratorOf(request);
    const { limit = 50, cursor } = request.query;
    const after = cursor === undefined ? null : cursors.read(workspaceId, cursor).email;
    const members = await listMembers(store.read, workspaceId, { after, limit: limit + 1 });
    const page = members.slice(0, limit);
    const next = cursors.issue(workspaceId, { email: page.at(-1)?.email ?? after ?? "" });
    return {
      agents: page.map(agentItem),
      pagination: { next_cursor: next, has_more: members.length > limit },
    };
  });

  app.post("/agents", { schema: inviteSchema }, async (request, reply) => {
    const { workspaceId, actor: by } = administratorOf(request);
    const { email, name, role: given = "agent", team_ids: teamIds = [] } = request.body;
    const invited = { workspaceId, email, name, role: given, teamIds, by };
    const { agentId, token, expiresAt } = await inviteAgent(store, clock, invited, mailFor(resources));
    const { conversations: _, ...added } = await read(workspaceId, agentId);
    return reply.code(201).send({
      agent: added,
      invitation_url: invitationUrl(options.publicUrl, token),
      expires_at: iso(expiresAt),
      mailed: resources.canMail,
    });
  });

  app.get("/agents/:id", { schema: readSchema }, (request) =>
    read(administratorOf(request).workspaceId, request.params.id),
  );

  app.patch("/agents/:id", { schema: changeSchema }, async (request) => {
    const { workspaceId, actor: by } = administratorOf(request);
    const { team_ids: teamIds, ...change } = request.body;
    const given = teamIds === undefined ? change : { ...change, teamIds };
    await changeAgent(store, clock, { workspaceId, agentId: request.params.id, by }, given);
    return read(workspaceId, request.params.id);
  });

  app.delete("/agents/:id", { schema: removeSchema }, async (request, reply) => {
    const { workspaceId, actor: by } = administratorOf(request);
    const to = request.query.reassign_to ?? null;
    await removeAgent(store, clock, { workspaceId, agentId: request.params.id, by, to });
    return reply.code(204).send();
  });
}

/** Invitations are mailed where the installation can send mail. */
export const mailFor = ({ canMail, secrets, options: { publicUrl } }: Resources) =>
  canMail ? { secrets, publicUrl } : null;
