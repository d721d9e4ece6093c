import type { Account } from "./client.ts";
import type { Twilio } from "twilio";
import Type from "typebox";
import { unlessAborted } from "./client.ts";
import { operatorError } from "./errors.ts";

/** Settings that all Twilio accounts share. */
export const accountSid = Type.String({
  pattern: "^AC[0-9a-fA-F]{32}$",
  title: "Account SID",
  description: "From the Twilio console; it begins with AC.",
});
export const authToken = Type.String({
  pattern: "^\\S{16,128}$",
  title: "Auth Token",
  description: "The account's primary Auth Token. Twilio signs its requests with it.",
});
export const baseUrl = Type.Optional(
  Type.String({
    pattern: "^https?://[^\\s]*[^/\\s]$",
    title: "Server of the API",
    advanced: true,
    description:
      "The address of another server of the API, without a slash at the end. Default: https://api.twilio.com.",
  }),
);

export const accountOf = (given: {
  readonly account_sid: string;
  readonly auth_token: string;
  readonly base_url?: string;
}): Account => ({ accountSid: given.account_sid, authToken: given.auth_token, baseUrl: given.base_url });

/** The API calls of an account check. Each throws an Error for the admin that names the fix. */
export interface AccountApi {
  readonly ask: <T>(call: Promise<T>) => Promise<T>;
  /** The account's name. Throws when the account is not active. */
  account(): Promise<string>;
  /** The record of the account's own number. `name` is the account's, for the error. */
  number(name: string, number: string): Promise<PhoneNumber>;
}

type PhoneNumber = Awaited<ReturnType<Twilio["incomingPhoneNumbers"]["list"]>>[number];

export function accountApi(
  client: Twilio,
  { accountSid: sid }: Pick<Account, "accountSid">,
  signal: AbortSignal,
): AccountApi {
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
