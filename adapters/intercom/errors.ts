import { IntercomError, IntercomTimeoutError } from "intercom-client";
import type { Clock } from "#runtime/clock.ts";
import { DeliveryError } from "#channels/errors.ts";
import { foreignAnswer } from "#channels/http/foreign-response.ts";
import { refusalIn } from "#channels/http/guarded-connect.ts";
import { connectionFailure } from "#channels/http/platform-fetch.ts";

/** The retry interval after a refusal that an admin must fix. */
const fixRetryMs = 60_000;
/** Intercom's rate limit has windows of ten seconds. */
const windowMs = 10_000;
const holdMaxMs = 600_000;

/** The wait that a 429 asks for, in milliseconds; undefined for other errors. */
export function limitOf(error: unknown, clock: Pick<Clock, "now">): number | undefined {
  if (!(error instanceof IntercomError) || error.statusCode !== 429) return undefined;
  const headers = error.rawResponse?.headers;
  const resetAt = Number(headers?.get("x-ratelimit-reset") ?? Number.NaN) * 1_000;
  const after = Number(headers?.get("retry-after") ?? Number.NaN) * 1_000;
  const wait = resetAt > clock.now() ? resetAt - clock.now() : after > 0 ? after : windowMs;
  return Math.min(wait, holdMaxMs);
}

export const statusOf = (error: unknown): number | undefined =>
  error instanceof IntercomError ? error.statusCode : undefined;

/** Maps an error of the SDK to a {@link DeliveryError}. It has no cause: the SDK's errors hold the request. */
export function deliveryError(error: unknown, clock: Pick<Clock, "now">): DeliveryError {
  if (error instanceof DeliveryError) return error;
  const limit = limitOf(error, clock);
  if (limit !== undefined) {
    return new DeliveryError("not_sent", "Intercom takes no more requests for now", { retryAfterMs: limit });
  }
  if (error instanceof IntercomTimeoutError) return new DeliveryError("unknown", "Intercom did not answer in time");
  const status = statusOf(error);
  if (status !== undefined && error instanceof IntercomError) {
    const errors = errorsIn(error.body);
    // Intercom's own refusals have a list of errors: this answer comes from a proxy or gateway.
    if (errors === undefined && status < 500 && !lasting.has(status)) return foreignAnswer("Intercom", status);
    return refusal(status, reasonOf(errors));
  }
  const refused = refusalIn(error) ?? refusedMessage.exec(error instanceof Error ? error.message : "")?.[1];
  if (refused !== undefined) return new DeliveryError("not_sent", `Intercom cannot be reached (${refused})`);
  const { unsent, code } = brokenBy(error);
  return unsent
    ? new DeliveryError("not_sent", `Intercom cannot be reached (${code})`)
    : new DeliveryError("unknown", `the connection to Intercom broke (${code})`);
}

function refusal(status: number, reason: string): DeliveryError {
  if (status >= 500 || status === 408) return new DeliveryError("unknown", `Intercom failed with status ${status}`);
  switch (status) {
    case 401:
      return new DeliveryError(
        "not_sent",
        "Intercom refuses the access token: copy it again from the Developer Hub, page Authentication, into `access_token`, and check `region`",
        { retryAfterMs: fixRetryMs },
      );
    case 402:
    case 403:
      return new DeliveryError(
        "not_sent",
        `Intercom does not allow this to the app${reason}: in the Developer Hub, page Authentication, allow it to read and write conversations and to read teammates`,
        { retryAfterMs: fixRetryMs },
      );
    case 404:
      return new DeliveryError("rejected", `there is no such conversation in Intercom any more${reason}`);
    case 413:
      return new DeliveryError("rejected", "the message or its files are too large for Intercom");
    default:
      return new DeliveryError("rejected", `Intercom refuses it with status ${status}${reason}`);
  }
}

/** Statuses with one meaning, even without a list of errors. */
const lasting: ReadonlySet<number> = new Set([401, 402, 403, 408]);

function errorsIn(body: unknown): readonly unknown[] | undefined {
  const errors = (body as { readonly errors?: unknown } | null | undefined)?.errors;
  return Array.isArray(errors) ? errors : undefined;
}

/** Intercom's own message, in parentheses. */
function reasonOf(errors: readonly unknown[] = []): string {
  const first = errors[0] as Readonly<Record<string, unknown>> | undefined;
  const message = first?.["message"] ?? first?.["code"];
  return typeof message === "string" && message !== "" ? ` (${message.slice(0, 300)})` : "";
}

/** A failed connection. The SDK keeps only an error's message, so the message encodes the code and whether anything was sent. */
export class BrokenConnection extends Error {
  constructor(error: unknown) {
    const { unsent, code = noAnswer, refusal: refused } = connectionFailure(error);
    super(refused !== undefined ? `${refusedMark}${refused}` : unsent ? `${unsentMark}${code}` : code, {
      cause: error,
    });
    this.name = "BrokenConnection";
  }
}

const noAnswer = "no answer";
const unsentMark = "unsent: ";
const refusedMark = "refused: ";
const refusedMessage = new RegExp(`^${refusedMark}(.+)$`, "s");
const brokenMessage = new RegExp(`^(${unsentMark})?([A-Z0-9_]{3,60}|${noAnswer})$`);

/** Whether anything was sent, and the code, such as ECONNRESET. */
function brokenBy(error: unknown): { readonly unsent: boolean; readonly code: string } {
  const encoded = error instanceof Error ? brokenMessage.exec(error.message) : null;
  if (encoded !== null) return { unsent: encoded[1] !== undefined, code: encoded[2] ?? noAnswer };
  const { unsent, code = noAnswer } = connectionFailure(error);
  return { unsent, code };
}

export const networkCode = (error: unknown): string => brokenBy(error).code;
