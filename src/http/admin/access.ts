import type { FastifyRequest } from "fastify";
import type { SignInMethod } from "#database/schema/sign-in.ts";
import type { AgentRole } from "#domain/workspace/agent-role.ts";
import { isSecret } from "#domain/ids.ts";
import { Problem } from "#domain/problem.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Store } from "#database/contract.ts";
import { agentOfAccessToken, recordTokenUse } from "#admin/access-tokens.ts";
import { lacksSecondFactor } from "#admin/sign-in/settings.ts";
import type { App } from "#http/app-type.ts";
import { isReading, storeBeside } from "#http/middleware/reads.ts";
import { requireRole } from "#http/sign-in/role.ts";
import { refuseOtherSites, requireSameOrigin, signedIn } from "#http/sign-in/session.ts";
import type { Caller } from "#http/v1/access/auth.ts";
import type { Limits } from "#http/v1/access/rate-limits.ts";
import { rateHeaders } from "#http/v1/access/rate-limits.ts";
import type { RouteTable } from "#http/v1/route-table.ts";
import type { Administrator } from "./administrator.ts";

interface Access {
  readonly store: Store;
  readonly clock: Clock;
  readonly limits: Pick<Limits, "take" | "giveBack">;
  readonly routes: RouteTable;
  readonly publicUrl: string;
}

/** Requests of one agent in all their sessions. The plan's are for programs, and too few for people. */
const sessionLimits = { of: "An agent", perMinute: 600, perDay: 50_000 } as const;

/**
 * Refuses requests before their body is read: without a session or an access token, changes that another site asks for,
 * and roles that the route does not admit. Routes need the role admin, unless they name another (`config.least`).
 */
export function requireAdministrator(app: App, access: Access): void {
  const { store, clock, limits, routes, publicUrl } = access;
  app.addHook("onRequest", async (request, reply) => {
    void reply.header("cache-control", "no-store");
    const { authorization } = request.headers;
    const found =
      authorization === undefined
        ? await bySession(store, clock, request, publicUrl)
        : await byToken(store, clock, request, authorization);
    request.administrator = found.administrator;
    request.caller = found.caller;
    const own = found.administrator.tokenId === null ? sessionLimits : undefined;
    const taken = await storeBeside(request, () => limits.take(found.caller, own));
    if (taken !== undefined) {
      reply.headers(rateHeaders(taken.rate));
      request.slot = taken.slot;
      if (taken.problem !== null) throw taken.problem;
    }
    if (request.is404) throw routes.refusal(request);
    routes.requireMethod(request);
    requireRole(found.administrator.role, request, "admin");
    if (request.routeOptions.config.ownAccount === true) return;
    if (await lacksSecondFactor(store.read, found.administrator)) {
      throw new Problem("second_factor_required", "Set up a second factor on the page of your account first.");
    }
  });

  // Only requests that succeed count, as below /v1.
  app.addHook("onSend", async (request, reply) => {
    const { slot } = request;
    if (slot === null || (reply.statusCode >= 200 && reply.statusCode < 300)) return;
    request.slot = null;
    await limits.giveBack(slot).catch((error: unknown) => {
      request.log.error({ err: error, requestId: request.id }, "limits: refund failed");
    });
  });
}

interface FoundCaller {
  readonly administrator: Administrator;
  readonly caller: Caller;
}

async function bySession(store: Store, clock: Clock, request: FastifyRequest, publicUrl: string): Promise<FoundCaller> {
  if (!isReading(request)) requireSameOrigin(request, publicUrl);
  else if (request.routeOptions.config.ownPagesOnly === true) refuseOtherSites(request);
  const agent = await signedIn(store, clock, request);
  if (agent === undefined) {
    throw new Problem("signed_out", "Sign in at /inbox/login, or send an access token: Authorization: Bearer pat_…");
  }
  return callerOfAgent(store, agent, null);
}

async function byToken(store: Store, clock: Clock, request: FastifyRequest, header: string): Promise<FoundCaller> {
  const token = header.startsWith("Bearer ") ? header.slice("Bearer ".length) : "";
  if (!isSecret("pat", token)) {
    throw new Problem(
      "malformed_auth",
      "The Authorization header must be the word Bearer, one space and an access token, which begins with pat_. API keys do not open /admin/v1.",
    );
  }
  const row = await agentOfAccessToken(store, token);
  if (row === undefined) throw new Problem("invalid_key", "This access token was revoked or never existed.");
  const now = clock.now();
  if (row.token.expiresAt !== null && row.token.expiresAt <= now) {
    throw new Problem("expired_key", "This access token has expired.");
  }
  if (row.token.scope === "read" && !isReading(request)) {
    throw new Problem("insufficient_scope", "This access token may only read.");
  }
  await storeBeside(request, () => recordTokenUse(store, row.token, now));
  return callerOfAgent(store, row.agent, row.token);
}

interface KnownAgent {
  readonly id: string;
  readonly workspace_id: string;
  readonly email: string;
  readonly name: string;
  readonly role: AgentRole;
  readonly method?: SignInMethod | null;
}

async function callerOfAgent(
  store: Store,
  agent: KnownAgent,
  token: { readonly id: string; readonly name: string } | null,
): Promise<FoundCaller> {
  const workspace = await store.read
    .selectFrom("workspaces")
    .select(["plan", "settings"])
    .where("id", "=", agent.workspace_id)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  if (workspace === undefined) throw new Problem("workspace_not_found", "This workspace was deleted.");
  const administrator: Administrator = {
    agentId: agent.id,
    email: agent.email,
    name: agent.name,
    role: agent.role,
    workspaceId: agent.workspace_id,
    actor: { type: "agent", id: agent.email, name: agent.name },
    tokenId: token?.id ?? null,
    signedInBy: agent.method ?? null,
  };
  const caller: Caller = {
    keyId: token?.id ?? agent.id,
    keyName: token?.name ?? agent.name,
    workspaceId: agent.workspace_id,
    workspaceDeleted: false,
    plan: workspace.plan,
    settings: workspace.settings,
    limitMinute: null,
    limitDay: null,
    lastUsedAt: null,
  };
  return { administrator, caller };
}
