import { randomBytes } from "node:crypto";
import { WebSocket } from "ws";
import type { MessageFrame, ReadyFrame, ServerFrame } from "../../frames.ts";
import type { TestSite } from "./site.ts";

/** A browser's side of the protocol, without the browser. */
export interface TestClient {
  readonly socket: WebSocket;
  readonly frames: ServerFrame[];
  send(frame: object): void;
  /** The first frame, of those that come or have come, that fits; each is given once. */
  next<Kind extends ServerFrame["kind"]>(kind: Kind): Promise<Extract<ServerFrame, { kind: Kind }>>;
  /** Resolves with the close code. */
  readonly closed: Promise<number>;
  close(): void;
}

export interface ClientOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly autoPong?: boolean;
}

export async function connect(site: Pick<TestSite, "socketUrl">, options: ClientOptions = {}): Promise<TestClient> {
  const socket = new WebSocket(site.socketUrl, { headers: options.headers ?? {}, autoPong: options.autoPong ?? true });
  const frames: ServerFrame[] = [];
  const given = new Set<ServerFrame>();
  const waiting = new Set<() => void>();
  const closed = new Promise<number>((resolve) => socket.once("close", resolve));
  socket.on("message", (data: Buffer) => {
    frames.push(JSON.parse(data.toString("utf8")) as ServerFrame);
    for (const check of waiting) check();
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  return {
    socket,
    frames,
    closed,
    send: (frame) => socket.send(JSON.stringify(frame)),
    next(kind) {
      type Wanted = Extract<ServerFrame, { kind: typeof kind }>;
      const find = (): Wanted | undefined =>
        frames.find((frame): frame is Wanted => frame.kind === kind && !given.has(frame));
      return new Promise<Wanted>((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting.delete(check);
          reject(new Error(`no ${kind} frame came; these did: ${JSON.stringify(frames).slice(0, 2_000)}`));
        }, 15_000);
        const check = (): void => {
          const found = find();
          if (found === undefined) return;
          clearTimeout(timer);
          waiting.delete(check);
          given.add(found);
          resolve(found);
        };
        waiting.add(check);
        check();
      });
    },
    close: () => socket.close(),
  };
}

/** Connects and says hello. */
export async function greet(
  site: Pick<TestSite, "socketUrl"> & Partial<TestSite>,
  hello: object = {},
  options: ClientOptions = {},
): Promise<TestClient & { readonly ready: ReadyFrame }> {
  const client = await connect(site, options);
  client.send({ kind: "hello", lastSeq: 0, ...hello });
  return { ...client, ready: await client.next("ready") };
}

export const newClientId = (): string => randomBytes(16).toString("hex");

export function texts(frames: readonly ServerFrame[]): string[] {
  return frames
    .filter((frame): frame is MessageFrame => frame.kind === "message")
    .map((frame) => JSON.stringify(frame.content).replaceAll(/.*?"c":\["([^"]*)".*/gu, "$1"));
}

/** The HTTP status that a handshake is refused with; undefined when it is not. */
export function refusal(site: TestSite, headers: Readonly<Record<string, string>>): Promise<number | undefined> {
  const socket = new WebSocket(site.socketUrl, { headers });
  return new Promise((resolve, reject) => {
    socket.once("open", () => {
      socket.close();
      resolve(undefined);
    });
    socket.once("unexpected-response", (_request, response) => {
      resolve(response.statusCode);
      response.resume();
    });
    socket.once("error", reject);
  });
}
