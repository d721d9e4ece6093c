import robotsParser from "robots-parser";
import { delay } from "#runtime/abort.ts";
import type { Clock } from "#runtime/clock.ts";
import type { GuardedFetch, OutboundResponse } from "#outbound/guarded-fetch.ts";
import { OutboundFailure, RefusedAddress } from "#outbound/guarded-fetch.ts";
import { pageUrl } from "./page-url.ts";

/** The name that robots.txt addresses the crawler by. */
const crawlerName = "ParleyBot";
const userAgent = `Mozilla/5.0 (compatible; ${crawlerName}/1.0)`;
// The package's types describe an ES module, but it is CommonJS.
const parseRobots = robotsParser as unknown as typeof robotsParser.default;
const accept = "text/html,application/xhtml+xml,text/markdown,text/plain;q=0.9,application/pdf;q=0.8";
const gapMs = 250;
const gapMsMax = 10_000;
const timeoutMs = 15_000;
const redirectsMax = 5;
const pageBytesMax = 5 * 1_048_576;
const robotsBytesMax = 512 * 1_024;
const sitemapBytesMax = 10 * 1_048_576;
const pauseMsMax = 600_000;
const originsMax = 1_000;
/** Delays before the second and the third attempt at a request. */
export const retryMs = [2_000, 10_000];

export type Fetched =
  | { readonly kind: "page"; readonly url: string; readonly response: OutboundResponse }
  | { readonly kind: "unchanged" }
  | { readonly kind: "gone"; readonly reason: string }
  /** Not readable until the site or its robots.txt changes. */
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "elsewhere"; readonly url: string; readonly reason: string }
  /** `pauseMs`: from the site's Retry-After. */
  | ({ readonly kind: "failed"; readonly pauseMs?: number } & Failure);

export interface Failure {
  readonly reason: string;
  readonly retryable: boolean;
}

export interface Validators {
  readonly etag: string | null;
  readonly lastModified: string | null;
}

export interface Robots {
  allows(url: string): boolean;
  readonly sitemaps: readonly string[];
  /** Milliseconds between two requests. */
  readonly gapMs: number;
}

