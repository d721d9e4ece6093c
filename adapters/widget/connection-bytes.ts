import type { Socket } from "node:net";
import type { WebSocket } from "ws";

/** Memory of one socket. */
export interface HeldBytes {
  /** Called after a frame is sent, and when it has left. */
  update(): void;
  /** Counts a frame until its work is done: until what it returns is called. */
  work(bytes: number): () => void;
}

interface Watched {
  readonly address: string;
  readonly socket: WebSocket;
  /** The connection below the socket, and its `bytesRead` before the first frame. */
  readonly connection: Socket;
  readonly start: number;
  /** Called once, when the socket must give its bytes up. */
  evict(): void;
}

export interface SocketBytes {
  /** Counts the socket's bytes until it closes: frames that are unfinished, in work, or not read by the browser. */
  watch(watched: Watched): HeldBytes;
}

const totalBytesMax = 64 * 1_048_576;

/** A bound of what sockets hold together: each alone is bounded, and there can be many. */
export function createSocketBytes(bytesMax = totalBytesMax): SocketBytes {
  const counted = new Map<Watched, number>();
  let total = 0;

  function count(watched: Watched, bytes: number): void {
    const before = counted.get(watched);
    if (before === undefined) return;
    counted.set(watched, bytes);
    total += bytes - before;
    while (total > bytesMax) evict();
  }

  function release(watched: Watched): void {
    total -= counted.get(watched) ?? 0;
    counted.delete(watched);
  }

  /** The address that holds the most gives up its largest socket: one client cannot keep all others out. */
  function evict(): void {
    const addresses = new Map<string, number>();
    for (const [{ address }, bytes] of counted) addresses.set(address, (addresses.get(address) ?? 0) + bytes);
    const [[worst] = []] = [...addresses].toSorted(([, a], [, b]) => b - a);
    const own = [...counted].filter(([{ address }]) => address === worst);
    const [[largest] = []] = own.toSorted(([, a], [, b]) => b - a);
    if (largest === undefined) return;
    release(largest);
    largest.evict();
  }

  return {
    watch(watched) {
      const { socket, connection, start } = watched;
      let taken = 0;
      let working = 0;
      const update = (): void => count(watched, connection.bytesRead - start - taken + working + socket.bufferedAmount);
      const take = (data: Buffer): void => {
        taken += data.length + headerBytes(data.length);
        update();
      };
      counted.set(watched, 0);
      // Behind the listener that reads frames, so that what it has read is taken already.
      connection.on("data", update);
      socket.on("message", take).on("ping", take).on("pong", take);
      socket.once("close", () => release(watched));
      return {
        update,
        work(bytes) {
          working += bytes;
          update();
          return () => {
            working -= bytes;
            update();
          };
        },
      };
    },
  };
}

/** Header length of a client's frame in its shortest form. Fragments of a message count as one frame. */
function headerBytes(payload: number): number {
  if (payload < 126) return 6;
  return payload < 65_536 ? 8 : 14;
}
