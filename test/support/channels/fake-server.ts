import type { Server } from "node:http";
import { interceptAnswers } from "./answer-faults.ts";
import type { AddressInfo, Socket } from "node:net";

/** A server with a fixed port that can go away and come back. */
export interface FakeServer {
  readonly port: number;
  /** Closes all connections and refuses new ones. */
  goAway(): Promise<void>;
  /** Listens again on the same port. */
  comeBack(): Promise<void>;
  close(): Promise<void>;
}

/** Calls `make` for a new server that does not listen yet, at the start and at each `comeBack`. */
export async function openFakeServer(make: () => Server): Promise<FakeServer> {
  const sockets = new Set<Socket>();
  let server = make();
  const listen = (port: number) =>
    new Promise<void>((resolve, reject) => {
      interceptAnswers(server);
      server.on("connection", (socket) => {
        sockets.add(socket);
        socket.once("close", () => sockets.delete(socket));
      });
      server.once("error", reject);
      server.listen(port, "127.0.0.1", resolve);
    });
  await listen(0);
  const { port } = server.address() as AddressInfo;

  async function goAway(): Promise<void> {
    if (!server.listening) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  return {
    port,
    goAway,
    async comeBack() {
      if (server.listening) return;
      server = make();
      await listen(port);
    },
    close: goAway,
  };
}
