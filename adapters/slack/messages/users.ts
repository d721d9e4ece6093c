import type { WebClient } from "@slack/web-api";
import type { ChannelHost } from "#channels/contract.ts";
import type { SlackApi } from "../client.ts";
import { failureOf } from "../errors.ts";

/** A user's data in Slack. */
export interface SlackUser {
  readonly name: string | undefined;
  /** Set when the address is confirmed, and the user belongs to our own workspace. */
  readonly email: string | undefined;
}

export interface Users {
  /** Undefined when Slack does not answer within a time that still permits to acknowledge the delivery. */
  find(userId: string): Promise<SlackUser | undefined>;
  /** The bot's own user id; undefined when Slack does not answer. */
  own(): Promise<string | undefined>;
}

const keptMs = 3_600_000;
/** After a failure no user is looked up for this long, so that an outage does not slow down every delivery. */
const failedMs = 30_000;
const lookupMs = 1_000;
const keptMax = 5_000;

interface Kept {
  readonly until: number;
  readonly user: Promise<SlackUser | undefined>;
}

/** Looks up users; caches them for an hour. */
export function createUsers(api: SlackApi, { clock, log }: Pick<ChannelHost, "clock" | "log">): Users {
  const kept = new Map<string, Kept>();
  let silentUntil = 0;
  let own: Promise<{ readonly userId: string; readonly teamId: string } | undefined> | undefined;

  async function ask<T>(what: string, call: (client: WebClient) => Promise<T>): Promise<T | undefined> {
    if (clock.now() < silentUntil) return undefined;
    try {
      return await call(api.within(lookupMs));
    } catch (error) {
      const failure = failureOf(error);
      // An unknown user must not stop the lookup of others.
      if (failure.kind !== "refused" || failure.code === "missing_scope") silentUntil = clock.now() + failedMs;
      log.debug({ what, failure }, "slack: user lookup failed");
      return undefined;
    }
  }

  function self() {
    own ??= ask("the app itself", async (client) => {
      const { user_id: userId = "", team_id: teamId = "" } = await client.auth.test();
      return { userId, teamId };
    }).then((found) => {
      if (found === undefined) own = undefined;
      return found;
    });
    return own;
  }

  async function load(userId: string): Promise<SlackUser | undefined> {
    const found = await ask(userId, async (client) => (await client.users.info({ user: userId })).user);
    if (found === undefined) return undefined;
    const { profile } = found;
    const name = [profile?.display_name, profile?.real_name, found.real_name, found.name].find(
      (each) => each !== undefined && each.trim() !== "",
    );
    const ours = (await self())?.teamId;
    const vouched =
      ours !== undefined && found.team_id === ours && found.is_stranger !== true && found.is_email_confirmed === true;
    return { name: name?.slice(0, 190).toWellFormed(), email: vouched && profile?.email ? profile.email : undefined };
  }

  return {
    async find(userId) {
      const known = kept.get(userId);
      if (known !== undefined && known.until > clock.now()) return known.user;
      const user = load(userId);
      if (kept.size >= keptMax) kept.clear();
      kept.set(userId, { until: clock.now() + keptMs, user });
      const found = await user;
      if (found === undefined) kept.delete(userId);
      return found;
    },
    own: async () => (await self())?.userId,
  };
}
