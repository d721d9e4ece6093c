import { DeliveryError } from "#channels/errors.ts";
import type { ChannelHost } from "#channels/contract.ts";
import type { DeskHost, DeskPerson } from "#channels/desk/contract.ts";
import type { SlackApi } from "../client.ts";
import { deliveryError, failureOf } from "../errors.ts";

export interface DeskAgents {
  /** Throws `DeliveryError` when Slack does not answer. */
  find(userId: string, signal: AbortSignal): Promise<DeskPerson>;
  /** Like `find`, but only for members of a desk channel: commands can be sent from anywhere. */
  findMember(userId: string, signal: AbortSignal): Promise<DeskPerson>;
}

/** Short, so that former members lose access soon. During an outage of Slack the entry serves until `staleMs`. */
const freshMs = 10 * 60_000;
const staleMs = 24 * 60 * 60_000;
const cachedMax = 2_000;

interface CachedPerson {
  readonly at: number;
  readonly person: DeskPerson;
}

type SlackUser = NonNullable<Awaited<ReturnType<ReturnType<SlackApi["client"]>["users"]["info"]>>["user"]>;

const stranger = (reason: string): DeskPerson => ({ kind: "stranger", reason });

/** Limits for reading the channel's members. */
const pagesMax = 20;
const pageSize = 999;

/** Identifies agents: only members of our own team with an e-mail address. */
export function createDeskAgents(
  api: SlackApi,
  { clock }: Pick<ChannelHost, "clock">,
  { channels }: Pick<DeskHost, "channels">,
): DeskAgents {
  const cache = new Map<string, CachedPerson>();
  /** Members of the desk's channels, and the time until which each entry is valid. */
  let there = new Map<string, number>();
  let ownTeam: string | undefined;

  async function ask(userId: string, signal: AbortSignal): Promise<DeskPerson> {
    const client = api.client(signal);
    ownTeam ??= (await client.auth.test()).team_id;
    const { user } = await client.users.info({ user: userId });
    return user === undefined ? stranger("Slack does not know you") : personOf(user, ownTeam);
  }

  /** The members of a channel, page by page. */
  async function* membersOf(channel: string, signal: AbortSignal): AsyncGenerator<readonly string[]> {
    const client = api.client(signal);
    let cursor = "";
    for (let page = 0; page < pagesMax; page += 1) {
      const { members = [], response_metadata: more } = await client.conversations.members({
        channel,
        limit: pageSize,
        ...(cursor === "" ? {} : { cursor }),
      });
      yield members;
      cursor = more?.next_cursor ?? "";
      if (cursor === "") return;
    }
  }

  /** Throws where no channel is known to have the person, and one cannot be read. */
  async function isThere(userId: string, signal: AbortSignal): Promise<boolean> {
    if ((there.get(userId) ?? 0) > clock.now()) return true;
    const found = new Map<string, number>();
    const read = await Promise.allSettled(
      channels.map(async (channel) => {
        for await (const members of membersOf(channel, signal)) {
          for (const member of members) found.set(member, clock.now() + freshMs);
          if (found.has(userId)) return;
        }
      }),
    );
    const failed = read.find((each) => each.status === "rejected");
    // Members who are known stay so while Slack does not answer.
    there = failed === undefined ? found : new Map([...there, ...found]);
    if (failed !== undefined && !found.has(userId)) throw failed.reason;
    return found.has(userId);
  }

  const people: DeskAgents = {
    async findMember(userId, signal) {
      const person = await people.find(userId, signal);
      if (person.kind === "stranger") return person;
      try {
        return (await isThere(userId, signal)) ? person : stranger("you are not in a channel where agents work");
      } catch (error) {
        throw new DeliveryError("not_sent", deliveryError(failureOf(error)).message, { cause: error });
      }
    },
    async find(userId, signal) {
      const cached = cache.get(userId);
      const age = cached === undefined ? Infinity : clock.now() - cached.at;
      if (cached !== undefined && age < freshMs) return cached.person;
      try {
        const person = await ask(userId, signal);
        if (cache.size >= cachedMax) cache.clear();
        cache.set(userId, { at: clock.now(), person });
        return person;
      } catch (error) {
        const failure = failureOf(error);
        const refused = failure.kind === "refused" && ["user_not_found", "user_not_visible"].includes(failure.code);
        if (refused) return stranger("Slack does not know you in this workspace");
        if (cached !== undefined && age < staleMs) return cached.person;
        const { message, retryAfterMs } = deliveryError(failure);
        throw new DeliveryError("not_sent", message, {
          ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
          cause: error,
        });
      }
    },
  };
  return people;
}

function personOf(user: SlackUser, ownTeam: string | undefined): DeskPerson {
  const teams = [user.team_id, ...(user.enterprise_user?.teams ?? [])];
  if (ownTeam === undefined || !teams.includes(ownTeam)) return stranger("only members of our own team are agents");
  if (user.is_stranger === true) return stranger("only members of our own team are agents");
  if (user.is_bot === true || user.is_workflow_bot === true) return stranger("programs are no agents");
  if (user.is_restricted === true || user.is_ultra_restricted === true) return stranger("guests are no agents");
  if (user.deleted === true) return stranger("this account is deactivated");
  const email = user.profile?.email?.trim().toLowerCase();
  if (email === undefined || email === "" || email.length > 190) {
    return stranger("Slack shows no e-mail address of you: the app needs the scope users:read.email");
  }
  // Slack marks unconfirmed addresses; members with an absent mark have confirmed theirs.
  if (user.is_email_confirmed === false) return stranger("your e-mail address is not confirmed in Slack");
  const name = [user.profile?.real_name, user.real_name, user.profile?.display_name, user.name].find(
    (each) => each !== undefined && each.trim() !== "",
  );
  return { kind: "agent", email, name: (name ?? "").slice(0, 190), timeZone: user.tz ?? null };
}
