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
  | "file";

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
  // 128 bits in 26 digits of five: the first has but three of its own.
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

const pool = Buffer.alloc(4_096);
let poolAt = pool.length;

/** Sixteen random bytes, good until the next call: to fetch many at a time costs as much as to fetch a few. */
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
