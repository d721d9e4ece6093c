import { once } from "node:events";
import { connect } from "node:net";

export interface ClosedLoop {
  readonly perSecond: number;
  readonly latenciesMs: readonly number[];
}

export interface HttpLoad {
  readonly port: number;
  readonly path: string;
  /** Called for each request. */
  readonly headers: () => Readonly<Record<string, string>>;
  /** Sent by POST; absent: GET. */
  readonly body?: () => string;
  readonly connections: number;
  readonly seconds: number;
}

/**
 * Each connection sends its next request after the last response. Written on plain sockets: an HTTP client would use
 * more processor time than the measured servers.
 */
export async function loadHttp({ port, path, headers, body, connections, seconds }: HttpLoad): Promise<ClosedLoop> {
  const latenciesMs: number[] = [];
  const request = (): string => {
    const lines = Object.entries(headers()).map(([name, value]) => `${name}: ${value}\r\n`);
    const head = `${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${lines.join("")}`;
    if (body === undefined) return `GET ${head}\r\n`;
    const text = body();
    return `POST ${head}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
  };
  const started = performance.now();
  const end = started + seconds * 1_000;

  await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect({ port, host: "127.0.0.1", noDelay: true });
      await once(socket, "connect");
      await new Promise<void>((resolve, reject) => {
        let sentAt = 0;
        let received = "";
        const send = (): void => {
          const text = request();
          sentAt = performance.now();
          socket.write(text);
        };
        socket.setEncoding("latin1");
        socket.on("data", (data: string) => {
          received += data;
          const headEnd = received.indexOf("\r\n\r\n");
          if (headEnd === -1) return;
          const length = /content-length: (\d+)/i.exec(received)?.[1];
          if (length === undefined || received.length < headEnd + 4 + Number(length)) return;
          if (!received.startsWith("HTTP/1.1 200")) {
            reject(new Error(`the server answered ${received.slice(0, 1_000)}`));
            return;
          }
          received = "";
          const now = performance.now();
          latenciesMs.push(now - sentAt);
          if (now < end) send();
          else resolve();
        });
        socket.on("error", reject);
        send();
      }).finally(() => socket.destroy());
    }),
  );
  return { perSecond: (latenciesMs.length / (performance.now() - started)) * 1_000, latenciesMs };
}
