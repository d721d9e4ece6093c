import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { finishInstall } from "#admin/channels/installs.ts";
import { lacksSecondFactor } from "#admin/sign-in/settings.ts";
import { channelLabel } from "#channels/catalog.ts";
import { InstallRefusal } from "#channels/install.ts";
import { roleAllows } from "#domain/workspace/agent-role.ts";
import { Problem } from "#domain/problem.ts";
import { installAdmin } from "#http/admin/channels/installs.ts";
import type { App } from "#http/app-type.ts";
import { escapeHtml, sendPage } from "#http/browser-pages.ts";
import type { HttpDependencies } from "#http/dependencies.ts";
import { buttonLink, signInFrame } from "#http/sign-in/pages.ts";
import { sessionToken, signedIn } from "#http/sign-in/session.ts";

export type InstalledRoute = Pick<
  HttpDependencies,
  "store" | "clock" | "secrets" | "allowPrivate" | "channelAccounts" | "options"
>;

const schema = { hide: true, params: Type.Object({ channel: Type.String({ maxLength: 20 }) }) };

/** The platform's page leads back here. A failure is a page with its fix, and nothing is stored. */
export function registerInstalled(scope: App, dependencies: InstalledRoute): void {
  const { store, clock, channelAccounts } = dependencies;
  const admin = installAdmin(dependencies);

  scope.get("/channels/:channel/installed", { schema }, async (request, reply) => {
    const { channel } = request.params;
    const agent = await signedIn(store, clock, request);
    const session = sessionToken(request);
    if (agent === undefined || session === undefined) {
      return refuse(reply, 401, channel, "You are signed out. Sign in, and begin the installation again.");
    }
    const { id: agentId, workspace_id: workspaceId, role, email, name, method } = agent;
    const caller = { agentId, workspaceId, role, tokenId: null, signedInBy: method };
    if (!roleAllows(role, "admin") || (await lacksSecondFactor(store.read, caller))) {
      return refuse(reply, 403, channel, "Only administrators, with their second factor, can install an app.");
    }
    const installer = { workspaceId, agentId, session, by: { type: "agent", id: email, name } } as const;
    const call = { lookup: channelAccounts.lookup, log: request.log, signal: AbortSignal.timeout(callMs) };
    try {
      const id = await finishInstall(admin, installer, { channel, ...returnedWith(request) }, call);
      return await reply.redirect(`/dashboard/channels/${id}`, 303);
    } catch (error) {
      if (!(error instanceof InstallRefusal) && !(error instanceof Problem)) throw error;
      request.log.warn({ workspace: workspaceId, channel, reason: error.message }, "channels: installation refused");
      return refuse(reply, error instanceof Problem ? error.status : 400, channel, error.message);
    }
  });
}

const callMs = 15_000;

function returnedWith(request: FastifyRequest) {
  const query = request.query as Readonly<Record<string, unknown>>;
  const text = (name: string): string | undefined => {
    const value = query[name];
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  return { state: text("state"), code: text("code"), error: text("error") };
}

/** Signing in again leads to the form, because an installation belongs to one session. */
function refuse(reply: FastifyReply, status: number, channel: string, detail: string): FastifyReply {
  const form = `/dashboard/channels/${encodeURIComponent(channel)}?by=install`;
  const html = signInFrame(
    `<h1>${escapeHtml(channelLabel(channel))} was not installed</h1>
<p class="problem" role="alert">${escapeHtml(detail)}</p>
<p>${buttonLink({ label: "Back to the form", href: form })}</p>
<p class="hint"><a href="/dashboard/channels">All channels</a></p>`,
    "Not installed",
  );
  return sendPage(reply, status, html);
}
