import { Type } from "typebox";
import type { AccountAdmin } from "#admin/channels/accounts.ts";
import { changeAccount, connectAccount, pauseAccount, removeAccount, resumeAccount } from "#admin/channels/accounts.ts";
import { loadAdapter } from "#channels/load-adapter.ts";
import { administratorOf } from "#http/admin/administrator.ts";
import { adminResponses, givenName } from "#http/admin/schemas.ts";
import type { App } from "#http/app-type.ts";
import type { Resources } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";
import { shownAccount, shownAccounts } from "./representation.ts";
import { account, accountParams, newAccountId, settings } from "./schemas.ts";

const changes = ["not_found", "managed_by_file"] as const;

const listSchema = {
  tags: ["Administration"],
  operationId: "listChannels",
  summary: "List the channel accounts of the workspace, and how each of them does",
  response: adminResponses(
    { 200: Type.Object({ channels: Type.Array(account) }, { title: "ChannelAccountList" }) },
    [],
  ),
};

const getSchema = {
  tags: ["Administration"],
  operationId: "getChannel",
  summary: "Read a channel account",
  params: accountParams,
  response: adminResponses({ 200: account }, []),
};

const createSchema = {
  tags: ["Administration"],
  operationId: "connectChannel",
  summary: "Connect an account of a platform; it starts at once",
  body: Type.Object(
    { channel: schemas.channel, name: givenName, settings, id: Type.Optional(newAccountId) },
    { title: "NewChannelAccount" },
  ),
  response: adminResponses({ 201: account }, [...schemas.withBody, "already_exists"]),
};

const changeSchema = {
  tags: ["Administration"],
  operationId: "changeChannel",
  summary: "Change a channel account; it is replaced while other accounts go on",
  params: accountParams,
  body: Type.Object(
    {
      name: Type.Optional(givenName),
      settings: Type.Optional({
        ...settings,
        description: "Replace all settings but secrets. A secret that is absent stays; null removes it.",
      }),
      revision: Type.Optional(
        Type.Integer({
          description:
            "The `revision` that was read; `edit_conflict` when the account has changed since. Absent: not compared",
        }),
      ),
    },
    { title: "ChannelAccountChange" },
  ),
  response: adminResponses({ 200: account }, [
    ...schemas.withBody,
    ...changes,
    "already_exists",
    "edit_conflict",
    "channel_refused",
  ]),
};

const actionSchema = (operationId: string, summary: string) => ({
  tags: ["Administration"],
  operationId,
  summary,
  params: accountParams,
  response: adminResponses({ 200: account }, [...changes, "channel_refused"]),
});
const pauseSchema = actionSchema("pauseChannel", "Pause a channel account: messages to customers wait");
const resumeSchema = actionSchema("resumeChannel", "Resume a channel account, and send the messages that have waited");

const removeSchema = {
  tags: ["Administration"],
  operationId: "removeChannel",
  summary: "Remove a channel account; its conversations stay, and messages that wait to be sent fail",
  params: accountParams,
  response: adminResponses({ 204: schemas.noContent }, [...changes, "channel_refused"]),
};

/** The accounts of a workspace on platforms. */
export function channelRoutes(app: App, resources: Resources): void {
  const { store, clock, secrets, allowPrivate, channelAccounts: effects } = resources;
  const admin: AccountAdmin = { store, clock, secrets, load: loadAdapter, allowPrivate, effects };

  app.get("/channels", { schema: listSchema }, async (request) => ({
    channels: await shownAccounts(resources, administratorOf(request).workspaceId),
  }));

  app.get("/channels/:id", { schema: getSchema }, async (request) =>
    shownAccount(resources, administratorOf(request).workspaceId, request.params.id),
  );

  app.post("/channels", { schema: createSchema }, async (request, reply) => {
    const { workspaceId, actor: by } = administratorOf(request);
    const id = await connectAccount(admin, { workspaceId, by, ...request.body });
    return reply.code(201).send(await shownAccount(resources, workspaceId, id));
  });

  app.patch("/channels/:id", { schema: changeSchema }, async (request) => {
    const { workspaceId, actor: by } = administratorOf(request);
    const { id } = request.params;
    await changeAccount(admin, { workspaceId, id, by, ...request.body });
    return shownAccount(resources, workspaceId, id);
  });

  app.post("/channels/:id/pause", { schema: pauseSchema }, async (request) => {
    const { workspaceId, actor: by } = administratorOf(request);
    await pauseAccount(admin, { workspaceId, id: request.params.id, by });
    return shownAccount(resources, workspaceId, request.params.id);
  });

  app.post("/channels/:id/resume", { schema: resumeSchema }, async (request) => {
    const { workspaceId, actor: by } = administratorOf(request);
    await resumeAccount(admin, { workspaceId, id: request.params.id, by });
    return shownAccount(resources, workspaceId, request.params.id);
  });

  app.delete("/channels/:id", { schema: removeSchema }, async (request, reply) => {
    const { workspaceId, actor: by } = administratorOf(request);
    await removeAccount(admin, { workspaceId, id: request.params.id, by });
    return reply.code(204).send();
  });
}
