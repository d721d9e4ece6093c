import { randomBytes } from "node:crypto";
import { isIP } from "node:net";
import type { Config } from "#config/environment.ts";
import { createAddressCheck } from "#outbound/addresses.ts";
import type { GuardedFetch } from "#outbound/guarded-fetch.ts";
import { OutboundFailure, RefusedAddress, openGuardedFetch } from "#outbound/guarded-fetch.ts";
import type { Secrets } from "#runtime/secrets.ts";
import { createSecrets, hasSecret, loadSecret } from "#runtime/secrets.ts";

const purpose = "public address";
const noncePattern = /^[A-Za-z0-9_-]{22,64}$/;
const answerMs = 5_000;
const answerBytesMax = 4_096;

/** Proof that a server is this installation: only holders of the secret can make and check it. */
export const proofOf = (secrets: Pick<Secrets, "sign">, nonce: unknown): string | undefined =>
  typeof nonce === "string" && noncePattern.test(nonce) ? secrets.sign(purpose, nonce) : undefined;

/** `unsure`: the check from this machine does not show what platforms reach. */
export interface PublicAddress {
  readonly leads: "here" | "elsewhere" | "unsure";
  /** For the administrator, with the fix. */
  readonly detail: string;
}

/**
 * Undefined if PUBLIC_URL is not set, since the installation is local then, and before the first start, which creates the
 * secret.
 */
export async function checkPublicAddress(config: Config): Promise<PublicAddress | undefined> {
  const { publicUrl, publicUrlGiven, secret, dataDir } = config;
  if (publicUrlGiven !== true || !hasSecret(config)) return undefined;
  // The address is the operator's own and may be in a private network.
  const guarded = openGuardedFetch({ allowPrivate: true });
  try {
    return await publicAddress(publicUrl, createSecrets(loadSecret(secret, dataDir)), guarded);
  } finally {
    await guarded.close();
  }
}

/** Requests PUBLIC_URL to find out whether this installation answers there. */
export async function publicAddress(
  publicUrl: string,
  secrets: Pick<Secrets, "verify">,
  { fetch }: Pick<GuardedFetch, "fetch">,
): Promise<PublicAddress> {
  const nonce = randomBytes(24).toString("base64url");
  const asked = `${publicUrl}/health/live`;
  let answer: Awaited<ReturnType<GuardedFetch["fetch"]>>;
  try {
    answer = await fetch(`${asked}?proof=${nonce}`, { timeoutMs: answerMs, bytesMax: answerBytesMax });
  } catch (error) {
    return unanswered(publicUrl, error);
  }
  const { status, headers, body } = answer;
  if (status >= 300 && status < 400) return led(publicUrl, asked, headers.get("location"));
  if (status >= 500) {
    return unsure(
      `${publicUrl} answers with status ${status}: start Parley; if it runs, check where the proxy passes requests on to`,
    );
  }
  if (status >= 400) {
    return unsure(
      `${asked} answers with status ${status}, where Parley would with 200: check PUBLIC_URL, and the proxy, which has to pass on all that is asked for there${pathFix(publicUrl)}`,
    );
  }
  const { isLive, proof } = read(body);
  if (proof !== undefined && secrets.verify(purpose, proof) === nonce) {
    return here(publicUrl);
  }
  if (proof !== undefined) {
    return elsewhere(
      `another installation of Parley answers at ${publicUrl}: set PUBLIC_URL to the address of this one, or PARLEY_SECRET to the same where they are to be one`,
    );
  }
  return isLive
    ? unsure(`an earlier version of Parley answers at ${publicUrl}: start this one`)
    : elsewhere(
        `another server than Parley answers at ${publicUrl}: set PUBLIC_URL to the address that leads to this one, or have the proxy pass it on`,
      );
}

/** The address leads here: checks encryption and path. */
function here(publicUrl: string): PublicAddress {
  const url = new URL(publicUrl);
  if (isOpen(url)) {
    return unsure(
      `${publicUrl} leads here, and messages and passwords are sent unencrypted: put HTTPS in front, and set PUBLIC_URL to the https address`,
    );
  }
  if (url.pathname !== "/") {
    return unsure(
      `${publicUrl} leads here, and channels, widget and chat page work there; the inbox and the API reference do not work below ${url.pathname}: give this server a name of its own, without a path`,
    );
  }
  return { leads: "here", detail: `${publicUrl} leads here` };
}

const isPublicAddress = createAddressCheck(false);

/** Plain HTTP to a public name or address. */
function isOpen({ protocol, hostname }: URL): boolean {
  const host = hostname.replaceAll(/[[\]]/g, "");
  if (protocol !== "http:") return false;
  return isIP(host) === 0
    ? host.includes(".") && !/\.(?:localhost|local|internal|lan|test)$/.test(host)
    : isPublicAddress(host);
}

const unsure = (detail: string): PublicAddress => ({ leads: "unsure", detail });
const elsewhere = (detail: string): PublicAddress => ({ leads: "elsewhere", detail });

function unanswered(publicUrl: string, error: unknown): PublicAddress {
  if (error instanceof RefusedAddress) {
    return elsewhere(
      `${publicUrl} can be no website's address: set PUBLIC_URL to the one that customers and platforms reach this at`,
    );
  }
  if (!(error instanceof OutboundFailure)) throw error;
  switch (error.reason) {
    case "tls":
      return elsewhere(
        `${publicUrl}: ${error.message}; platforms and browsers refuse it too: fix the certificate of the proxy, which must send the intermediate certificates too`,
      );
    case "unknown_host":
      return unsure(`${publicUrl}: ${error.message}: check PUBLIC_URL, and the name's entry in DNS`);
    case "timeout":
    case "refused":
    case "broken":
      return unsure(
        `${publicUrl}: ${error.message}: start Parley; if it runs, check the firewall and the proxy. Some networks do not let their own machines ask their public address: then ask ${publicUrl}/health/live from outside`,
      );
  }
}

/** Platforms do not follow redirects, or sign the original address. */
function led(publicUrl: string, asked: string, location: string | null): PublicAddress {
  const to = location === null ? null : URL.parse(location, asked);
  if (to === null) return unsure(`${publicUrl} leads on to no address: check PUBLIC_URL and the proxy`);
  const shown = `${to.origin}${to.pathname.replace(/\/health\/live\/?$/, "")}`.replace(/\/+$/, "").slice(0, 300);
  return shown === publicUrl
    ? unsure(`${publicUrl} leads on to itself: check the proxy`)
    : elsewhere(`${publicUrl} leads on to ${shown}: set PUBLIC_URL to that, if this installation is there`);
}

const pathFix = (publicUrl: string): string => {
  const { pathname } = new URL(publicUrl);
  return pathname === "/" ? "" : `, without ${pathname} in front`;
};

function read(body: Uint8Array<ArrayBuffer>): { readonly isLive: boolean; readonly proof: string | undefined } {
  let answer: unknown;
  try {
    answer = JSON.parse(Buffer.from(body).toString("utf8"));
  } catch {
    // A page of another server.
    answer = null;
  }
  const { status, proof } = (typeof answer === "object" && answer !== null ? answer : {}) as {
    readonly status?: unknown;
    readonly proof?: unknown;
  };
  return { isLive: status === "live", proof: typeof proof === "string" ? proof : undefined };
}
