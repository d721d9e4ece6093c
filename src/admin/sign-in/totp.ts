import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** One-time codes of RFC 6238 with the parameters that every authenticator app has: SHA-1, six digits, 30 seconds. */
const stepMs = 30_000;
const digits = 6;
/** Codes of the steps before and after are accepted, since clocks differ. */
const skewSteps = 1;
/** Base32 of 160 bits, as RFC 4226 recommends. */
const secretBytes = 20;
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

export const newTotpSecret = (): string => base32(randomBytes(secretBytes));

/** The code at a time. */
export const totpCode = (secret: string, at: number): string => codeOf(bytesOf(secret), Math.floor(at / stepMs));

/**
 * The time step whose code this is; undefined if the code is wrong, or not later than `lastStep`, the step of the last
 * accepted code. Nobody can use a code again that they saw being typed.
 */
export function matchTotp(secret: string, code: string, now: number, lastStep: number | null): number | undefined {
  const given = Buffer.from(code);
  const key = bytesOf(secret);
  const current = Math.floor(now / stepMs);
  let matched: number | undefined;
  for (let step = current - skewSteps; step <= current + skewSteps; step += 1) {
    const expected = Buffer.from(codeOf(key, step));
    const isEqual = given.length === expected.length && timingSafeEqual(given, expected);
    if (isEqual && (lastStep === null || step > lastStep)) matched = step;
  }
  return matched;
}

/** The address that authenticator apps read from the QR code. */
export function totpUri(secret: string, issuer: string, account: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
  return `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent(issuer)}`;
}

function codeOf(key: Buffer, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", key).update(counter).digest();
  const offset = mac.readUInt8(mac.length - 1) & 15;
  const number = mac.readUInt32BE(offset) & 0x7f_ff_ff_ff;
  return String(number % 10 ** digits).padStart(digits, "0");
}

/** The number of bytes must be a multiple of five. */
function base32(bytes: Buffer): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 5) {
    const block = BigInt(`0x${bytes.subarray(at, at + 5).toString("hex")}`);
    for (let shift = 35n; shift >= 0n; shift -= 5n) text += alphabet[Number((block >> shift) & 31n)];
  }
  return text;
}

function bytesOf(secret: string): Buffer {
  const bytes = Buffer.alloc(Math.floor((secret.length * 5) / 8));
  let rest = 0;
  let restBits = 0;
  let at = 0;
  for (const character of secret) {
    rest = ((rest << 5) | alphabet.indexOf(character)) & 0xfff;
    restBits += 5;
    if (restBits < 8) continue;
    restBits -= 8;
    bytes.writeUInt8((rest >> restBits) & 255, at);
    at += 1;
  }
  return bytes;
}
