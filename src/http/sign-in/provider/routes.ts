import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { Problem } from "#domain/problem.ts";
import { domainOf } from "#domain/workspace/single-sign-on.ts";
import { admit } from "#admin/sign-in/provider/admission.ts";
import type { WorkspaceProvider } from "#admin/sign-in/provider/agents-of-provider.ts";
import { listProviders, providerOf } from "#admin/sign-in/provider/agents-of-provider.ts";
import { createProviderClient } from "#admin/sign-in/provider/client.ts";
import { ProviderFault } from "#admin/sign-in/provider/fault.ts";
import type { App } from "#http/app-type.ts";
import { sendPage } from "#http/browser-pages.ts";
import type { InboxDependencies } from "#http/inbox/dependencies.ts";
import { hidden } from "#http/inbox/resources/schemas.ts";
import { countAttempt } from "#http/sign-in/attempts.ts";
import { toOf } from "#http/sign-in/entrance.ts";
import { refusedPage } from "#http/sign-in/pages.ts";
import { clientOf, setSession } from "#http/sign-in/session.ts";
import { setChallenge, takeChallenge } from "./challenge.ts";
import { callbackPath, findPage, providerLink, providerRefusedPage } from "./pages.ts";
import { faultTexts, refusalTexts } from "./refusals.ts";

const oneWorkspace = { schema: { hide: true, params: Type.Object({ workspace: Type.String({ maxLength: 64 }) }) } };

type ProviderRoutes = Pick<InboxDependencies, "store" | "clock" | "secrets" | "guardedFetch" | "options">;

/** Signing in through the OpenID Connect provider of a workspace. */
export function registerProviders(scope: App, dependencies: ProviderRoutes): void {
  const { store, clock, secrets, options } = dependencies;
  const client = createProviderClient(dependencies);
  const cookies = { secrets, clock, isSecure: options.publicUrl.startsWith("https:") };

  scope.get("/login/provider", hidden, async (request, reply) => {
    const { email } = request.query as { readonly email?: unknown };
    const to = toOf(request);
    if (typeof email !== "string" || email.length > 200) return sendPage(reply, 200, findPage({ to }));
    // The answer must not reveal whether an agent has the address. Domains are public.
    const domain = domainOf(email.trim());
    const providers = (await listProviders(store.read)).filter(({ domains }) => domains.includes(domain));
    const found = providers.map((provider) => providerLink(provider, to));
    return sendPage(reply, 200, findPage({ email, found, to }));
  });

  scope.get("/login/provider/:workspace", oneWorkspace, (request, reply) =>
    guarded(request, reply, async (workspaceId, { provider }) => {
      await countAttempt(store, clock, request.remoteAddress, undefined, "provider");
      const { url, challenge } = await client.begin(provider, `${options.publicUrl}${callbackPath(workspaceId)}`);
      setChallenge(reply, cookies, workspaceId, challenge, toOf(request));
      return reply.header("referrer-policy", "no-referrer").redirect(url, 303);
    }),
  );

  scope.get("/login/provider/:workspace/callback", oneWorkspace, (request, reply) =>
    guarded(request, reply, async (workspaceId, known) => {
      const attempt = await countAttempt(store, clock, request.remoteAddress, undefined, "provider");
      const challenge = takeChallenge(request, reply, cookies, workspaceId);
      const again = providerLink({ workspaceId, label: "Try again" }, challenge?.to);
      if (challenge === undefined) {
        const detail = "This sign-in took too long, was used before, or began in another browser. Please try again.";
        return sendPage(reply, 400, providerRefusedPage(detail, again));
      }
      const { provider } = known;
      // The address as the provider knows it, which a proxy may have changed.
      const { search } = new URL(request.originalUrl, options.publicUrl);
      const returned = new URL(`${options.publicUrl}${callbackPath(workspaceId)}${search}`);
      const person = await client.finish(provider, returned, challenge);
      const browser = clientOf(request);
      const admission = await store.write((tx) => admit(tx, { workspaceId, provider, person }, browser, clock.now()));
      const { issuer } = provider;
      if ("refused" in admission) {
        const { shown, fix } = refusalTexts[admission.refused];
        request.log.warn({ workspace: workspaceId, issuer, reason: admission.refused, fix }, "sign-in: person refused");
        return sendPage(reply, 403, providerRefusedPage(shown, undefined));
      }
      for (const note of admission.notes) {
        request.log.warn({ workspace: workspaceId, issuer, agent: admission.agentId, note }, "sign-in: groups unclear");
      }
      await attempt.succeeded(challenge.begunAt);
      setSession(reply, admission.token, options.publicUrl);
      return reply.redirect(challenge.to ?? "/inbox", 303);
    }),
  );

  /** Shows a page for each failure. */
  async function guarded(
    request: FastifyRequest<{ Params: { workspace: string } }>,
    reply: FastifyReply,
    work: (workspaceId: string, known: WorkspaceProvider) => Promise<FastifyReply>,
  ): Promise<FastifyReply> {
    const workspaceId = request.params.workspace;
    const known = await providerOf(store.read, workspaceId);
    if (known === undefined) {
      return sendPage(reply, 404, refusedPage("There is no single sign-on at this address."));
    }
    try {
      return await work(workspaceId, known);
    } catch (error) {
      if (error instanceof Problem) return sendPage(reply, error.status, refusedPage(error.message));
      if (!(error instanceof ProviderFault)) throw error;
      const { kind, message: fix } = error;
      const { issuer } = known.provider;
      request.log.warn({ workspace: workspaceId, issuer, kind, fix }, "sign-in: provider failed");
      const again = providerLink({ workspaceId, label: "Try again" }, undefined);
      return sendPage(reply, kind === "refused" ? 403 : 502, providerRefusedPage(faultTexts[kind], again));
    }
  }
}
