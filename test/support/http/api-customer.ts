import type { ConformanceTarget, CustomerMessage, FakePlatform, Program } from "../channels/conformance-target.ts";

/**
 * A company's own program that asks for its customers over the API. There is no platform: the answer is in the
 * response, and agents' messages are read from the conversation.
 */
export const apiTarget: ConformanceTarget = {
  channel: "api",
  cannot: {
    "own-echo": "the API does not deliver the program's own messages",
    "refused-send": "customers read messages from the conversation, so there is no send to refuse",
    "limited-send": "what is said is read from the conversation; there is no platform that could ask for time",
    "unknown-send": "what is said is read from the conversation, as often as its reader likes",
  },
  start: async () => startApiCustomers(),
};

interface Conversation {
  readonly messages: readonly {
    readonly id: string;
    readonly role: string;
    readonly content: string;
    readonly refers_to?: { readonly message_id: string | null };
  }[];
}

interface Answer {
  readonly conversation_id: string;
  readonly sources: readonly { readonly title: string }[];
}

function startApiCustomers(): FakePlatform {
  const conversations = new Map<string, string>();
  const sources = new Map<string, readonly string[]>();
  let program: Program | undefined;

  async function call(method: "GET" | "POST", path: string, body?: object, more: object = {}): Promise<Response> {
    if (program?.key === undefined) throw new Error("the program passed no API key");
    return fetch(`${program.url}/v1/${path}`, {
      method,
      headers: { authorization: `Bearer ${program.key}`, "content-type": "application/json", ...more },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  async function ask({ customer, id, text }: CustomerMessage, key?: string): Promise<boolean> {
    const known = conversations.get(customer);
    const body = {
      workspace_id: program?.workspaceId,
      query: text,
      ...(known === undefined ? {} : { conversation_id: known }),
    };
    const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` };
    // A client without an answer repeats the request with the same key and the same body.
    const request = requests.get(id) ?? body;
    requests.set(id, request);
    const response = await call("POST", "query", request, { "idempotency-key": `question-${id}`, ...authorization });
    if (!response.ok) {
      await response.text();
      return false;
    }
    const answer = (await response.json()) as Answer;
    conversations.set(customer, answer.conversation_id);
    sources.set(
      customer,
      answer.sources.map(({ title }) => title),
    );
    return true;
  }
  const requests = new Map<string, object>();

  async function messagesOf(customer: string): Promise<Conversation["messages"]> {
    const id = conversations.get(customer);
    if (id === undefined) return [];
    const response = await call("GET", `conversations/${id}`);
    return ((await response.json()) as Conversation).messages;
  }

  return {
    config: {},
    secrets: () => (program?.key === undefined ? [] : [program.key]),
    retryAfterMs: 0,
    async connect(to) {
      program = to;
    },
    deliver: (message) => ask(message),
    forge: (message) => ask(message, `${(program?.key ?? "").slice(0, -4)}0000`),
    echo: () => Promise.reject(new Error("the API delivers no messages of its own")),
    shown: async (customer) =>
      (await messagesOf(customer)).filter(({ role }) => role !== "user").map(({ content }) => content),
    async answered(customer, text) {
      const messages = await messagesOf(customer);
      const answer = messages.findLast(({ role, content }) => role !== "user" && content.includes(text));
      return messages.find(({ id }) => id === answer?.refers_to?.message_id)?.content;
    },
    sources: async (customer) => sources.get(customer) ?? [],
    misbehave(how) {
      throw new Error(`the API has no fault "${how}"`);
    },
    away: async () => undefined,
    back: async () => undefined,
    close: async () => undefined,
  };
}
