import type { FastifyRequest } from "fastify";
import { Problem } from "#domain/problem.ts";
import type { OwnAccount } from "#admin/sign-in/own-account.ts";
import { requireOwnPassword } from "#admin/sign-in/own-account.ts";
import { administratorOf } from "#http/admin/administrator.ts";
import { countAttempt } from "#http/sign-in/attempts.ts";
import { sessionToken } from "#http/sign-in/session.ts";
import type { Resources } from "#http/v1/resources.ts";

/** Every role may change its own account. */
export const own = { least: "viewer", ownAccount: true } as const;

/** The agent, in a browser's session. A stolen access token must not change the account. */
export function ownAccountOf(request: FastifyRequest): OwnAccount & { readonly session: string } {
  const { agentId, email, workspaceId, actor, tokenId } = administratorOf(request);
  const session = sessionToken(request);
  if (tokenId !== null || session === undefined) {
    throw new Problem(
      "insufficient_scope",
      "Access tokens cannot change how an agent or a program signs in. Use the dashboard.",
    );
  }
  return { agentId, email, workspaceId, actor, session };
}

/** Throws Problem unless the body has the agent's password, or they have none. Guesses count as attempts to sign in. */
export async function requireGivenPassword(
  { store, clock }: Pick<Resources, "store" | "clock">,
  request: FastifyRequest,
  { agentId, email }: OwnAccount,
  password: string | undefined,
  field = "password",
): Promise<void> {
  const attempt = await countAttempt(store, clock, request.remoteAddress, email);
  await requireOwnPassword(store.read, agentId, password, field);
  await attempt.succeeded();
}
