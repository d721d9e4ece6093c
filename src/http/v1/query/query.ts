import { Type } from "typebox";
import type { App } from "#http/app-type.ts";
import type { Resources } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";
import { ClientClosed, clientClosedStatus, closedSignal, runQuery } from "./run.ts";
import { answerSchema, queryBody, queryErrors } from "./schemas.ts";
import { streamQuery } from "./stream.ts";

const querySchema = {
  tags: ["Query"],
  operationId: "query",
  summary: "Ask a question",
  body: queryBody,
  response: schemas.responses({ 200: answerSchema }, queryErrors),
};

const streamSchema = {
  tags: ["Query"],
  operationId: "streamQuery",
  summary: "Ask a question and read the answer as it is made",
  description:
    "Server-sent events: `token` with `{delta}`, at the end `done` with the response of `POST /v1/query`, or `error` with an error body. A failure before the first token is an ordinary error response.",
  body: queryBody,
  response: schemas.responses({ 200: Type.String({ description: "text/event-stream" }) }, queryErrors),
};

export function queryRoutes(app: App, resources: Resources): void {
  app.post("/query", { config: { workspaceId: "required" }, schema: querySchema }, async (request, reply) => {
    try {
      const { status, body, replayed } = await runQuery(resources, request, request.body, closedSignal(reply));
      if (replayed) reply.header("idempotency-replayed", "true");
      return await reply.code(status).send(body);
    } catch (error) {
      if (!(error instanceof ClientClosed)) throw error;
      return reply.code(clientClosedStatus).send();
    }
  });

  app.post("/query/stream", { config: { workspaceId: "required" }, schema: streamSchema }, async (request, reply) =>
    streamQuery(resources, request, request.body, reply),
  );
}
