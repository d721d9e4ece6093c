import type { ServerResponse } from "node:http";
import type { AgentRole } from "#domain/workspace/agent-role.ts";
import type { Administrator } from "#http/admin/administrator.ts";
import type { Caller } from "#http/v1/access/auth.ts";
import type { RateState, Slot } from "#http/v1/access/rate-limits.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The owner of the API key; null before authentication and outside /v1. */
    caller: Caller | null;
    /** Null outside /admin/v1. */
    administrator: Administrator | null;
    rate: RateState | null;
    slot: Slot | null;
    /** The client's address, behind trusted proxies. */
    remoteAddress: string;
    response: ServerResponse | null;
  }

  interface FastifyContextConfig {
    /** The least role of an agent that may use the route. Absent: `sign-in/role.ts` decides by the method. */
    readonly least?: AgentRole;
    /** The route belongs to the agent's own account, where a required second factor is set up. */
    readonly ownAccount?: true;
    /** A download that other sites must not start in an agent's session. */
    readonly ownPagesOnly?: true;
    /** `workspace_id` in body or query is required or optional. Absent: not allowed. */
    readonly workspaceId?: "required" | "optional";
  }
}
