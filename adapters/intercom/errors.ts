import { IntercomError, IntercomTimeoutError } from "intercom-client";
import type { Clock } from "#runtime/clock.ts";
import { DeliveryError } from "#channels/errors.ts";
import { foreignAnswer } from "#channels/http/foreign-response.ts";
import { connectionFailure } from "#channels/http/platform-fetch.ts";

/** After a refusal that an operator has to mend. */
const mendMs = 60_000;
/** Intercom counts in windows of ten seconds. */
const windowMs = 10_000;
const holdMaxMs = 600_000;

/** How long Intercom wants to be left in peace; undefined where that is not what it said. */
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

/** What Intercom said of a call, as the host understands it. Without a cause: the SDK's errors hold requests. */
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
    // Its own failures have a list of errors.
    if (errors === undefined && status < 500 && !lasting.has(status)) return foreignAnswer("Intercom", status);
    return refusal(status, said(errors));
  }
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
        "Intercom refuses the access token: copy it anew from the Developer Hub, page Authentication, into `access_token`, and check `region`",
        { retryAfterMs: mendMs },
      );
    case 402:
    case 403:
      return new DeliveryError(
        "not_sent",
        `Intercom does not allow this to the app${reason}: in the Developer Hub, page Authentication, allow it to read and write conversations and to read teammates`,
        { retryAfterMs: mendMs },
      );
    case 404:
      return new DeliveryError("rejected", `there is no such conversation in Intercom any more${reason}`);
    case 413:
      return new DeliveryError("rejected", "the message or its files are too large for Intercom");
    default:
      return new DeliveryError("rejected", `Intercom refuses it with status ${status}${reason}`);
  }
}

/** Statuses that mean the same without a word. */
const lasting: ReadonlySet<number> = new Set([401, 402, 403, 408]);

function errorsIn(body: unknown): readonly unknown[] | undefined {
  const errors = (body as { readonly errors?: unknown } | null | undefined)?.errors;
  return Array.isArray(errors) ? errors : undefined;
}

/** Intercom's own words, for people. */
function said(errors: readonly unknown[] = []): string {
  const first = errors[0] as Readonly<Record<string, unknown>> | undefined;
  const message = first?.["message"] ?? first?.["code"];
  return typeof message === "string" && message !== "" ? ` (${message.slice(0, 300)})` : "";
}

/** Of what breaks, the SDK keeps the message alone, so the message says all that is asked for. */
export class Broken extends Error {
  constructor(error: unknown) {
    const { unsent, code = noAnswer } = connectionFailure(error);
    super(unsent ? `${unsentMark}${code}` : code, { cause: error });
    this.name = "Broken";
  }
}

const noAnswer = "no answer";
const unsentMark = "unsent: ";
const brokenMessage = new RegExp(`^(${unsentMark})?([A-Z0-9_]{3,60}|${noAnswer})$`);

/** Whether anything was sent, and a word for what broke, such as ECONNRESET, and nothing else of the error. */
function brokenBy(error: unknown): { readonly unsent: boolean; readonly code: string } {
  const kept = error instanceof Error ? brokenMessage.exec(error.message) : null;
  if (kept !== null) return { unsent: kept[1] !== undefined, code: kept[2] ?? noAnswer };
  const { unsent, code = noAnswer } = connectionFailure(error);
  return { unsent, code };
}

export const networkCode = (error: unknown): string => brokenBy(error).code;
