import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * A fake provider that issues access tokens for mailboxes and validates them for mail servers. Each refresh token works
 * once and is replaced in the answer.
 */
export interface TokenProvider {
  readonly tokenUrl: string;
  /** For servers that send the token in `Authorization`, such as Dovecot. */
  readonly introspectionUrl: string;
  readonly client: { readonly id: string; readonly secret: string };
  /** Signs in as this mailbox, to which all tokens belong. Returns the refresh token. */
  signIn(user: string): string;
  /** All tokens and secrets ever issued: none may appear in a log. */
  readonly secrets: readonly string[];
  /** The number of issued access tokens. */
  given(): number;
  isGood(accessToken: string): boolean;
  /** Expires all access tokens early. */
  endAccessTokens(): void;
  /** The mailbox's owner revokes access: all tokens expire and no new one is issued. Returns the refresh tokens. */
  revoke(): readonly string[];
  /** The owner grants access again: these refresh tokens work again. */
  restore(ended: readonly string[]): void;
  close(): Promise<void>;
}

export async function startTokenProvider(): Promise<TokenProvider> {
  const client = { id: "the-application", secret: secretOf("client") };
  const access = new Set<string>();
  const refresh = new Set<string>();
  const secrets: string[] = [client.secret];
  let given = 0;
  let mailbox = "";
  const issue = (kind: string, into: Set<string>): string => {
    const token = secretOf(kind);
    secrets.push(token);
    into.add(token);
    return token;
  };
  const server = createServer((request, response) => {
    const answer = (status: number, body: object): void => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    if (request.url?.startsWith("/introspect") === true) {
      const token = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? "")?.[1] ?? "";
      return answer(200, access.has(token) ? { active: "true", username: mailbox } : { active: "false" });
    }
    void formOf(request).then((form) => {
      if (form.get("client_id") !== client.id || form.get("client_secret") !== client.secret) {
        return answer(401, { error: "invalid_client" });
      }
      const used = form.get("refresh_token") ?? "";
      if (form.get("grant_type") !== "refresh_token" || !refresh.delete(used)) {
        return answer(400, { error: "invalid_grant", error_description: `the token ${used} has ended or was revoked` });
      }
      given += 1;
      return answer(200, {
        token_type: "Bearer",
        access_token: issue("access", access),
        expires_in: 3_600,
        refresh_token: issue("refresh", refresh),
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    tokenUrl: `${base}/token`,
    introspectionUrl: `${base}/introspect`,
    client,
    signIn(user) {
      mailbox = user;
      return issue("refresh", refresh);
    },
    secrets,
    given: () => given,
    isGood: (token) => access.has(token),
    endAccessTokens: () => access.clear(),
    revoke() {
      const ended = [...refresh];
      access.clear();
      refresh.clear();
      return ended;
    },
    restore(ended) {
      for (const token of ended) refresh.add(token);
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

const secretOf = (kind: string): string => `${kind}-${randomBytes(12).toString("hex")}`;

async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return new URLSearchParams(Buffer.concat(chunks).toString("utf8"));
}
