import type { Account } from "./client.ts";
import type { Twilio } from "twilio";
import Type from "typebox";
import { unlessAborted } from "./client.ts";
import { operatorError } from "./errors.ts";

/** Settings of every account at Twilio, of text messages and of calls. */
export const accountSid = Type.String({
  pattern: "^AC[0-9a-fA-F]{32}$",
  description: "The Account SID, from the Twilio console.",
});
export const authToken = Type.String({
  pattern: "^\\S{16,128}$",
  description: "The account's primary Auth Token. Twilio signs its requests with it.",
});
export const baseUrl = Type.Optional(
  Type.String({
    pattern: "^https?://[^\\s]*[^/\\s]$",
    description: "Another server of the API than https://api.twilio.com; without a slash at the end.",
  }),
);

export const accountOf = (given: {
  readonly account_sid: string;
  readonly auth_token: string;
  readonly base_url?: string;
}): Account => ({ accountSid: given.account_sid, authToken: given.auth_token, baseUrl: given.base_url });

/** What the check of an account asks Twilio. */
export interface Questions {
  readonly ask: <T>(call: Promise<T>) => Promise<T>;
  /** The name of the account, which works. */
  account(): Promise<string>;
  /** The account's own number; `name`: the account's. */
  number(name: string, number: string): Promise<PhoneNumber>;
}

type PhoneNumber = Awaited<ReturnType<Twilio["incomingPhoneNumbers"]["list"]>>[number];

export function questions(
  client: Twilio,
  { accountSid: sid }: Pick<Account, "accountSid">,
  signal: AbortSignal,
): Questions {
  const ask = async <T>(call: Promise<T>): Promise<T> => {
    try {
      return await unlessAborted(call, signal);
    } catch (error) {
      throw operatorError(error);
    }
  };
  return {
    ask,
    async account() {
      const { friendlyName, status } = await ask(client.api.v2010.accounts(sid).fetch());
      if (status === "active") return friendlyName;
      throw new Error(`the Twilio account ${friendlyName} is ${status}: see the Twilio console`);
    },
    async number(name, phoneNumber) {
      const [found] = await ask(client.incomingPhoneNumbers.list({ phoneNumber, limit: 1 }));
      if (found !== undefined) return found;
      throw new Error(`the Twilio account ${name} has no number ${phoneNumber}: check \`from\``);
    },
  };
}
