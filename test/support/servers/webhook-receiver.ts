import { createServer } from "node:http";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { vi } from "vitest";
import { differencesFromDescription } from "../http/described-events.ts";

export interface ReceivedEvent {
  readonly type: string;
  readonly timestamp: string;
  readonly data: {
    readonly event_id: string;
    readonly workspace_id: string;
    readonly conversation: { readonly id: string; readonly status: string } & Readonly<Record<string, unknown>>;
    readonly previous_status: string | null;
    readonly actor: { readonly type: string; readonly id: string | null; readonly name: string | null };
    readonly sequence: number | null;
    readonly message?: { readonly content: string; readonly role: string };
    readonly document?: { readonly title: string; readonly status: string };
    readonly contact?: Readonly<Record<string, unknown>>;
    readonly note?: Readonly<Record<string, unknown>>;
    readonly changed?: readonly string[];
    readonly merge?: Readonly<Record<string, unknown>>;
    readonly sla?: Readonly<Record<string, unknown>>;
    readonly error?: string;
  };
}

export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly event: ReceivedEvent;
  /** The time of the test's clock. */
  readonly at: number;
}

/** Answers a request; the default is 204. */
export type Behaviour = (request: ReceivedRequest, response: ServerResponse) => void;

/** A server that receives webhooks. */
export async function openReceiver(now: () => number) {
  const received: ReceivedRequest[] = [];
  const undescribed: string[] = [];
  const state: { behaviour: Behaviour } = { behaviour: (_, response) => void response.writeHead(204).end() };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const body = Buffer.concat(parts).toString("utf8");
      const event = JSON.parse(body) as ReceivedEvent;
      const one = { path: request.url ?? "", headers: request.headers, body, event, at: now() };
      received.push(one);
      const complaint = differencesFromDescription(event);
      if (complaint !== "") undescribed.push(complaint);
      state.behaviour(one, response);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    received,
    types: () => received.map(({ event }) => event.type),
    behave(behaviour: Behaviour) {
      state.behaviour = behaviour;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
      if (undescribed.length > 0) throw new Error(`events differ from their description: ${undescribed.join("; ")}`);
    },
  };
}

export type Receiver = Awaited<ReturnType<typeof openReceiver>>;

/** Verifies a request with the official package, whose clock is set to the test's. Throws if the signature is wrong. */
export function verify(secret: string, { headers, body, at }: ReceivedRequest, now = at): unknown {
  vi.useFakeTimers({ toFake: ["Date"], now });
  try {
    const plain = Object.fromEntries(
      Object.entries(headers).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])),
    );
    return new Webhook(secret).verify(body, plain);
  } finally {
    vi.useRealTimers();
  }
}
