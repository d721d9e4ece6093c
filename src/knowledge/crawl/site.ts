import robotsParser from "robots-parser";
import type { Clock } from "#runtime/clock.ts";
import type { GuardedFetch, OutboundResponse } from "#outbound/guarded-fetch.ts";
import { OutboundFailure, RefusedAddress } from "#outbound/guarded-fetch.ts";
import { pageUrl } from "./page-url.ts";

/** What servers and robots.txt know the crawler by. */
const crawlerName = "ParleyBot";
const userAgent = `Mozilla/5.0 (compatible; ${crawlerName}/1.0)`;
// Its types describe an ES module, which it is not.
const parseRobots = robotsParser as unknown as typeof robotsParser.default;
const gapMs = 250;
const gapMsMax = 10_000;
const timeoutMs = 15_000;
const redirectsMax = 5;
const pageBytesMax = 5 * 1_048_576;
const robotsBytesMax = 512 * 1_024;
const sitemapBytesMax = 10 * 1_048_576;
const pauseMsMax = 600_000;
const originsMax = 1_000;

export type Fetched =
  | { readonly kind: "page"; readonly url: string; readonly response: OutboundResponse }
  | { readonly kind: "unchanged" }
  | { readonly kind: "gone"; readonly reason: string }
  /** For good, until the site or its robots.txt changes. */
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "elsewhere"; readonly url: string; readonly reason: string }
  /** `pauseMs`: the site asks to be left alone so long. */
  | { readonly kind: "failed"; readonly reason: string; readonly again: boolean; readonly pauseMs?: number };

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

/** One request at a time, and apart, to each site; every address on the way is checked. */
export interface Sites {
  /** The text of robots.txt, empty where there is none; or why it cannot be told. */
  robots(
    origin: string,
    signal: AbortSignal,
  ): Promise<{ readonly text: string } | { readonly reason: string; readonly again: boolean }>;
  page(url: string, known: Validators, robots: Robots, signal: AbortSignal): Promise<Fetched>;
  /** Undefined where there is none. */
  sitemap(url: string, robots: Robots, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** Ends early when the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

export function readRobots(origin: string, text: string): Robots {
  const robots = parseRobots(`${origin}/robots.txt`, text);
  const delay = robots.getCrawlDelay(crawlerName) ?? 0;
  return {
    allows: (url) => robots.isAllowed(url, crawlerName) !== false,
    sitemaps: robots.getSitemaps(),
    gapMs: Math.min(gapMsMax, Math.max(gapMs, Number.isFinite(delay) ? delay * 1_000 : 0)),
  };
}

export function createSites(fetch: GuardedFetch, clock: Clock): Sites {
  /** When each site may be asked again. */
  const nextAt = new Map<string, number>();

  function wait(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const stop = clock.timer(ms, () => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      });
      function onAbort(): void {
        stop();
        reject(signal.reason as Error);
      }
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  async function send(
    url: string,
    request: { readonly bytesMax: number; readonly gapMs: number; readonly headers?: Record<string, string> },
    signal: AbortSignal,
  ): Promise<OutboundResponse> {
    const { origin } = new URL(url);
    const rest = (nextAt.get(origin) ?? 0) - clock.now();
    if (rest > 0) await wait(Math.min(rest, gapMsMax), signal);
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
  }

  /** What is not a page: redirects are followed wherever they lead, each address checked by the guard. */
  async function follow(
    url: string,
    request: { readonly bytesMax: number; readonly gapMs: number },
    signal: AbortSignal,
  ): Promise<OutboundResponse> {
    let at = url;
    for (let hop = 0; ; hop += 1) {
      const response = await send(at, request, signal);
      const to = redirectOf(response, at);
      if (to === undefined || hop >= redirectsMax) return response;
      at = to;
    }
  }

  return {
    wait,
    async robots(origin, signal) {
      try {
        const response = await follow(`${origin}/robots.txt`, { bytesMax: robotsBytesMax, gapMs }, signal);
        if (response.status >= 200 && response.status < 300)
          return { text: Buffer.from(response.body).toString("utf8") };
        // As RFC 9309 has it: without the file all is allowed, and while it cannot be had nothing is.
        if (response.status < 500 && response.status !== 429) return { text: "" };
        return { reason: `its robots.txt cannot be read (status ${response.status})`, again: true };
      } catch (error) {
        if (error instanceof RefusedAddress) return { reason: error.message, again: false };
        if (!(error instanceof OutboundFailure)) throw error;
        return { reason: error.message, again: error.reason !== "tls" };
      }
    },
    async page(url, known, robots, signal) {
      const { origin } = new URL(url);
      const accept = "text/html,application/xhtml+xml,text/markdown,text/plain;q=0.9,application/pdf;q=0.8";
      const headers: Record<string, string> = {
        accept,
        ...(known.etag === null ? {} : { "if-none-match": known.etag }),
        ...(known.lastModified === null ? {} : { "if-modified-since": known.lastModified }),
      };
      let at = url;
      for (let hop = 0; hop <= redirectsMax; hop += 1) {
        if (!robots.allows(at)) return { kind: "refused", reason: "robots.txt does not allow it" };
        let response: OutboundResponse;
        try {
          const request = { bytesMax: pageBytesMax, gapMs: robots.gapMs, headers: hop === 0 ? headers : { accept } };
          response = await send(at, request, signal);
        } catch (error) {
          if (error instanceof RefusedAddress) return { kind: "failed", reason: error.message, again: false };
          if (!(error instanceof OutboundFailure)) throw error;
          return { kind: "failed", reason: error.message, again: error.reason !== "tls" };
        }
        const to = redirectOf(response, at);
        if (to === undefined) return outcomeOf(at, response, clock.now());
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
        // The pages that link to each other are found without it.
        if (error instanceof RefusedAddress || error instanceof OutboundFailure) return undefined;
        throw error;
      }
    },
  };
}

function redirectOf({ status, headers }: OutboundResponse, base: string): string | undefined {
  const location = headers.get("location");
  if (location === null || ![301, 302, 303, 307, 308].includes(status)) return undefined;
  return URL.parse(location, base)?.href;
}

function outcomeOf(url: string, response: OutboundResponse, now: number): Fetched {
  const { status, headers } = response;
  if (status === 304) return { kind: "unchanged" };
  if (status === 404 || status === 410) return { kind: "gone", reason: `it is not there (status ${status})` };
  if (status === 429 || status >= 500) {
    const pauseMs = retryAfterMs(headers.get("retry-after"), now);
    const failed = { kind: "failed", reason: `the site answers with status ${status}`, again: true } as const;
    return pauseMs === undefined ? failed : { ...failed, pauseMs };
  }
  if (status !== 200) return { kind: "failed", reason: `the site answers with status ${status}`, again: false };
  if (!response.complete) {
    return { kind: "refused", reason: `it is larger than ${pageBytesMax / 1_048_576} MB` };
  }
  return { kind: "page", url, response };
}

/** Seconds, or a date. */
function retryAfterMs(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - now;
  return Number.isFinite(ms) ? Math.min(pauseMsMax, Math.max(1_000, ms)) : undefined;
}
