import { Type } from "typebox";
import { requireInstant } from "#domain/instant.ts";
import { Problem } from "#domain/problem.ts";
import { replayEvent, replayRange } from "#admin/webhooks/replay.ts";
import { requireWebhook, webhookDeliveries, webhookDelivery } from "#admin/webhooks/webhooks.ts";
import { administratorOf } from "#http/admin/administrator.ts";
import { adminResponses } from "#http/admin/schemas.ts";
import type { App } from "#http/app-type.ts";
import { createCursors } from "#http/v1/cursor.ts";
import type { Resources } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";
import { delivery, deliveryDetail, params, tags } from "./schemas.ts";

const listSchema = {
  tags,
  operationId: "listWebhookDeliveries",
  summary: "List attempts to deliver events, newest first",
  params,
  querystring: Type.Object({
    failed: Type.Optional(Type.Enum(["true", "false"], { description: "`true`: only failed attempts" })),
    limit: schemas.listLimit(50),
    cursor: schemas.listCursor,
  }),
  response: adminResponses(
    {
      200: Type.Object(
        { deliveries: Type.Array(delivery), pagination: schemas.pagination },
        { title: "WebhookDeliveryList" },
      ),
    },
    ["invalid_cursor"],
  ),
};

const readSchema = {
  tags,
  operationId: "readWebhookDelivery",
  summary: "Read an attempt with its request and its response",
  params: Type.Object({
    id: Type.String(),
    delivery_id: Type.Integer({ minimum: 1, description: "The attempt's id" }),
  }),
  response: adminResponses({ 200: deliveryDetail }, []),
};

const replaySchema = {
  tags,
  operationId: "replayWebhookEvents",
  summary: "Send one event again, or those of a period",
  params,
  body: Type.Object(
    {
      event_id: Type.Optional(Type.String({ description: "One event; without it, a period" })),
      since: Type.Optional(Type.String({ description: "ISO 8601, exclusive" })),
      until: Type.Optional(Type.String({ description: "ISO 8601, exclusive" })),
      failed: Type.Optional(Type.Boolean({ description: "Only events that this endpoint has never accepted" })),
    },
    { title: "WebhookReplay" },
  ),
  response: adminResponses(
    {
      202: Type.Object(
        { events: Type.Integer({ description: "Events that are queued again" }) },
        { title: "Replayed" },
      ),
    },
    [...schemas.withBody, "invalid_transition"],
  ),
};

/** The delivery log of an endpoint, and its replay. */
export function deliveryRoutes(app: App, { store, clock, cursorKey }: Resources): void {
  const cursors = createCursors(cursorKey, "webhook deliveries", Type.Object({ before: Type.Integer() }));

  app.get("/webhooks/:id/deliveries", { schema: listSchema }, async (request) => {
    const { id } = await requireWebhook(store, request.params.id, administratorOf(request).workspaceId);
    const { limit = 50, cursor } = request.query;
    const failed = request.query.failed === "true";
    const list = { id, failed };
    const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : cursors.read(list, cursor).before;
    const rows = await webhookDeliveries(store, { endpointId: id, failed, before, limit: limit + 1 });
    const page = rows.slice(0, limit);
    return {
      deliveries: page.map(({ endpoint_id: _, response: __, ...attempt }) => attempt),
      pagination: {
        next_cursor: cursors.issue(list, { before: page.at(-1)?.id ?? 0 }),
        has_more: rows.length > limit,
      },
    };
  });

  app.get("/webhooks/:id/deliveries/:delivery_id", { schema: readSchema }, async (request) => {
    const { id, delivery_id: attemptId } = request.params;
    const endpoint = await requireWebhook(store, id, administratorOf(request).workspaceId);
    const { endpoint_id: _, ...found } = await webhookDelivery(store, endpoint.id, attemptId);
    return found;
  });

  app.post("/webhooks/:id/replay", { schema: replaySchema }, async (request, reply) => {
    const { workspaceId, actor } = administratorOf(request);
    const { id } = await requireWebhook(store, request.params.id, workspaceId);
    const { event_id: eventId, failed = false } = request.body;
    const range = {
      since: request.body.since === undefined ? undefined : requireInstant("since", request.body.since),
      until: request.body.until === undefined ? undefined : requireInstant("until", request.body.until),
    };
    if (eventId !== undefined) {
      await replayEvent(store, clock, eventId, id, actor);
      return reply.code(202).send({ events: 1 });
    }
    if (range.since === undefined && !failed) {
      throw new Problem("missing_field", "since: name the beginning of the period, or set failed");
    }
    return reply.code(202).send({ events: await replayRange(store, clock, id, { ...range, failed, by: actor }) });
  });
}
