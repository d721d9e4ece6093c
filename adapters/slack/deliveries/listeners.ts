import type { App, Middleware, SlackEventMiddlewareArgs } from "@slack/bolt";
import type { EventEnvelope, Interaction, SlashCommand } from "./payloads.ts";

/** The delivery in the context of a listener, which reads the one of its own kind. */
export type Delivered = {
  readonly envelope: EventEnvelope;
  readonly interaction: Interaction;
  readonly command: SlashCommand;
};

/**
 * Bolt's listeners resolve when the delivery is stored, within the 3 seconds that Slack waits, and reject when storing
 * fails: Slack then delivers an event again.
 */
export type SlackApp = App<Delivered>;

export type EventListener = Middleware<SlackEventMiddlewareArgs, Delivered>;

/**
 * The agents' side of a Slack account. The customers' side never receives the desk's deliveries: events of its channel and
 * its threads, interactions and slash commands.
 */
export interface DeskListeners {
  /** Takes the desk's events, and passes on others. */
  readonly event: EventListener;
  /** Adds the listeners for interactions and commands. */
  listen(app: SlackApp): void;
}
