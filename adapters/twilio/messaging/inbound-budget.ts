import type { ChannelHost } from "#channels/contract.ts";

const hourMs = 3_600_000;
/** So many messages of a customer within an hour are a talk like others, and nothing is looked up for them. */
const unwatched = 8;

/**
 * Why the bot must not answer this customer now; undefined: it may. Another machine answers each of its answers, and no
 * field of a text message tells that it is one: what a person would not read in an hour ends such a talk.
 */
export async function overBudget(
  host: Pick<ChannelHost, "allow" | "clock" | "botMessagesIn" | "thread">,
  thread: string,
  max: number,
): Promise<string | undefined> {
  if (host.allow(`wrote:${thread}`, Math.min(unwatched, max), hourMs)) return undefined;
  const since = host.clock.now() - hourMs;
  const sent = await host.botMessagesIn(thread, since);
  // Where people have it the bot is silent already, and they were told.
  if (sent < max || (await host.thread(thread))?.handledBy !== "assistant") return undefined;
  return `The bot has answered ${sent} messages here within an hour, and stops: another program may be answering it. Answer yourself if it is a person.`;
}
