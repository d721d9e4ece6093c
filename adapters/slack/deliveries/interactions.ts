import type { EventEnvelope, Interaction, SlashCommand } from "./payloads.ts";

/** The body of the response to an interaction or a command; null: an empty acknowledgement. */
export type Reply = Readonly<Record<string, unknown>> | null;

/**
 * The agents' side of a Slack account. The customers' side never receives the desk's deliveries: events of its channel and its threads,
 * every interaction and every slash command. Each method resolves when the delivery is stored, within the 3
 * seconds that Slack waits, and rejects when storing fails: Slack then delivers an event again.
 */
export interface DeskRoutes {
  /** Whether an event belongs to the desk: to its channel, or to its threads in a former channel. */
  owns(event: EventEnvelope["event"]): Promise<boolean>;
  event(envelope: EventEnvelope): Promise<void>;
  interaction(interaction: Interaction): Promise<Reply>;
  command(command: SlashCommand): Promise<Reply>;
}
