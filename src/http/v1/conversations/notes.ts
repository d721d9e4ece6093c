import { Type } from "typebox";
import type { Static } from "typebox";
import { keyActor } from "#http/v1/access/auth.ts";
import type { App } from "#http/app-type.ts";
import { answerOnce } from "#http/v1/access/once.ts";
import type { Resources } from "#http/v1/resources.ts";
import { callerOf } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";

export const noteBody = Type.Object(
  { content: schemas.noteText, author_email: Type.Optional(schemas.emailAddress) },
  { title: "NewNote" },
);

const addSchema = {
  tags: ["Conversations"],
  operationId: "addNote",
  summary: "Add an internal note, which customers never see",
  body: noteBody,
  response: schemas.responses({ 201: schemas.note }, [
    ...schemas.withBody,
    "conversation_not_found",
    "duplicate_request_id",
  ]),
};

export function noteRoutes(app: App, { engine, representation, idempotency }: Resources): void {
  app.post<{ Params: { conversation_id: string }; Body: Static<typeof noteBody> }>(
    "/conversations/:conversation_id/notes",
    { schema: addSchema },
    async (request, reply) => {
      const caller = callerOf(request);
      const { content, author_email: author } = request.body;
      return answerOnce(idempotency, request, reply, async (workId) => {
        const note = {
          content,
          authorEmail: author?.toLowerCase() ?? null,
          ...(workId === undefined ? {} : { clientId: workId }),
        };
        const id = request.params.conversation_id;
        const added = await engine.addNote(caller.workspaceId, id, note, keyActor(caller));
        return { status: 201, body: representation.note(added) };
      });
    },
  );
}
