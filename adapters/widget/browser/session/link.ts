import type { ClientFrame, HelloFrame, ServerFrame } from "../../frames.ts";

/** One connection to the server, from its `hello` to its loss. It calls back only after it was returned. */
export interface Link {
  /** False: it is not open. */
  send(frame: ClientFrame): boolean;
  /** `closed` is not called for it. */
  close(): void;
}

export interface LinkEvents {
  hello(): HelloFrame;
  frame(frame: ServerFrame): void;
  /** Called once, with a close code of WebSockets or of `closeCodes`. */
  closed(code: number): void;
}

export type OpenLink = (base: URL, query: URLSearchParams, events: LinkEvents) => Link;

/** The code of a connection that is lost without a reason. */
export const lostCode = 1006;
