import { Histogram } from "prom-client";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { HttpDependencies } from "#http/dependencies.ts";
import type { App } from "#http/app-type.ts";

/** What proxies write for a client that did not wait for its answer; no response has it. */
const clientGone = 499;

/**
 * One log line and one measurement a request. Neither holds a body, a query string, a header or a login link's token:
 * they carry what customers write, and keys.
 */
export function observe(app: App, { metrics, log }: HttpDependencies): void {
  const duration = new Histogram({
    name: "parley_http_request_duration_seconds",
    help: "Time to answer an HTTP request, by method, route and status.",
    labelNames: ["method", "route", "status"] as const,
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [metrics],
  });

  app.addHook("onRequest", (request, reply, done) => {
    // A response that nobody waited for is not one that ended, and is told all the same.
    reply.raw.once("close", () => {
      if (!reply.raw.writableFinished) told(request, reply, reply.raw.headersSent ? reply.statusCode : clientGone);
    });
    done();
  });
  app.addHook("onResponse", (request, reply, done) => {
    if (reply.raw.writableFinished) told(request, reply, reply.statusCode);
    done();
  });

  function told(request: FastifyRequest, reply: FastifyReply, status: number): void {
    const seconds = reply.elapsedTime / 1_000;
    const route = request.routeOptions.url ?? "none";
    duration.observe({ method: request.method, route, status: String(status) }, seconds);
    const fields = {
      requestId: request.id,
      method: request.method,
      path: pathOf(request, route),
      status,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      ...(request.caller === null ? {} : { keyId: request.caller.keyId, workspaceId: request.caller.workspaceId }),
    };
    if (route.startsWith("/health/") || route === "/metrics") log.debug(fields, "http: request completed");
    else log.info(fields, "http: request completed");
  }
}

/** A link that opens something is told by its route, and by where it would be with a method that there is none for. */
function pathOf(request: FastifyRequest, route: string): string {
  if (route.includes("/:token")) return route;
  const path = request.originalUrl.split("?", 1)[0] ?? "";
  return path.replace(/^(\/files\/|\/inbox\/login\/).+$/u, "$1:token").slice(0, 200);
}
