import twilio from "twilio";
import { DeliveryError } from "#channels/errors.ts";
import { foreignAnswer } from "#channels/http/foreign-response.ts";
import { connectionFailure } from "#channels/http/platform-fetch.ts";

const credentialsRetryMs = 60_000;
const queueMs = 60_000;

export const optedOut = 21_610;

const noNumber = "this is not a number that can be written to";

/** Twilio's error codes in words for an agent. */
const reasons: Readonly<Record<number, string>> = {
  [optedOut]: "the customer has opted out of messages from this number, and can come back by writing START",
  21_211: noNumber,
  21_212: "the number that it is sent from is wrong: check `from`",
  21_215: "this Twilio account may not call this country: allow it in Twilio's geo permissions",
  21_219: "a trial account of Twilio calls verified numbers only: verify it in the Twilio console",
  21_408: "this Twilio account may not send to the customer's country: allow it in Twilio's geo permissions",
  21_602: "Twilio takes no message without text",
  21_606: "the number that it is sent from cannot send messages: check `from`",
  21_608: "a trial account of Twilio writes to verified numbers only: verify it in the Twilio console",
  21_612: "Twilio knows no way to this number from the account's own",
  21_614: "the customer's number cannot receive text messages",
  21_617: "the message is too long for Twilio",
  21_654: "the WhatsApp template is unknown to this Twilio account: check `template_sid`",
  21_655: "the WhatsApp template is unknown to this Twilio account: check `template_sid`",
  21_656: "the variables of the WhatsApp template are wrong: check `template_variables`",
  21_659: "the number that it is sent from is not this Twilio account's: check `from`",
  21_703: "the messaging service has no number: check `messaging_service_sid`",
  30_001: "too many messages waited to be sent",
  30_002: "the Twilio account is suspended",
  30_003: "the customer's telephone cannot be reached: it is off or has no signal",
  30_004: "the message was blocked: by the customer or by their carrier",
  30_005: "the customer's number is unknown or not in service",
  30_006: "the customer's number is a landline, or its carrier takes no text messages",
  30_007: "the carrier has filtered the message out",
  30_008: "the carrier tells no reason",
  30_034: "the number that it is sent from is not registered with the carriers (A10DLC)",
  63_001: "the WhatsApp sender is not set up: check it in the Twilio console",
  63_003: "there is no WhatsApp at this number",
  63_005: "WhatsApp does not take the content of this message",
  63_007: "Twilio knows no such WhatsApp sender: check `from`",
  63_012: "WhatsApp failed",
  63_013: "the message is against the rules of WhatsApp",
  63_014: "the customer has blocked this WhatsApp sender",
  63_016: "the customer has not written by WhatsApp for more than 24 hours, and it then takes a template only",
  63_017: "WhatsApp limits this account for now",
  63_018: "WhatsApp limits this sender for now",
  63_019: "WhatsApp could not take the file",
  63_021: "WhatsApp does not take the content of this message",
  63_024: "there is no WhatsApp at this number",
  63_027: "the WhatsApp template does not exist in this language",
  63_028: "the number of the WhatsApp template's variables is wrong: check `template_variables`",
  63_032: "WhatsApp delivers nothing to this customer by decision of its own",
  63_038: "the account's limit of messages for this day is reached",
  63_049: "WhatsApp has chosen not to deliver this message",
  63_051: "the WhatsApp account is locked",
};

/** Limits that pass: retried later. */
const busy = new Set([14_107, 20_429, 21_611, 63_017, 63_018, 63_038]);

/** The reply window is closed: WhatsApp takes only templates now. */
const windowCodes = new Set([63_016]);

/** Twilio refuses the template or its variables, not the message itself. */
const contentCodes = new Set([20_404, 21_654, 21_655, 21_656, 63_027, 63_028]);

export const isOfContent = (code: number | undefined): boolean => code !== undefined && contentCodes.has(code);

export const closesWindow = (code: number | undefined): boolean => code !== undefined && windowCodes.has(code);

export function reasonOf(code: number | undefined, otherwise: string): string {
  const known = code === undefined ? undefined : reasons[code];
  if (known !== undefined) return `${known} (Twilio ${code})`;
  return code === undefined ? otherwise : `${otherwise} (Twilio ${code})`;
}

export const codeOf = (error: unknown): number | undefined =>
  error instanceof twilio.RestException ? error.code : undefined;

/** Maps an error of the SDK to a {@link DeliveryError}. It has no cause: the SDK's network errors hold the auth token. */
export function deliveryError(error: unknown): DeliveryError {
  if (error instanceof DeliveryError) return error;
  if (error instanceof twilio.RestException) return refusal(error.status, error.code, error.message);
  const { unsent, code = "no answer", refusal: refused } = connectionFailure(error);
  if (refused !== undefined) return new DeliveryError("not_sent", `Twilio cannot be reached (${refused})`);
  return unsent
    ? new DeliveryError("not_sent", `Twilio cannot be reached (${code})`)
    : new DeliveryError("unknown", `the connection to Twilio broke (${code})`);
}

/** The error of an API call that sends no message, in words for the admin. */
export function operatorError(error: unknown): Error {
  const failure = deliveryError(error);
  if (error instanceof twilio.RestException || error instanceof DeliveryError) return failure;
  return failure.outcome === "not_sent"
    ? new Error(`${failure.message}: check that this machine may connect to api.twilio.com, or to \`base_url\``)
    : new Error(`${failure.message}: check \`base_url\`, and whether a proxy is in between`);
}

function refusal(status: number, code: number | undefined, message: string | undefined): DeliveryError {
  if (status >= 500) return new DeliveryError("unknown", `Twilio failed with status ${status}`);
  if (status === 401 || code === 20_003) {
    return new DeliveryError(
      "not_sent",
      "Twilio does not know this account: check `account_sid` and `auth_token`, and that the account is not suspended",
      { retryAfterMs: credentialsRetryMs },
    );
  }
  // Twilio's own refusals always have an error code: this answer comes from a proxy or gateway.
  if (code === undefined && status !== 404) return foreignAnswer("Twilio", status);
  if (code !== undefined && busy.has(code)) {
    return new DeliveryError("not_sent", reasonOf(code, "Twilio is too busy for this message now"), {
      retryAfterMs: queueMs,
    });
  }
  const windowClosed = closesWindow(code);
  return new DeliveryError("rejected", reasonOf(code, `Twilio refuses it: ${(message ?? "").slice(0, 300)}`), {
    windowClosed,
  });
}

/** Only the code of a network error, such as ECONNRESET: the error itself holds the auth token. */
export const networkCode = (error: unknown): string => connectionFailure(error).code ?? "no answer";
