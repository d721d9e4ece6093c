import type { Sender } from "#channels/contract.ts";
import { numberOf } from "../config.ts";

const withheldWord = /^(?:anonymous|restricted|unavailable|unknown|private|withheld|blocked)$/i;

/**
 * The caller. A caller ID can be forged, so the number is only claimed and never merged with the customer who writes from
 * it. A caller without a number is a new customer on each call.
 */
export function senderOf(callSid: string, caller: string): Sender {
  const number = numberOf(caller);
  if (number !== undefined) return { key: `tel:${number}`, claimed: { phone: number } };
  const isAddress = caller.includes(":") && caller.length <= 180 && !withheldWord.test(caller);
  return { key: isAddress ? caller : `call:${callSid}` };
}
