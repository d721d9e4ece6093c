import type { FastifyRequest } from "fastify";
import type { AgentRole } from "#domain/workspace/agent-role.ts";
import { roleAllows } from "#domain/workspace/agent-role.ts";
import { Problem } from "#domain/problem.ts";
import { isReading } from "#http/middleware/reads.ts";

/**
 * Throws Problem insufficient_role. A route names the least role that may use it (`config.least`); otherwise viewers may
 * read, and agents may change.
 */
export function requireRole(role: AgentRole, request: FastifyRequest, otherwise?: AgentRole): void {
  const least = request.routeOptions.config.least ?? otherwise ?? (isReading(request) ? "viewer" : "agent");
  if (roleAllows(role, least)) return;
  throw new Problem("insufficient_role", `This needs the role ${least}; yours is ${role}.`);
}
