import type {
  BulkResult,
  Colleague,
  ConversationView,
  Counts,
  FileView,
  ListItem,
  ListPage,
  LiveEvent,
  Me,
  MessagePage,
  Refusal,
  SavedReply,
  View,
  WaitingOrder,
} from "#http/inbox/wire.ts";

/** An answer that says no; `refusal` is null when the answer was not ours, or there was none. */
export class Refused extends Error {
  readonly status: number;
  readonly refusal: Refusal | null;

  constructor(status: number, message: string, refusal: Refusal | null, options?: ErrorOptions) {
    super(message, options);
    this.name = "Refused";
    this.status = status;
    this.refusal = refusal;
  }
}

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
  | "notes";

/** What is done with several conversations at once. */
export type BulkChange =
  | { readonly action: "resolve" | "archive" }
  | { readonly action: "assign"; readonly to: string }
  | { readonly action: "tag"; readonly tag: string };

const timeoutMs = 20_000;

async function ask(method: string, path: string, body?: unknown): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(`/inbox/api/${path}`, {
      method,
      credentials: "same-origin",
      signal: AbortSignal.timeout(timeoutMs),
      ...(body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    });
  } catch (error) {
    throw new Refused(0, "The server cannot be reached. Check the connection and try again.", null, { cause: error });
  }
  if (response.status === 204) return undefined;
  const type = response.headers.get("content-type") ?? "";
  const answer: unknown = type.startsWith("application/json") ? await response.json() : undefined;
  if (response.ok) return answer;
  if (response.status === 401) {
    // And from there back to what is open.
    location.assign(`/inbox/login${location.hash}`);
  }
  const refusal = isRefusal(answer) ? answer : null;
  throw new Refused(
    response.status,
    refusal?.detail ?? `The server answered with an error (${response.status}).`,
    refusal,
  );
}

function isRefusal(answer: unknown): answer is Refusal {
  return typeof answer === "object" && answer !== null && "detail" in answer && "code" in answer;
}

// The server is of the same build as this code: what it answers is what wire.ts says.
export const api = {
  me: async () => (await ask("GET", "me")) as Me,
  agents: async () => (await ask("GET", "agents")) as readonly Colleague[],
  savedReplies: async () => (await ask("GET", "saved-replies")) as readonly SavedReply[],
  counts: async () => (await ask("GET", "counts")) as Counts,
  removeManual: async () => ask("POST", "manual/remove", {}),
  setWaitingOrder: async (waitingOrder: WaitingOrder) => ask("PATCH", "me", { waitingOrder }),
  list: async (view: View, q: string, { order = "latest", cursor }: { order?: WaitingOrder; cursor?: string } = {}) => {
    const query = new URLSearchParams({
      view,
      ...(order === "latest" ? {} : { order }),
      ...(q === "" ? {} : { q }),
      ...(cursor === undefined ? {} : { cursor }),
    });
    return (await ask("GET", `conversations?${query}`)) as ListPage;
  },
  conversation: async (id: string) => (await ask("GET", `conversations/${id}`)) as ConversationView,
  messages: async (id: string, range: Readonly<Partial<Record<"from" | "before" | "at", number>>>) => {
    const query = new URLSearchParams(Object.entries(range).map(([name, value]) => [name, String(value)]));
    return (await ask("GET", `conversations/${id}/messages?${query}`)) as MessagePage;
  },
  act: async (id: string, action: Action, body: object = {}) =>
    (await ask("POST", `conversations/${id}/${action}`, body)) as ConversationView,
  change: async (id: string, body: object) => (await ask("PATCH", `conversations/${id}`, body)) as ConversationView,
  amend: async (id: string, messageId: string, body: { readonly content: string; readonly was?: string }) =>
    (await ask("PATCH", `conversations/${id}/messages/${messageId}`, body)) as ConversationView,
  takeBack: async (id: string, messageId: string) =>
    (await ask("DELETE", `conversations/${id}/messages/${messageId}`)) as ConversationView,
  bulk: async (change: BulkChange, items: readonly Pick<ListItem, "id" | "status" | "assignee">[]) =>
    (await ask("POST", "bulk", {
      ...change,
      items: items.map(({ id, status, assignee }) => ({ id, status, assignedTo: assignee?.email ?? null })),
    })) as readonly BulkResult[],
  typing: async (id: string) => ask("POST", `conversations/${id}/typing`, {}),
};

/** Sends a file as it is read; `progress` is told its share, 0 to 1. Only this way of asking tells of what has left. */
export function uploadFile(
  conversationId: string,
  file: File,
  signal: AbortSignal,
  progress: (share: number) => void,
): Promise<FileView> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const query = new URLSearchParams({ name: file.name, type: file.type });
    request.open("POST", `/inbox/api/conversations/${conversationId}/files?${query}`);
    request.setRequestHeader("content-type", "application/octet-stream");
    request.responseType = "json";
    request.upload.addEventListener("progress", ({ loaded, total }) => progress(total === 0 ? 0 : loaded / total));
    request.addEventListener("load", () => {
      const answer: unknown = request.response;
      if (request.status === 200) return resolve(answer as FileView);
      const refusal = isRefusal(answer) ? answer : null;
      reject(new Refused(request.status, refusal?.detail ?? `The server answered ${request.status}.`, refusal));
    });
    request.addEventListener("error", () => reject(new Refused(0, "The connection broke.", null)));
    signal.addEventListener("abort", () => request.abort());
    request.send(file);
  });
}

export interface Listener {
  readonly event: (event: LiveEvent) => void;
  /** Called each time the connection stands: whatever happened before was not told. */
  readonly connected: () => void;
  readonly lost: () => void;
}

type Told = { readonly kind: "event"; readonly event: LiveEvent } | { readonly kind: "connected" | "lost" };

/**
 * Listens for changes. Of all windows of a browser one holds the connection and tells the others, for a browser makes few
 * connections to one server. When that window closes, another takes over.
 */
export function listen(on: Listener): void {
  const hear = (told: Told): void => {
    if (told.kind === "event") on.event(told.event);
    else on[told.kind]();
  };
  // Without a secure context there are no locks; then each window has a connection of its own.
  if (!("locks" in navigator)) {
    connect(hear);
    return;
  }
  const windows = new BroadcastChannel("parley.inbox");
  windows.addEventListener("message", ({ data }: MessageEvent<Told>) => hear(data));
  const hold = (): Promise<never> => {
    connect((told) => {
      hear(told);
      windows.postMessage(told);
    });
    return new Promise<never>(() => undefined);
  };
  navigator.locks.request("parley.inbox", hold).catch(() => connect(hear));
}

function connect(tell: (told: Told) => void): void {
  let source: EventSource | undefined;
  const open = (): void => {
    source?.close();
    source = new EventSource("/inbox/api/events");
    source.addEventListener("open", () => tell({ kind: "connected" }));
    source.addEventListener("message", ({ data }: MessageEvent<string>) =>
      tell({ kind: "event", event: JSON.parse(data) as LiveEvent }),
    );
    source.addEventListener("error", () => {
      tell({ kind: "lost" });
      // After an answer that is no event stream the browser gives up.
      if (source?.readyState === EventSource.CLOSED) setTimeout(open, 5_000);
    });
  };
  open();
  addEventListener("online", open);
  // A connection that nothing goes through any more looks open for minutes.
  addEventListener("offline", () => tell({ kind: "lost" }));
}
