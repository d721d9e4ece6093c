import { createHmac, randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { ConformanceTarget, CustomerMessage, FakePlatform, Misbehaviour } from "./conformance-target.ts";
import { textMax } from "./sample-adapter/render.ts";
import type { SamplePost } from "./sample-adapter/send.ts";
import type { SampleDelivery } from "./sample-adapter/webhook.ts";
import { signatureOf } from "./sample-adapter/webhook.ts";

/** A made-up platform with webhooks, short messages and strict checks, for tests of the suite itself. */
export const sampleTarget: ConformanceTarget = { channel: "telegram", cannot: {}, start: startSamplePlatform };

async function startSamplePlatform(): Promise<FakePlatform> {
  const token = `token-${randomBytes(12).toString("hex")}`;
  const signingSecret = `signing-${randomBytes(12).toString("hex")}`;
  const shown: SamplePost[] = [];
  const misbehaviours: Misbehaviour[] = [];
  const files = new Map<string, Buffer>();
  let webhookUrl = "";

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = (status: number, body: unknown, headers = {}): void => {
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
    };
    const url = new URL(request.url ?? "/", "http://platform");
    const asked = url.pathname.startsWith(`/bot-${token}/files/`)
      ? files.get(url.pathname.split("/")[3] ?? "")
      : undefined;
    if (asked !== undefined) {
      response.writeHead(200).end(asked);
      return;
    }
    if (url.pathname === `/bot-${token}/me`) return answer(200, { name: "the sample bot" });
    if (url.pathname !== `/bot-${token}/messages`) return answer(401, { error: "this token is not known" });
    if (request.method === "GET") {
      const found = shown.find(({ key }) => key === url.searchParams.get("key"));
      return answer(200, { id: found === undefined ? null : idOf(found) });
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const post = JSON.parse(Buffer.concat(chunks).toString("utf8")) as SamplePost;
    switch (misbehaviours.shift()) {
      case "refuse":
        return answer(403, { error: "the customer has blocked you" });
      case "limit":
        return answer(429, { error: "too many requests" }, { "retry-after": "30" });
      case "unreachable":
      case "hang_up":
        request.socket.destroy();
        return;
      case "hang_up_after_commit":
        shown.push(post);
        request.socket.destroy();
        return;
      case undefined:
    }
    if (post.text.length > textMax) return answer(400, { error: "the text is too long" });
    shown.push(post);
    answer(200, { id: idOf(post) });
  }

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;

  async function notify(delivery: SampleDelivery, secret: string): Promise<boolean> {
    const body = JSON.stringify(delivery);
    const headers = { "content-type": "application/json", "x-signature": signatureOf(body, secret) };
    const response = await fetch(webhookUrl, { method: "POST", headers, body });
    await response.text();
    return response.ok;
  }
  const delivery = ({ customer, id, text, files: sent = [] }: CustomerMessage): SampleDelivery => ({
    id,
    chat: customer,
    from: customer,
    fromBot: false,
    text,
    files: sent.map(({ name, bytes }, i) => {
      files.set(`${id}-${i}`, bytes);
      return { id: `${id}-${i}`, name };
    }),
  });

  return {
    config: { url: `http://127.0.0.1:${port}`, token, signing_secret: signingSecret },
    secrets: () => [token, signingSecret],
    retryAfterMs: 30_000,
    async connect(program) {
      ({ webhookUrl } = program);
    },
    deliver: (message) => notify(delivery(message), signingSecret),
    forge: (message) => notify(delivery(message), "another secret"),
    async echo(customer) {
      for (const own of shown.filter(({ chat }) => chat === customer)) {
        await notify(
          { id: `echo-${idOf(own)}`, chat: customer, from: "bot", fromBot: true, text: own.text, files: [] },
          signingSecret,
        );
      }
    },
    shown: async (customer) =>
      shown.filter(({ chat, file }) => chat === customer && file === undefined).map(({ text }) => text),
    received: async (customer) =>
      shown.flatMap(({ chat, file }) =>
        chat !== customer || file === undefined
          ? []
          : [{ name: file.name, mediaType: "", bytes: Buffer.from(file.base64, "base64") }],
      ),
    misbehave: (how) => void misbehaviours.push(how),
    async away() {
      misbehaviours.push("unreachable");
    },
    async back() {
      misbehaviours.length = 0;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const idOf = ({ key }: SamplePost): string => createHmac("sha256", "id").update(key).digest("hex").slice(0, 16);
