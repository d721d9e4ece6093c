import type { EventEnvelope, Interaction, SlashCommand } from "./payloads.ts";

/** What stands in the answer to an interaction or a command; null: nothing but that it has arrived. */
export type Reply = Readonly<Record<string, unknown>> | null;

/**
 * The agents' side of a Slack account. What belongs to it never reaches the customers' side: events of its channels,
 * every interaction and every slash command. Each method resolves when what it has to store is durable, within the 3
 * seconds that Slack waits, and rejects when it could not be stored: an event is then delivered again.
 */
export interface DeskRoutes {
  /** Whether what is written in this channel is the agents'. */
  owns(channelId: string): boolean;
  event(envelope: EventEnvelope): Promise<void>;
  interaction(interaction: Interaction): Promise<Reply>;
  command(command: SlashCommand): Promise<Reply>;
}
