import { DeliveryError } from "#channels/errors.ts";

const misconfiguredMs = 60_000;
const busyMs = 1_000;

/**
 * The outcome of a call that was not answered by the platform's API but by a proxy, a gateway or an error page. Refusals,
 * redirects and overload were not passed on. With any other status the outcome is unknown.
 */
export function foreignAnswer(platform: string, status: number, retryAfterMs?: number): DeliveryError {
  if (status === 429 || status === 503) {
    return new DeliveryError("not_sent", `${platform} takes no more requests for now (HTTP ${status})`, {
      retryAfterMs: retryAfterMs ?? busyMs,
    });
  }
  if (status === 413) return new DeliveryError("rejected", `the message is too large for ${platform}`);
  if (status >= 300 && status < 500) {
    return new DeliveryError(
      "not_sent",
      `what answers is not ${platform} (HTTP ${status}): check base_url and proxies`,
      {
        retryAfterMs: misconfiguredMs,
      },
    );
  }
  return new DeliveryError("unknown", `${platform} did not answer as its API does (HTTP ${status})`);
}

/** Seconds from a Retry-After header; undefined for a date, for which the caller has its own wait. */
export function retryAfterOf(header: string | null | undefined): number | undefined {
  const seconds = Number(header ?? Number.NaN);
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : undefined;
}
