import type { Sender } from "#channels/contract.ts";
import { numberOf } from "../config.ts";

const withheldWord = /^(?:anonymous|restricted|unavailable|unknown|private|withheld|blocked)$/i;

/**
 * Who calls, as far as that is known. What a telephone says of its number proves nothing, so it joins nobody with
 * whoever writes from that number; a caller who withholds it is another one each time.
 */
export function senderOf(callSid: string, caller: string): Sender {
  const number = numberOf(caller);
  if (number !== undefined) return { key: `tel:${number}`, claimed: { phone: number } };
  const isSomebody = caller.includes(":") && caller.length <= 180 && !withheldWord.test(caller);
  return { key: isSomebody ? caller : `call:${callSid}` };
}
