import type { FastifyRequest } from "fastify";
import type { Caller } from "#http/v1/access/auth.ts";
import type { HttpDependencies } from "#http/dependencies.ts";
import type { Idempotency } from "#http/v1/access/idempotency.ts";
import { createIdempotency } from "#http/v1/access/idempotency.ts";
import type { Limits } from "#http/v1/access/rate-limits.ts";
import { createLimits } from "#http/v1/access/rate-limits.ts";
import type { Representation } from "./representation.ts";
import { createRepresentation } from "./representation.ts";

/** Links to files in responses: long enough to read a page of messages and then the files. */
const fileLinkMs = 3_600_000;

/** Parameters of the functions that register routes. */
export interface Resources extends HttpDependencies {
  readonly limits: Limits;
  readonly idempotency: Idempotency;
  readonly representation: Representation;
  /** Aborts when the program ends and requests in flight have had their time. */
  readonly ending: AbortSignal;
}

export function createResources(dependencies: HttpDependencies, ending: AbortSignal): Resources {
  const { store, clock, files } = dependencies;
  return {
    ...dependencies,
    limits: createLimits(dependencies),
    idempotency: createIdempotency(dependencies),
    representation: createRepresentation(
      store,
      () => clock.now(),
      (id) => files.link(id, fileLinkMs),
    ),
    ending,
  };
}

/** The authenticated caller, in handlers below /v1. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new Error("a handler below /v1 ran without authentication");
  return request.caller;
}

/** The Idempotency-Key header. Several are joined, which makes an invalid key. */
export function idempotencyKeyOf(request: FastifyRequest): string | undefined {
  const key = request.headers["idempotency-key"];
  return Array.isArray(key) ? key.join(", ") : key;
}

export function pathOf(request: FastifyRequest): string {
  return request.originalUrl.split("?", 1)[0] ?? "";
}
