import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** How the server answers one request. */
export type Behaviour =
  | {
      readonly kind: "text";
      /** The pieces of the text, sent one by one. */
      readonly pieces: readonly string[];
      readonly finish?: "stop" | "length" | "refused";
      readonly tokens?: { readonly input: number; readonly output: number };
      /** The response ends only after this has resolved. */
      readonly hold?: Promise<void>;
    }
  /** Calls tools; string arguments are sent unchanged, valid JSON or not. */
  | {
      readonly kind: "calls";
      readonly calls: readonly { readonly name: string; readonly arguments: object | string }[];
      readonly tokens?: { readonly input: number; readonly output: number };
    }
  | {
      readonly kind: "status";
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    }
  /** A stream of invalid JSON. */
  | { readonly kind: "broken" }
  /** Closes the connection after this text. */
  | { readonly kind: "hang_up"; readonly after: string }
  /** Ends the response properly after this text, although it is incomplete. */
  | { readonly kind: "end_early"; readonly after: string }
  /** Sends a piece whenever `next` resolves, while the client listens. */
  | { readonly kind: "drip"; readonly piece: string; readonly next: () => Promise<void> }
  /** Sends nothing after this text; null: no response headers either. */
  | { readonly kind: "silence"; readonly after: string | null };

export interface ModelRequest {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: {
    readonly model: string;
    readonly temperature?: number;
    readonly stream?: boolean;
  } & Readonly<Record<string, unknown>>;
  readonly system: string;
  readonly user: string;
  /** The names of the tools that the model may call. */
  readonly tools: readonly string[];
  /** The number of the passage with this text, for citing it. */
  passage(text: string): number;
}

export interface ModelServer {
  readonly url: string;
  readonly requests: readonly ModelRequest[];
  /** Decides how each request is answered; tests replace it. */
  answer: (request: ModelRequest) => Behaviour;
  /** Requests to write search queries. They are not among `requests`. */
  readonly searches: readonly ModelRequest[];
  /** Decides how these are answered: with one query a line, or NONE. */
  search: (request: ModelRequest) => Behaviour;
  /** Requests to check statements. They are not among `requests`. */
  readonly checks: readonly ModelRequest[];
  /** Decides how these are answered: with the numbers of the supported statements, or NONE. */
  check: (request: ModelRequest) => Behaviour;
  /** Resolves after this many requests. */
  asked(count: number): Promise<void>;
  /** Resolves after the client has aborted this many requests. */
  abandoned(count: number): Promise<void>;
  close(): Promise<void>;
}

export const calls = (name: string, given: object | string): Behaviour => ({
  kind: "calls",
  calls: [{ name, arguments: given }],
});

export const says = (...pieces: string[]): Behaviour => ({ kind: "text", pieces });

