import { createTransport as createSmtp } from "nodemailer";
import { DeliveryError } from "#channels/errors.ts";
import type { GuardedLookup } from "#channels/http/guarded-connect.ts";
import { connectionFailure } from "#channels/http/platform-fetch.ts";
import { certificateCodes, certificateTrouble } from "./imap.ts";
import type { Credentials } from "./oauth/tokens.ts";
import { serverFor } from "./server.ts";
import type { EmailConfig } from "./config.ts";
import { defaultPorts } from "./config.ts";

const connectMs = 20_000;
const socketMs = 60_000;
/** The retry interval after a temporary refusal: servers do not name one. */
export const busyMs = 60_000;

/** Creates a transport for one mail, so a broken connection is never reused. Throws what {@link smtpError} maps. */
export async function createTransport(
  config: EmailConfig,
  credentials: Credentials | undefined,
  lookup: GuardedLookup,
) {
  const security = config.smtp_security ?? "tls";
  return createSmtp({
    ...(await serverFor(config.smtp_host, lookup)),
    port: config.smtp_port ?? defaultPorts.smtp[security],
    secure: security === "tls",
    requireTLS: security === "starttls",
    ignoreTLS: security === "none",
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    socketTimeout: socketMs,
    disableFileAccess: true,
    disableUrlAccess: true,
    logger: false,
    ...(credentials === undefined
      ? {}
      : {
          auth:
            credentials.kind === "password"
              ? { user: credentials.user, pass: credentials.password }
              : { type: "OAuth2" as const, user: credentials.user, accessToken: credentials.accessToken },
        }),
  });
}

/** Whether the server refused the credentials. */
export function isLoginRefused(error: unknown): boolean {
  const { code, responseCode } = (error ?? {}) as SmtpFailure;
  return code === "EAUTH" || [530, 534, 535, 538].includes(Number(responseCode));
}

interface SmtpFailure {
  readonly code?: unknown;
  readonly command?: unknown;
  /** The system's error code, if the library replaced it in `code`. */
  readonly originalCode?: unknown;
  /** The step that timed out. */
  readonly timeoutType?: unknown;
  readonly responseCode?: unknown;
  readonly response?: unknown;
}

/** Steps before the first byte of the mail. CONN is missing: the library uses it for every broken socket. */
const before = /^(?:EDNS|ETLS|CONNECT_TIMEOUT|GREETING_TIMEOUT|UPGRADE_TIMEOUT|EHLO|HELO|STARTTLS|MAIL FROM|RCPT TO)$/;

/** Maps an error to a {@link DeliveryError}, in words without credentials. */
export function smtpError(error: unknown, config: EmailConfig): DeliveryError {
  if (error instanceof DeliveryError) return error;
  const { refusal } = connectionFailure(error);
  if (refusal !== undefined) {
    return new DeliveryError("not_sent", `the SMTP server cannot be reached (${refusal})`, { retryAfterMs: busyMs });
  }
  const { code, command, originalCode, timeoutType, responseCode, response } = (error ?? {}) as SmtpFailure;
  const where = `the SMTP server ${config.smtp_host}`;
  const said = typeof response === "string" ? oneLine(response) : "";
  if (
    code === "EAUTH" ||
    code === "ENOAUTH" ||
    code === "EOAUTH2" ||
    [530, 534, 535, 538].includes(Number(responseCode))
  ) {
    // Credentials can be fixed later, so the mail is retried instead of rejected.
    const fix =
      config.oauth_token_url === undefined
        ? config.smtp_user === undefined && config.smtp_password === undefined
          ? "check user and password, and that the mailbox may send by SMTP"
          : "check smtp_user and smtp_password"
        : "check that oauth_scope is for SMTP, and that SMTP with sign-in is allowed for the mailbox";
    return new DeliveryError("not_sent", `${where} does not let the account in: ${fix}`, {
      retryAfterMs: busyMs,
    });
  }
  const low = typeof originalCode === "string" && /^[A-Z_0-9]{2,60}$/.test(originalCode) ? originalCode : "";
  if (certificateCodes.test(low)) {
    return new DeliveryError("not_sent", certificateTrouble(where, low, "smtp_host"), { retryAfterMs: busyMs });
  }
  if (code === "ETLS" || /^ERR_SSL_.*(?:VERSION|PROTOCOL|HANDSHAKE|PACKET_LENGTH)/.test(low)) {
    return new DeliveryError(
      "not_sent",
      `${where} does not answer as smtp_security: ${config.smtp_security ?? "tls"} expects (${code === "ETLS" ? "no STARTTLS" : low}): check smtp_port and smtp_security; 465 is the port of tls, 587 that of starttls`,
      { retryAfterMs: busyMs },
    );
  }
  if (typeof responseCode === "number" && responseCode >= 500) {
    return new DeliveryError("rejected", `the mail server refuses it: ${said}`);
  }
  if (typeof responseCode === "number" && responseCode >= 400) {
    return new DeliveryError("not_sent", `the mail server does not take it now: ${said}`, { retryAfterMs: busyMs });
  }
  const isBefore = [code, timeoutType, command].some((each) => typeof each === "string" && before.test(each));
  const detail = low === "" ? (typeof code === "string" ? code : "connection lost") : low;
  return isBefore || connectionFailure(error).unsent
    ? new DeliveryError(
        "not_sent",
        `${where} cannot be reached (${detail}): check smtp_host, smtp_port and smtp_security`,
      )
    : new DeliveryError("unknown", `the connection to ${where} broke (${detail})`);
}

export const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim().slice(0, 300);
