import { createHmac } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** The answer of handlers that look nothing up. */
export const fixedText = "Thank you for your message. A colleague answers within the hour.";

export const slackSecrets = {
  botToken: "xoxb-000000000001-bench-bench-bench-bench",
  signingSecret: "0123456789abcdef0123456789abcdef",
} as const;

export const telegramSecrets = {
  token: "7000000001:bench-bench-bench-bench-bench-bench",
  /** For handlers that choose the secret themselves; Parley names its own when it registers. */
  webhookSecret: "bench-webhook-secret",
} as const;

/** A customer in a direct conversation. */
export interface Customer {
  /** The platform's id of the conversation. */
  readonly channel: string;
  /** The body and headers of the POST that delivers this text. */
  write(text: string): { readonly body: string; readonly headers: Readonly<Record<string, string>> };
}

/** The few methods of Slack's Web API and Telegram's Bot API that answering needs, as fast as possible. */
export interface FakePlatform {
  readonly slackApi: string;
  readonly telegramApi: string;
  /** Calls `listener` when a message of a bot arrives. */
  onReply(listener: (channel: string) => void): void;
  /** The secret that a bot has registered for its webhook. */
  registered(): string | undefined;
  /** Counts calls of all methods but those that send. */
  otherCalls(): ReadonlyMap<string, number>;
  close(): void;
}

const team = "T0BENCH01";
const botUser = "U0BOT0001";

export async function startFakePlatform(): Promise<FakePlatform> {
  let listener: (channel: string) => void = () => undefined;
  let registered: string | undefined;
  let sent = 0;
  const others = new Map<string, number>();

  function slack(method: string, request: IncomingMessage, body: string, answer: (body: unknown) => void): void {
    if (request.headers.authorization !== `Bearer ${slackSecrets.botToken}`) {
      answer({ ok: false, error: "invalid_auth" });
      return;
    }
    if (method === "chat.postMessage") {
      const channel = /(?:^|&)channel=([^&]+)/.exec(body)?.[1] ?? "";
      const ts = `1934000000.${String((sent += 1)).padStart(6, "0")}`;
      answer({ ok: true, channel, ts, message: { type: "message", ts, text: "…", bot_id: "B0BOT0001", team } });
      listener(channel);
      return;
    }
    others.set(method, (others.get(method) ?? 0) + 1);
    if (method === "auth.test") {
      answer({ ok: true, team, team_id: team, user: "support", user_id: botUser, bot_id: "B0BOT0001" });
      return;
    }
    if (method === "users.info") {
      const id = /(?:^|&)user=([^&]+)/.exec(body)?.[1] ?? "";
      const profile = { real_name: `Customer ${id}`, display_name: `Customer ${id}` };
      answer({ ok: true, user: { id, team_id: team, name: id.toLowerCase(), profile } });
      return;
    }
    if (method === "conversations.info") {
      const id = /(?:^|&)channel=([^&]+)/.exec(body)?.[1] ?? "";
      answer({ ok: true, channel: { id, is_im: true } });
      return;
    }
    answer({ ok: true });
  }

  function telegram(method: string, body: string, answer: (body: unknown) => void): void {
    const given = (body === "" ? {} : JSON.parse(body)) as Readonly<Record<string, unknown>>;
    if (method === "sendMessage") {
      const id = Number(given["chat_id"]);
      const result = { message_id: (sent += 1), date: 1_934_000_000, chat: { id, type: "private" }, text: "…" };
      answer({ ok: true, result });
      listener(String(id));
      return;
    }
    others.set(method, (others.get(method) ?? 0) + 1);
    if (method === "setWebhook") registered = String(given["secret_token"]);
    if (method === "getMe") {
      answer({ ok: true, result: { id: 7_000_000_001, is_bot: true, first_name: "Support", username: "supportbot" } });
      return;
    }
    answer({ ok: true, result: true });
  }

  function serve(request: IncomingMessage, response: ServerResponse): void {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      const answer = (value: unknown): void => {
        const text = JSON.stringify(value);
        response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
        response.end(text);
      };
      const path = request.url ?? "/";
      const method = path.slice(path.lastIndexOf("/") + 1);
      if (path.startsWith("/slack/")) slack(method, request, body, answer);
      else if (path.startsWith(`/telegram/bot${telegramSecrets.token}/`)) telegram(method, body, answer);
      else response.writeHead(401).end();
    });
  }

  // Connections stay open between the rounds.
  const server = createServer({ keepAliveTimeout: 600_000 }, serve);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const { port } = server.address() as AddressInfo;
  return {
    slackApi: `http://127.0.0.1:${port}/slack`,
    telegramApi: `http://127.0.0.1:${port}/telegram`,
    onReply(next) {
      listener = next;
    },
    registered: () => registered,
    otherCalls: () => others,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

let written = 0;

export function slackCustomers(count: number, prefix: string): readonly Customer[] {
  return Array.from({ length: count }, (_, i): Customer => {
    const channel = `D${prefix}${String(i).padStart(6, "0")}`;
    const user = `U${prefix}${String(i).padStart(6, "0")}`;
    return {
      channel,
      write(text) {
        written += 1;
        const now = Math.floor(Date.now() / 1_000);
        const ts = `${now}.${String(written % 1_000_000).padStart(6, "0")}`;
        const body = JSON.stringify({
          token: "not-used",
          team_id: team,
          api_app_id: "A0BENCH01",
          type: "event_callback",
          event_id: `Ev${String(written).padStart(9, "0")}`,
          event_time: now,
          authorizations: [
            { enterprise_id: null, team_id: team, user_id: botUser, is_bot: true, is_enterprise_install: false },
          ],
          is_ext_shared_channel: false,
          event_context: "4-not-used",
          event: {
            type: "message",
            client_msg_id: `client-${ts}`,
            user,
            team,
            text,
            ts,
            channel,
            channel_type: "im",
            event_ts: ts,
          },
        });
        const signature = createHmac("sha256", slackSecrets.signingSecret).update(`v0:${now}:${body}`).digest("hex");
        return {
          body,
          headers: { "x-slack-request-timestamp": String(now), "x-slack-signature": `v0=${signature}` },
        };
      },
    };
  });
}

export function telegramCustomers(count: number, base: number, secret: string): readonly Customer[] {
  return Array.from({ length: count }, (_, i): Customer => {
    const id = base + i;
    return {
      channel: String(id),
      write(text) {
        written += 1;
        const body = JSON.stringify({
          update_id: 100_000 + written,
          message: {
            message_id: written,
            from: { id, is_bot: false, first_name: "Ada", last_name: "L.", language_code: "en" },
            chat: { id, type: "private", first_name: "Ada" },
            date: Math.floor(Date.now() / 1_000),
            text,
          },
        });
        return { body, headers: { "x-telegram-bot-api-secret-token": secret } };
      },
    };
  });
}
