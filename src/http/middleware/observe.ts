import { Histogram } from "prom-client";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { HttpDependencies } from "#http/dependencies.ts";
import type { App } from "#http/app-type.ts";

/** Status in log and metrics when the client closed the connection before the response. */
const clientClosed = 499;

/**
 * Writes one log line and one measurement per request, without bodies, query strings, headers and tokens of links: these
 * hold text of customers, and keys.
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
    // There is no onResponse if the client closes the connection first.
    reply.raw.once("close", () => {
      if (!reply.raw.writableFinished) record(request, reply, reply.raw.headersSent ? reply.statusCode : clientClosed);
    });
    done();
  });
  app.addHook("onResponse", (request, reply, done) => {
    if (reply.raw.writableFinished) record(request, reply, reply.statusCode);
    done();
  });

  function record(request: FastifyRequest, reply: FastifyReply, status: number): void {
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

/** The path without the token of a link, also for a method that the route does not have. */
function pathOf(request: FastifyRequest, route: string): string {
  if (route.includes("/:token")) return route;
  const path = request.originalUrl.split("?", 1)[0] ?? "";
  return path.replace(/^(\/files\/|\/inbox\/(?:login|invitation)\/).+$/u, "$1:token").slice(0, 200);
}
