import type { ServerResponse } from "node:http";
import type { Caller } from "./auth.ts";
import type { RateState, Slot } from "./rate-limits.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Whose key the request carries; null before that is known and outside /v1. */
    caller: Caller | null;
    rate: RateState | null;
    slot: Slot | null;
    /** The client's address, behind trusted proxies. */
    remoteAddress: string;
    response: ServerResponse | null;
  }

  interface FastifyContextConfig {
    /** Whether the request has to name its workspace, and where it is looked for. */
    readonly workspaceId?: "required" | "optional";
  }
}