/** An HTTP server with the APIs of OpenAI and Anthropic whose answers a test sets. */
export async function startModelServer(): Promise<ModelServer> {
  const requests: ModelRequest[] = [];
  const searches: ModelRequest[] = [];
  const checks: ModelRequest[] = [];
  const waiting: { readonly when: () => boolean; readonly resolve: () => void }[] = [];
  let abandoned = 0;
  const look = (): void => {
    for (const each of waiting) if (each.when()) each.resolve();
  };
  const until = (when: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      waiting.push({ when, resolve });
      look();
    });

  const server = createServer((incoming, response) => {
    void (async () => {
      let text = "";
      for await (const chunk of incoming) text += String(chunk);
      const request = read(incoming, text);
      const isSearch = request.system.startsWith("You write the searches");
      const isCheck = request.system.startsWith("You check the statements");
      (isSearch ? searches : isCheck ? checks : requests).push(request);
      look();
      response.once("close", () => {
        if (!response.writableEnded) {
          abandoned += 1;
          look();
        }
      });
      await play(
        isSearch ? model.search(request) : isCheck ? model.check(request) : model.answer(request),
        request.path.endsWith("/messages") ? anthropic : openai,
        response,
      );
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const model: ModelServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    answer: () => says("NO_ANSWER"),
    searches,
    search: () => ({ kind: "text", pieces: ["NONE"], tokens: { input: 0, output: 0 } }),
    checks,
    check: () => ({ kind: "text", pieces: ["NONE"], tokens: { input: 0, output: 0 } }),
    asked: (count) => until(() => requests.length >= count),
    abandoned: (count) => until(() => abandoned >= count),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return model;
}

type Content = string | readonly { readonly text?: string }[];

const textOf = (content: Content): string =>
  typeof content === "string" ? content : content.map(({ text }) => text ?? "").join("");

function read(incoming: IncomingMessage, text: string): ModelRequest {
  const body = JSON.parse(text) as ModelRequest["body"] & {
    readonly system?: Content;
    readonly messages: readonly { readonly role: string; readonly content: Content }[];
    readonly tools?: readonly { readonly name?: string; readonly function?: { readonly name: string } }[];
  };
  const textBy = (role: string): string =>
    body.messages
      .filter((message) => message.role === role)
      .map(({ content }) => textOf(content))
      .join("\n");
  const user = textBy("user");
  return {
    path: incoming.url ?? "",
    headers: incoming.headers,
    body,
    system: body.system === undefined ? textBy("system") : textOf(body.system),
    user,
    tools: (body.tools ?? []).map((each) => each.function?.name ?? each.name ?? ""),
    passage(excerpt) {
      const blocks = user.split(/--- passage (?=\d+ \w+ ---)/u).slice(1);
      const found = blocks.findIndex((block) => block.includes(excerpt));
      if (found === -1) throw new Error(`no passage contains ${JSON.stringify(excerpt)}:\n${user}`);
      return found + 1;
    },
  };
}

/** A provider's stream format. */
interface Dialect {
  begin(send: (event: string, data: unknown) => void): void;
  text(send: (event: string, data: unknown) => void, piece: string): void;
  call(send: (event: string, data: unknown) => void, at: number, name: string, given: string): void;
  end(
    send: (event: string, data: unknown) => void,
    finish: "stop" | "length" | "refused" | "calls",
    tokens: { readonly input: number; readonly output: number },
  ): void;
}

const chunk = (delta: object, finish: string | null = null) => ({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 1,
  model: "test",
  choices: [{ index: 0, delta, finish_reason: finish }],
});

const openai: Dialect = {
  begin: (send) => send("", chunk({ role: "assistant", content: "" })),
  text: (send, piece) => send("", chunk({ content: piece })),
  call(send, at, name, given) {
    const firstDelta = { index: at, id: `call_${at}`, type: "function", function: { name, arguments: "" } };
    send("", chunk({ tool_calls: [firstDelta] }));
    // Split into pieces, as a model streams them.
    for (const piece of given.match(/[^]{1,7}/gu) ?? []) {
      send("", chunk({ tool_calls: [{ index: at, function: { arguments: piece } }] }));
    }
  },
  end(send, finish, { input, output }) {
    if (finish === "refused") send("", chunk({ content: "" }, "content_filter"));
    else send("", chunk({}, finish === "calls" ? "tool_calls" : finish));
    send("", {
      ...chunk({}),
      choices: [],
      usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
    });
    send("", "[DONE]");
  },
};

const anthropic: Dialect = {
  begin(send) {
    send("message_start", {
      type: "message_start",
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "test",
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 40, output_tokens: 1 },
      },
    });
    send("content_block_start", { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } });
  },
  text: (send, piece) =>
    send("content_block_delta", { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: piece } }),
  call(send, at, name, given) {
    const index = at + 1;
    const block = { type: "tool_use", id: `toolu_${at}`, name, input: {} };
    send("content_block_start", { type: "content_block_start", index, content_block: block });
    for (const piece of given.match(/[^]{1,7}/gu) ?? []) {
      const delta = { type: "input_json_delta", partial_json: piece };
      send("content_block_delta", { type: "content_block_delta", index, delta });
    }
    send("content_block_stop", { type: "content_block_stop", index });
  },
  end(send, finish, { output }) {
    if (finish !== "calls") send("content_block_stop", { type: "content_block_stop", index: 0 });
    const reasons = { stop: "end_turn", length: "max_tokens", refused: "refusal", calls: "tool_use" };
    send("message_delta", {
      type: "message_delta",
      delta: { stop_reason: reasons[finish], stop_sequence: null },
      usage: { output_tokens: output },
    });
    send("message_stop", { type: "message_stop" });
  },
};

async function play(behaviour: Behaviour, dialect: Dialect, response: ServerResponse): Promise<void> {
  const send = (event: string, data: unknown): void => {
    const named = event === "" ? "" : `event: ${event}\n`;
    response.write(`${named}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`);
  };
  const open = (): void => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    dialect.begin(send);
  };
  switch (behaviour.kind) {
    case "text": {
      open();
      for (const piece of behaviour.pieces) {
        dialect.text(send, piece);
        // Puts each piece into a packet of its own.
        await new Promise((resolve) => setImmediate(resolve));
      }
      await behaviour.hold;
      dialect.end(send, behaviour.finish ?? "stop", behaviour.tokens ?? { input: 40, output: 10 });
      response.end();
      return;
    }
    case "calls":
      open();
      if (dialect === anthropic) send("content_block_stop", { type: "content_block_stop", index: 0 });
      for (const [at, { name, arguments: given }] of behaviour.calls.entries()) {
        dialect.call(send, at, name, typeof given === "string" ? given : JSON.stringify(given));
      }
      dialect.end(send, "calls", behaviour.tokens ?? { input: 40, output: 10 });
      response.end();
      return;
    case "status":
      response.writeHead(behaviour.status, { "content-type": "application/json", ...behaviour.headers });
      response.end(behaviour.body ?? "{}");
      return;
    case "broken":
      open();
      response.write("data: {this is no JSON\n\n");
      response.end();
      return;
    case "hang_up":
      open();
      dialect.text(send, behaviour.after);
      setTimeout(() => response.destroy(), 20);
      return;
    case "end_early":
      open();
      dialect.text(send, behaviour.after);
      response.end();
      return;
    case "drip":
      open();
      while (!response.destroyed) {
        dialect.text(send, behaviour.piece);
        await behaviour.next();
      }
      return;
    case "silence":
      if (behaviour.after !== null) {
        open();
        dialect.text(send, behaviour.after);
      }
  }
}
