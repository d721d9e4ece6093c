import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeWritableFolder } from "./data-folder.ts";

/** Uses of the installation's secret. Each purpose has its own derived key. */
export interface Secrets {
  /** Encrypts a value for storage; {@link open} decrypts it. */
  seal(plain: string): string;
  open(sealed: string): string;
  /** A signed token for one purpose. The value is readable, but cannot be changed. */
  sign(purpose: string, value: string): string;
  /** The value; null when the token is invalid, was changed, or is for another purpose. */
  verify(purpose: string, token: string): string | null;
  key(purpose: string): Buffer;
}

const fileName = "secret";
const bytesMin = 16;

/** Whether the installation has a secret. */
export const hasSecret = ({ secret, dataDir }: { readonly secret: string | undefined; readonly dataDir: string }) =>
  secret !== undefined || existsSync(join(dataDir, fileName));

/** The secret of the environment, or of the data folder, where the first start creates one. */
export function loadSecret(fromEnvironment: string | undefined, dataDir: string): string {
  if (fromEnvironment !== undefined && fromEnvironment !== "") {
    if (Buffer.byteLength(fromEnvironment) < bytesMin) {
      throw new Error(
        `PARLEY_SECRET is too short: use at least ${bytesMin} characters, for example the output of "openssl rand -hex 32"`,
      );
    }
    return fromEnvironment;
  }
  const path = join(dataDir, fileName);
  if (!existsSync(path)) {
    makeWritableFolder(dataDir);
    try {
      writeFileSync(path, `${randomBytes(32).toString("hex")}\n`, { mode: 0o600, flag: "wx" });
    } catch (error) {
      // Another process of the installation created it first.
      if ((error as { readonly code?: unknown }).code !== "EEXIST") throw error;
    }
    chmodSync(path, 0o600);
  }
  const secret = readFileSync(path, "utf8").trim();
  if (secret.length < bytesMin)
    throw new Error(`${path} holds no usable secret: restore it from a backup, or set PARLEY_SECRET`);
  return secret;
}

/** The secret for a read-only use of the installation; a temporary one where there is none yet. */
export const readOnlySecret = (config: { readonly secret: string | undefined; readonly dataDir: string }): string =>
  hasSecret(config) ? loadSecret(config.secret, config.dataDir) : randomBytes(32).toString("hex");

export function createSecrets(secret: string): Secrets {
  const keys = new Map<string, Buffer>();
  function key(purpose: string): Buffer {
    const known = keys.get(purpose);
    if (known !== undefined) return known;
    const made = Buffer.from(hkdfSync("sha256", secret, "parley", purpose, 32));
    keys.set(purpose, made);
    return made;
  }
  const mac = (purpose: string, value: string): Buffer =>
    createHmac("sha256", key(`sign:${purpose}`))
      .update(value)
      .digest();
  return {
    key,
    seal(plain) {
      const iv = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", key("seal"), iv);
      const body = Buffer.concat([cipher.update(plain, "utf8"), cipher.final()]);
      return `v1.${Buffer.concat([iv, cipher.getAuthTag(), body]).toString("base64url")}`;
    },
    open(sealed) {
      const bytes = Buffer.from(sealed.startsWith("v1.") ? sealed.slice(3) : "", "base64url");
      if (bytes.length < 28) throw new Error("a stored secret is not in the form this version writes");
      try {
        const decipher = createDecipheriv("aes-256-gcm", key("seal"), bytes.subarray(0, 12));
        decipher.setAuthTag(bytes.subarray(12, 28));
        return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString("utf8");
      } catch (error) {
        throw new Error("a stored secret cannot be read: PARLEY_SECRET is not the one that it was stored with", {
          cause: error,
        });
      }
    },
    sign(purpose, value) {
      return `${Buffer.from(value).toString("base64url")}.${mac(purpose, value).toString("base64url")}`;
    },
    verify(purpose, token) {
      const [value, signature, ...rest] = token.split(".");
      if (value === undefined || signature === undefined || rest.length > 0) return null;
      const plain = Buffer.from(value, "base64url").toString("utf8");
      const given = Buffer.from(signature, "base64url");
      const expected = mac(purpose, plain);
      return given.length === expected.length && timingSafeEqual(given, expected) ? plain : null;
    },
  };
}
