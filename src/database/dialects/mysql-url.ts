import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { nearestOf } from "#domain/closest-name.ts";

export const sslModes = ["disabled", "preferred", "required", "verify-ca", "verify-identity"] as const;
export type SslMode = (typeof sslModes)[number];

export interface MysqlTarget {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** Undefined: TCP. */
  readonly socketPath: string | undefined;
  readonly sslMode: SslMode;
  /** A file of certificates; undefined: Node.js's own. */
  readonly sslCa: string | undefined;
}

const options = ["ssl-mode", "ssl-ca", "socketPath"] as const;
const usage = "use mysql://user:password@host:port/database, with % codes for special characters";

/** Parses a DATABASE_URL of MySQL or MariaDB. Errors name the fault, and never a secret. */
export function parseMysqlUrl(text: string): MysqlTarget {
  const url = URL.parse(text);
  if (url === null) throw new Error(usage);
  for (const name of url.searchParams.keys()) {
    if (!options.some((known) => known === name)) {
      const meant = nearest(name);
      const hint = meant === undefined ? `known are ${options.join(", ")}` : `did you mean ${meant}?`;
      throw new Error(`unknown option ${name.slice(0, 40)}, ${hint}`);
    }
    if (url.searchParams.getAll(name).length > 1) throw new Error(`option ${name} is given twice`);
  }
  const sslMode = url.searchParams.get("ssl-mode") ?? "disabled";
  if (!isSslMode(sslMode)) throw new Error(`ssl-mode is one of ${sslModes.join(", ")}`);
  const sslCa = url.searchParams.get("ssl-ca") ?? undefined;
  if (sslCa !== undefined && !sslMode.startsWith("verify-")) {
    throw new Error("ssl-ca needs ssl-mode=verify-ca or ssl-mode=verify-identity");
  }
  return {
    host: decoded(url.hostname.replace(/^\[(.*)\]$/, "$1")),
    port: url.port === "" ? 3306 : Number(url.port),
    user: decoded(url.username),
    password: decoded(url.password),
    database: decoded(url.pathname.slice(1)),
    socketPath: url.searchParams.get("socketPath") ?? undefined,
    sslMode,
    sslCa,
  };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    throw new Error(usage, { cause: error });
  }
}

const isSslMode = (given: string): given is SslMode => sslModes.some((mode) => mode === given);

/** The driver's TLS settings; undefined: no TLS. */
export function tlsOf({ sslMode, sslCa }: Pick<MysqlTarget, "sslMode" | "sslCa">) {
  if (sslMode === "disabled") return undefined;
  return {
    minVersion: "TLSv1.2",
    rejectUnauthorized: sslMode.startsWith("verify-"),
    verifyIdentity: sslMode === "verify-identity",
    ...(sslCa === undefined ? {} : { ca: readCa(sslCa) }),
  };
}

/** The file of `ssl-ca` cannot be used. */
export class UnusableCa extends Error {}

function readCa(path: string): string {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const reason = error instanceof Error ? error.message : "unknown failure";
    throw new UnusableCa(`DATABASE_URL: the file of ssl-ca cannot be read: ${reason}`, { cause: error });
  }
  try {
    // Node.js silently ignores anything that is not a certificate.
    void new X509Certificate(text);
  } catch (cause) {
    throw new UnusableCa(
      `DATABASE_URL: the file of ssl-ca, ${path}, holds no certificate in PEM, which begins with -----BEGIN CERTIFICATE-----`,
      { cause },
    );
  }
  return text;
}

/** The fault and its fix, where the server answers but TLS fails; undefined for other failures. */
export function tlsFaultOf(error: Error): string | undefined {
  const code = "code" in error ? error.code : undefined;
  if (code === "HANDSHAKE_NO_SSL_SUPPORT")
    return "it has no TLS: enable TLS on the server, or set ssl-mode=preferred in DATABASE_URL";
  if (code !== "HANDSHAKE_SSL_ERROR" || !/certificate|altnames/i.test(error.message)) return undefined;
  return `its certificate is refused: ${certificateFix(error.message)}`;
}

function certificateFix(reason: string): string {
  if (reason.includes("altnames"))
    return "DATABASE_URL must name a host that the certificate lists, or set ssl-mode=verify-ca, which does not check the name";
  if (/expired|not yet valid/.test(reason)) return "renew the certificate of the server, or set this machine's clock";
  return "set ssl-ca in DATABASE_URL to the file of the authority that signed it, or ssl-mode=required, which checks no certificate";
}

/** `ssl` usually means `ssl-mode`. */
const nearest = (given: string): string | undefined =>
  options.find((each) => each.startsWith(given)) ?? nearestOf(given.slice(0, 40), options);
