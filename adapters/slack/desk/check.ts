import { missingScopes, withoutOptional } from "../check.ts";
import type { SlackApi } from "../client.ts";
import { failureOf, operatorError } from "../errors.ts";
import { fixFor } from "./calls.ts";

/** The desk's OAuth scopes, besides those for customers, and the reason for each. */
export const deskScopes: readonly (readonly [string, string])[] = [
  ["channels:read", "to see the desk channel"],
  ["commands", "for /parley, and the shortcuts on messages"],
  ["groups:read", "to see a private desk channel"],
  ["reactions:write", "for ticks and crosses on replies"],
  ["users:read.email", "to identify agents"],
];

const optionalScopes = [["reactions:read", "agents' reactions to customers' messages do not reach customers"]] as const;

/**
 * Returns the names of the desk's channels, and what does not work for lack of a scope. Throws with an instruction if the
 * app lacks a scope or cannot use a channel.
 */
export async function checkDesk(api: SlackApi, channels: readonly string[], signal: AbortSignal): Promise<string> {
  let granted: readonly string[];
  try {
    granted = (await api.client(signal).auth.test()).response_metadata?.scopes ?? [];
  } catch (error) {
    throw operatorError(failureOf(error));
  }
  // Servers that imitate Slack may not list scopes.
  const missing = granted.length === 0 ? undefined : missingScopes(deskScopes, granted);
  if (missing !== undefined) throw new Error(`for the desk the app lacks ${missing}`);
  const checked = await Promise.allSettled(channels.map((channel) => usableChannel(api, channel, signal)));
  const faults = checked.flatMap((each, at) =>
    each.status === "rejected"
      ? [`${(each.reason as Error).message}${channels.length > 1 ? ` (${channels[at]})` : ""}`]
      : [],
  );
  if (faults.length > 0) throw new Error(faults.join("; "));
  const names = checked.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  return `${names.join(", ")}${withoutOptional(optionalScopes, granted)}`;
}

/** Returns the channel's name. Throws with an instruction if the app cannot use it. */
async function usableChannel(api: SlackApi, channel: string, signal: AbortSignal): Promise<string> {
  let info: { readonly name?: string; readonly is_member?: boolean; readonly is_archived?: boolean };
  try {
    info = (await api.client(signal).conversations.info({ channel })).channel ?? {};
  } catch (error) {
    const failure = failureOf(error);
    const fix = failure.kind === "refused" ? fixFor(failure.code) : undefined;
    throw fix === undefined ? operatorError(failure) : new Error(fix, { cause: error });
  }
  if (info.is_archived === true) throw new Error(fixFor("is_archived"));
  if (info.is_member !== true) throw new Error(fixFor("not_in_channel"));
  return `#${info.name ?? channel}`;
}
