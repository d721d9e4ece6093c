import { Type } from "typebox";
import { Problem } from "#domain/problem.ts";
import { avatarBytesMax, removeAvatar, setAvatar } from "#admin/team/avatars.ts";
import { administratorOf, editOf } from "#http/admin/administrator.ts";
import { adminResponses } from "#http/admin/schemas.ts";
import type { App } from "#http/app-type.ts";
import { avatarPath } from "#http/files/avatars.ts";
import { requireForm } from "#http/v1/documents/upload.ts";
import type { Resources } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";
import { own } from "./own.ts";

const tags = ["Administration"];

const setSchema = {
  tags,
  operationId: "setAvatar",
  summary: "Set your picture, which customers see with your messages",
  description: "multipart/form-data with the part `file`: a PNG, JPEG or WebP picture of at most 1 MB.",
  response: adminResponses({ 200: Type.Object({ avatar_url: Type.String() }, { title: "Avatar" }) }, [
    "payload_too_large",
    "request_timeout",
    "storage_full",
    "unsupported_media_type",
  ]),
};

const removeOwnSchema = {
  tags,
  operationId: "removeAvatar",
  summary: "Remove your picture",
  response: adminResponses({ 204: schemas.noContent }, []),
};

const removeSchema = {
  tags,
  operationId: "removeAgentAvatar",
  summary: "Remove the picture of an agent",
  params: Type.Object({ id: Type.String() }),
  response: adminResponses({ 204: schemas.noContent }, []),
};

/** The picture of an agent. */
export function avatarRoutes(app: App, resources: Resources): void {
  const { store, clock, files, ending, options } = resources;

  app.post(
    "/me/avatar",
    { config: own, onRequest: (request, _reply, done) => done(requireForm(request)), schema: setSchema },
    async (request) => {
      const { agentId } = administratorOf(request);
      // One byte more, or a picture of exactly the limit would count as cut off.
      const part = await request.file({ limits: { fileSize: avatarBytesMax + 1 } });
      if (part === undefined) throw new Problem("invalid_parameter", "file: choose a picture.");
      const bytes = await part.toBuffer();
      if (bytes.length > avatarBytesMax) {
        throw new Problem("payload_too_large", "file: choose a picture of at most 1 MB.");
      }
      const id = await setAvatar({ store, clock, files }, { ...editOf(request), agentId }, bytes, ending);
      return { avatar_url: `${options.publicUrl}${avatarPath(id)}` };
    },
  );

  app.delete("/me/avatar", { config: own, schema: removeOwnSchema }, async (request, reply) => {
    const { agentId } = administratorOf(request);
    await removeAvatar({ store, clock }, { ...editOf(request), agentId });
    return reply.code(204).send();
  });

  app.delete("/agents/:id/avatar", { schema: removeSchema }, async (request, reply) => {
    await removeAvatar({ store, clock }, { ...editOf(request), agentId: request.params.id });
    return reply.code(204).send();
  });
}
