import type { Branding, ConversationStatus } from "../../frames.ts";
import type { ChatMessage } from "./chat-message.ts";
import type { ConnectionStatus } from "./connection.ts";

/** Everything that the chat shows. */
export interface ChatState {
  readonly connection: ConnectionStatus;
  readonly branding: Branding | undefined;
  /** The state of the conversation: assistant, waiting, agent or resolved. */
  readonly status: ConversationStatus;
  /** The history in order, then the customer's messages that are not in it yet. */
  readonly messages: readonly ChatMessage[];
  /** The history is still coming in. */
  readonly replaying: boolean;
  /** Whether there is history before the first message. Unknown until the server has answered. */
  readonly older: "unknown" | "none" | "some" | "loading";
  readonly typing: { readonly role: "assistant" | "agent"; readonly name: string | null } | undefined;
  readonly unread: number;
  /** The form that asks for an address. */
  readonly lead: "ask" | "saving" | "saved" | "invalid" | "failed" | "none";
}

export const initialState = (branding: Branding | undefined): ChatState => ({
  connection: "idle",
  branding,
  status: { handledBy: "assistant", agentName: null, hasEmail: false },
  messages: [],
  replaying: false,
  older: "unknown",
  typing: undefined,
  unread: 0,
  lead: "none",
});

/** The form appears when a person will answer, unless the address is known or the customer has dismissed the form. */
export function nextLead({ lead, status, branding }: ChatState, isDismissed: boolean): ChatState["lead"] {
  if (isDismissed) return "none";
  if (lead === "saved" || lead === "saving") return lead;
  const isForPeople = status.handledBy === "waiting" || status.handledBy === "agent";
  if (branding?.leadCapture !== "on_handover" || !isForPeople || status.hasEmail) return "none";
  return lead === "none" ? "ask" : lead;
}
