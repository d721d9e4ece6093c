import type { LiveEvent } from "#http/inbox/wire.ts";

export interface LiveEventListener {
  readonly event: (event: LiveEvent) => void;
  /** Called for each new connection. Events before it were missed. */
  readonly connected: () => void;
  readonly lost: () => void;
}

type Broadcast = { readonly kind: "event"; readonly event: LiveEvent } | { readonly kind: "connected" | "lost" };

/**
 * Listens for changes. One window of a browser holds the connection and passes its events on to the others, because
 * browsers limit the connections to one server. When that window closes, another takes over.
 */
export function listen(on: LiveEventListener): void {
  const receive = (broadcast: Broadcast): void => {
    if (broadcast.kind === "event") on.event(broadcast.event);
    else on[broadcast.kind]();
  };
  // Without a secure context there are no locks; then each window has a connection of its own.
  if (!("locks" in navigator)) {
    connect(receive);
    return;
  }
  const windows = new BroadcastChannel("parley.inbox");
  windows.addEventListener("message", ({ data }: MessageEvent<Broadcast>) => receive(data));
  const hold = (): Promise<never> => {
    connect((broadcast) => {
      receive(broadcast);
      windows.postMessage(broadcast);
    });
    return new Promise<never>(() => undefined);
  };
  navigator.locks.request("parley.inbox", hold).catch(() => connect(receive));
}

function connect(send: (broadcast: Broadcast) => void): void {
  let source: EventSource | undefined;
  const open = (): void => {
    source?.close();
    source = new EventSource("/inbox/api/events");
    source.addEventListener("open", () => send({ kind: "connected" }));
    source.addEventListener("message", ({ data }: MessageEvent<string>) =>
      send({ kind: "event", event: JSON.parse(data) as LiveEvent }),
    );
    source.addEventListener("error", () => {
      send({ kind: "lost" });
      // After an answer that is no event stream the browser does not reconnect by itself.
      if (source?.readyState === EventSource.CLOSED) setTimeout(open, 5_000);
    });
  };
  open();
  addEventListener("online", open);
  // A dead connection looks open for minutes.
  addEventListener("offline", () => send({ kind: "lost" }));
}
