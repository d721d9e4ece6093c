import { randomBytes } from "node:crypto";

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
  const bits = (BigInt(lastMs) << 80n) | (BigInt(counter) << 64n) | randomBytes(8).readBigUInt64BE();
  let text = "";
  for (let shift = 125n; shift >= 0n; shift -= 5n) text += alphabet[Number((bits >> shift) & 31n)];
  return `${prefix}_${text}`;
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
