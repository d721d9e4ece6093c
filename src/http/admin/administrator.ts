import type { FastifyRequest } from "fastify";
import type { Actor } from "#domain/conversation/message.ts";
import type { SignInMethod } from "#database/schema/sign-in.ts";
import type { AgentRole } from "#domain/workspace/agent-role.ts";

/** The agent who calls `/admin/v1`, in a session or through an access token. */
export interface Administrator {
  readonly agentId: string;
  readonly email: string;
  readonly name: string;
  readonly role: AgentRole;
  readonly workspaceId: string;
  /** The author of changes, for the audit log. */
  readonly actor: Actor;
  /** Null: the request came in a browser's session. */
  readonly tokenId: string | null;
  /** How the session began; null: no session, or in an earlier version. */
  readonly signedInBy: SignInMethod | null;
}

/** The caller of a route below /admin/v1. */
export function administratorOf(request: FastifyRequest): Administrator {
  if (request.administrator === null) throw new Error("admin: a route is not behind the access check");
  return request.administrator;
}

/** The workspace that a route changes, and its author. */
export function editOf(request: Pick<FastifyRequest, "administrator">): {
  readonly workspaceId: string;
  readonly by: Actor;
} {
  if (request.administrator === null) throw new Error("admin: a route is not behind the access check");
  return { workspaceId: request.administrator.workspaceId, by: request.administrator.actor };
}
