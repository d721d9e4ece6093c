import type { FastifyReply, FastifyRequest } from "fastify";
import { Problem } from "#domain/problem.ts";
import type { Store } from "#database/contract.ts";
import type { SignInMethod } from "#database/schema/sign-in.ts";
import { hasSecondFactor } from "#admin/sign-in/second-factor.ts";
import { createCodeToken } from "#admin/sign-in/code-page.ts";
import { providerOnly } from "#admin/sign-in/provider/agents-of-provider.ts";
import { createSession } from "#admin/team/sessions.ts";
import { sendPage } from "#http/browser-pages.ts";
import type { InboxDependencies } from "#http/inbox/dependencies.ts";
import { InboxRefusal } from "#http/inbox/refusal.ts";
import { codePage } from "./pages.ts";
import { providerLink, providerOnlyPage } from "./provider/pages.ts";
import { clientOf, setSession } from "./session.ts";

/** Requests without a session may not send more than a form needs. */
export const formBytesMax = 4_096;

/** The last steps of every way to sign in. */
export interface Entrance {
  /** Begins a session, and leads to the page that asked for the sign-in. */
  enter(request: FastifyRequest, reply: FastifyReply, agentId: string, method: SignInMethod): Promise<FastifyReply>;
  /** Asks agents with a second factor for its code. */
  afterPassword(request: FastifyRequest, reply: FastifyReply, agentId: string): Promise<FastifyReply>;
}

/** Signing in with a password ends here where only the provider admits the agent. */
async function sendProviderOnly(store: Store, request: FastifyRequest, reply: FastifyReply, agentId: string) {
  const only = await providerOnly(store.read, agentId);
  if (only === undefined) return undefined;
  return sendPage(reply, 403, providerOnlyPage(providerLink(only, toOf(request))));
}

export function createEntrance({
  store,
  clock,
  options,
}: Pick<InboxDependencies, "store" | "clock" | "options">): Entrance {
  async function enter(
    request: FastifyRequest,
    reply: FastifyReply,
    agentId: string,
    method: SignInMethod,
  ): Promise<FastifyReply> {
    const refused = method === "password" ? await sendProviderOnly(store, request, reply, agentId) : undefined;
    if (refused !== undefined) return refused;
    setSession(reply, await createSession(store, clock, agentId, clientOf(request), method), options.publicUrl);
    return reply.redirect(toOf(request) ?? "/inbox", 303);
  }

  return {
    enter,
    async afterPassword(request, reply, agentId) {
      const refused = await sendProviderOnly(store, request, reply, agentId);
      if (refused !== undefined) return refused;
      if (!(await hasSecondFactor(store.read, agentId))) return enter(request, reply, agentId, "password");
      const step = await createCodeToken(store, clock, agentId);
      return sendPage(reply, 200, codePage({ step }));
    },
  };
}

/** The page of the dashboard that asked for the sign-in; undefined: the inbox. No other site can be named. */
export function toOf({ query }: FastifyRequest): string | undefined {
  const to: unknown = (query as { readonly to?: unknown }).to;
  return isDestination(to) ? to : undefined;
}

export const isDestination = (to: unknown): to is string =>
  typeof to === "string" && to.length <= 500 && /^\/dashboard(?:\/[\w/?=&.%-]*)?$/.test(to);

export function asRefusal(error: unknown): InboxRefusal | Problem {
  if (error instanceof InboxRefusal || error instanceof Problem) return error;
  throw error;
}
