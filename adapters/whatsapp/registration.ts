import Type from "typebox";
import { Compile } from "typebox/compile";
import type { ChannelHost } from "#channels/contract.ts";
import type { GraphApi } from "./client.ts";
import type { Settings } from "./config.ts";
import { administratorError, MetaError } from "./errors.ts";
import { verifyTokenOf } from "./webhook.ts";

const phoneNumber = Compile(
  Type.Object({
    verified_name: Type.Optional(Type.String()),
    display_phone_number: Type.Optional(Type.String()),
    quality_rating: Type.Optional(Type.String()),
    status: Type.Optional(Type.String()),
    webhook_configuration: Type.Optional(
      Type.Object({
        phone_number: Type.Optional(Type.String()),
        whatsapp_business_account: Type.Optional(Type.String()),
        application: Type.Optional(Type.String()),
      }),
    ),
  }),
);

export interface PhoneNumber {
  readonly name: string;
  readonly number: string;
  readonly quality: string | undefined;
  /** Undefined: Meta does not say. */
  readonly status: string | undefined;
  /** The address that Meta delivers to: the number's own, the WhatsApp account's or the app's. */
  readonly deliversTo: string | undefined;
}

const fields = "verified_name,display_phone_number,quality_rating,status,webhook_configuration";

/** Throws an Error that names the fix. */
export async function readPhoneNumber(api: GraphApi, settings: Settings, signal: AbortSignal): Promise<PhoneNumber> {
  const answer = await api.get(settings.phoneNumberId, { fields }, signal).catch((error: unknown) => {
    throw administratorError(error);
  });
  if (!phoneNumber.Check(answer) || (answer.verified_name ?? answer.display_phone_number) === undefined) {
    throw new Error("the answer is not a telephone number of Meta's: check `phone_number_id` and `base_url`");
  }
  const { verified_name: name, display_phone_number: number = "", webhook_configuration: webhooks } = answer;
  return {
    name: name ?? number,
    number,
    quality: answer.quality_rating,
    status: answer.status,
    deliversTo: webhooks?.phone_number ?? webhooks?.whatsapp_business_account ?? webhooks?.application,
  };
}

const tokenInfo = Compile(
  Type.Object({
    data: Type.Object({
      app_id: Type.Union([Type.String(), Type.Integer()]),
      expires_at: Type.Optional(Type.Integer()),
    }),
  }),
);

export interface TokenInfo {
  readonly appId: string;
  /** Epoch milliseconds; null: it does not expire. */
  readonly expiresAt: number | null;
}

/**
 * Undefined: Meta does not describe this token. Meta takes it in the address only, which other servers may log, so only
 * Meta is asked.
 */
export async function readToken(
  api: GraphApi,
  { accessToken, ownServer }: Settings,
  signal: AbortSignal,
): Promise<TokenInfo | undefined> {
  if (ownServer !== undefined) return undefined;
  const answer = await api.get("debug_token", { input_token: accessToken }, signal).catch(() => undefined);
  if (!tokenInfo.Check(answer)) return undefined;
  const { app_id: appId, expires_at: seconds = 0 } = answer.data;
  return { appId: String(appId), expiresAt: seconds > 0 ? seconds * 1_000 : null };
}

/** States of a number that can send. */
export const usableStates: ReadonlySet<string> = new Set(["CONNECTED", "FLAGGED", "RATE_LIMITED"]);

/** The state of one account with its present settings. Meta locks a number for days after ten refused PINs, so one is tried once. */
export interface Registration {
  refusal?: Error;
}

type RegistrationHost = Pick<ChannelHost, "webhookUrl" | "signToken" | "log">;

/**
 * Tells Meta the webhook's address, for this number alone: other numbers of the app keep theirs. Registers the number
 * before, if it is not connected and its PIN is known.
 */
export async function register(
  api: GraphApi,
  settings: Settings,
  host: RegistrationHost,
  registration: Registration,
  signal: AbortSignal,
): Promise<void> {
  const { phoneNumberId, businessAccountId, pin } = settings;
  const post = async (path: string, body: object): Promise<void> => {
    await api.post(path, body, signal).catch((error: unknown) => {
      throw administratorError(error);
    });
  };
  const { status } = pin === undefined ? {} : await readPhoneNumber(api, settings, signal);
  const isUsable = status === undefined || usableStates.has(status);
  if (!isUsable && registration.refusal === undefined) {
    await post(`${phoneNumberId}/register`, { messaging_product: "whatsapp", pin }).catch((error: unknown) => {
      if (!(error instanceof MetaError) || error.outcome !== "rejected") throw error;
      registration.refusal = error;
    });
  }
  await subscribeApp(api, settings, host, signal);
  if (businessAccountId !== undefined) await post(`${businessAccountId}/subscribed_apps`, {});
  const webhook = { override_callback_uri: host.webhookUrl, verify_token: verifyTokenOf(host) };
  await post(phoneNumberId, { webhook_configuration: webhook });
  if (!isUsable && registration.refusal !== undefined) throw registration.refusal;
}

const object = "whatsapp_business_account";
const subscriptions = Compile(
  Type.Object({ data: Type.Array(Type.Object({ object: Type.String(), fields: Type.Optional(Type.Unknown()) })) }),
);

/** An app without a webhook gets no messages, even where the number has an address of its own. */
async function subscribeApp(
  api: GraphApi,
  settings: Settings,
  host: RegistrationHost,
  signal: AbortSignal,
): Promise<void> {
  const token = await readToken(api, settings, signal);
  if (token === undefined) return;
  const ofApp = `${token.appId}|${settings.appSecret}`;
  const path = `${token.appId}/subscriptions`;
  try {
    const known = await api.get(path, {}, signal, ofApp);
    // Another program's address must stay.
    if (!subscriptions.Check(known) || known.data.some((each) => each.object === object)) return;
    const webhook = { callback_url: host.webhookUrl, verify_token: verifyTokenOf(host) };
    await api.post(path, { object, fields: "messages", ...webhook }, signal, ofApp);
  } catch (error) {
    // An administrator may have done it on the app's page.
    host.log.warn({ err: error }, "whatsapp: subscribing the app failed");
  }
}
