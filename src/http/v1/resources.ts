import type { FastifyRequest } from "fastify";
import type { Caller } from "#http/middleware/auth.ts";
import type { HttpDependencies } from "#http/dependencies.ts";
import type { Idempotency } from "#http/middleware/idempotency.ts";
import type { Limits } from "#http/middleware/rate-limits.ts";
import type { Representation } from "./representation.ts";

/** What the routes of every resource are given. */
export interface Resources extends HttpDependencies {
  readonly limits: Limits;
  readonly idempotency: Idempotency;
  readonly representation: Representation;
  /** Aborts when the program ends and does not wait any longer. */
  readonly ending: AbortSignal;
}

/** The caller, who is known wherever a route's handler runs. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new Error("a handler below /v1 ran without authentication");
  return request.caller;
}

/** The Idempotency-Key header; several of them are none that we could keep. */
export function idempotencyKeyOf(request: FastifyRequest): string | undefined {
  const key = request.headers["idempotency-key"];
  return Array.isArray(key) ? key.join(", ") : key;
}

export function pathOf(request: FastifyRequest): string {
  return request.originalUrl.split("?", 1)[0] ?? "";
}
