import { createServer } from "node:http";
import type { RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { newId } from "#domain/ids.ts";
import type { ProblemCode } from "#domain/problem.ts";
import type { HttpDependencies, HttpOptions } from "./dependencies.ts";
import { rawProblem } from "./problem.ts";

export const headerBytesMax = 16_384;

/** Responses of each connection that have not ended. */
export type OpenResponses = WeakMap<Socket, Set<ServerResponse>>;

/** Node's server with our limits. Fills `responses`. */
export function createNodeServer(
  { timeouts, connectionsMax }: HttpOptions,
  responses: OpenResponses,
  handler: RequestListener,
): Server {
  const server = createServer(
    {
      headersTimeout: timeouts.headersMs,
      requestTimeout: timeouts.requestMs,
      connectionsCheckingInterval: timeouts.checkMs,
      keepAliveTimeout: timeouts.keepAliveMs,
      maxHeaderSize: headerBytesMax,
      // Node would refuse these without a body. The server checks the header itself.
      requireHostHeader: false,
      // Clients that offer HTTP/2 on a plain request are served HTTP/1.1.
      shouldUpgradeCallback: ({ headers, url }) =>
        headers.upgrade?.toLowerCase() === "websocket" && !isApiPath(url ?? "/"),
    },
    handler,
  );
  server.maxConnections = connectionsMax;
  server.on("request", ({ socket }, response) => {
    const open = responses.get(socket) ?? new Set();
    responses.set(socket, open.add(response));
    response.once("close", () => open.delete(response));
  });
  // Ignores an unknown Expect header, which Node would refuse without a body.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  // Node's own time limits start with the first byte.
  server.on("connection", (socket: Socket) => {
    const timer = setTimeout(() => {
      if (socket.bytesRead === 0) socket.destroy();
    }, timeouts.firstByteMs);
    socket.once("close", () => clearTimeout(timer));
  });
  return server;
}

export function isApiPath(url: string): boolean {
  const path = pathOf(url);
  return path === "/v1" || path.startsWith("/v1/");
}

export function pathOf(url: string): string {
  return url.split(/[?#]/, 1)[0] ?? "/";
}

/** Answers input that is no HTTP request. No route sees it, so there is only the socket. */
export function refuseBrokenRequest({ clock, log }: HttpDependencies, responses: OpenResponses) {
  return function refuse(error: Error & { readonly code?: string }, socket: Socket): void {
    // The client would take it for a part of a response that has begun.
    const busy = responses
      .get(socket)
      ?.values()
      .some(({ headersSent }) => headersSent);
    if (error.code === "ECONNRESET" || !socket.writable || busy === true || socket.bytesRead === 0) {
      socket.destroy(error);
      return;
    }
    const [status, code, detail] = problemOf(error.code);
    const requestId = newId("req", clock.now());
    log.info({ requestId, status, error: error.code }, "http: request refused");
    socket.end(rawProblem(status, code, detail, { requestId, now: clock.now() }));
    // A client that does not read the response must not keep the socket.
    socket.destroySoon();
  };
}

function problemOf(code: string | undefined): readonly [400 | 408 | 431, ProblemCode, string] {
  switch (code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return [408, "request_timeout", "The request did not arrive in time."];
    case "HPE_HEADER_OVERFLOW":
      return [431, "payload_too_large", `The request line and headers may have ${headerBytesMax} bytes in all.`];
    default:
      return [400, "invalid_parameter", "This is not an HTTP request."];
  }
}
