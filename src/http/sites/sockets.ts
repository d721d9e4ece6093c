import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { channels } from "#channels/catalog.ts";
import type { SiteSocket } from "#channels/contract.ts";
import { newId, parseWorkspaceId } from "#domain/ids.ts";
import type { ProblemCode } from "#domain/problem.ts";
import type { HttpDependencies } from "#http/dependencies.ts";
import type { createClientAddress } from "#http/middleware/client-address.ts";
import { rawProblem } from "#http/problem.ts";

/** Gives WebSocket handshakes to the adapter of their channel. */
export function acceptSockets(
  server: Server,
  { sites, clock, log }: Pick<HttpDependencies, "sites" | "clock" | "log">,
  clientAddress: ReturnType<typeof createClientAddress>,
): void {
  async function socketAt(url: URL): Promise<SiteSocket | undefined> {
    const workspaceId = parseWorkspaceId(url.searchParams.get("workspace") ?? "");
    const channel = channels.find((name) => name === (url.searchParams.get("channel") ?? "widget"));
    if (workspaceId === undefined || channel === undefined) return undefined;
    return sites.socket(workspaceId, channel, url.pathname);
  }

  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const url = URL.parse(request.url ?? "/", "http://localhost");
    const target = url === null ? undefined : await socketAt(url);
    if (target === undefined) {
      refuse(socket, 404, "not_found", "There is no such socket.");
      return;
    }
    const forwarded = request.headers["x-forwarded-for"];
    const remote = clientAddress(
      request.socket.remoteAddress,
      Array.isArray(forwarded) ? forwarded.join(",") : forwarded,
    );
    target.upgrade(request, socket, head, remote);
  }

  function refuse(socket: Duplex, status: 404 | 503, code: ProblemCode, detail: string): void {
    // The server's time limits do not apply to an upgraded socket, so a client could keep it half open.
    socket.once("finish", () => socket.destroy());
    socket.end(rawProblem(status, code, detail, { requestId: newId("req", clock.now()), now: clock.now() }));
  }

  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const ignoreReset = (): void => undefined;
    // Until the adapter adds its own listener, a reset connection must not end the process.
    socket.on("error", ignoreReset);
    upgrade(request, socket, head).then(
      () => socket.off("error", ignoreReset),
      (error: unknown) => {
        log.error({ err: error }, "http: WebSocket handshake failed");
        refuse(socket, 503, "upstream_timeout", "The handshake failed on our side.");
      },
    );
  });
}
