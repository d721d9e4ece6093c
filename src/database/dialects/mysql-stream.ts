import type { Socket } from "node:net";
import { connect } from "node:net";

interface Target {
  readonly host?: string;
  readonly port?: number;
  readonly socketPath?: string;
}

/**
 * Creates the driver's sockets, with a time limit that includes signing in. The driver's own limit ends with the
 * connection, so it would wait forever for a server or proxy that accepts connections but does not answer.
 */
export function createMysqlStreams(connectMs: number) {
  /** Read from the connection's own settings object, since TLS replaces the socket. */
  const timers = new WeakMap<object, NodeJS.Timeout>();
  const sockets = new WeakMap<object, Socket>();
  return {
    open({ config }: { readonly config: Target }): Socket {
      const socket =
        config.socketPath === undefined
          ? connect(config.port ?? 3306, config.host ?? "localhost")
          : connect(config.socketPath);
      // Node.js checks the certificate against this name; without it, against localhost for an address.
      if (config.socketPath === undefined) Object.assign(socket, { _host: config.host ?? "localhost" });
      socket.setNoDelay(true);
      // Shorter than the timeout of routers that drop idle connections.
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
