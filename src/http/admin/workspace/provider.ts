import { Type } from "typebox";
import { singleSignOnFields } from "#config/sections/single-sign-on.ts";
import { Problem } from "#domain/problem.ts";
import { createProviderClient } from "#admin/sign-in/provider/client.ts";
import { ProviderFault } from "#admin/sign-in/provider/fault.ts";
import { changeProvider, readProvider, removeProvider } from "#admin/sign-in/provider/provider-settings.ts";
import { unlinkAgent } from "#admin/sign-in/provider/unlink.ts";
import type { App } from "#http/app-type.ts";
import { callbackPath, providerPath } from "#http/sign-in/provider/pages.ts";
import type { Resources } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";
import { administratorOf, editOf } from "#http/admin/administrator.ts";
import { adminResponses } from "#http/admin/schemas.ts";

const tags = ["Administration"];

const provider = Type.Object(
  {
    provider: schemas.nullable(
      Type.Object(singleSignOnFields, {
        title: "SignInProvider",
        description: "As in the configuration file, without the client secret; null: none",
      }),
    ),
    managed_by_file: Type.Boolean({ description: "The configuration file sets it, and it cannot be changed here" }),
    callback_url: Type.String({ description: "The redirect URI to enter at the provider" }),
    sign_in_url: Type.String({ description: "Leads agents of this workspace to the provider at once" }),
  },
  { title: "SignInProviderSettings" },
);

const readSchema = {
  tags,
  operationId: "readSignInProvider",
  summary: "Read the OpenID Connect provider that agents sign in through",
  response: adminResponses({ 200: provider }, []),
};

const changeSchema = {
  tags,
  operationId: "changeSignInProvider",
  summary: "Set the OpenID Connect provider that agents sign in through",
  body: Type.Object(
    {
      ...singleSignOnFields,
      client_secret: Type.Optional(
        Type.String({ minLength: 1, maxLength: 1_000, description: "Absent: the stored one stays" }),
      ),
    },
    { title: "SignInProviderChange" },
  ),
  response: adminResponses({ 200: provider }, [...schemas.withBody, "managed_by_file"]),
};

const removeSchema = {
  tags,
  operationId: "removeSignInProvider",
  summary: "Let agents sign in with passwords and links only",
  response: adminResponses({ 204: schemas.noContent }, ["managed_by_file"]),
};

const unlinkSchema = {
  tags,
  operationId: "unlinkSignInProvider",
  summary: "Forget who an agent is at the provider, so that another account of it can sign in as them",
  params: Type.Object({ id: Type.String() }),
  response: adminResponses({ 204: schemas.noContent }, []),
};

/** The provider that the agents of the workspace sign in through. */
export function providerRoutes(app: App, resources: Resources): void {
  const { store, clock, secrets, guardedFetch, options } = resources;
  const client = createProviderClient({ guardedFetch, secrets, clock });

  const shown = async (workspaceId: string) => ({
    ...(await readProvider(store.read, workspaceId)),
    callback_url: `${options.publicUrl}${callbackPath(workspaceId)}`,
    sign_in_url: `${options.publicUrl}${providerPath(workspaceId)}`,
  });

  app.get("/sign-in/provider", { schema: readSchema }, (request) => shown(administratorOf(request).workspaceId));

  app.put("/sign-in/provider", { schema: changeSchema }, async (request) => {
    const edit = editOf(request);
    const check = (given: Parameters<typeof client.check>[0]) =>
      client.check(given).catch((error: unknown) => {
        if (!(error instanceof ProviderFault)) throw error;
        const detail = error.message.startsWith("issuer: ") ? error.message : `issuer: ${error.message}`;
        throw new Problem("invalid_parameter", detail);
      });
    await changeProvider({ store, clock, secrets, check }, edit, request.body);
    return shown(edit.workspaceId);
  });

  app.delete("/sign-in/provider", { schema: removeSchema }, async (request, reply) => {
    await removeProvider({ store, clock }, editOf(request));
    return reply.code(204).send();
  });

  app.delete("/agents/:id/identity", { schema: unlinkSchema }, async (request, reply) => {
    const { workspaceId, by } = editOf(request);
    await unlinkAgent(store, clock, { workspaceId, agentId: request.params.id, by });
    return reply.code(204).send();
  });
}
