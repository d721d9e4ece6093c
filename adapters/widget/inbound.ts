import type { InboundEvent, Sender } from "#channels/contract.ts";
import { newId } from "#domain/ids.ts";
import type { FeedbackFrame, LeadFrame, RatingFrame, ReactionFrame, SendFrame } from "./frames.ts";
import type { VisitorIdentity } from "./visitor/session.ts";

/** `sentAt`: epoch milliseconds. A repeated `clientId` makes the same event, which is stored once. */
export const messageEvent = (visitor: VisitorIdentity, frame: SendFrame, sentAt: number): InboundEvent => ({
  kind: "message",
  externalId: `${visitor.session.id}:${frame.clientId}`,
  thread: visitor.thread,
  sender: senderOf(visitor),
  sentAt,
  text: frame.text,
  // Name, type and size are known from the upload.
  ...(hasFiles(frame) ? { files: frame.files.map((ref) => ({ ref, name: "", mediaType: "", bytes: null })) } : {}),
  ...(frame.refersTo === undefined ? {} : { refersTo: { externalIds: [], messageId: frame.refersTo } }),
  ...(frame.chosen === true ? { chosen: true } : {}),
  ...(visitor.page === undefined ? {} : { metadata: { page: visitor.page } }),
});

/** The browser's own id of a message that {@link messageEvent} was made from; undefined for all others. */
export function clientIdOf(externalId: string | null | undefined, sessionId: string): string | undefined {
  const prefix = `${sessionId}:`;
  return externalId?.startsWith(prefix) === true ? externalId.slice(prefix.length) : undefined;
}

/** An empty `name` or `email` is left out. */
export const contactEvent = (
  visitor: VisitorIdentity,
  { clientId, name, email }: Pick<LeadFrame, "clientId"> & { readonly name: string; readonly email: string },
  sentAt: number,
): InboundEvent => ({
  kind: "contact",
  externalId: `${visitor.session.id}:lead:${clientId}`,
  thread: visitor.thread,
  sender: senderOf(visitor),
  sentAt,
  contact: { ...(name === "" ? {} : { name }), ...(email === "" ? {} : { email }) },
});

export const feedbackEvent = (
  visitor: VisitorIdentity,
  { message: messageId, value }: FeedbackFrame,
  sentAt: number,
): InboundEvent => ({
  kind: "feedback",
  externalId: newId("req", sentAt),
  thread: visitor.thread,
  sender: senderOf(visitor),
  sentAt,
  of: { messageId },
  value,
});

/** The customer has one reaction at a message: a new one replaces it. */
export const reactionEvent = (
  visitor: VisitorIdentity,
  { message: messageId, emoji }: ReactionFrame,
  sentAt: number,
): InboundEvent => ({
  kind: "reaction",
  externalId: newId("req", sentAt),
  thread: visitor.thread,
  sender: senderOf(visitor),
  sentAt,
  of: { externalIds: [], messageId },
  added: emoji === null ? [] : [emoji],
  removed: "all",
});

export const ratingEvent = (
  visitor: VisitorIdentity,
  { message: messageId, score, comment }: RatingFrame,
  sentAt: number,
): InboundEvent => ({
  kind: "rating",
  externalId: newId("req", sentAt),
  thread: visitor.thread,
  sender: senderOf(visitor),
  sentAt,
  of: { messageId },
  score,
  ...(comment === undefined ? {} : { comment }),
});

export const readEvent = (messageId: string, sentAt: number): InboundEvent => ({
  kind: "delivery",
  externalId: `seen:${messageId}`,
  partExternalId: messageId,
  state: "read",
  sentAt,
});

export const hasFiles = (frame: SendFrame): frame is SendFrame & Required<Pick<SendFrame, "files">> =>
  frame.files !== undefined && frame.files.length > 0;

const senderOf = ({ session, verified, claimed }: VisitorIdentity): Sender => ({
  key: session.id,
  ...(verified === null ? {} : { verified }),
  ...(claimed === undefined ? {} : { claimed }),
});
