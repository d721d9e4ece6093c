import type { ImapFlowOptions, MailboxObject } from "imapflow";
import { ImapFlow } from "imapflow";
import type { ChannelHost } from "#channels/contract.ts";
import { refusalIn } from "#channels/http/guarded-connect.ts";
import { serverFor } from "./server.ts";
import type { Credentials } from "./oauth/tokens.ts";
import { signedIn } from "./oauth/tokens.ts";
import type { EmailConfig } from "./config.ts";
import { defaultPorts } from "./config.ts";

/** Dead peers are detected after this time. IDLE restarts earlier. */
const socketMs = 5 * 60_000;
const idleMs = 4 * 60_000;
const connectMs = 20_000;
/** The memory limit for one response of a server. */
const literalMax = 64 * 1024 * 1024;

export interface ImapDependencies {
  readonly host: Pick<ChannelHost, "lookup">;
  readonly config: EmailConfig;
  readonly credentials: (signal?: AbortSignal) => Promise<Credentials>;
}

/** Opens a signed-in connection. The event `close` reports its loss; it cannot be reused after that. */
export async function openImap(
  { host, config, credentials }: ImapDependencies,
  signal?: AbortSignal,
): Promise<ImapFlow> {
  return signedIn(credentials, isRefused, (given) => connect({ host, config }, given, signal), signal);
}

async function connect(
  { host: { lookup }, config }: Pick<ImapDependencies, "host" | "config">,
  credentials: Credentials,
  signal?: AbortSignal,
): Promise<ImapFlow> {
  const security = config.imap_security ?? "tls";
  const options: ImapFlowOptions = {
    ...(await serverFor(config.imap_host, lookup).catch((error: unknown) => {
      throw imapError(error, config);
    })),
    port: config.imap_port ?? defaultPorts.imap[security],
    secure: security === "tls",
    doSTARTTLS: security === "starttls",
    auth:
      credentials.kind === "password"
        ? { user: credentials.user, pass: credentials.password }
        : { user: credentials.user, accessToken: credentials.accessToken },
    logger: false,
    disableAutoIdle: true,
    maxIdleTime: idleMs,
    socketTimeout: socketMs,
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    maxLiteralSize: literalMax,
    maxResponseSize: 2 * literalMax,
    maxLineLength: literalMax,
    clientInfo: { name: "Parley" },
  };
  signal?.throwIfAborted();
  const client = new ImapFlow(options);
  // Without a listener, an error on an idle connection would end the process. `close` handles the loss.
  client.on("error", () => undefined);
  const onAbort = (): void => client.close();
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    await client.connect();
    signal?.throwIfAborted();
    return client;
  } catch (error) {
    client.close();
    throw imapError(error, config);
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
}

/** The server refused the sign-in. */
class SignInError extends Error {}

const isRefused = (error: unknown): boolean => error instanceof SignInError;

/** Opens a folder. The error names the `setting` to check. */
export async function openFolder(
  client: ImapFlow,
  folder: string,
  { setting, readOnly, host }: { readonly setting: string; readonly readOnly: boolean; readonly host: string },
): Promise<MailboxObject> {
  try {
    return await client.mailboxOpen(folder, { readOnly });
  } catch (error) {
    if (!client.usable) throw error;
    throw new Error(`the IMAP server ${host} does not open the folder ${folder}: check ${setting}`, { cause: error });
  }
}

/** Logs out, waiting at most a second. */
export async function closeImap(client: ImapFlow): Promise<void> {
  if (!client.usable) {
    client.close();
    return;
  }
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(() => late.resolve(), 1_000);
  await Promise.race([client.logout().catch(() => undefined), late.promise]);
  clearTimeout(timer);
  client.close();
}

/** Maps an error to words for the admin. Texts of the server or library are left out: they may repeat credentials. */
export function imapError(error: unknown, config: EmailConfig): Error {
  const refusal = refusalIn(error);
  if (refusal !== undefined) return new Error(`the IMAP server cannot be reached (${refusal})`);
  const { authenticationFailed, code, tlsFailed } = (error ?? {}) as {
    readonly authenticationFailed?: boolean;
    readonly code?: unknown;
    /** The server lacks STARTTLS, or it failed. */
    readonly tlsFailed?: boolean;
  };
  const where = `the IMAP server ${config.imap_host}`;
  if (authenticationFailed === true && config.oauth_token_url !== undefined) {
    return new SignInError(
      `${where} does not let the access token in: check that oauth_refresh_token is of the mailbox ${config.user ?? config.address}, that oauth_scope is for IMAP, and that IMAP is allowed for the mailbox; an application that signs in as itself needs access to the mailbox too`,
    );
  }
  if (authenticationFailed === true) {
    return new SignInError(
      `${where} does not let ${config.user ?? config.address} in: check user and password; many providers want an app password, or OAuth`,
    );
  }
  const name = typeof code === "string" && /^[A-Za-z_0-9]{2,60}$/.test(code) ? code : "connection lost";
  if (certificateCodes.test(name)) {
    return new Error(certificateTrouble(where, name, "imap_host"));
  }
  if (name === "ENOTFOUND" || name === "EAI_AGAIN") return new Error(`${where} is not found: check imap_host`);
  if (name === "ECONNREFUSED" || name === "CONNECT_TIMEOUT" || name === "ETIMEDOUT") {
    return new Error(`${where} cannot be reached (${name}): check imap_host, imap_port and imap_security`);
  }
  // Only one side speaks TLS, or the server lacks STARTTLS.
  if (tlsFailed === true || /SSL|TLS|EPROTO|GREETING_TIMEOUT|ClosedAfterConnect/.test(name)) {
    return new Error(
      `${where} does not answer as imap_security: ${config.imap_security ?? "tls"} expects (${tlsFailed === true ? "no STARTTLS" : name}): check imap_port and imap_security; 993 is the port of tls, 143 that of starttls and none`,
    );
  }
  return new Error(`the connection to ${where} broke (${name}): check imap_host, imap_port and imap_security`);
}

/** Error codes of Node.js and OpenSSL for refused certificates. */
export const certificateCodes = /CERT|SELF_SIGNED|ALTNAME|UNABLE_TO_VERIFY/;

/** The fix for a refused certificate, by error code. */
export function certificateTrouble(where: string, name: string, setting: string): string {
  if (name.includes("ALTNAME")) {
    return `the certificate of ${where} is of another name (${name}): set ${setting} to the name that the certificate is made for, which the provider tells`;
  }
  return `the certificate of ${where} is not valid (${name}): renew it there, or, where an authority of your own has made it, name that authority's certificate in the environment variable NODE_EXTRA_CA_CERTS`;
}
