import type { FastifyReply, FastifyRequest } from "fastify";
import type { Idempotency, KeptResponse } from "#http/middleware/idempotency.ts";
import { callerOf, idempotencyKeyOf, pathOf } from "./resources.ts";

/**
 * Answers a request that may carry an Idempotency-Key. `work` is given what it is known by where it stores something:
 * the same again when a request before this one got no answer.
 */
export async function answerOnce(
  idempotency: Idempotency,
  request: FastifyRequest,
  reply: FastifyReply,
  work: (workId: string | undefined) => Promise<KeptResponse>,
): Promise<FastifyReply> {
  const { status, body, replayed } = await idempotency.run(
    {
      keyId: callerOf(request).keyId,
      path: pathOf(request),
      idempotencyKey: idempotencyKeyOf(request),
      body: request.body,
    },
    work,
  );
  if (replayed) reply.header("idempotency-replayed", "true");
  return reply.code(status).send(body);
}
