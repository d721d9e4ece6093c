import type { ChannelHost } from "#channels/contract.ts";
import { codePoints, messageCodePointsMax } from "#domain/conversation/message.ts";
import type { Limits } from "../config.ts";
import type { FeedbackFrame, LeadFrame, RatingFrame, ReactionFrame, RefusalCode, SendFrame } from "../frames.ts";
import { contactEvent, feedbackEvent, hasFiles, messageEvent, ratingEvent, reactionEvent } from "../inbound.ts";
import type { HistoryFeed } from "./history-feed.ts";
import type { VisitorIdentity } from "./session.ts";
import type { VisitorSocket } from "./visitor-socket.ts";

const emailPattern = /^[^\s@<>()",;:\\]+@[^\s@<>()",;:\\]+\.[^\s@.<>()",;:\\]+$/u;

/** Stores what a visitor sends, and answers each frame with an acknowledgement or a refusal. */
export interface Submissions {
  /** Stores messages in the order of the calls, however long each takes. */
  message(frame: SendFrame): Promise<void>;
  lead(frame: LeadFrame): Promise<void>;
  feedback(frame: FeedbackFrame): Promise<void>;
  rating(frame: RatingFrame): Promise<void>;
  reaction(frame: ReactionFrame): Promise<void>;
}

export function createSubmissions(
  host: ChannelHost,
  limits: Pick<Limits, "message" | "feedback">,
  socket: VisitorSocket,
  visitor: VisitorIdentity,
  feed: HistoryFeed,
  address: string,
): Submissions {
  let queue: Promise<void> = Promise.resolve();

  const refuse = (clientId: string, code: RefusalCode, detail: string): void =>
    socket.send({ kind: "nack", clientId, code, detail });

  const isLimited = (clientId: string): boolean => {
    if (limits.message(visitor.session.id, address)) return false;
    refuse(clientId, "limited", "Too many messages in a short time; try again in a minute.");
    return true;
  };

  const storeMessage = async (frame: SendFrame): Promise<void> => {
    const { clientId, text } = frame;
    // The browser repeats an unacknowledged message when it reconnects, with the proof of identity that it has by then.
    if (!socket.isOpen()) return;
    if (text.trim() === "" && !hasFiles(frame)) return refuse(clientId, "empty", "There is no text in this message.");
    if (codePoints(text) > messageCodePointsMax) {
      return refuse(clientId, "too_long", `A message has at most ${messageCodePointsMax} characters.`);
    }
    if (isLimited(clientId)) return;
    try {
      const accepted = await host.accept(messageEvent(visitor, frame, host.clock.now()));
      if (accepted.refused) return socket.closeAsForeign();
      if (accepted.filesGone) {
        return refuse(clientId, "files_gone", "A file of this message was removed; upload it again.");
      }
      socket.send({ kind: "ack", clientId, seq: accepted.seq, id: accepted.messageId });
      feed.catchUpTo(accepted.seq ?? 0);
    } catch (error) {
      host.log.error({ err: error }, "widget: storing a message failed");
      refuse(clientId, "unavailable", "The message could not be stored; it will be sent again.");
    }
  };

  return {
    message(frame) {
      queue = queue.then(() => storeMessage(frame));
      return queue;
    },
    async lead({ clientId, ...given }) {
      const name = (given.name ?? "").trim();
      const email = (given.email ?? "").trim();
      if ((email !== "" && !emailPattern.test(email)) || (email === "" && name === "")) {
        return refuse(clientId, "invalid_email", "This is not an e-mail address.");
      }
      if (isLimited(clientId)) return;
      try {
        const accepted = await host.accept(contactEvent(visitor, { clientId, name, email }, host.clock.now()));
        if (accepted.refused) return socket.closeAsForeign();
      } catch (error) {
        host.log.error({ err: error }, "widget: storing contact details failed");
        return refuse(clientId, "unavailable", "This could not be stored; please try again.");
      }
      socket.send({ kind: "lead_saved", clientId });
      feed.changed();
    },
    async feedback(frame) {
      if (!limits.feedback(visitor.session.id)) {
        return socket.send({ kind: "error", code: "limited", detail: "Too many opinions in a short time." });
      }
      await host.accept(feedbackEvent(visitor, frame, host.clock.now()));
      socket.send(frame);
    },
    async reaction(frame) {
      if (!limits.feedback(visitor.session.id)) {
        return socket.send({ kind: "error", code: "limited", detail: "Too many reactions in a short time." });
      }
      const { messageId } = await host.accept(reactionEvent(visitor, frame, host.clock.now()));
      if (messageId !== null) socket.send(frame);
    },
    async rating(frame) {
      if (!limits.feedback(visitor.session.id)) {
        return socket.send({ kind: "error", code: "limited", detail: "Too many ratings in a short time." });
      }
      const { seq } = await host.accept(ratingEvent(visitor, frame, host.clock.now()));
      // Another tab may have rated first.
      const [survey] = seq === null ? [] : await host.threads.history(visitor.thread, seq - 1, 1);
      const rating = survey?.rating ?? undefined;
      if (survey !== undefined && rating !== undefined) socket.send({ kind: "rated", message: survey.id, ...rating });
    },
  };
}
