import type { ChannelHost } from "#channels/contract.ts";

const hourMs = 3_600_000;
/** Up to this many messages an hour are normal and cost no lookup of the thread. */
const unwatched = 8;

/**
 * Returns why the bot must not answer this customer now; undefined: it may. Text messages do not mark automatic replies,
 * so two bots could answer each other forever: this limit of messages an hour ends such a loop.
 */
export async function overBudget(
  host: Pick<ChannelHost, "allow" | "clock" | "threads">,
  thread: string,
  max: number,
): Promise<string | undefined> {
  if (host.allow(`wrote:${thread}`, Math.min(unwatched, max), hourMs)) return undefined;
  const since = host.clock.now() - hourMs;
  const sent = await host.threads.botMessagesIn(thread, since);
  // Agents already have the conversation: the bot is silent, and they have the note.
  if (sent < max || (await host.threads.get(thread))?.handledBy !== "assistant") return undefined;
  return `The bot has answered ${sent} messages here within an hour, and stops: another program may be answering it. Answer yourself if it is a person.`;
}
