import { WebSocket } from "ws";
import type { Block, Inline } from "#channels/text/markdown.ts";
import type { ConformanceTarget, CustomerMessage, FakePlatform } from "#test/support/channels/conformance-target.ts";
import type { ReadyFrame, ServerFrame } from "../frames.ts";

const cannot: ConformanceTarget["cannot"] = {
  "own-echo": "browsers deliver what their customer wrote only; they are shown our messages and never send them back",
  "refused-send":
    "sending is a signal within the program; the browser fetches the message, and there is nobody to refuse it",
  "limited-send": "sending is a signal within the program; there is no platform that could ask for time",
  "unknown-send":
    "sending is a signal within the program; what a browser has missed it fetches by number when it is back",
};

/** The widget's platform is the customers' browsers; each customer is a socket here. */
const target: ConformanceTarget = { channel: "widget", cannot, start: () => start("widget") };
export default target;

export const variants: Readonly<Record<string, ConformanceTarget>> = {
  "hosted page": { channel: "hosted", cannot, start: () => start("hosted") },
};

interface Customer {
  readonly frames: ServerFrame[];
  socket: WebSocket | undefined;
  ready: ReadyFrame | undefined;
}

const patienceMs = 5_000;

async function start(channel: "widget" | "hosted"): Promise<FakePlatform> {
  const customers = new Map<string, Customer>();
  const tokens = new Set<string>();
  const opening = new Map<string, Promise<boolean>>();
  /** Customers who have left the page. */
  const gone = new Set<string>();
  let socketUrl = "";
  const uploads = new Map<string, string[]>();
  let programUrl = "";
  let workspace = "";

  function customerOf(name: string): Customer {
    const known = customers.get(name) ?? { frames: [], socket: undefined, ready: undefined };
    customers.set(name, known);
    return known;
  }

  /** Opens a socket and says hello, as the widget does with what it has kept. */
  async function open(customer: Customer, forgedToken?: string): Promise<boolean> {
    const socket = new WebSocket(socketUrl);
    customer.socket = socket;
    socket.on("message", (data: Buffer) => {
      const frame = JSON.parse(data.toString("utf8")) as ServerFrame;
      if (frame.kind === "ready") {
        customer.ready = frame;
        tokens.add(frame.token);
      }
      customer.frames.push(frame);
    });
    await new Promise<void>((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("error", reject);
    });
    const shown = customer.frames.findLast((frame) => frame.kind === "message");
    const { ready } = customer;
    const greeted = customer.frames.length;
    const token = forgedToken ?? ready?.token;
    socket.send(
      JSON.stringify({
        kind: "hello",
        lastSeq: shown?.seq ?? 0,
        ...(token === undefined ? {} : { token }),
        ...(typeof ready?.conversation === "string" ? { conversation: ready.conversation } : {}),
      }),
    );
    return answered(customer, (frames) => frames.slice(greeted).some(({ kind }) => kind === "ready"));
  }

  /** False when the socket closes, or nothing comes in time. */
  function answered(customer: Customer, has: (frames: readonly ServerFrame[]) => boolean): Promise<boolean> {
    const { socket } = customer;
    if (socket === undefined) return Promise.resolve(false);
    return new Promise((resolve) => {
      const end = (outcome: boolean): void => {
        clearTimeout(timer);
        socket.off("message", look);
        socket.off("close", close);
        resolve(outcome);
      };
      const look = (): void => {
        if (has(customer.frames)) end(true);
      };
      const close = (): void => end(false);
      const timer = setTimeout(close, patienceMs);
      socket.on("message", look);
      socket.on("close", close);
      look();
    });
  }

  /** A socket that was lost meanwhile is opened again, as a browser does. */
  async function present(name: string): Promise<void> {
    const customer = customerOf(name);
    const lost = customer.socket !== undefined && customer.socket.readyState > WebSocket.OPEN;
    const opened = (lost ? undefined : opening.get(name)) ?? open(customer);
    opening.set(name, opened);
    await opened;
  }

  const newest = (name: string, text: string) =>
    customerOf(name).frames.findLast(
      (frame) => frame.kind === "message" && frame.role !== "user" && textOf(frame.content).includes(text),
    );

  async function deliver({ customer: name, id, text, files = [], answers: said }: CustomerMessage): Promise<boolean> {
    const customer = customerOf(name);
    await present(name);
    const clientId = id.padStart(16, "0");
    const answers = (frames: readonly ServerFrame[]) =>
      frames.filter((frame) => (frame.kind === "ack" || frame.kind === "nack") && frame.clientId === clientId);
    const before = answers(customer.frames).length;
    // A repeated message names the same files.
    const uploaded = uploads.get(clientId) ?? [];
    uploads.set(clientId, uploaded);
    for (const file of files.slice(uploaded.length)) {
      const query = new URLSearchParams({ name: file.name, type: file.mediaType });
      const response = await fetch(`${programUrl}/widget/files?workspace=${workspace}&channel=${channel}&${query}`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${customer.ready?.token ?? ""}`,
          "content-type": "application/octet-stream",
        },
        body: Uint8Array.from(file.bytes),
      });
      uploaded.push(((await response.json()) as { readonly id: string }).id);
    }
    const named = uploaded.length === 0 ? {} : { files: uploaded };
    const meant = said === undefined ? undefined : newest(name, said);
    const refersTo = meant?.kind === "message" ? { refersTo: meant.id } : {};
    customer.socket?.send(JSON.stringify({ kind: "send", clientId, text, ...named, ...refersTo }));
    await answered(customer, (frames) => answers(frames).length > before);
    return answers(customer.frames).at(-1)?.kind === "ack";
  }
  return {
    config: {
      connections_per_minute: 100_000,
      sockets_per_address: 1_000,
      messages_per_minute: 100_000,
      messages_per_minute_address: 100_000,
    },
    secrets: () => [...tokens],
    retryAfterMs: 0,
    async connect({ url, workspaceId }) {
      programUrl = url;
      workspace = workspaceId;
      socketUrl = `${url.replace("http:", "ws:")}/widget/ws?workspace=${workspaceId}&channel=${channel}`;
    },
    deliver,
    async forge(message) {
      // The token of somebody else's session, as near as one gets without the key.
      const [token = ""] = tokens;
      const [body = "", signature = ""] = token.split(".");
      const forged: Customer = { frames: [], socket: undefined, ready: undefined };
      const other = `${body}.${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`;
      if (!(await open(forged, other))) return false;
      customers.set(`forged ${message.customer}`, forged);
      opening.set(`forged ${message.customer}`, Promise.resolve(true));
      return deliver({ ...message, customer: `forged ${message.customer}` });
    },
    echo: () => Promise.reject(new Error("browsers do not echo")),
    async shown(name) {
      // A program that is down is tried again later.
      if (opening.has(name) && !gone.has(name)) await present(name).catch(() => undefined);
      const { frames } = customerOf(name);
      return frames.flatMap((frame) => {
        if (frame.kind !== "message" || frame.role === "user") return [];
        const changed = frames.findLast((each) => each.kind === "changed" && each.message.id === frame.id);
        return [textOf(changed?.kind === "changed" ? changed.message.content : frame.content)];
      });
    },
    async sources(name) {
      const last = customerOf(name).frames.findLast((frame) => frame.kind === "message" && frame.role === "assistant");
      return last?.kind === "message" ? last.sources.map(({ title }) => title) : [];
    },
    async received(name) {
      const files = customerOf(name).frames.flatMap((frame) =>
        frame.kind === "message" && frame.role === "agent" ? (frame.files ?? []) : [],
      );
      return Promise.all(
        files.map(async ({ name: fileName, url }) => {
          const response = await fetch(`${programUrl}/${url ?? ""}`);
          const mediaType = response.headers.get("content-type") ?? "";
          return { name: fileName, mediaType, bytes: Buffer.from(await response.arrayBuffer()) };
        }),
      );
    },
    answersOne: true,
    async answered(name, text) {
      const frame = newest(name, text);
      return frame?.kind === "message" ? frame.refersTo?.text : undefined;
    },
    async react(name, text, emoji) {
      const frame = newest(name, text);
      if (frame?.kind !== "message") return;
      customerOf(name).socket?.send(JSON.stringify({ kind: "reaction", message: frame.id, emoji }));
    },
    reactions(name) {
      const { frames } = customerOf(name);
      const current = new Map<string, string | undefined>();
      for (const frame of frames) {
        const message = frame.kind === "changed" ? frame.message : frame;
        if (message.kind === "message" && message.role === "user") current.set(message.id, message.reaction?.emoji);
      }
      return [...current.values()].filter((emoji) => emoji !== undefined);
    },
    misbehave(how) {
      throw new Error(`a browser cannot ${how}`);
    },
    async away(name) {
      const { socket } = customerOf(name);
      if (socket === undefined) return;
      gone.add(name);
      const closed = new Promise((resolve) => socket.once("close", resolve));
      socket.terminate();
      await closed;
    },
    async back(name) {
      gone.delete(name);
      await present(name);
    },
    async close() {
      for (const { socket } of customers.values()) socket?.terminate();
    },
  };
}

function textOf(blocks: readonly Block[]): string {
  return blocks.map(blockText).join("\n");
}

function blockText(block: Block): string {
  switch (block.t) {
    case "p":
    case "h":
      return inlineText(block.c);
    case "ul":
    case "ol":
      return block.items.map(textOf).join("\n");
    case "quote":
      return textOf(block.c);
    case "pre":
      return block.text;
    case "table":
      return [block.head, ...block.rows].map((row) => row.map(inlineText).join(" ")).join("\n");
    case "hr":
      return "";
  }
}

function inlineText(inlines: readonly Inline[]): string {
  return inlines
    .map((inline) => {
      if (typeof inline === "string") return inline;
      switch (inline.t) {
        case "code":
          return inline.text;
        case "br":
          return "\n";
        case "b":
        case "i":
        case "s":
        case "a":
          return inlineText(inline.c);
      }
    })
    .join("");
}
