import { Type } from "typebox";
import { channelLabel } from "#channels/catalog.ts";
import { dismissFirstSteps, readOverview } from "#admin/overview.ts";
import { administratorOf } from "#http/admin/administrator.ts";
import { adminResponses } from "#http/admin/schemas.ts";
import type { App } from "#http/app-type.ts";
import type { Resources } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";

const { nullable } = schemas;

const overview = Type.Object(
  {
    channels: Type.Array(
      Type.Object({
        id: Type.String(),
        name: Type.String(),
        label: Type.String({ description: "Name of the platform" }),
        error: nullable(Type.String()),
      }),
      { description: "Channels in use that do not work" },
    ),
    documents_failed: Type.Integer(),
    webhooks: Type.Array(
      Type.Object({
        id: Type.String(),
        url: Type.String(),
        state: Type.Enum(["failing", "disabled"]),
        reason: nullable(Type.String()),
      }),
      { description: "Endpoints that fail, or were disabled" },
    ),
    dead_letters: Type.Array(
      Type.Object({
        id: Type.String(),
        conversation_id: nullable(Type.String({ description: "Null: the work is for no single conversation" })),
        kind: Type.String(),
        title: Type.String({ description: "What was not done" }),
        error: nullable(Type.String()),
        at: schemas.time,
        can_retry: Type.Boolean({
          description:
            "False: it would be of no use, or undo what was done since; or its consequence was stored, such as a message that is shown as failed, which agents send again there",
        }),
        can_dismiss: Type.Boolean({
          description: "False: the work is for other workspaces too, and is deleted after 30 days",
        }),
      }),
      { description: "Work that was given up, newest first" },
    ),
    versions: Type.Array(nullable(Type.String()), {
      description: "Versions of the running processes where they differ; null: an earlier one",
    }),
    system: Type.Array(Type.Object({ name: Type.String(), cause: nullable(Type.String()) }), {
      description: "Parts of the installation that do not fully work, such as the disk",
    }),
    model_budget_spent: Type.Boolean({
      description: "The language model's tokens of this month are used up; answers are the documents' own sentences",
    }),
    first_steps: Type.Object({
      dismissed: Type.Boolean(),
      documents: Type.Boolean(),
      manual: Type.Boolean({ description: "The bot still answers from the built-in manual" }),
      question: Type.Boolean({ description: "A conversation exists" }),
      widget: Type.Boolean({ description: "A conversation came through the widget" }),
      channel: Type.Boolean({ description: "A channel is connected, and works" }),
      colleague: Type.Boolean(),
    }),
  },
  { title: "Overview" },
);

const tags = ["Administration"];

const readSchema = {
  tags,
  operationId: "readOverview",
  summary: "Read what needs attention, and the first steps of a new workspace",
  response: adminResponses({ 200: overview }, []),
};

const dismissSchema = {
  tags,
  operationId: "dismissFirstSteps",
  summary: "Hide the first steps",
  response: adminResponses({ 204: schemas.noContent }, []),
};

/** The state of the workspace at a glance. */
export function overviewRoutes(app: App, { store, clock, readiness, documents, canRetry }: Resources): void {
  app.get("/overview", { config: { least: "viewer" }, schema: readSchema }, async (request) => {
    const { workspaceId, role } = administratorOf(request);
    const { channels, ...rest } = await readOverview({ store, documents, canRetry }, workspaceId, clock.now());
    // Channels are named above; those of other workspaces are not.
    const system = (await readiness()).filter(({ name, state }) => state !== "ready" && !name.startsWith("channel "));
    // Addresses of endpoints and causes of failures can hold secrets of other systems.
    const isAdmin = role === "admin";
    return {
      ...rest,
      channels: channels.map(({ id, name, channel, error }) => ({
        id,
        name,
        label: channelLabel(channel),
        error: isAdmin ? error : null,
      })),
      webhooks: rest.webhooks.map((each) => (isAdmin ? each : { ...each, url: new URL(each.url).host, reason: null })),
      dead_letters: rest.dead_letters.map((each) => (isAdmin ? each : { ...each, error: null })),
      system: system.map(({ name, cause }) => ({ name, cause: isAdmin ? cause : null })),
    };
  });

  app.delete("/overview/first-steps", { schema: dismissSchema }, async (request, reply) => {
    const { workspaceId, actor } = administratorOf(request);
    await dismissFirstSteps(store, clock, workspaceId, actor);
    return reply.code(204).send();
  });
}
