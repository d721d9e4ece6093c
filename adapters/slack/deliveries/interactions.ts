import type { EventEnvelope, Interaction, SlashCommand } from "./payloads.ts";

/** What stands in the answer to an interaction or a command; null: nothing but that it has arrived. */
export type Reply = Readonly<Record<string, unknown>> | null;

/**
 * The agents' side of a Slack account. What belongs to it never reaches the customers' side: events of its channel and its threads,
 * every interaction and every slash command. Each method resolves when what it has to store is durable, within the 3
 * seconds that Slack waits, and rejects when it could not be stored: an event is then delivered again.
 */
export interface DeskRoutes {
  /** Whether it is the agents': of their channel, or of a thread that they had elsewhere. */
  owns(event: EventEnvelope["event"]): Promise<boolean>;
  event(envelope: EventEnvelope): Promise<void>;
  interaction(interaction: Interaction): Promise<Reply>;
  command(command: SlashCommand): Promise<Reply>;
}
