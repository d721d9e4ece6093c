import { Type } from "typebox";
import { filesPerMessage } from "#domain/files.ts";
import { statuses } from "#domain/conversation/status.ts";

const contentCharsMax = 10_000;
const epochMsMax = 8_640_000_000_000_000;

export const conversationId = Type.String({ pattern: "^conv_[0-9a-z]{26}$", allowed: "a conversation's id" });
const conversationPath = Type.Object({ id: conversationId });
export const messagePath = Type.Object({
  id: conversationId,
  messageId: Type.String({ pattern: "^msg_[0-9a-z]{26}$", allowed: "a message's id" }),
});
const fileId = Type.String({ pattern: "^file_[0-9a-z]{26}$", allowed: "a file's id" });
export const filePath = Type.Object({ id: fileId });
export const fileIds = Type.Array(fileId, { maxItems: filesPerMessage });

export const instantMs = Type.Integer({ minimum: 0, maximum: epochMsMax });
/** A reply may be empty if it has files. */
export const replyText = Type.String({ maxLength: contentCharsMax });
export const text = Type.String({
  minLength: 1,
  maxLength: contentCharsMax,
  pattern: "\\S",
  allowed: `a text of 1 to ${contentCharsMax} characters`,
});
/** Chosen by the browser, so that a repeated request does not post twice. */
export const clientId = Type.String({ pattern: "^[A-Za-z0-9_-]{8,64}$", allowed: "8 to 64 letters, digits, _ or -" });

/** The state that the agent saw. If it has changed since, the action is refused. */
export const seenState = {
  status: Type.Enum(statuses),
  assignedTo: Type.Optional(Type.Union([Type.String({ maxLength: 320 }), Type.Null()])),
};

/** Options of a route for one conversation. */
export const oneConversation = { schema: { hide: true, params: conversationPath } };
export const hidden = { schema: { hide: true } };
