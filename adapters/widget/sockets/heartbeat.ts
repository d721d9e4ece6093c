import type { WebSocket } from "ws";
import type { Clock } from "#runtime/clock.ts";

const heartbeatMs = 25_000;

/** Terminates sockets whose browser was silent for a whole interval. */
export interface Heartbeat {
  watch(socket: WebSocket): void;
  stop(): void;
}

export function startHeartbeat(clock: Clock): Heartbeat {
  const sockets = new Set<WebSocket>();
  const heardFrom = new Set<WebSocket>();
  let cancel: () => void;

  const beat = (): void => {
    for (const socket of sockets) {
      // Browsers answer a ping by themselves, also in a tab whose timers are slowed down.
      if (heardFrom.delete(socket)) socket.ping();
      else socket.terminate();
    }
    cancel = clock.timer(heartbeatMs, beat);
  };
  cancel = clock.timer(heartbeatMs, beat);

  return {
    watch(socket) {
      const heard = (): void => void heardFrom.add(socket);
      sockets.add(socket);
      heard();
      socket.on("pong", heard);
      socket.on("message", heard);
      socket.on("close", () => {
        sockets.delete(socket);
        heardFrom.delete(socket);
      });
    },
    stop: () => cancel(),
  };
}
