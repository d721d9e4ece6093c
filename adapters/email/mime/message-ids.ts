import { createHash, timingSafeEqual } from "node:crypto";
import type { ChannelHost } from "#channels/contract.ts";
import type { Mail } from "./mail.ts";
import { headersNamed } from "./mail.ts";

/** Signed ids of our mails and threads, which outsiders cannot forge. */
export interface MessageIds {
  /** The Reply-To address of a thread. */
  replyAddress(thread: string): string;
  /** The thread whose reply address received the mail; undefined: none, or a forged one. */
  threadFrom(mail: Mail): string | undefined;
  /** The Message-ID of a part, equal for each try. */
  messageId(key: string): string;
  /** Whether Parley sent the mail. */
  isOurs(mail: Mail): boolean;
  isOurId(messageId: string): boolean;
  /** The value of {@link ownHeader}, which survives servers that replace the Message-ID. */
  stamp(key: string): string;
  /** An id that all our mails of a thread reference, so that mail programs group them. */
  rootId(thread: string): string;
  isOwnAddress(address: string): boolean;
}

export const ownHeader = "X-Parley-Message";

/** Headers that name the address a mail was delivered to, most reliable first. */
const recipientHeaders = [
  "delivered-to",
  "x-original-to",
  "envelope-to",
  "x-envelope-to",
  "x-forwarded-to",
  "apparently-to",
];

export function createMessageIds(host: Pick<ChannelHost, "signToken">, address: string): MessageIds {
  const at = address.lastIndexOf("@");
  const local = address.slice(0, at);
  const domain = address.slice(at + 1);
  // Base32 in lower case: some mail programs change addresses to lower case.
  const mac = (purpose: string, value: string): string =>
    base32(
      createHash("sha256")
        .update(host.signToken(`${purpose}:${value}`))
        .digest(),
    ).slice(0, 13);
  const proves = (purpose: string, value: string, given: string): boolean => {
    const expected = Buffer.from(mac(purpose, value));
    const actual = Buffer.from(given);
    return expected.length === actual.length && timingSafeEqual(expected, actual);
  };

  function threadOfAddress(given: string): string | undefined {
    const text = given.toLowerCase();
    const split = text.lastIndexOf("@");
    if (text.slice(split + 1) !== domain.toLowerCase()) return undefined;
    const prefix = `${local.toLowerCase()}+`;
    const user = text.slice(0, split);
    if (!user.startsWith(prefix)) return undefined;
    const token = /^([a-z0-9_]{8,40})-([a-z2-7]{13})$/.exec(user.slice(prefix.length));
    const [, thread = "", proof = ""] = token ?? [];
    return token !== null && proves("thread", thread, proof) ? thread : undefined;
  }

  function isStamp(given: string): boolean {
    const dot = given.lastIndexOf(".");
    return dot > 0 && proves("message", given.slice(0, dot), given.slice(dot + 1));
  }

  function isOurId(messageId: string): boolean {
    const id = messageId.slice(1, -1);
    const split = id.lastIndexOf("@");
    return id.slice(split + 1).toLowerCase() === domain.toLowerCase() && isStamp(id.slice(0, split));
  }

  return {
    replyAddress: (thread) => `${local}+${thread}-${mac("thread", thread)}@${domain}`,
    threadFrom(mail) {
      const candidates = [
        ...recipientHeaders
          .flatMap((name) => headersNamed(mail, name))
          .flatMap((value) => value.match(/(?<![^\s<>,;"])[^\s<>,;"]+@[^\s<>,;"]+/g) ?? []),
        ...[...mail.to, ...mail.cc].map((each) => each.address),
      ];
      for (const candidate of candidates.slice(0, 200)) {
        const thread = threadOfAddress(candidate);
        if (thread !== undefined) return thread;
      }
      return undefined;
    },
    messageId: (key) => `<${key}.${mac("message", key)}@${domain}>`,
    isOurs: (mail) =>
      (mail.messageId !== null && isOurId(mail.messageId)) || headersNamed(mail, ownHeader.toLowerCase()).some(isStamp),
    isOurId,
    stamp: (key) => `${key}.${mac("message", key)}`,
    rootId: (thread) => `<thread.${thread}.${mac("root", thread)}@${domain}>`,
    isOwnAddress(given) {
      const text = given.toLowerCase();
      return (
        text === address.toLowerCase() ||
        (text.startsWith(`${local.toLowerCase()}+`) && text.endsWith(`@${domain.toLowerCase()}`))
      );
    },
  };
}

const alphabet = "abcdefghijklmnopqrstuvwxyz234567";

export function base32(bytes: Uint8Array): string {
  let text = "";
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      text += alphabet.charAt((value >>> (bits - 5)) & 31);
      bits -= 5;
    }
    value &= (1 << bits) - 1;
  }
  return bits > 0 ? text + alphabet.charAt((value << (5 - bits)) & 31) : text;
}

/** The key under which a Message-ID is stored: the id, or its hash if it is too long. */
export const markOf = (messageId: string): string =>
  messageId.length <= 190 ? messageId : `sha256:${createHash("sha256").update(messageId).digest("hex")}`;
