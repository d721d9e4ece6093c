import { Type } from "typebox";
import type { InstallAdmin, Installer } from "#admin/channels/installs.ts";
import { beginAgain, beginInstall } from "#admin/channels/installs.ts";
import { loadAdapter } from "#channels/load-adapter.ts";
import { Problem } from "#domain/problem.ts";
import type { FastifyRequest } from "fastify";
import { administratorOf } from "#http/admin/administrator.ts";
import { adminResponses } from "#http/admin/schemas.ts";
import type { App } from "#http/app-type.ts";
import type { HttpDependencies } from "#http/dependencies.ts";
import { sessionToken } from "#http/sign-in/session.ts";
import type { Resources } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";
import { accountParams, settings } from "./schemas.ts";

const begun = Type.Object(
  { url: Type.String({ description: "The platform's page, for the browser of this session, within ten minutes" }) },
  { title: "ChannelInstallation" },
);

const beginSchema = {
  tags: ["Administration"],
  operationId: "beginChannelInstallation",
  summary: "Begin to connect an account by the platform's own page. Sessions only",
  params: Type.Object({ channel: Type.String() }),
  body: Type.Object(
    {
      settings: {
        ...settings,
        description:
          "Settings of the app, by the schema of the kind's `install`. Secrets that you have entered for it within a day may be absent.",
      },
    },
    { title: "NewChannelInstallation" },
  ),
  response: adminResponses({ 200: begun }, schemas.withBody),
};

const againSchema = {
  tags: ["Administration"],
  operationId: "installChannelAgain",
  summary: "Begin to install the app of an account again, with the account's settings. Sessions only",
  params: accountParams,
  response: adminResponses({ 200: begun }, ["not_found", "managed_by_file", "invalid_parameter"]),
};

export const installAdmin = (
  dependencies: Pick<HttpDependencies, "store" | "clock" | "secrets" | "allowPrivate" | "channelAccounts" | "options">,
): InstallAdmin => {
  const { store, clock, secrets, allowPrivate, channelAccounts: effects, options } = dependencies;
  return { store, clock, secrets, load: loadAdapter, allowPrivate, effects, publicUrl: options.publicUrl };
};

/** The ways to the platform's page. It leads back to {@link registerInstalled}. */
export function channelInstallRoutes(app: App, resources: Resources): void {
  const admin = installAdmin(resources);

  app.post("/channels/kinds/:channel/install", { schema: beginSchema }, async (request) => {
    const { channel } = request.params;
    return { url: await beginInstall(admin, installerOf(request), { channel, settings: request.body.settings }) };
  });

  app.post("/channels/:id/install", { schema: againSchema }, async (request) => ({
    url: await beginAgain(admin, installerOf(request), request.params.id),
  }));
}

function installerOf(request: FastifyRequest): Installer {
  const { workspaceId, agentId, actor: by, tokenId } = administratorOf(request);
  const session = sessionToken(request);
  if (tokenId !== null || session === undefined) {
    throw new Problem("insufficient_scope", "An installation needs a browser: begin it in the dashboard.");
  }
  return { workspaceId, agentId, session, by };
}
