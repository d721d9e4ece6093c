import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";
import { createCache } from "#runtime/cache.ts";

/** Shorter bodies fit into one packet anyway. */
const bytesMin = 1_000;
const compressible = /^(?:text\/(?:html|css|javascript|plain)|application\/(?:json|javascript)|image\/svg\+xml)\b/i;
/** Compressed assets are cached; all of them together are far smaller. */
const cacheBytesMax = 8 * 1_048_576;

const encoders = {
  br: (body: Buffer, quality: number) =>
    promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } }),
  gzip: (body: Buffer, level: number) => promisify(gzip)(body, { level: Math.min(level, 9) }),
};
type Encoding = keyof typeof encoders;

const assetQuality = 9;
const answerQuality = 4;

type Done = (error?: Error | null, payload?: unknown) => void;

/**
 * An onSend hook that compresses text as Accept-Encoding allows. Streams are not compressed. Below /inbox only assets are:
 * its other responses mix private data with text of customers, so their compressed length would reveal data (BREACH).
 */
export function createCompression() {
  const cache = createCache<string, Buffer>(cacheBytesMax);

  return function compress(request: FastifyRequest, reply: FastifyReply, payload: unknown, done: Done): void {
    const etag = String(reply.getHeader("etag") ?? "");
    const isAsset = etag !== "";
    const body = typeof payload === "string" || Buffer.isBuffer(payload) ? Buffer.from(payload) : undefined;
    if (
      body === undefined ||
      body.length < bytesMin ||
      request.method === "HEAD" ||
      reply.hasHeader("content-encoding") ||
      reply.hasHeader("set-cookie") ||
      (!isAsset && request.url.startsWith("/inbox")) ||
      !compressible.test(String(reply.getHeader("content-type") ?? ""))
    ) {
      done(null, payload);
      return;
    }
    const vary = String(reply.getHeader("vary") ?? "");
    if (!/accept-encoding/i.test(vary)) {
      void reply.header("vary", vary === "" ? "Accept-Encoding" : `${vary}, Accept-Encoding`);
    }
    const encoding = acceptedEncoding(request.headers["accept-encoding"]);
    if (encoding === undefined) {
      done(null, payload);
      return;
    }
    const finish = (compressed: Buffer): void => {
      void reply.removeHeader("content-length").header("content-encoding", encoding);
      // A weak ETag: the bytes differ between encodings, so a client must not resume a download.
      if (isAsset && !etag.startsWith("W/")) void reply.header("etag", `W/${etag}`);
      done(null, compressed);
    };
    const key = `${encoding} ${etag}`;
    const cached = isAsset ? cache.get(key) : undefined;
    if (cached !== undefined) {
      finish(cached);
      return;
    }
    encoders[encoding](body, isAsset ? assetQuality : answerQuality).then((compressed) => {
      if (isAsset) cache.set(key, compressed, compressed.length);
      finish(compressed);
    }, done);
  };
}

/** Prefers Brotli at equal weight. Undefined: the client accepts neither. */
function acceptedEncoding(header: string | string[] | undefined): Encoding | undefined {
  const weights = new Map<string, number>();
  for (const part of String(header ?? "")
    .slice(0, 500)
    .split(",")) {
    const [name = "", ...parameters] = part
      .trim()
      .toLowerCase()
      .split(/\s*;\s*/);
    const given = parameters.find((each) => each.startsWith("q="));
    weights.set(name, given === undefined ? 1 : Number(given.slice(2)) || 0);
  }
  const weightOf = (name: Encoding): number => weights.get(name) ?? weights.get("*") ?? 0;
  const best = Math.max(weightOf("br"), weightOf("gzip"));
  if (best <= 0) return undefined;
  return weightOf("br") === best ? "br" : "gzip";
}
