import type { ChannelHost } from "#channels/contract.ts";
import type { SlackApi } from "../client.ts";
import type { SlackConfig } from "../config.ts";
import { failureOf, isRevoked } from "../errors.ts";

/** Notices that the app was removed from its workspace, or lost its token. */
export interface Revocation {
  /** Takes an event about that. Resolves when it is stored; rejects when Slack cannot be asked now. */
  take(eventType: string): Promise<void>;
  /** Throws an Error with the fix if Slack no longer accepts the token. */
  requireToken(signal: AbortSignal): Promise<void>;
}

/** Slack waits three seconds for the acknowledgement. */
const askMs = 2_000;

export function createRevocation(
  api: SlackApi,
  host: Pick<ChannelHost, "log" | "reportDown">,
  config: Pick<SlackConfig, "client_id">,
): Revocation {
  const fix =
    config.client_id === undefined
      ? "Install the app again, and enter its new Bot User OAuth Token."
      : "Press Install again.";
  const cause = `The app was removed from the Slack workspace, or its token was revoked. ${fix}`;

  /** Asked, since the event may be about a person's token, another workspace of the app, or an earlier token. */
  async function isTokenGone(client: ReturnType<SlackApi["client"]>): Promise<boolean> {
    try {
      await client.auth.test();
      return false;
    } catch (error) {
      if (isRevoked(failureOf(error))) return true;
      throw error;
    }
  }

  return {
    async take(type) {
      if (await isTokenGone(api.within(askMs))) await host.reportDown(cause);
      else host.log.debug({ type }, "slack: revocation that does not concern the token skipped");
    },
    async requireToken(signal) {
      // Other failures are for the connection to report.
      if (await isTokenGone(api.client(signal)).catch(() => false)) throw new Error(cause);
    },
  };
}
