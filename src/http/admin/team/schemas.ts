import { Type } from "typebox";
import type { Static } from "typebox";
import { agentRoles } from "#domain/workspace/agent-role.ts";
import type { Member } from "#admin/team/member-list.ts";
import { givenName } from "#http/admin/schemas.ts";
import * as schemas from "#http/v1/schemas.ts";

export const tags = ["Administration"];
export const oneAgent = Type.Object({ id: Type.String() });
export const role = Type.Enum([...agentRoles], { title: "AgentRole" });
/** Ids of teams or agents. */
export const idList = Type.Array(Type.String({ maxLength: 64 }), { maxItems: 1_000 });

export const agentFields = {
  id: Type.String(),
  email: Type.String(),
  name: Type.String({ description: "Customers see it" }),
  role,
  teams: Type.Array(Type.Object({ id: Type.String(), name: Type.String() })),
  away: Type.Boolean({ description: "Rules assign no conversations to an agent who is away" }),
  has_password: Type.Boolean(),
  has_second_factor: Type.Boolean(),
  has_picture: Type.Boolean({ description: "Customers see it beside the agent's messages" }),
  has_identity: Type.Boolean({ description: "The agent has signed in through the workspace's provider" }),
  last_seen_at: schemas.nullable(schemas.time),
  invited_until: Type.Union([schemas.time, Type.Null()], {
    description: "End of the invitation; null: the agent has joined",
  }),
  created_at: schemas.time,
};
export const agent = Type.Object(agentFields, { title: "Agent" });

/** The link of an invitation. */
export const invitationFields = {
  invitation_url: Type.String({ description: "Shown once. It works until it is used, for seven days at most" }),
  expires_at: schemas.time,
  mailed: Type.Boolean({ description: "Whether the link is sent to the agent by mail, too: SMTP_URL is set" }),
};
export const invitation = Type.Object(invitationFields, { title: "Invitation" });

export const inviteBody = Type.Object(
  {
    email: schemas.emailAddress,
    name: givenName,
    role: Type.Optional(role),
    team_ids: Type.Optional(idList),
  },
  { title: "InvitationRequest" },
);

export const agentItem = (member: Member): Static<typeof agent> => ({
  id: member.id,
  email: member.email,
  name: member.name,
  role: member.role,
  teams: [...member.teams],
  away: member.away,
  has_password: member.hasPassword,
  has_second_factor: member.hasSecondFactor,
  has_picture: member.hasAvatar,
  has_identity: member.hasIdentity,
  last_seen_at: isoOrNull(member.lastSeenAt),
  invited_until: isoOrNull(member.invitedUntil),
  created_at: iso(member.createdAt),
});

export const iso = (at: number): string => new Date(at).toISOString();
export const isoOrNull = (at: number | null): string | null => (at === null ? null : iso(at));
