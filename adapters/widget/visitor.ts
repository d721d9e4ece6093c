import type { WebSocket } from "ws";
import type { ChannelHost, Sender, ThreadFile, ThreadMessage, ThreadState, VerifiedUser } from "#channels/contract.ts";
import { codePoints, messageCodePointsMax } from "#domain/conversation/message.ts";
import type {
  ClientFrame,
  Face,
  FileFrame,
  HelloFrame,
  MessageFrame,
  RefusalCode,
  ServerFrame,
  Standing,
} from "./frames.ts";
import { closeCodes, parseFrame } from "./frames.ts";
import type { Limits } from "./config.ts";
import type { Session } from "./session.ts";
import { openSession, threadOf, tokenOf } from "./session.ts";
import type { HeldBytes } from "./connection-bytes.ts";
import type { Contents } from "./message-trees.ts";

const historyPage = 100;
/** Messages that are sent together when a customer scrolls back. */
const olderPage = 30;
const helloTimeoutMs = 10_000;
const badFramesMax = 3;
/** A browser that does not read is let go of: what it missed is replayed when it comes back. */
const bufferedBytesMax = 1024 * 1024;
const emailPattern = /^[^\s@<>()",;:\\]+@[^\s@<>()",;:\\]+\.[^\s@.<>()",;:\\]+$/u;

/** One socket of a customer's browser. */
export interface Visitor {
  /** Resolves when nothing that it began is still running. */
  settled(): Promise<void>;
}

interface Seat {
  readonly session: Session;
  readonly thread: string;
  readonly verified: VerifiedUser | null;
  readonly claimed: Sender["claimed"];
  readonly page: string | undefined;
  readonly unwatch: () => void;
}

interface Unseen {
  readonly seq: number;
  readonly id: string;
}

/**
 * Serves one socket until it closes. Messages go out in the order of their numbers, from where the browser says it is,
 * by reading the history: a signal only says that there may be more, so a lost or doubled one changes nothing.
 */
export function serveVisitor(
  socket: WebSocket,
  {
    host,
    limits,
    contents,
    held,
  }: {
    readonly host: ChannelHost;
    readonly limits: Limits;
    readonly contents: Contents;
    readonly held: HeldBytes;
  },
  address: string,
): Visitor {
  let seat: Seat | undefined;
  let greeted = false;
  let badFrames = 0;
  let closed = false;
  let conversation: string | null = null;
  let lastSent = 0;
  let seen = 0;
  let unseen: Unseen[] = [];
  let standing: Standing | undefined;
  // Held until `ready` is out, so that no message goes before it.
  let pulling = true;
  let stale = false;
  let amended = false;
  let wanted = 0;
  let rewind: number | undefined;
  let queue: Promise<void> = Promise.resolve();
  const running = new Set<Promise<void>>();

  const cancelHelloTimeout = host.clock.timer(helloTimeoutMs, () => {
    if (!greeted) socket.close(closeCodes.badToken, "no hello");
  });

  let cancelExpiry = (): void => undefined;
  const expire = (): void => socket.close(closeCodes.expired, "the user token has expired");
  const closeAsAnothers = (): void => socket.close(closeCodes.badToken, "another user's thread");

  const transmit = (frame: ServerFrame, left?: () => void): void => {
    socket.send(JSON.stringify(frame), () => {
      held.update();
      left?.();
    });
    held.update();
  };
  const send = (frame: ServerFrame): void => {
    if (closed) return;
    if (socket.bufferedAmount > bufferedBytesMax) socket.terminate();
    else transmit(frame);
  };

  /**
   * Runs work that this socket caused; its failure costs the socket alone, and the browser comes back for the rest.
   * `bytes`: of the frame that it holds.
   */
  const run = (work: () => Promise<void>, bytes = 0): void => {
    const release = held.work(bytes);
    const promise = work()
      .catch((error: unknown) => {
        host.log.error({ err: error }, "widget: connection failed");
        socket.close(1011, "internal error");
      })
      .finally(() => {
        running.delete(promise);
        release();
      });
    running.add(promise);
  };

  const face = async (): Promise<Face> => {
    const { title, botName, greeting, color, leadCapture, files } = await host.workspace();
    return { title, botName, greeting, color, leadCapture, files };
  };

  const sendReady = async (at: Seat, state: ThreadState | null): Promise<void> => {
    standing = standingOf(state, at);
    send({
      kind: "ready",
      token: tokenOf(at.session, host),
      session: at.session.id,
      conversation,
      after: lastSent,
      lastSeq: state?.lastSeq ?? 0,
      verified: at.verified !== null,
      face: await face(),
      ...standing,
    });
  };

  /** One at a time for each socket, and again when something changed meanwhile: no gap, and nothing twice. */
  const pull = (at: Seat): void => {
    stale = true;
    if (!pulling) pullAll(at);
  };

  /** The same, unless what is being read now has this message already. */
  const pullTo = (at: Seat, seq: number): void => {
    wanted = Math.max(wanted, seq);
    if (!pulling) pullAll(at);
  };

  const pullAll = (at: Seat): void => {
    pulling = true;
    run(async () => {
      try {
        while ((stale || wanted > lastSent) && !closed) {
          stale = false;
          const again = amended;
          amended = false;
          wanted = 0;
          lastSent = Math.min(lastSent, rewind ?? lastSent);
          rewind = undefined;
          const state = await host.thread(at.thread);
          if (state !== null && state.userId !== null && state.userId !== at.verified?.userId) {
            // Its visitor has signed in elsewhere: from then on it is for that user's eyes only.
            return closeAsAnothers();
          }
          if ((state?.conversationId ?? null) !== conversation) {
            // Erased, or the first of this thread: numbers begin anew with it.
            const erased = conversation !== null;
            conversation = state?.conversationId ?? null;
            if (erased) {
              lastSent = 0;
              seen = 0;
              unseen = [];
            }
            await sendReady(at, state);
          }
          const messages = (state?.lastSeq ?? 0) > lastSent ? await host.history(at.thread, lastSent, historyPage) : [];
          if (again && state !== null) await sendAmended(at);
          for (const message of messages) await deliver(at, message);
          if (messages.length === historyPage) stale = true;
          const next = standingOf(state, at);
          if (JSON.stringify(next) !== JSON.stringify(standing)) {
            standing = next;
            send({ kind: "standing", ...next });
          }
        }
      } finally {
        pulling = false;
      }
    });
  };

  const frameOf = (at: Seat, message: ThreadMessage, prev: number): MessageFrame => {
    const own = `${at.session.id}:`;
    const clientId =
      message.role === "user" && message.externalId?.startsWith(own) === true
        ? message.externalId.slice(own.length)
        : undefined;
    return {
      kind: "message",
      seq: message.seq,
      prev,
      id: message.id,
      role: message.role,
      author: message.authorName,
      createdAt: message.createdAt,
      content: message.deleted ? [] : contents.of(message),
      sources: message.deleted ? [] : message.sources.slice(0, 10),
      ...(message.deleted ? { deleted: true as const } : {}),
      ...(message.files.length === 0 || message.deleted ? {} : { files: message.files.map(fileFrameOf) }),
      ...(message.confidence === "low" ? { uncertain: true as const } : {}),
      ...(clientId === undefined ? {} : { clientId }),
    };
  };

  const noteUnseen = ({ role, seq, id }: ThreadMessage): void => {
    if (role !== "user" && seq > seen) unseen.push({ seq, id });
  };

  /** Resolves when it has left this process: a long history waits for its reader. */
  const sendSlowly = async (frame: ServerFrame): Promise<void> => {
    // A failure to send is followed by the socket's own close.
    if (!closed) await new Promise<void>((resolve) => transmit(frame, resolve));
  };

  const deliver = async (at: Seat, message: ThreadMessage): Promise<void> => {
    await sendSlowly(frameOf(at, message, lastSent));
    lastSent = message.seq;
    noteUnseen(message);
  };

  /** What was changed of what this browser was sent; the same again does no harm. */
  const sendAmended = async (at: Seat): Promise<void> => {
    for (const message of await host.amended(at.thread, lastSent)) {
      await sendSlowly({ kind: "changed", message: frameOf(at, message, message.seq) });
    }
  };

  /** Only what lies before what this browser was sent, so that nothing comes twice. */
  const sendOlder = async (at: Seat, before: number): Promise<void> => {
    const state = await host.thread(at.thread);
    // A thread that became another's, or was erased, is for the next reading of the history to tell.
    if (state === null || state.conversationId !== conversation) return pull(at);
    if (state.userId !== null && state.userId !== at.verified?.userId) return pull(at);
    const after = limits.older(at.session.id) ? Math.max(0, before - 1 - olderPage) : before - 1;
    const found = after < before - 1 ? await host.history(at.thread, after, olderPage) : [];
    const messages = found.filter(({ seq }) => seq < before);
    const frames = messages.map((message, i) => frameOf(at, message, messages[i - 1]?.seq ?? after));
    await sendSlowly({ kind: "older", before, after, messages: frames });
    for (const message of messages) noteUnseen(message);
  };

  const greet = async (hello: HelloFrame): Promise<void> => {
    const opened = await openSession(hello, host);
    if (opened.kind === "bad_token") {
      socket.close(closeCodes.badToken, "bad token");
      return;
    }
    if (opened.kind === "expired") return expire();
    if (closed) return;
    if (opened.rejected !== null) send({ kind: "error", code: "identity_rejected", detail: opened.rejected });
    if (opened.expiresAt !== null) {
      cancelExpiry = host.clock.timer(Math.max(0, opened.expiresAt - host.clock.now()), expire);
    }
    const thread = threadOf(opened.session);
    const at: Seat = {
      session: opened.session,
      thread,
      verified: opened.verified,
      claimed: opened.claimed,
      page: pageOf(hello.page),
      unwatch: host.watch(thread, (signal) => {
        if (signal.kind === "changed") {
          amended ||= signal.amended === true;
          pull(at);
        } else send({ kind: "typing", role: signal.who.role, name: signal.who.name });
      }),
    };
    seat = at;
    const state = await host.thread(thread);
    conversation = state?.conversationId ?? null;
    const newestSeq = state?.lastSeq ?? 0;
    const continues =
      conversation !== null && hello.conversation === conversation && hello.lastSeq > 0 && hello.lastSeq <= newestSeq;
    lastSent = continues ? hello.lastSeq : Math.max(0, newestSeq - (hello.newest ?? newestSeq));
    // While it was away, something that it has may have been changed.
    amended = continues;
    seen = conversation !== null && hello.conversation === conversation ? (hello.seen ?? 0) : 0;
    await sendReady(at, state);
    pulling = false;
    if (closed) at.unwatch();
    else pull(at);
  };

  const take = async (at: Seat, clientId: string, text: string, files: readonly string[]): Promise<void> => {
    const refuse = (code: RefusalCode, detail: string): void => send({ kind: "nack", clientId, code, detail });
    // The browser sends again what was not acknowledged, with the proof that it has by then.
    if (socket.readyState !== socket.OPEN) return;
    if (text.trim() === "" && files.length === 0) return refuse("empty", "There is no text in this message.");
    if (codePoints(text) > messageCodePointsMax) {
      return refuse("too_long", `A message has at most ${messageCodePointsMax} characters.`);
    }
    if (!limits.message(at.session.id, address)) {
      return refuse("limited", "Too many messages in a short time; try again in a minute.");
    }
    try {
      const accepted = await host.accept({
        kind: "message",
        externalId: `${at.session.id}:${clientId}`,
        thread: at.thread,
        sender: senderOf(at),
        sentAt: host.clock.now(),
        text,
        // What is known of them is known from their upload.
        ...(files.length === 0 ? {} : { files: files.map((ref) => ({ ref, name: "", mediaType: "", bytes: null })) }),
        ...(at.page === undefined ? {} : { metadata: { page: at.page } }),
      });
      if (accepted.refused) return closeAsAnothers();
      if (accepted.filesGone) return refuse("files_gone", "A file of this message was removed; upload it again.");
      send({ kind: "ack", clientId, seq: accepted.seq, id: accepted.messageId });
      pullTo(at, accepted.seq ?? 0);
    } catch (error) {
      host.log.error({ err: error }, "widget: storing a message failed");
      refuse("unavailable", "The message could not be stored; it will be sent again.");
    }
  };

  const takeLead = async (at: Seat, clientId: string, name: string, email: string): Promise<void> => {
    if ((email !== "" && !emailPattern.test(email)) || (email === "" && name === "")) {
      return send({ kind: "nack", clientId, code: "invalid_email", detail: "This is not an e-mail address." });
    }
    if (!limits.message(at.session.id, address)) {
      return send({
        kind: "nack",
        clientId,
        code: "limited",
        detail: "Too many messages in a short time; try again in a minute.",
      });
    }
    try {
      const accepted = await host.accept({
        kind: "contact",
        externalId: `${at.session.id}:lead:${clientId}`,
        thread: at.thread,
        sender: senderOf(at),
        sentAt: host.clock.now(),
        contact: { ...(name === "" ? {} : { name }), ...(email === "" ? {} : { email }) },
      });
      if (accepted.refused) return closeAsAnothers();
    } catch (error) {
      host.log.error({ err: error }, "widget: storing contact details failed");
      return send({
        kind: "nack",
        clientId,
        code: "unavailable",
        detail: "This could not be stored; please try again.",
      });
    }
    send({ kind: "lead_saved", clientId });
    pull(at);
  };

  const takeSeen = async (upTo: number): Promise<void> => {
    const shown = unseen.filter((message) => message.seq <= upTo);
    unseen = unseen.filter((message) => message.seq > upTo);
    seen = Math.max(seen, Math.min(upTo, lastSent));
    for (const message of shown) {
      await host.accept({
        kind: "delivery",
        externalId: `seen:${message.id}`,
        partExternalId: message.id,
        state: "read",
        sentAt: host.clock.now(),
      });
    }
  };

  const handle = (frame: ClientFrame, bytes: number): void => {
    if (frame.kind === "hello") {
      if (greeted) return refuseFrame("hello comes once.");
      greeted = true;
      cancelHelloTimeout();
      return run(() => greet(frame), bytes);
    }
    if (frame.kind === "ping") return send({ kind: "pong" });
    const at = seat;
    if (at === undefined) return refuseFrame("hello comes first, and its ready before anything else.");
    switch (frame.kind) {
      case "send":
        // In the order they came, however long each takes to store.
        queue = queue.then(() => take(at, frame.clientId, frame.text, frame.files ?? []));
        return run(() => queue, bytes);
      case "lead":
        return run(() => takeLead(at, frame.clientId, (frame.name ?? "").trim(), (frame.email ?? "").trim()), bytes);
      case "resume":
        if (!limits.resume(at.session.id)) return socket.close(closeCodes.limited, "limited");
        rewind = Math.min(rewind ?? frame.lastSeq, frame.lastSeq);
        return pull(at);
      case "older":
        return run(() => sendOlder(at, frame.before));
      case "typing":
        if (limits.typing(at.session.id)) host.customerTyping(at.thread);
        return;
      case "seen":
        return run(() => takeSeen(frame.seq));
    }
  };

  const refuseFrame = (detail: string): void => {
    badFrames += 1;
    send({ kind: "error", code: "bad_frame", detail });
    if (badFrames >= badFramesMax) socket.close(closeCodes.badFrames, "bad frames");
  };

  socket.on("message", (data: Buffer, isBinary: boolean) => {
    if (socket.readyState !== socket.OPEN) return;
    if (!limits.frame(address)) {
      send({ kind: "error", code: "limited", detail: "Too many frames in a short time." });
      socket.close(closeCodes.limited, "limited");
      return;
    }
    if (isBinary) return refuseFrame("Frames are text.");
    const parsed = parseFrame(data.toString("utf8"));
    if ("error" in parsed) refuseFrame(parsed.error);
    else handle(parsed.frame, data.length);
  });
  socket.on("close", () => {
    closed = true;
    cancelHelloTimeout();
    cancelExpiry();
    seat?.unwatch();
  });

  const visitor: Visitor = {
    async settled() {
      await Promise.all(running);
    },
  };
  return visitor;
}

/** The address as it is seen from where the widget's script came from. */
function fileFrameOf({ name, bytes, url, preview }: ThreadFile): FileFrame {
  return { name, bytes, url: url === null ? null : url.slice(url.lastIndexOf("/files/") + 1), preview };
}

const senderOf = ({ session, verified, claimed }: Seat): Sender => ({
  key: session.id,
  ...(verified === null ? {} : { verified }),
  ...(claimed === undefined ? {} : { claimed }),
});

function standingOf(state: ThreadState | null, { verified, claimed }: Pick<Seat, "verified" | "claimed">): Standing {
  return {
    handledBy: state?.handledBy ?? "assistant",
    agentName: state?.agentName ?? null,
    hasEmail: state?.hasEmail === true || verified?.email !== undefined || claimed?.email !== undefined,
  };
}

/** Where the customer was, without the query: it may hold what is nobody's business. */
function pageOf(page: string | undefined): string | undefined {
  if (page === undefined || !URL.canParse(page)) return undefined;
  const url = new URL(page);
  return url.protocol === "https:" || url.protocol === "http:" ? `${url.origin}${url.pathname}` : undefined;
}
