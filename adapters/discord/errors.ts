import { DiscordAPIError, HTTPError, RateLimitError } from "discord.js";
import { DeliveryError } from "#channels/errors.ts";
import { foreignAnswer } from "#channels/http/foreign-response.ts";
import { connectionFailure } from "#channels/http/platform-fetch.ts";

const busyMs = 5_000;
const fixRetryMs = 60_000;

/** Discord's error codes, in words for an agent. */
const refusalTexts: Readonly<Record<number, string>> = {
  10_003: "this Discord channel is gone",
  10_008: "the message on Discord is gone",
  30_010: "this message has as many different reactions as Discord allows",
  40_005: "the file is too large for Discord",
  50_001: "the bot may not see this Discord channel",
  50_007: "the customer takes no direct messages from this bot on Discord",
  50_013: "the bot may not write in this Discord channel",
  50_083: "this Discord thread is archived",
  50_278: "the customer shares no Discord server with the bot any more",
  90_001: "the customer has blocked the bot on Discord",
  160_005: "this Discord thread is locked",
};
/** Temporary refusalTexts: messages come too fast, or Discord is overloaded. */
const busy = new Set([20_016, 20_028, 40_003, 130_000]);

export const unknownChannel = 10_003;
export const noAccess: ReadonlySet<number> = new Set([50_001, 50_013]);

export function codeOf(error: unknown): number | undefined {
  return error instanceof DiscordAPIError ? Number(error.code) : undefined;
}

const noHistory = 160_002;
const invalidBody = 50_035;

/** Discord refuses the reference and not the message: the bot may not read the history, or the other is a system message. */
export function refusesReference(error: unknown): boolean {
  if (!(error instanceof DiscordAPIError)) return false;
  const { code, rawError } = error;
  const faults = "errors" in rawError ? rawError.errors : undefined;
  return code === noHistory || (code === invalidBody && typeof faults === "object" && "message_reference" in faults);
}

/** The channel is gone, or the bot has no access to it. */
export function isOutOfReach(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && (code === unknownChannel || noAccess.has(code));
}

/** Translates a failed call for the host. Errors of discord.js never contain the bot's token. */
export function deliveryError(error: unknown): DeliveryError {
  if (error instanceof DeliveryError) return error;
  if (error instanceof RateLimitError) {
    return new DeliveryError("not_sent", "Discord allows no more messages here for now", {
      retryAfterMs: Math.max(error.retryAfter, error.timeToReset, 1),
    });
  }
  if (error instanceof DiscordAPIError) return refusal(error);
  if (error instanceof HTTPError) {
    return foreignAnswer("Discord", error.status);
  }
  const { unsent, refusal: refused } = connectionFailure(error);
  if (refused !== undefined) return new DeliveryError("not_sent", `Discord cannot be reached (${refused})`);
  return unsent
    ? new DeliveryError("not_sent", "Discord cannot be reached", { cause: error })
    : new DeliveryError("unknown", `the connection to Discord broke (${describe(error)})`, { cause: error });
}

/** Translates a failed call that belongs to no message, in words for the operator. */
export function operatorError(error: unknown): Error {
  if (error instanceof DiscordAPIError && error.status === 401) {
    return new Error(
      "Discord does not know this token: reset it on the page Bot of the developer portal, and set `token` to the new one",
      { cause: error },
    );
  }
  const { message, outcome } = deliveryError(error);
  if (error instanceof DiscordAPIError || error instanceof RateLimitError) return new Error(message, { cause: error });
  return outcome === "not_sent"
    ? new Error(`${message}: check that this machine may connect to discord.com, or to \`base_url\``, { cause: error })
    : new Error(`${message}: check \`base_url\`, and whether a proxy is in between`, { cause: error });
}

function refusal(error: DiscordAPIError): DeliveryError {
  const code = Number(error.code);
  if (error.status === 401) {
    return new DeliveryError("not_sent", "Discord does not know the bot's token: check `token`", {
      retryAfterMs: fixRetryMs,
    });
  }
  // Discord's own errors always have a numeric code; others come from a proxy.
  if (Number.isNaN(code)) return foreignAnswer("Discord", error.status);
  if (busy.has(code)) {
    return new DeliveryError("not_sent", "Discord is too busy for this message now", { retryAfterMs: busyMs });
  }
  if (error.status >= 500) return new DeliveryError("unknown", `Discord failed (${error.message})`, { cause: error });
  return new DeliveryError("rejected", refusalTexts[code] ?? `Discord refuses it: ${error.message.slice(0, 300)}`, {
    cause: error,
  });
}

/** Joins the messages of an error and its causes: fetch's own error says little. */
export function describe(error: unknown): string {
  const words: string[] = [];
  let at = error;
  for (let depth = 0; at instanceof Error && depth < 5; depth += 1) {
    const { code } = at as Error & { readonly code?: unknown };
    words.push(typeof code === "string" && !at.message.includes(code) ? `${at.message} ${code}` : at.message);
    at = at.cause;
  }
  return words.join(": ") || "unknown failure";
}
