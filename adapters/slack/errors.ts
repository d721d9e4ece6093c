import { WebAPIHTTPError, WebAPIPlatformError, WebAPIRateLimitedError, WebAPIRequestError } from "@slack/web-api";
import { DeliveryError } from "#channels/errors.ts";
import { connectionFailure } from "#channels/http/platform-fetch.ts";
import { withoutCredentials } from "./client.ts";

/** A failed call of Slack. */
export type Failure =
  | { readonly kind: "refused"; readonly code: string; readonly needed: string | undefined }
  | { readonly kind: "limited"; readonly retryAfterMs: number }
  | { readonly kind: "status"; readonly status: number }
  /** No connection was made. */
  | { readonly kind: "unreachable"; readonly description: string }
  /** The connection was lost, or the response was not from the Web API. */
  | { readonly kind: "broken"; readonly description: string };

export function failureOf(error: unknown): Failure {
  if (error instanceof WebAPIRateLimitedError) return { kind: "limited", retryAfterMs: error.retryAfter * 1_000 };
  if (error instanceof WebAPIHTTPError) return { kind: "status", status: error.statusCode };
  if (error instanceof WebAPIPlatformError) {
    // Only responses of the Web API have `error`; the client's types do not show this.
    const { error: code = "" } = error.data as { readonly error?: string };
    const needed: unknown = "needed" in error.data ? error.data.needed : undefined;
    // The client returns a response that is not JSON as an error code.
    if (!/^[a-z0-9_:.]{1,80}$/i.test(code)) return { kind: "broken", description: "the answer is not of the Web API" };
    return { kind: "refused", code, needed: typeof needed === "string" ? needed : undefined };
  }
  const inner = error instanceof WebAPIRequestError ? error.original : error;
  const { code, unsent, refusal } = connectionFailure(inner);
  if (refusal !== undefined) return { kind: "unreachable", description: refusal };
  const message = inner instanceof Error ? inner.message : "the connection broke";
  const description = withoutCredentials(code ?? message).slice(0, 200);
  return { kind: unsent ? "unreachable" : "broken", description };
}

/** Problems of the account. Messages wait until they are fixed. */
const accountCodes: Readonly<Record<string, string>> = {
  invalid_auth: "Slack does not know the bot's token",
  not_authed: "Slack does not know the bot's token",
  token_revoked: "the bot's token was revoked",
  token_expired: "the bot's token has expired",
  account_inactive: "the app was removed from the workspace",
  org_login_required: "the workspace is being moved",
  team_access_not_granted: "the app has no access to this workspace",
  enterprise_is_restricted: "the organisation does not allow the app",
  access_denied: "the app has no access",
  not_allowed_token_type: "the token is not a bot's token",
};

/** Whether Slack accepts the token never again. */
export const isRevoked = (failure: Failure): boolean =>
  failure.kind === "refused" && /^(?:invalid_auth|not_authed|token_revoked|account_inactive)$/.test(failure.code);

/** Temporary refusals: Slack did nothing. */
const passingCodes = new Set(["ratelimited", "rate_limited", "request_timeout", "team_added_to_org", "accesslimited"]);

/** Failures of Slack, possibly after it executed the call. */
const failedCodes = new Set(["internal_error", "fatal_error", "service_unavailable"]);

