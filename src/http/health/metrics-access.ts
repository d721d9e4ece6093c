import { hash, timingSafeEqual } from "node:crypto";
import ipaddr from "ipaddr.js";
import type { FastifyRequest } from "fastify";

export interface MetricsAccess {
  /** METRICS_TOKEN; undefined where none is set. */
  readonly token: string | undefined;
  readonly publicUrl: string;
}

const forwarding = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "via"];

/**
 * Decides who may read the metrics. With METRICS_TOKEN, the request needs the token. Without, it must come from a private
 * address, and the public URL must be private too: behind a proxy, every client seems to have a private address.
 */
export function mayReadMetrics({ token, publicUrl }: MetricsAccess, request: FastifyRequest): boolean {
  if (token !== undefined) return sameText(request.headers.authorization ?? "", `Bearer ${token}`);
  if (!isNear(new URL(publicUrl).hostname)) return false;
  if (forwarding.some((name) => request.headers[name] !== undefined)) return false;
  return isNear(request.raw.socket.remoteAddress ?? "");
}

const near = new Set(["loopback", "private", "uniqueLocal", "linkLocal"]);

function isNear(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, "");
  if (address === "localhost" || address.endsWith(".localhost")) return true;
  return ipaddr.isValid(address) && near.has(ipaddr.process(address).range());
}

function sameText(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(hash("sha256", a)), Buffer.from(hash("sha256", b)));
}
