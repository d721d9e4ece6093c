import type { Socket } from "node:net";
import type { WebSocket } from "ws";

/** The memory that one socket uses. */
export interface SocketMemory {
  /** Recounts. Called after a frame is sent, and when it has left the process. */
  update(): void;
  /** Counts a frame that is being handled, until the returned function is called. */
  hold(bytes: number): () => void;
}

interface WatchedSocket {
  readonly address: string;
  readonly socket: WebSocket;
  /** The connection below the socket, and its `bytesRead` before the first frame. */
  readonly connection: Socket;
  readonly start: number;
  /** Called once, when the socket must be closed to free its memory. */
  evict(): void;
}

export interface SocketBytes {
  /** Counts the socket's bytes until it closes: frames that are incomplete, being handled, or not read by the browser. */
  watch(watched: WatchedSocket): SocketMemory;
}

const totalBytesMax = 64 * 1_048_576;

/** Bounds the memory of all sockets together: each is bounded, and there can be many. */
export function createSocketBytes(bytesMax = totalBytesMax): SocketBytes {
  const counted = new Map<WatchedSocket, number>();
  let total = 0;

  function count(watched: WatchedSocket, bytes: number): void {
    const before = counted.get(watched);
    if (before === undefined) return;
    counted.set(watched, bytes);
    total += bytes - before;
    while (total > bytesMax) evict();
  }

  function release(watched: WatchedSocket): void {
    total -= counted.get(watched) ?? 0;
    counted.delete(watched);
  }

  /** Closes the largest socket of the address that holds the most: one client cannot keep all others out. */
  function evict(): void {
    const addresses = new Map<string, number>();
    for (const [{ address }, bytes] of counted) addresses.set(address, (addresses.get(address) ?? 0) + bytes);
    const [[largestAddress] = []] = [...addresses].toSorted(([, a], [, b]) => b - a);
    const own = [...counted].filter(([{ address }]) => address === largestAddress);
    const [[largest] = []] = own.toSorted(([, a], [, b]) => b - a);
    if (largest === undefined) return;
    release(largest);
    largest.evict();
  }

  return {
    watch(watched) {
      const { socket, connection, start } = watched;
      let complete = 0;
      let held = 0;
      const update = (): void => count(watched, connection.bytesRead - start - complete + held + socket.bufferedAmount);
      const frameArrived = (data: Buffer): void => {
        complete += data.length + headerBytes(data.length);
        update();
      };
      counted.set(watched, 0);
      // Added after the listener that reads frames, so that complete frames are subtracted already.
      connection.on("data", update);
      socket.on("message", frameArrived).on("ping", frameArrived).on("pong", frameArrived);
      socket.once("close", () => release(watched));
      return {
        update,
        hold(bytes) {
          held += bytes;
          update();
          return () => {
            held -= bytes;
            update();
          };
        },
      };
    },
  };
}

/** Bytes of the header of a client's frame in its shortest form. Fragments of a message count as one frame. */
function headerBytes(payload: number): number {
  if (payload < 126) return 6;
  return payload < 65_536 ? 8 : 14;
}
