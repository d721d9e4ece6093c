import type { FastifyReply, FastifyRequest } from "fastify";
import { handleError } from "#http/problem.ts";
import type { Refusal } from "./wire.ts";

export type RefusalCode = "not_encrypted" | "claimed_by_other" | "stale_view" | "cannot_be_done";

const statusOf: Readonly<Record<RefusalCode, number>> = {
  not_encrypted: 403,
  claimed_by_other: 409,
  stale_view: 409,
  cannot_be_done: 409,
};

/** An error that only the inbox answers with. Other errors are Problems, as in the API. */
export class InboxRefusal extends Error {
  readonly code: RefusalCode;
  readonly more: Pick<Refusal, "assignee" | "newer">;

  constructor(code: RefusalCode, detail: string, more: Pick<Refusal, "assignee" | "newer"> = {}) {
    super(detail);
    this.name = "InboxRefusal";
    this.code = code;
    this.more = more;
  }

  get status(): number {
    return statusOf[this.code];
  }
}

export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (!(error instanceof InboxRefusal)) return handleError(error, request, reply);
  const body: Refusal = { detail: error.message, code: error.code, request_id: request.id, ...error.more };
  return reply.code(error.status).header("content-type", "application/json; charset=utf-8").send(body);
}
