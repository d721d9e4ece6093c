import type { WebSocket } from "ws";
import type { Log } from "#runtime/log.ts";
import type { ServerFrame } from "../frames.ts";
import { closeCodes } from "../frames.ts";
import type { SocketMemory } from "../sockets/socket-bytes.ts";

/** A browser that leaves more unread is disconnected. It gets what it missed when it reconnects. */
const unreadBytesMax = 1024 * 1024;

/** The sending side of a visitor's socket, and the work that the socket caused. */
export interface VisitorSocket {
  /** Sends without waiting. */
  send(frame: ServerFrame): void;
  /** Resolves when the frame has left this process: a long history must not outrun its reader. */
  sendPaced(frame: ServerFrame): Promise<void>;
  /**
   * Runs work that a frame or a signal caused. A failure closes this socket only; the browser reconnects and catches up.
   * `frameBytes` are counted until the work ends.
   */
  run(work: () => Promise<void>, frameBytes?: number): void;
  close(code: number, reason: string): void;
  /** For a thread that belongs to another user by now. */
  closeAsForeign(): void;
  /** False as soon as the closing handshake has begun. */
  isOpen(): boolean;
  /** True only after the socket has closed. */
  isClosed(): boolean;
  /** Resolves when no work is running. */
  settled(): Promise<void>;
}

export function createVisitorSocket(socket: WebSocket, memory: SocketMemory, log: Log): VisitorSocket {
  const running = new Set<Promise<void>>();
  let closed = false;
  socket.on("close", () => {
    closed = true;
  });

  const transmit = (frame: ServerFrame, sent?: () => void): void => {
    socket.send(JSON.stringify(frame), () => {
      memory.update();
      sent?.();
    });
    memory.update();
  };

  return {
    send(frame) {
      if (closed) return;
      if (socket.bufferedAmount > unreadBytesMax) socket.terminate();
      else transmit(frame);
    },
    async sendPaced(frame) {
      // A failed send also resolves; the socket's own close follows it.
      if (!closed) await new Promise<void>((resolve) => transmit(frame, resolve));
    },
    run(work, frameBytes = 0) {
      const release = memory.hold(frameBytes);
      const promise = work()
        .catch((error: unknown) => {
          log.error({ err: error }, "widget: connection failed");
          socket.close(1011, "internal error");
        })
        .finally(() => {
          running.delete(promise);
          release();
        });
      running.add(promise);
    },
    close: (code, reason) => socket.close(code, reason),
    closeAsForeign: () => socket.close(closeCodes.badToken, "another user's thread"),
    isOpen: () => socket.readyState === socket.OPEN,
    isClosed: () => closed,
    async settled() {
      await Promise.all(running);
    },
  };
}
