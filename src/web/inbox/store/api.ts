import type {
  BulkResult,
  Colleague,
  ConversationView,
  Counts,
  SkippedMessageView,
  FileView,
  ListItem,
  ListPage,
  MacroView,
  Me,
  MessagePage,
  Refusal,
  ReplyPreview,
  SavedReply,
  View,
  WaitingOrder,
} from "#http/inbox/wire.ts";
import { createRequest, RequestFailed, uploadTo } from "#web/shared/request.ts";

export type Action =
  | "assign"
  | "claim"
  | "release"
  | "resolve"
  | "undo-resolve"
  | "archive"
  | "reopen"
  | "snooze"
  | "reply"
  | "macro"
  | "notes";

/** A change of several conversations at once. */
export type BulkChange =
  | { readonly action: "resolve" | "archive" }
  | { readonly action: "assign"; readonly to: string }
  | { readonly action: "tag"; readonly tag: string };

// The sign-in page keeps the fragment, and leads back to the open conversation.
const send = createRequest("/inbox/api/", () => `/inbox/login${location.hash}`);

async function request(...given: Parameters<typeof send>): Promise<unknown> {
  try {
    return await send(...given);
  } catch (error) {
    // The workspace has begun to require a second factor, which is set up there.
    if (refusalOf(error)?.code === "second_factor_required") location.assign("/dashboard/account");
    throw error;
  }
}

/** The server's answer to a refused request. */
export const refusalOf = (error: unknown): Refusal | undefined =>
  error instanceof RequestFailed && error.code !== null ? (error.answer as Refusal) : undefined;

// The server is of the same build as this code, so its answers have the types of wire.ts.
export const api = {
  me: async () => (await request("GET", "me")) as Me,
  agents: async () => (await request("GET", "agents")) as readonly Colleague[],
  savedReplies: async () => (await request("GET", "saved-replies")) as readonly SavedReply[],
  macros: async () => (await request("GET", "macros")) as readonly MacroView[],
  counts: async () => (await request("GET", "counts")) as Counts,
  skippedMessages: async () => (await request("GET", "skipped-messages")) as readonly SkippedMessageView[],
  removeManual: async () => request("POST", "manual/remove", {}),
  setWaitingOrder: async (waitingOrder: WaitingOrder) => request("PATCH", "me", { waitingOrder }),
  list: async (view: View, q: string, { order = "latest", cursor }: { order?: WaitingOrder; cursor?: string } = {}) => {
    const query = new URLSearchParams({
      view,
      ...(order === "latest" ? {} : { order }),
      ...(q === "" ? {} : { q }),
      ...(cursor === undefined ? {} : { cursor }),
    });
    return (await request("GET", `conversations?${query}`)) as ListPage;
  },
  conversation: async (id: string) => (await request("GET", `conversations/${id}`)) as ConversationView,
  messages: async (id: string, range: Readonly<Partial<Record<"from" | "before" | "at", number>>>) => {
    const query = new URLSearchParams(Object.entries(range).map(([name, value]) => [name, String(value)]));
    return (await request("GET", `conversations/${id}/messages?${query}`)) as MessagePage;
  },
  act: async (id: string, action: Action, body: object = {}) =>
    (await request("POST", `conversations/${id}/${action}`, body)) as ConversationView,
  change: async (id: string, body: object) => (await request("PATCH", `conversations/${id}`, body)) as ConversationView,
  editReply: async (id: string, messageId: string, body: { readonly content: string; readonly was: string }) =>
    (await request("PATCH", `conversations/${id}/messages/${messageId}`, body)) as ConversationView,
  deleteReply: async (id: string, messageId: string) =>
    (await request("DELETE", `conversations/${id}/messages/${messageId}`)) as ConversationView,
  react: async (id: string, messageId: string, emoji: string | null) => {
    const path = `conversations/${id}/messages/${messageId}/reaction`;
    return (await (emoji === null ? request("DELETE", path) : request("PUT", path, { emoji }))) as ConversationView;
  },
  bulk: async (change: BulkChange, items: readonly Pick<ListItem, "id" | "status" | "assignee">[]) =>
    (await request("POST", "bulk", {
      ...change,
      items: items.map(({ id, status, assignee }) => ({ id, status, assignedTo: assignee?.email ?? null })),
    })) as readonly BulkResult[],
  removeFile: async (id: string) => request("DELETE", `files/${id}`),
  preview: async (id: string, content: string) =>
    (await request("POST", `conversations/${id}/preview`, { content })) as ReplyPreview,
  typing: async (id: string) => request("POST", `conversations/${id}/typing`, {}),
};

/** Uploads a file for a reply; `progress` gets the share that was sent, 0 to 1. */
export async function uploadFile(
  conversationId: string,
  file: File,
  signal: AbortSignal,
  progress: (share: number) => void,
): Promise<FileView> {
  const query = new URLSearchParams({ name: file.name, type: file.type });
  const address = `/inbox/api/conversations/${conversationId}/files?${query}`;
  return (await uploadTo(address, file, signal, progress)) as FileView;
}
