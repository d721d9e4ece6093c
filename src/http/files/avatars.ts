import { Readable } from "node:stream";
import { Type } from "typebox";
import { Problem } from "#domain/problem.ts";
import type { App } from "#http/app-type.ts";
import type { HttpDependencies } from "#http/dependencies.ts";

/** The address of a picture, relative to the installation's. */
export const avatarPath = (id: string): string => `/avatars/${id}`;

/** Pictures of agents. Customers see them without a session, and only know the ids of those that wrote to them. */
export function avatarFiles(app: App, { files, store }: Pick<HttpDependencies, "files" | "store">): void {
  app.get(
    "/avatars/:id",
    { schema: { hide: true, params: Type.Object({ id: Type.String({ maxLength: 64 }) }) } },
    async (request, reply) => {
      const { id } = request.params;
      const agent = await store.read
        .selectFrom("agents")
        .innerJoin("workspaces", "workspaces.id", "agents.workspace_id")
        .select(["agents.workspace_id", "agents.avatar_type"])
        .where("agents.avatar", "=", id)
        .where("workspaces.deleted_at", "is", null)
        .executeTakeFirst();
      if (agent === undefined || agent.avatar_type === null) throw gone();
      const bytes = await files.open({ workspaceId: agent.workspace_id, id }).catch((error: unknown) => {
        if (error instanceof Error && error.name === "FileGone") throw gone();
        throw error;
      });
      return reply
        .header("content-type", agent.avatar_type)
        .header("content-security-policy", "default-src 'none'; sandbox; frame-ancestors 'none'")
        .header("x-content-type-options", "nosniff")
        .header("cross-origin-resource-policy", "cross-origin")
        .header("cache-control", "public, max-age=86400, immutable")
        .send(bytes instanceof Readable ? bytes : Readable.from(bytes));
    },
  );
}

const gone = (): Problem => new Problem("not_found", "There is no such picture.");
