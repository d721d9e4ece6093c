import Type from "typebox";
import { Compile } from "typebox/compile";
import { DeliveryError } from "#channels/errors.ts";
import { foreignAnswer, retryAfterOf } from "#channels/http/foreign-response.ts";
import { connectionFailure } from "#channels/http/platform-fetch.ts";
import type { PlatformResponse } from "#channels/http/platform-fetch.ts";

/** Meta's own refusal. */
export class MetaError extends DeliveryError {
  readonly code: number;

  constructor(code: number, ...rest: ConstructorParameters<typeof DeliveryError>) {
    super(...rest);
    this.name = "MetaError";
    this.code = code;
  }
}

const tokenFix =
  "Meta refuses the access token: create a token of a system user in Meta's business settings, and enter it as `access_token`";
const noTemplate = "the WhatsApp template does not exist in this language, or is not approved";
const badVariables = "the variables of the WhatsApp template are wrong: check `template_variables`";
const badFile = "WhatsApp could not take the file";
const spam = "WhatsApp limits this number for now, because customers have blocked or reported it";
const noPermission =
  "Meta does not allow this to the access token: give the system user the app and the WhatsApp account, and the token the permissions whatsapp_business_messaging and whatsapp_business_management";
const locked = "Meta has locked the WhatsApp account: see the page Business support home";
const failed = "WhatsApp failed";
const busy = "WhatsApp takes no more messages of this account for now";

/** Meta's error codes in words for an agent. */
const reasons: Readonly<Record<number, string>> = {
  0: tokenFix,
  1: failed,
  2: failed,
  3: noPermission,
  4: busy,
  10: noPermission,
  190: tokenFix,
  368: locked,
  80_007: busy,
  130_429: busy,
  130_472: "WhatsApp delivers nothing to this customer by decision of its own",
  130_497: "this WhatsApp account may not write to the customer's country",
  131_000: failed,
  131_005: noPermission,
  131_016: failed,
  131_021: "the customer's number is the account's own",
  131_026: "the customer cannot receive it: there is no WhatsApp at this number, or it is too old",
  131_030: "a test number writes to numbers of its own list only: add the customer's on the app's page API Setup",
  131_031: locked,
  131_037: "the number's display name is not approved: see the page Phone numbers in WhatsApp Manager",
  131_042: "Meta wants a payment: check the WhatsApp account's payment method in Meta's business settings",
  131_045: "the number is not registered: set `pin`, with which Parley registers it",
  131_047: "the customer has not written by WhatsApp for more than 24 hours, and it then takes a template only",
  131_048: spam,
  131_049: "WhatsApp has chosen not to deliver this message",
  131_050: "the customer has turned off marketing messages of this account",
  131_051: "WhatsApp does not take this kind of message",
  131_052: badFile,
  131_053: badFile,
  131_056: "too many messages to this customer in a short time",
  131_057: "Meta is working on this WhatsApp account for now",
  131_062: "WhatsApp does not take this message for a customer who does not show their number",
  132_000: badVariables,
  132_001: `${noTemplate}: check \`template_name\` and \`template_language\``,
  132_005: "the message is too long for the WhatsApp template",
  132_007: "the WhatsApp template is against the rules of WhatsApp",
  132_012: badVariables,
  132_015: "WhatsApp has paused the template, because customers have reported it",
  132_016: "WhatsApp has disabled the template, because customers have reported it",
  132_018: badVariables,
  132_068: "WhatsApp has blocked the template's form",
  132_069: "WhatsApp limits the template's form for now",
  133_010: "the number is not registered: set `pin`, with which Parley registers it",
};

const minuteMs = 60_000;
/** Limits that pass, and faults that an administrator fixes: retried after this time. */
const laterMs: ReadonlyMap<number, number> = new Map([
  [0, minuteMs],
  [2, 10_000],
  [3, minuteMs],
  [4, minuteMs],
  [10, minuteMs],
  [190, minuteMs],
  [80_007, minuteMs],
  [130_429, 5_000],
  [131_005, minuteMs],
  [131_016, 10_000],
  [131_045, minuteMs],
  [131_048, 10 * minuteMs],
  [131_056, 10_000],
  [131_057, minuteMs],
  [132_069, minuteMs],
  [133_010, minuteMs],
]);

