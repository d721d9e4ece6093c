import type { FileFrame, MessageFrame, RefusalCode } from "../../frames.ts";
import type { UnsentMessage } from "../storage/stored-values.ts";

/** A message as it is shown. */
export interface ChatMessage extends Omit<MessageFrame, "kind" | "prev" | "id" | "seq"> {
  /** The server's; null until it has stored the message. */
  readonly id: string | null;
  /** The same from the moment it is written until it is in the history. */
  readonly key: string;
  /** Null until the server has numbered it. */
  readonly seq: number | null;
  readonly files: readonly FileFrame[];
  readonly state: "sent" | "pending" | "failed";
  /** Grows with each change of a message that is shown already. */
  readonly revision: number;
  readonly refusal?: RefusalCode;
}

/** A message that was refused. It is sent again only when the customer asks for it. */
export interface RefusedMessage extends ChatMessage {
  readonly unsent: UnsentMessage;
}

export const refusedMessage = (unsent: UnsentMessage, refusal: RefusalCode): RefusedMessage => ({
  ...ownMessage(unsent, "failed"),
  refusal,
  unsent,
});

/** A message that is not in the history yet. */
export const ownMessage = (unsent: UnsentMessage, state: ChatMessage["state"]): ChatMessage => ({
  key: unsent.clientId,
  id: null,
  seq: null,
  role: "user",
  author: null,
  createdAt: unsent.at,
  content: unsent.text === "" ? [] : [{ t: "p", c: [unsent.text] }],
  sources: [],
  files: (unsent.files ?? []).map(({ name, bytes }) => ({ name, bytes, url: null, preview: false })),
  ...(unsent.refersTo === undefined ? {} : { refersTo: unsent.refersTo }),
  state,
  revision: 0,
});

/** A message of the history. `base`: where the script was loaded from. */
export const storedMessage = (frame: MessageFrame, base: URL): ChatMessage => ({
  ...frame,
  ...(frame.avatar === undefined ? {} : { avatar: new URL(frame.avatar, base).href }),
  key: frame.clientId ?? frame.id,
  files: (frame.files ?? []).map((file) => ({
    ...file,
    url: file.url === null ? null : new URL(file.url, base).href,
  })),
  state: "sent",
  revision: 0,
});
