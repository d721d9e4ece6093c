import { Type } from "typebox";
import { Problem } from "#domain/problem.ts";
import { agentRoles } from "#domain/workspace/agent-role.ts";
import { plans } from "#domain/workspace/settings.ts";
import { readWorkspace } from "#database/queries/workspaces.ts";
import { lacksSecondFactor } from "#admin/sign-in/settings.ts";
import { administratorOf } from "#http/admin/administrator.ts";
import { adminResponses } from "#http/admin/schemas.ts";
import { avatarPath } from "#http/files/avatars.ts";
import type { App } from "#http/app-type.ts";
import type { Resources } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";
import { own } from "./own.ts";
import { away } from "./profile.ts";

const schema = {
  tags: ["Administration"],
  operationId: "readMe",
  summary: "Read the calling agent, and their workspace",
  response: adminResponses(
    {
      200: Type.Object(
        {
          agent: Type.Object({
            id: Type.String(),
            email: Type.String(),
            name: Type.String(),
            role: Type.Enum([...agentRoles]),
            avatar_url: schemas.nullable(Type.String({ description: "The picture that customers see; null: none" })),
            away,
            has_password: Type.Boolean(),
            lacks_second_factor: Type.Boolean({
              description: "The workspace requires a second factor, and the agent has to set it up first",
            }),
          }),
          workspace: Type.Object({ id: Type.String(), name: Type.String(), plan: Type.Enum([...plans]) }),
          version: Type.String(),
          public_url: Type.String({
            description: "The address that customers and platforms reach this installation at",
          }),
          now: schemas.time,
        },
        { title: "Me" },
      ),
    },
    [],
  ),
};

/** Admits every role: the dashboard asks first which pages it may show. */
export function meRoute(app: App, { store, clock, options }: Resources): void {
  app.get("/me", { config: own, schema }, async (request) => {
    const administrator = administratorOf(request);
    const { agentId, email, name, role, workspaceId } = administrator;
    const {
      avatar,
      away: isAway,
      password,
    } = await store.read
      .selectFrom("agents")
      .select(["avatar", "away", "password"])
      .where("id", "=", agentId)
      .executeTakeFirstOrThrow();
    const workspace = await readWorkspace(store.read, workspaceId);
    if (workspace === undefined) throw new Problem("workspace_not_found", "This workspace was deleted.");
    return {
      agent: {
        id: agentId,
        email,
        name,
        role,
        avatar_url: avatar === null ? null : `${options.publicUrl}${avatarPath(avatar)}`,
        away: isAway === 1,
        has_password: password !== null,
        lacks_second_factor: await lacksSecondFactor(store.read, administrator),
      },
      workspace: { id: workspace.id, name: workspace.name, plan: workspace.plan },
      version: options.version,
      public_url: options.publicUrl,
      now: new Date(clock.now()).toISOString(),
    };
  });
}