const tokenCodes = new Set([0, 190]);
export const refusesToken = (error: unknown): boolean => error instanceof MetaError && tokenCodes.has(error.code);

const buttonCodes = new Set([100, 131_008, 131_009, 131_051, 131_062]);
/** Meta has refused the form of a message, and another form may do. False where it may have arrived. */
export const refusesButtons = (error: unknown): error is MetaError =>
  error instanceof MetaError && error.outcome === "rejected" && buttonCodes.has(error.code);

/** The reply window is closed: WhatsApp takes only templates now. */
export const closesWindow = (code: number | undefined): boolean => code === 131_047;

export function reasonOf(code: number | undefined, otherwise: string): string {
  if (code === undefined) return otherwise;
  const known = reasons[code] ?? (code >= 200 && code < 300 ? noPermission : undefined);
  return `${known ?? otherwise} (Meta ${code})`;
}

const failure = Compile(
  Type.Object({
    error: Type.Object({
      code: Type.Integer(),
      error_subcode: Type.Optional(Type.Integer()),
      message: Type.Optional(Type.String()),
      error_data: Type.Optional(Type.Object({ details: Type.Optional(Type.String()) })),
    }),
  }),
);

/** Subcode of an id that does not exist, or that the token may not see. */
const unknownId = 33;

/** `answer`: the parsed body; undefined when it is no JSON. */
export function refusal({ status, headers }: Pick<PlatformResponse, "status" | "headers">, answer: unknown) {
  const asked = retryAfterOf(headers.get("retry-after"));
  if (!failure.Check(answer)) return foreignAnswer("Meta", status, asked);
  const { code, error_subcode: subcode, message = "", error_data: data } = answer.error;
  const said = (data?.details ?? message).slice(0, 300);
  if (code === 100 && subcode === unknownId) {
    const text = `Meta knows no such id, or does not show it to the access token: check \`phone_number_id\`, and give the system user the WhatsApp account`;
    return new MetaError(unknownId, "not_sent", text, { retryAfterMs: minuteMs });
  }
  if (/appsecret_proof/.test(message)) {
    const text = `Meta says that \`app_secret\` is not that of the access token's app: take both from the same app (Meta ${code})`;
    return new MetaError(code, "not_sent", text, { retryAfterMs: minuteMs });
  }
  const wait = laterMs.get(code) ?? (code >= 200 && code < 300 ? minuteMs : status === 429 ? minuteMs : undefined);
  if (wait !== undefined) {
    return new MetaError(code, "not_sent", reasonOf(code, busy), { retryAfterMs: asked ?? wait });
  }
  if (status >= 500) return new MetaError(code, "unknown", `Meta failed with status ${status} (Meta ${code})`);
  const text = reasonOf(code, `Meta refuses it: ${said}`);
  return new MetaError(code, "rejected", text, { windowClosed: closesWindow(code) });
}

/** A failed connection. It has no cause: errors of a connection may hold the request. */
export function brokenConnection(error: unknown): DeliveryError {
  const { unsent, code = "no answer", refusal: refused } = connectionFailure(error);
  if (refused !== undefined) return new DeliveryError("not_sent", `Meta cannot be reached (${refused})`);
  return unsent
    ? new DeliveryError("not_sent", `Meta cannot be reached (${code})`)
    : new DeliveryError("unknown", `the connection to Meta broke (${code})`);
}

/** The error of a call that is safe to repeat. */
export function repeatable(error: unknown): unknown {
  if (!(error instanceof DeliveryError) || error.outcome !== "unknown") return error;
  return new DeliveryError("not_sent", error.message, { cause: error });
}

/** The error of a call that sends no message, in words for the administrator. */
export function administratorError(error: unknown): unknown {
  if (!(error instanceof DeliveryError) || error instanceof MetaError) return error;
  return error.outcome === "not_sent"
    ? new Error(`${error.message}: check that this machine may connect to graph.facebook.com, or to \`base_url\``)
    : new Error(`${error.message}: check \`base_url\`, and whether a proxy is in between`);
}
