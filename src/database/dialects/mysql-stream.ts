import type { Socket } from "node:net";
import { connect } from "node:net";

interface Target {
  readonly host?: string;
  readonly port?: number;
  readonly socketPath?: string;
}

/**
 * Makes the driver's sockets, and gives each the time to have signed in too: the driver's own limit ends when the
 * connection is made, and a server or proxy that then says nothing would be waited for for ever.
 */
export function createMysqlStreams(connectMs: number) {
  /** By the settings object that each connection has of its own: with TLS its socket becomes another. */
  const timers = new WeakMap<object, NodeJS.Timeout>();
  const sockets = new WeakMap<object, Socket>();
  return {
    open({ config }: { readonly config: Target }): Socket {
      const socket =
        config.socketPath === undefined
          ? connect(config.port ?? 3306, config.host ?? "localhost")
          : connect(config.socketPath);
      // With TLS, Node.js checks the certificate for this name; an address it would take for localhost.
      if (config.socketPath === undefined) Object.assign(socket, { _host: config.host ?? "localhost" });
      socket.setNoDelay(true);
      // Often enough for what forgets idle connections on the way.
      socket.setKeepAlive(true, 30_000);
      const timer = setTimeout(() => {
        const error = new Error(`the database did not let us sign in within ${connectMs} ms`);
        socket.destroy(Object.assign(error, { code: "ETIMEDOUT" }));
      }, connectMs);
      timers.set(config, timer);
      sockets.set(config, socket);
      socket.once("close", () => clearTimeout(timer));
      return socket;
    },
    signedIn({ config }: { readonly config: object }): void {
      clearTimeout(timers.get(config));
    },
    destroy({ config }: { readonly config: object }): void {
      sockets.get(config)?.destroy();
    },
  };
}
