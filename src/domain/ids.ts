import { randomBytes, randomFillSync } from "node:crypto";

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

export type IdPrefix =
  | "conv"
  | "msg"
  | "note"
  | "doc"
  | "evt"
  | "aud"
  | "req"
  | "con"
  | "mrg"
  | "whe"
  | "agt"
  | "acc"
  | "key"
  | "chk"
  | "bod"
  | "ses"
  | "file"
  | "pat"
  | "team"
  | "qst"
  | "rat";

let lastMs = 0;
let counter = 0;

/**
 * A prefix and 26 characters of lower-case Crockford base32 over 128 bits: 48 bits of Unix milliseconds, a 16-bit
 * counter within the millisecond, 64 random bits. Ids of one process sort by creation, also within a millisecond.
 */
export function newId(prefix: IdPrefix, nowMs: number): string {
  if (nowMs > lastMs) {
    lastMs = nowMs;
    counter = 0;
  } else {
    counter += 1;
    if (counter > 0xffff) {
      lastMs += 1;
      counter = 0;
    }
  }
  // 128 bits in 26 digits of five bits: the first digit holds three.
  const bytes = takeRandom();
  bytes.writeUIntBE(lastMs, 0, 6);
  bytes.writeUInt16BE(counter, 6);
  let text = `${prefix}_`;
  let rest = 0;
  let restBits = 2;
  for (const byte of bytes) {
    rest = ((rest << 8) | byte) & 0xfff;
    restBits += 8;
    while (restBits >= 5) {
      restBits -= 5;
      text += alphabet[(rest >> restBits) & 31];
    }
  }
  return text;
}

/** A regular expression for what {@link newId} returns. */
export const idPattern = (prefix: IdPrefix): string => `^${prefix}_[0-7][${alphabet}]{25}$`;

const timeDigits = 10;

/** The first characters of ids made at this time. Ids made later sort after it. */
export function idsFrom(prefix: IdPrefix, ms: number): string {
  let text = "";
  for (let rest = Math.max(0, Math.floor(ms)); text.length < timeDigits; rest = Math.floor(rest / 32)) {
    text = `${alphabet[rest % 32]}${text}`;
  }
  return `${prefix}_${text}`;
}

const pool = Buffer.alloc(4_096);
let poolAt = pool.length;

/** Sixteen random bytes, valid until the next call. Fetched in blocks: a large block costs as much as a small one. */
function takeRandom(): Buffer {
  if (poolAt === pool.length) {
    randomFillSync(pool);
    poolAt = 0;
  }
  poolAt += 16;
  return pool.subarray(poolAt - 16, poolAt);
}

const workspacePattern = /^(?:wt|ws)_([a-z0-9]{6}_[a-z0-9]{10,40})$/;

/** `wt_<6>_<10+>`; `ws_` with the same tail names the same workspace. Undefined when the shape is wrong. */
export function parseWorkspaceId(value: string): string | undefined {
  const tail = workspacePattern.exec(value)?.[1];
  return tail === undefined ? undefined : `wt_${tail}`;
}

/** The six characters that this workspace's API keys carry. */
export function workspaceShortId(workspaceId: string): string {
  return workspaceId.slice(3, 9);
}

/** The start of ids made at this time: those of earlier times sort before it, and those of later ones behind it. */
export function idStart(prefix: IdPrefix, ms: number): string {
  let digits = "";
  for (let rest = ms; digits.length < 10; rest = Math.floor(rest / 32)) digits = `${alphabet[rest % 32]}${digits}`;
  return `${prefix}_${digits}`;
}

function randomText(length: number): string {
  // 256 is a multiple of 32, so the low five bits of a byte are unbiased.
  return Array.from(randomBytes(length), (byte) => alphabet[byte & 31]).join("");
}

export function newWorkspaceId(): string {
  return `wt_${randomText(6)}_${randomText(16)}`;
}

const keyPattern = /^ak_[a-z0-9]{1,16}_[A-Za-z0-9]{32}$/;

export function newApiKey(workspaceId: string): string {
  return `ak_${workspaceShortId(workspaceId)}_${randomText(32)}`;
}

export function isApiKey(value: string): boolean {
  return keyPattern.test(value);
}

/** `pat`: an access token of an admin; `ocs`: the secret of an OAuth client; `oat`: a token issued to it. */
export type SecretPrefix = "pat" | "ocs" | "oat";

const secretPattern = /^(pat|ocs|oat)_[0-9a-z]{40}$/;

/** A secret of 200 random bits. */
export const newSecret = (prefix: SecretPrefix): string => `${prefix}_${randomText(40)}`;

export const isSecret = (prefix: SecretPrefix, value: string): boolean => secretPattern.exec(value)?.[1] === prefix;
