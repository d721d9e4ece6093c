import type { WebSocket } from "ws";
import type { ChannelHost } from "#channels/contract.ts";
import type { Limits } from "../config.ts";
import type { ClientFrame, HelloFrame } from "../frames.ts";
import { closeCodes, parseFrame } from "../frames.ts";
import type { Renderer } from "../render.ts";
import type { SocketMemory } from "../sockets/socket-bytes.ts";
import type { JoinedVisitor } from "./joined-visitor.ts";
import { joinThread } from "./joined-visitor.ts";
import { identityOf, openSession } from "./session.ts";
import { createVisitorSocket } from "./visitor-socket.ts";

const helloTimeoutMs = 10_000;
const badFramesMax = 3;

/** One socket of a customer's browser. */
export interface Visitor {
  /** Resolves when none of the socket's work is running. */
  settled(): Promise<void>;
}

type Phase =
  /** No hello yet. */
  | { readonly name: "connected" }
  /** The session is being opened. */
  | { readonly name: "greeting" }
  | { readonly name: "joined"; readonly joined: JoinedVisitor };

/** Serves one socket until it closes. `address`: the client's, for limits. */
export function serveVisitor(
  webSocket: WebSocket,
  host: ChannelHost,
  limits: Limits,
  renderer: Renderer,
  memory: SocketMemory,
  address: string,
): Visitor {
  const socket = createVisitorSocket(webSocket, memory, host.log);
  let phase: Phase = { name: "connected" };
  let badFrames = 0;
  const cancelHelloTimeout = host.clock.timer(helloTimeoutMs, () => {
    if (phase.name === "connected") socket.close(closeCodes.badToken, "no hello");
  });
  let cancelExpiry = (): void => undefined;

  const expire = (): void => socket.close(closeCodes.expired, "the user token has expired");

  const refuseFrame = (detail: string): void => {
    badFrames += 1;
    socket.send({ kind: "error", code: "bad_frame", detail });
    if (badFrames >= badFramesMax) socket.close(closeCodes.badFrames, "bad frames");
  };

  const greet = async (hello: HelloFrame): Promise<void> => {
    const opened = await openSession(hello, host);
    if (opened.kind === "bad_token") return socket.close(closeCodes.badToken, "bad token");
    if (opened.kind === "expired") return expire();
    if (socket.isClosed()) return;
    if (opened.rejected !== null) socket.send({ kind: "error", code: "identity_rejected", detail: opened.rejected });
    if (opened.expiresAt !== null) {
      cancelExpiry = host.clock.timer(Math.max(0, opened.expiresAt - host.clock.now()), expire);
    }
    const joined = joinThread(host, limits, renderer, socket, identityOf(opened, hello), address);
    phase = { name: "joined", joined };
    await joined.start(hello);
  };

  const handle = (frame: ClientFrame, frameBytes: number): void => {
    if (frame.kind === "hello") {
      if (phase.name !== "connected") return refuseFrame("hello comes once.");
      phase = { name: "greeting" };
      cancelHelloTimeout();
      return socket.run(() => greet(frame), frameBytes);
    }
    if (frame.kind === "ping") return socket.send({ kind: "pong" });
    if (phase.name !== "joined") return refuseFrame("hello comes first, and its ready before anything else.");
    phase.joined.handle(frame, frameBytes);
  };

  webSocket.on("message", (data: Buffer, isBinary: boolean) => {
    if (!socket.isOpen()) return;
    if (!limits.frame(address)) {
      socket.send({ kind: "error", code: "limited", detail: "Too many frames in a short time." });
      return socket.close(closeCodes.limited, "limited");
    }
    if (isBinary) return refuseFrame("Frames are text.");
    const parsed = parseFrame(data.toString("utf8"));
    if ("error" in parsed) refuseFrame(parsed.error);
    else handle(parsed.frame, data.length);
  });
  webSocket.on("close", () => {
    cancelHelloTimeout();
    cancelExpiry();
    if (phase.name === "joined") phase.joined.leave();
  });

  return { settled: () => socket.settled() };
}