/** Reasons in words for an agent. */
const reasons: Readonly<Record<string, string>> = {
  channel_not_found: "the app cannot see this Slack conversation any more",
  not_in_channel: "the app is not in this Slack channel any more: invite it again",
  is_archived: "this Slack channel is archived",
  thread_not_found: "the first message of this Slack thread was deleted",
  message_not_found: "this message is no longer in Slack",
  msg_too_long: "the message is too long for Slack",
  msg_blocks_too_long: "the message is too long for Slack",
  no_text: "the message has nothing in it that Slack could show",
  restricted_action: "the workspace does not let the app write in this Slack channel",
  restricted_action_read_only_channel: "this Slack channel is read-only",
  restricted_action_thread_only_channel: "this Slack channel takes messages in threads only",
  restricted_action_thread_locked: "this Slack thread is locked",
  restricted_action_non_threadable_channel: "this Slack channel takes no threads",
  cannot_dm_bot: "a bot cannot be written to in Slack",
  user_disabled: "the customer's Slack account is deactivated",
  user_not_found: "the customer is not in this Slack workspace any more",
  messages_tab_disabled: "the app's Messages tab is switched off: switch it on under App Home",
  cant_update_message: "Slack does not let the app change this message",
  edit_window_closed: "Slack does not let this message be changed any more",
  cant_delete_message: "Slack does not let the app delete this message",
  as_user_not_supported: "Slack does not let the app write in this conversation",
  too_many_emoji: "this message has as many different reactions as Slack allows",
  too_many_reactions: "this message has as many different reactions as Slack allows",
  not_reactable: "Slack does not let the app react to this message",
  thread_locked: "this Slack thread is locked",
  file_not_found: "the file is not in Slack any more",
  file_deleted: "the file was deleted in Slack",
  file_upload_size_restricted: "the file is larger than the workspace allows",
  storage_limit_reached: "the Slack workspace has no room for more files",
};

/** The retry interval of problems that people must fix. */
const fixRetryMs = 60_000;

export function deliveryError(failure: Failure): DeliveryError {
  switch (failure.kind) {
    case "unreachable":
      return new DeliveryError("not_sent", `Slack cannot be reached (${failure.description})`);
    case "broken":
      return new DeliveryError("unknown", `the connection to Slack broke (${failure.description})`);
    case "limited":
      return new DeliveryError("not_sent", "Slack allows no more messages to this channel for now", {
        retryAfterMs: failure.retryAfterMs,
      });
    case "status":
      return failure.status >= 500
        ? new DeliveryError("unknown", `Slack failed (HTTP ${failure.status})`)
        : new DeliveryError("not_sent", `Slack answers with HTTP ${failure.status}: check base_url`, {
            retryAfterMs: fixRetryMs,
          });
    case "refused":
  }
  const { code, needed } = failure;
  const account = accountReason(failure);
  if (account !== undefined) return new DeliveryError("not_sent", account, { retryAfterMs: fixRetryMs });
  if (passingCodes.has(code)) return new DeliveryError("not_sent", `Slack is busy (${code})`, { retryAfterMs: 1_000 });
  if (failedCodes.has(code)) return new DeliveryError("unknown", `Slack failed (${code})`);
  return new DeliveryError("rejected", reasons[code] ?? `Slack refuses it: ${code}${needed ? ` (${needed})` : ""}`);
}

/** The account's problem with an instruction; undefined for other failures. */
function accountReason(failure: Failure): string | undefined {
  if (failure.kind !== "refused") return undefined;
  if (failure.code === "missing_scope") {
    return `the app lacks the scope ${failure.needed ?? "for it"}: add it under OAuth & Permissions, and install the app again`;
  }
  const reason = accountCodes[failure.code];
  return reason === undefined
    ? undefined
    : `${reason}: install the app in the workspace again, and set bot_token to its Bot User OAuth Token`;
}

/** For the operator; without a cause, which could contain an address. */
export function operatorError(failure: Failure): Error {
  const account = accountReason(failure);
  if (account !== undefined) return new Error(account);
  const { message } = deliveryError(failure);
  switch (failure.kind) {
    case "unreachable":
      return new Error(`${message}: check that this machine may connect to slack.com, or to base_url`);
    case "broken":
      return new Error(`${message}: check base_url, and whether a proxy or a firewall is in between`);
    case "limited": {
      const seconds = Math.max(1, Math.ceil(failure.retryAfterMs / 1_000));
      return new Error(`Slack takes no more calls of this app for ${seconds} s: ask again then`);
    }
    case "status":
      return new Error(failure.status >= 500 ? `${message}${whenSlackFails}` : message);
    case "refused":
      if (failedCodes.has(failure.code)) return new Error(`${message}${whenSlackFails}`);
      if (passingCodes.has(failure.code)) return new Error(`${message}: ask again in a minute`);
      return new Error(`${message}: https://docs.slack.dev tells what that is`);
  }
}

const whenSlackFails = ": ask again in a few minutes; https://slack-status.com tells whether Slack has trouble";
