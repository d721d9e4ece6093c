import { Type } from "typebox";
import { Problem } from "#domain/problem.ts";
import { testWebhook } from "#admin/webhooks/replay.ts";
import {
  addWebhook,
  changeWebhook,
  listWebhooks,
  removeWebhook,
  requireWebhook,
  rotateWebhook,
} from "#admin/webhooks/webhooks.ts";
import { administratorOf } from "#http/admin/administrator.ts";
import { adminResponses } from "#http/admin/schemas.ts";
import type { App } from "#http/app-type.ts";
import type { Resources } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";
import { deliveryRoutes } from "./deliveries.ts";
import { address, events, newWebhook, params, rotatedSecret, tags, webhook } from "./schemas.ts";

const listSchema = {
  tags,
  operationId: "listWebhooks",
  summary: "List webhook endpoints, oldest first",
  response: adminResponses({ 200: Type.Object({ webhooks: Type.Array(webhook) }, { title: "WebhookList" }) }, []),
};

const addSchema = {
  tags,
  operationId: "addWebhook",
  summary: "Add a webhook endpoint",
  body: Type.Object({ url: address, events: Type.Optional(events) }, { title: "WebhookRequest" }),
  response: adminResponses({ 201: newWebhook }, schemas.withBody),
};

const changeSchema = {
  tags,
  operationId: "changeWebhook",
  summary: "Change the address or the event types of an endpoint, or switch it on or off",
  params,
  body: Type.Object(
    {
      url: Type.Optional(address),
      events: Type.Optional(events),
      enabled: Type.Optional(Type.Boolean()),
    },
    { title: "WebhookChange" },
  ),
  response: adminResponses({ 200: webhook }, [...schemas.withBody, "managed_by_file"]),
};

const removeSchema = {
  tags,
  operationId: "removeWebhook",
  summary: "Remove an endpoint with its delivery log",
  params,
  response: adminResponses({ 204: schemas.noContent }, ["managed_by_file"]),
};

const rotateSchema = {
  tags,
  operationId: "rotateWebhookSecret",
  summary: "Make a new secret; the previous one signs as well for a day",
  params,
  response: adminResponses({ 200: rotatedSecret }, ["managed_by_file"]),
};

const testSchema = {
  tags,
  operationId: "testWebhook",
  summary: "Send a test event now, and report the answer",
  params,
  response: adminResponses(
    {
      200: Type.Object(
        {
          delivered: Type.Boolean(),
          status: schemas.nullable(Type.Integer()),
          error: schemas.nullable(Type.String()),
          duration_ms: Type.Integer(),
        },
        { title: "WebhookTest" },
      ),
    },
    [],
  ),
};

/** Webhook endpoints of the workspace, their secrets and their delivery log. */
export function webhookRoutes(app: App, resources: Resources): void {
  const { store, clock, secrets, guardedFetch, allowPrivate } = resources;
  const dependencies = { store, clock, secrets, allowPrivate };

  async function item(workspaceId: string, id: string) {
    const [found] = (await listWebhooks(store, workspaceId)).filter((each) => each.id === id);
    if (found === undefined) throw new Problem("not_found", `there is no webhook ${id}`);
    const { workspace_id: _, ...rest } = found;
    return rest;
  }

  app.get("/webhooks", { schema: listSchema }, async (request) => ({
    webhooks: (await listWebhooks(store, administratorOf(request).workspaceId)).map(
      ({ workspace_id: _, ...rest }) => rest,
    ),
  }));

  app.post("/webhooks", { schema: addSchema }, async (request, reply) => {
    const { workspaceId, actor } = administratorOf(request);
    const { url, events: types } = request.body;
    const added = await addWebhook(dependencies, { workspaceId, url, events: types, by: actor });
    return reply.code(201).send({ id: added.id, url: added.url, events: added.events, secret: added.secret });
  });

  app.patch("/webhooks/:id", { schema: changeSchema }, async (request) => {
    const { workspaceId, actor } = administratorOf(request);
    const { id } = await requireWebhook(store, request.params.id, workspaceId);
    await changeWebhook(dependencies, id, request.body, actor);
    return item(workspaceId, id);
  });

  app.delete("/webhooks/:id", { schema: removeSchema }, async (request, reply) => {
    const { workspaceId, actor } = administratorOf(request);
    const { id } = await requireWebhook(store, request.params.id, workspaceId);
    await removeWebhook(store, clock, id, actor);
    return reply.code(204).send();
  });

  app.post("/webhooks/:id/rotate", { schema: rotateSchema }, async (request) => {
    const { workspaceId, actor } = administratorOf(request);
    const { id } = await requireWebhook(store, request.params.id, workspaceId);
    const { secret, previousUntil } = await rotateWebhook(dependencies, id, actor);
    return { secret, previous_until: previousUntil };
  });

  app.post("/webhooks/:id/test", { schema: testSchema }, async (request) => {
    const { workspaceId, actor } = administratorOf(request);
    const { id } = await requireWebhook(store, request.params.id, workspaceId);
    const open = (sealed: string): string => secrets.open(sealed);
    const { delivered, status, error, durationMs } = await testWebhook({ store, clock, guardedFetch, open }, id, actor);
    return { delivered, status, error, duration_ms: durationMs };
  });

  deliveryRoutes(app, resources);
}
