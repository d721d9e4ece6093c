import type { ChannelHost, ThreadState } from "#channels/contract.ts";
import type { ConversationStatus, HelloFrame } from "../frames.ts";
import type { Renderer } from "../render.ts";
import { brandingOf, statusOf } from "../render.ts";
import { createReadMarks } from "./read-marks.ts";
import type { VisitorIdentity } from "./session.ts";
import { belongsToOther, tokenOf } from "./session.ts";
import type { VisitorSocket } from "./visitor-socket.ts";

const historyPage = 100;
/** Messages in one `older` frame. */
const olderPage = 30;

/**
 * Keeps one browser up to date with its thread. Messages go out in the order of their numbers, read from the history: a
 * signal only says that there may be more, so a lost or repeated one changes nothing.
 */
export interface HistoryFeed {
  /** Sends `ready` and what the browser has missed. Called once; until it is done, requests below are only collected. */
  start(hello: HelloFrame): Promise<void>;
  /** The thread changed. `amended`: also messages that were sent already. */
  changed(amended?: boolean): void;
  /** Sends up to this message, unless the current pass has it already. */
  catchUpTo(seq: number): void;
  /** The browser has missed something after `seq`. */
  rewind(seq: number): void;
  /** Sends a page of messages before `before`; an empty one unless `isAllowed`. */
  sendOlder(before: number, isAllowed: () => boolean): Promise<void>;
  /** Returns the ids of the messages that became read. */
  seen(upTo: number): readonly string[];
}

/** Requests that came since the last pass began. The next pass serves all of them. */
interface Pending {
  readonly reread: boolean;
  readonly amended: boolean;
  readonly upTo: number;
  readonly rewindTo: number;
}

const nothing: Pending = { reread: false, amended: false, upTo: 0, rewindTo: Number.POSITIVE_INFINITY };

export function createHistoryFeed(
  host: ChannelHost,
  socket: VisitorSocket,
  renderer: Renderer,
  visitor: VisitorIdentity,
): HistoryFeed {
  const marks = createReadMarks();
  let phase: "joining" | "idle" | "catching up" = "joining";
  let conversation: string | null = null;
  let lastSent = 0;
  let status: ConversationStatus | undefined;
  let pending = nothing;

  const request = (more: Partial<Pending>): void => {
    pending = { ...pending, ...more };
    if (phase === "idle") catchUp();
  };

  /** One at a time for each socket, until nothing is pending: no gaps, no duplicates. */
  const catchUp = (): void => {
    phase = "catching up";
    socket.run(async () => {
      try {
        let allowed = true;
        while (allowed && (pending.reread || pending.upTo > lastSent) && !socket.isClosed()) allowed = await pass();
      } finally {
        phase = "idle";
      }
    });
  };

  /** Reads the thread once and sends what is new. False: the thread is another user's now, and the socket is closed. */
  const pass = async (): Promise<boolean> => {
    const { amended, rewindTo } = pending;
    pending = nothing;
    lastSent = Math.min(lastSent, rewindTo);
    const state = await host.threads.get(visitor.thread);
    if (belongsToOther(state, visitor)) {
      // The visitor has signed in elsewhere.
      socket.closeAsForeign();
      return false;
    }
    if ((state?.conversationId ?? null) !== conversation) await switchConversation(state);
    const messages =
      (state?.lastSeq ?? 0) > lastSent ? await host.threads.history(visitor.thread, lastSent, historyPage) : [];
    if (amended && state !== null) await sendAmended();
    for (const message of messages) {
      await socket.sendPaced(renderer.messageFrame(message, lastSent, visitor.session.id));
      lastSent = message.seq;
      marks.delivered(message);
    }
    if (messages.length === historyPage) pending = { ...pending, reread: true };
    sendStatus(statusOf(state, visitor));
    return true;
  };

  /** The thread's first conversation began, or its conversation was erased; numbers restart with the next one. */
  const switchConversation = async (state: ThreadState | null): Promise<void> => {
    if (conversation !== null) {
      lastSent = 0;
      marks.reset(0);
    }
    conversation = state?.conversationId ?? null;
    await sendReady(state);
  };

  const sendReady = async (state: ThreadState | null): Promise<void> => {
    status = statusOf(state, visitor);
    socket.send({
      kind: "ready",
      token: tokenOf(visitor.session, host),
      session: visitor.session.id,
      conversation,
      after: lastSent,
      lastSeq: state?.lastSeq ?? 0,
      verified: visitor.verified !== null,
      face: brandingOf(await host.workspace()),
      ...status,
    });
  };

  const sendStatus = (next: ConversationStatus): void => {
    if (JSON.stringify(next) === JSON.stringify(status)) return;
    status = next;
    socket.send({ kind: "standing", ...next });
  };

  /** Sends the messages that changed after they were sent. A repetition does no harm. */
  const sendAmended = async (): Promise<void> => {
    for (const message of await host.threads.amended(visitor.thread, lastSent)) {
      await socket.sendPaced({
        kind: "changed",
        message: renderer.messageFrame(message, message.seq, visitor.session.id),
      });
    }
  };

  /** Messages that an earlier connection delivered, and that the customer has not seen. */
  const markUnseen = async (seen: number): Promise<void> => {
    if (seen >= lastSent) return;
    for (const message of await host.threads.history(visitor.thread, seen, historyPage)) {
      if (message.seq <= lastSent) marks.delivered(message);
    }
  };

  return {
    async start(hello) {
      const state = await host.threads.get(visitor.thread);
      conversation = state?.conversationId ?? null;
      const newestSeq = state?.lastSeq ?? 0;
      const sameConversation = conversation !== null && hello.conversation === conversation;
      const continues = sameConversation && hello.lastSeq > 0 && hello.lastSeq <= newestSeq;
      lastSent = continues ? hello.lastSeq : Math.max(0, newestSeq - (hello.newest ?? newestSeq));
      marks.reset(sameConversation ? (hello.seen ?? 0) : 0);
      if (continues) await markUnseen(hello.seen ?? 0);
      // Messages that the browser has may have changed while it was away.
      pending = { ...pending, amended: continues };
      await sendReady(state);
      phase = "idle";
      request({ reread: true });
    },
    changed: (amended = false) => request({ reread: true, amended: pending.amended || amended }),
    catchUpTo: (seq) => request({ upTo: Math.max(pending.upTo, seq) }),
    rewind: (seq) => request({ reread: true, rewindTo: Math.min(pending.rewindTo, seq) }),
    async sendOlder(before, isAllowed) {
      const state = await host.threads.get(visitor.thread);
      // The next pass reports that the thread became another user's, or that its conversation was erased.
      const isGone = state === null || state.conversationId !== conversation || belongsToOther(state, visitor);
      if (isGone) return request({ reread: true });
      const after = isAllowed() ? Math.max(0, before - 1 - olderPage) : before - 1;
      const page = after < before - 1 ? await host.threads.history(visitor.thread, after, olderPage) : [];
      // Nothing that the browser has already.
      const messages = page.filter(({ seq }) => seq < before);
      const frames = messages.map((message, i) =>
        renderer.messageFrame(message, messages[i - 1]?.seq ?? after, visitor.session.id),
      );
      await socket.sendPaced({ kind: "older", before, after, messages: frames });
      for (const message of messages) marks.delivered(message);
    },
    seen: (upTo) => marks.seen(upTo, lastSent),
  };
}
