import type { FastifyReply, FastifyRequest } from "fastify";
import type { Idempotency } from "#http/v1/access/idempotency.ts";
import type { KeptResponse } from "#http/v1/access/idempotency-claims.ts";
import { callerOf, idempotencyKeyOf, pathOf } from "#http/v1/resources.ts";

/**
 * Answers a request that may have an Idempotency-Key. `work` gets an id to store with its result: a retry of a request that
 * got no response has the same id.
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
