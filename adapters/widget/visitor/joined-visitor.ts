import type { ChannelHost } from "#channels/contract.ts";
import type { Limits } from "../config.ts";
import type { ClientFrame, HelloFrame } from "../frames.ts";
import { closeCodes } from "../frames.ts";
import { readEvent } from "../inbound.ts";
import type { Renderer } from "../render.ts";
import { createHistoryFeed } from "./history-feed.ts";
import type { VisitorIdentity } from "./session.ts";
import { createSubmissions } from "./submissions.ts";
import type { VisitorSocket } from "./visitor-socket.ts";

/** A visitor whose session is open. */
export interface JoinedVisitor {
  /** Sends `ready` and the messages that the browser has not got. Frames are handled meanwhile. */
  start(hello: HelloFrame): Promise<void>;
  /** `frameBytes`: the frame's size. */
  handle(frame: JoinedFrame, frameBytes: number): void;
  /** Called when the socket has closed. */
  leave(): void;
}

export type JoinedFrame = Exclude<ClientFrame, { readonly kind: "hello" | "ping" }>;

/** Watches the visitor's thread from now on. `address`: the client's, for limits. */
export function joinThread(
  host: ChannelHost,
  limits: Limits,
  renderer: Renderer,
  socket: VisitorSocket,
  visitor: VisitorIdentity,
  address: string,
): JoinedVisitor {
  const { session, thread } = visitor;
  const feed = createHistoryFeed(host, socket, renderer, visitor);
  const submissions = createSubmissions(host, limits, socket, visitor, feed, address);
  const unwatch = host.threads.watch(thread, (signal) => {
    if (signal.kind === "changed") feed.changed(signal.amended);
    else socket.send({ kind: "typing", role: signal.who.role, name: signal.who.name });
  });

  const reportSeen = async (upTo: number): Promise<void> => {
    for (const id of feed.seen(upTo)) await host.accept(readEvent(id, host.clock.now()));
  };

  return {
    start: (hello) => feed.start(hello),
    handle(frame, frameBytes) {
      switch (frame.kind) {
        case "send":
          return socket.run(() => submissions.message(frame), frameBytes);
        case "lead":
          return socket.run(() => submissions.lead(frame), frameBytes);
        case "resume":
          if (!limits.resume(session.id)) return socket.close(closeCodes.limited, "limited");
          return feed.rewind(frame.lastSeq);
        case "older":
          return socket.run(() => feed.sendOlder(frame.before, () => limits.older(session.id)));
        case "typing":
          if (limits.typing(session.id)) host.threads.customerTyping(thread);
          return;
        case "feedback":
          return socket.run(() => submissions.feedback(frame));
        case "rating":
          return socket.run(() => submissions.rating(frame));
        case "reaction":
          return socket.run(() => submissions.reaction(frame));
        case "seen":
          return socket.run(() => reportSeen(frame.seq));
      }
    },
    leave: unwatch,
  };
}
