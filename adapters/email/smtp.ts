import { createTransport as createSmtp } from "nodemailer";
import { DeliveryError } from "#channels/errors.ts";
import { connectionFailure } from "#channels/http/platform-fetch.ts";
import { certificateCodes, certificateTrouble } from "./imap.ts";
import type { Credentials } from "./oauth/tokens.ts";
import type { EmailConfig } from "./config.ts";

const connectMs = 20_000;
const socketMs = 60_000;
/** A server that says "not now" does not say when. */
export const busyMs = 60_000;

/** A transport for one mail: a connection that broke once is never used again. */
export function createTransport(config: EmailConfig, credentials: Credentials | undefined) {
  const security = config.smtp_security ?? "tls";
  const ports = { tls: 465, starttls: 587, none: 25 } as const;
  return createSmtp({
    host: config.smtp_host,
    port: config.smtp_port ?? ports[security],
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

/** The server has not taken what was signed in with. */
export function isLoginRefused(error: unknown): boolean {
  const { code, responseCode } = (error ?? {}) as SmtpFailure;
  return code === "EAUTH" || [530, 534, 535, 538].includes(Number(responseCode));
}

interface SmtpFailure {
  readonly code?: unknown;
  readonly command?: unknown;
  /** What the system said, where the library has put a word of its own in `code`. */
  readonly originalCode?: unknown;
  /** What was waited for in vain. */
  readonly timeoutType?: unknown;
  readonly responseCode?: unknown;
  readonly response?: unknown;
}

/** Before a single byte of the mail can have gone out. The library's command CONN tells nothing: it stands for every broken socket. */
const before = /^(?:EDNS|ETLS|CONNECT_TIMEOUT|GREETING_TIMEOUT|UPGRADE_TIMEOUT|EHLO|HELO|STARTTLS|MAIL FROM|RCPT TO)$/;

/** What a failure means for the mail: refused, not sent, or perhaps sent. In words without a credential. */
export function smtpError(error: unknown, config: EmailConfig): DeliveryError {
  if (error instanceof DeliveryError) return error;
  const { code, command, originalCode, timeoutType, responseCode, response } = (error ?? {}) as SmtpFailure;
  const where = `the SMTP server ${config.smtp_host}`;
  const said = typeof response === "string" ? oneLine(response) : "";
  if (
    code === "EAUTH" ||
    code === "ENOAUTH" ||
    code === "EOAUTH2" ||
    [530, 534, 535, 538].includes(Number(responseCode))
  ) {
    // What is wrong now may be mended, and the mail is not lost by that.
    const mend =
      config.oauth_token_url === undefined
        ? config.smtp_user === undefined && config.smtp_password === undefined
          ? "check user and password, and that the mailbox may send by SMTP"
          : "check smtp_user and smtp_password"
        : "check that oauth_scope is for SMTP, and that SMTP with sign-in is allowed for the mailbox";
    return new DeliveryError("not_sent", `${where} does not let the account in: ${mend}`, {
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
