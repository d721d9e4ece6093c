import type { Server, Socket } from "node:net";
import { connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";

/**
 * Faults of one statement.
 * - `before`: the connection ends and the server never gets the statement.
 * - `after`: the server runs it, and the connection ends before the answer.
 * - `left`: the client's connection ends without the statement, and the server's session stays open.
 * - `late`: like `left`, and the statement arrives 300 ms later.
 * - `silent`: nothing is forwarded any more, in either direction.
 * - `mute`: the server runs it, and nothing is forwarded after that.
 * - A `ServerError` is returned as the answer.
 */
export type Fault = "before" | "after" | "left" | "late" | "silent" | "mute" | ServerError;

/** Returned to the client without asking the server. */
export interface ServerError {
  readonly errno: number;
  readonly state: string;
  readonly message: string;
}

export interface DatabaseProxy {
  /** The address of this database through the proxy. */
  readonly url: string;
  /** The number of packets that the program has sent. */
  packets(): number;
  /** Applies the fault to the next `times` statements that match, after skipping `skip` of them. */
  fail(statement: RegExp, fault: Fault, times?: number, skip?: number): void;
  /** Ends all connections and refuses new ones. */
  cut(): void;
  /** Does the same before the n-th packet from now. */
  cutBefore(packet: number): void;
  /** Accepts connections again and drops all planned faults. */
  restore(): void;
  close(): Promise<void>;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
}

const lateMs = 300;

/** A TCP proxy in front of a MySQL or MariaDB server that fails as a network does. */
export async function openDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl);
  const pairs = new Set<Pair>();
  /** Connections to the server whose clients are gone. */
  const left = new Set<Socket>();
  let planned: { readonly statement: RegExp; readonly fault: Fault; times: number; skip: number } | undefined;
  let packets = 0;
  let cutAt = Number.POSITIVE_INFINITY;

  function faultOf(packet: Buffer): Fault | undefined {
    // Checks for COM_QUERY after the header; MySQL puts attributes before the text.
    if (planned === undefined || packet[4] !== 3) return undefined;
    if (!planned.statement.test(packet.subarray(5).toString("latin1"))) return undefined;
    planned.skip -= 1;
    if (planned.skip >= 0) return undefined;
    const { fault } = planned;
    planned.times -= 1;
    if (planned.times === 0) planned = undefined;
    return fault;
  }

  const listener: Server = createServer((client) => {
    if (packets >= cutAt) {
      client.resetAndDestroy();
      return;
    }
    const server = connect(Number(target.port || 3306), target.hostname);
    const pair = { client, server };
    let fault: Fault | undefined;
    pairs.add(pair);
    client.on("data", (packet) => {
      packets += 1;
      if (packets >= cutAt) cut();
      if (fault !== undefined || packets >= cutAt) return;
      fault = faultOf(packet);
      if (typeof fault === "object") {
        client.write(errorPacket(fault));
        fault = undefined;
        return;
      }
      if (fault === undefined || fault === "after" || fault === "mute") server.write(packet);
      if (fault === "before") end(pair);
      if (fault === "left" || fault === "late") {
        pairs.delete(pair);
        left.add(server);
        client.resetAndDestroy();
      }
      if (fault === "late") setTimeout(() => server.write(packet), lateMs);
    });
    server.on("data", (packet) => {
      if (fault === undefined) client.write(packet);
      if (fault === "after") end(pair);
    });
    for (const socket of [client, server]) {
      socket.on("error", () => undefined);
      socket.on("close", () => {
        if (fault === undefined || fault === "after") end(pair);
      });
    }
  });

  function end(pair: Pair): void {
    pairs.delete(pair);
    pair.client.resetAndDestroy();
    pair.server.destroy();
  }

  function cut(): void {
    cutAt = 0;
    for (const pair of pairs) end(pair);
  }

  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${(listener.address() as AddressInfo).port}`;
  return {
    url: url.href,
    packets: () => packets,
    fail(statement, fault, times = 1, skip = 0) {
      planned = { statement, fault, times, skip };
    },
    cut,
    cutBefore(packet) {
      cutAt = packets + packet;
    },
    restore() {
      cutAt = Number.POSITIVE_INFINITY;
      planned = undefined;
    },
    async close() {
      for (const pair of pairs) end(pair);
      for (const socket of left) socket.destroy();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}

function errorPacket({ errno, state, message }: ServerError): Buffer {
  const text = Buffer.from(`#${state}${message}`);
  const packet = Buffer.alloc(7);
  packet.writeUIntLE(3 + text.length, 0, 3);
  // The sequence number of the first answer to a command.
  packet.writeUInt8(1, 3);
  packet.writeUInt8(0xff, 4);
  packet.writeUInt16LE(errno, 5);
  return Buffer.concat([packet, text]);
}