/** Sends each site one request at a time, with a gap between two; the guard checks every address, redirects included. */
export interface SiteFetcher {
  /** The text of robots.txt, empty where the site has none. */
  robots(origin: string, signal: AbortSignal): Promise<{ readonly text: string } | Failure>;
  page(url: string, known: Validators, robots: Robots, signal: AbortSignal): Promise<Fetched>;
  /** Undefined where the site has none, or it cannot be fetched. */
  sitemap(url: string, robots: Robots, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** Rejects when the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

export function readRobots(origin: string, text: string): Robots {
  const robots = parseRobots(`${origin}/robots.txt`, text);
  const seconds = robots.getCrawlDelay(crawlerName) ?? 0;
  return {
    allows: (url) => robots.isAllowed(url, crawlerName) !== false,
    sitemaps: robots.getSitemaps(),
    gapMs: Math.min(gapMsMax, Math.max(gapMs, Number.isFinite(seconds) ? seconds * 1_000 : 0)),
  };
}

export function createSiteFetcher(fetch: GuardedFetch, clock: Clock): SiteFetcher {
  const send = createPacedSend(fetch, clock);

  /** For robots.txt and sitemaps, which may redirect to other sites. */
  async function follow(url: string, request: PacedRequest, signal: AbortSignal): Promise<OutboundResponse> {
    let at = url;
    for (let hop = 0; ; hop += 1) {
      const response = await send(at, request, signal);
      const to = redirectOf(response, at);
      if (to === undefined || hop >= redirectsMax) return response;
      at = to;
    }
  }

  return {
    wait: (ms, signal) => delay(clock, ms, signal),
    async robots(origin, signal) {
      try {
        const response = await follow(`${origin}/robots.txt`, { bytesMax: robotsBytesMax, gapMs }, signal);
        if (response.status >= 200 && response.status < 300)
          return { text: Buffer.from(response.body).toString("utf8") };
        // RFC 9309: a missing file allows everything, an unavailable one nothing.
        if (response.status < 500 && response.status !== 429) return { text: "" };
        return { reason: `its robots.txt cannot be read (status ${response.status})`, retryable: true };
      } catch (error) {
        return failureOf(error);
      }
    },
    async page(url, known, robots, signal) {
      const { origin } = new URL(url);
      const validators = {
        ...(known.etag === null ? {} : { "if-none-match": known.etag }),
        ...(known.lastModified === null ? {} : { "if-modified-since": known.lastModified }),
      };
      let at = url;
      for (let hop = 0; hop <= redirectsMax; hop += 1) {
        if (!robots.allows(at)) return { kind: "refused", reason: "robots.txt does not allow it" };
        const headers = { accept, ...(hop === 0 ? validators : {}) };
        let response: OutboundResponse;
        try {
          response = await send(at, { bytesMax: pageBytesMax, gapMs: robots.gapMs, headers }, signal);
        } catch (error) {
          return { kind: "failed", ...failureOf(error) };
        }
        const to = redirectOf(response, at);
        if (to === undefined) return answerOf(at, response, clock.now());
        const page = pageUrl(to);
        if (page === null) return { kind: "refused", reason: "it leads to what is no page" };
        if (new URL(page).origin !== origin) {
          const reason = `it leads to another site, ${new URL(page).origin}; crawl that address`;
          return { kind: "elsewhere", url: page, reason };
        }
        at = page;
      }
      return { kind: "refused", reason: `it leads from one address to the next, more than ${redirectsMax} times` };
    },
    async sitemap(url, robots, signal) {
      try {
        const response = await follow(url, { bytesMax: sitemapBytesMax, gapMs: robots.gapMs }, signal);
        return response.status === 200 && response.complete ? response.body : undefined;
      } catch (error) {
        // Links between the pages are followed without a sitemap.
        failureOf(error);
        return undefined;
      }
    },
  };
}

interface PacedRequest {
  readonly bytesMax: number;
  readonly gapMs: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Delays a request until the gap after the previous request to the same site is over. */
function createPacedSend(fetch: GuardedFetch, clock: Clock) {
  const nextAt = new Map<string, number>();
  return async (url: string, request: PacedRequest, signal: AbortSignal): Promise<OutboundResponse> => {
    const { origin } = new URL(url);
    const gap = (nextAt.get(origin) ?? 0) - clock.now();
    if (gap > 0) await delay(clock, Math.min(gap, gapMsMax), signal);
    try {
      return await fetch.fetch(url, {
        headers: { "user-agent": userAgent, "accept-language": "*", ...request.headers },
        timeoutMs,
        bytesMax: request.bytesMax,
        signal,
      });
    } finally {
      if (nextAt.size >= originsMax) nextAt.clear();
      nextAt.set(origin, clock.now() + request.gapMs);
    }
  };
}

/** Throws errors that are not the site's. */
function failureOf(error: unknown): Failure {
  if (error instanceof RefusedAddress) return { reason: error.message, retryable: false };
  if (!(error instanceof OutboundFailure)) throw error;
  return { reason: error.message, retryable: error.reason !== "tls" };
}

function redirectOf({ status, headers }: OutboundResponse, base: string): string | undefined {
  const location = headers.get("location");
  if (location === null || ![301, 302, 303, 307, 308].includes(status)) return undefined;
  return URL.parse(location, base)?.href;
}

function answerOf(url: string, response: OutboundResponse, now: number): Fetched {
  const { status, headers } = response;
  if (status === 304) return { kind: "unchanged" };
  if (status === 404 || status === 410) return { kind: "gone", reason: `it is not there (status ${status})` };
  if (status === 429 || status >= 500) {
    const pauseMs = retryAfterMs(headers.get("retry-after"), now);
    const failed = { kind: "failed", reason: `the site answers with status ${status}`, retryable: true } as const;
    return pauseMs === undefined ? failed : { ...failed, pauseMs };
  }
  if (status !== 200) return { kind: "failed", reason: `the site answers with status ${status}`, retryable: false };
  if (!response.complete) {
    return { kind: "refused", reason: `it is larger than ${pageBytesMax / 1_048_576} MB` };
  }
  return { kind: "page", url, response };
}

/** The header holds seconds or a date. */
function retryAfterMs(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - now;
  return Number.isFinite(ms) ? Math.min(pauseMsMax, Math.max(1_000, ms)) : undefined;
}
