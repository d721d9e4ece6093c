import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { logFailure, problemBody, problemOf } from "#http/problem.ts";
import type { Resources } from "#http/v1/resources.ts";
import { ClientClosed, clientClosedStatus, closedSignal, runQuery } from "./run.ts";
import type { QueryBody } from "./schemas.ts";

/** Answers with server-sent events. A failure before the first token is an ordinary error response. */
export async function streamQuery(
  resources: Resources,
  request: FastifyRequest,
  body: QueryBody,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const closed = closedSignal(reply);
  const events = new Readable({ read: () => undefined });
  const emit = (event: string, data: unknown): void => {
    events.push(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  };
  const firstToken = Promise.withResolvers<"token">();
  let streamed = false;
  let ended = false;
  const answer = runQuery(resources, request, body, closed, (delta) => {
    if (ended) return;
    streamed = true;
    emit("token", { delta });
    firstToken.resolve("token");
  });
  let begun: Awaited<typeof answer> | "token";
  try {
    begun = await Promise.race([firstToken.promise, answer]);
  } catch (error) {
    ended = true;
    if (!(error instanceof ClientClosed)) throw error;
    return reply.code(clientClosedStatus).send();
  }
  if (begun !== "token" && begun.replayed) reply.header("idempotency-replayed", "true");
  const finish = async (): Promise<void> => {
    try {
      const { body: complete } = await answer;
      if (!streamed) emit("token", { delta: answerText(complete) });
      emit("done", complete);
    } catch (error) {
      const problem = problemOf(error);
      if (problem.status >= 500 && !closed.aborted) logFailure(request, error, problem);
      emit("error", problemBody(problem, request.id));
    }
    ended = true;
    events.push(null);
  };
  void finish();
  return (
    reply
      .header("content-type", "text/event-stream; charset=utf-8")
      .header("cache-control", "no-store")
      // Without it, proxies buffer the response.
      .header("x-accel-buffering", "no")
      .send(events)
  );
}

function answerText(body: unknown): string {
  return typeof body === "object" && body !== null && "answer" in body && typeof body.answer === "string"
    ? body.answer
    : "";
}
