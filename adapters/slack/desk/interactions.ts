import type { ChannelHost } from "#channels/contract.ts";
import type { DeskAsk, DeskHost } from "#channels/desk/contract.ts";
import type { SlackApi } from "../client.ts";
import type { DeskRoutes, Reply } from "../deliveries/interactions.ts";
import type { Interaction } from "../deliveries/payloads.ts";
import { filled } from "../deliveries/payloads.ts";
import { failureOf } from "../errors.ts";
import { redraw } from "../messages/buttons.ts";
import { messageIdOf } from "../messages/thread.ts";
import type { Json } from "./card.ts";
import { parseBlockId } from "./card.ts";
import { chooseAction, parseChoice } from "./choices.ts";
import { placeIn } from "./desk.ts";
import type { Dialog, DialogSubject } from "./dialogs.ts";
import { dialogOf, dialogView, readDialog, sayingView, subjectOf, wrongField } from "./dialogs.ts";

export interface InteractionDependencies {
  readonly api: SlackApi;
  readonly host: Pick<ChannelHost, "clock" | "log">;
  readonly desk: DeskHost;
}

/** Slack opens a dialog only within three seconds of the click. */
const dialogMs = 2_500;

/** Buttons that act at once, by action id. */
const buttonRequests: ReadonlyMap<string, DeskAsk> = new Map([
  ["parley_claim", { kind: "claim" }],
  ["parley_release", { kind: "release" }],
  ["parley_resolve", { kind: "resolve" }],
  ["parley_archive", { kind: "archive" }],
  ["parley_reopen", { kind: "reopen" }],
]);

/** The snooze menu's options, by value; "pick" opens a dialog. */
const snoozeOptions: ReadonlyMap<string, Extract<DeskAsk, { kind: "snooze" }>["until"]> = new Map([
  ["h1", { kind: "hours", hours: 1 }],
  ["morning", { kind: "morning" }],
  ["reply", { kind: "reply" }],
]);

/** Clicks on the desk's buttons and menus, submitted dialogs, and the shortcut on a message. */
export function createInteractions({ api, host, desk }: InteractionDependencies): DeskRoutes["interaction"] {
  return async (interaction) => {
    switch (interaction.type) {
      case "block_actions":
        return clicked(interaction);
      case "view_submission":
        return submitted(interaction);
      case "message_action":
        return interaction.callback_id === "parley_message" ? shortcut(interaction) : null;
      default:
        return null;
    }
  };

  function open(dialog: Dialog, subject: DialogSubject, interaction: Interaction): Promise<Reply> {
    return show(api, host, dialogView(dialog, subject, host.clock.now()), interaction);
  }

  async function ask(
    interaction: Interaction,
    externalId: string,
    { conversationId, seen, place }: DialogSubject,
    request: DeskAsk,
  ): Promise<Reply> {
    const by = interaction.user.id;
    await desk.accept({ kind: "asked", externalId, by, place, conversationId, ask: request, seen });
    return null;
  }

  async function clicked(interaction: Interaction): Promise<Reply> {
    const [action] = interaction.actions ?? [];
    const actionId = filled(action?.action_id) ?? "";
    const blockId = filled(action?.block_id) ?? "";
    const by = interaction.user.id;
    const externalId = `click:${by}:${filled(action?.action_ts) ?? ""}:${actionId}`.slice(0, 180);
    const place = placeOf(interaction);
    if (actionId.startsWith(chooseAction)) {
      const chosen = parseChoice(blockId, actionId);
      if (chosen === undefined) return null;
      await desk.accept({ kind: "chose", externalId, by, place, ...chosen });
      // If this fails, a second answer does no harm.
      await redraw(api, host, interaction, { delete_original: true });
      return null;
    }
    const on = parseBlockId(blockId);
    if (on === undefined) return null;
    const subject: DialogSubject = { ...on, place };
    const request = buttonRequests.get(actionId);
    if (request !== undefined) return ask(interaction, externalId, subject, request);
    switch (actionId) {
      case "parley_note":
        return open("note", subject, interaction);
      case "parley_tag": {
        const tags = (await desk.conversation(on.conversationId))?.tags ?? [];
        return open("tag", { ...subject, tags }, interaction);
      }
      case "parley_snooze": {
        const option = filled(action?.selected_option?.value) ?? "";
        if (option === "pick") return open("snooze", subject, interaction);
        const until = snoozeOptions.get(option);
        return until === undefined ? null : ask(interaction, externalId, subject, { kind: "snooze", until });
      }
      default:
        return null;
    }
  }

  async function submitted(interaction: Interaction): Promise<Reply> {
    const { view } = interaction;
    const dialog = dialogOf(view?.callback_id);
    const subject = subjectOf(view?.private_metadata);
    if (dialog === undefined || subject === undefined) return null;
    const read = readDialog(dialog, subject, view?.state?.values, host.clock.now());
    const externalId = `view:${filled(view?.id) ?? ""}`.slice(0, 180);
    switch (read.kind) {
      case "nothing":
        return null;
      case "wrong":
        return wrongField(read.message);
      case "ask":
        return ask(interaction, externalId, subject, read.ask);
      case "send": {
        const { conversationId, place, messageId = "" } = subject;
        const by = interaction.user.id;
        await desk.accept({ kind: "chose", externalId, by, place, conversationId, messageId, choice: "send" });
        return null;
      }
    }
  }

  /** The shortcut on a thread's message. It exists because a slash command does not get its thread. */
  async function shortcut(interaction: Interaction): Promise<Reply> {
    const ts = filled(interaction.message?.ts);
    const channelId = filled(interaction.channel?.id);
    if (ts === undefined || channelId === undefined) return null;
    const root = filled(interaction.message?.thread_ts) ?? ts;
    const place = placeIn(channelId, root);
    const conversationId = await desk.conversationOf(messageIdOf(channelId, root));
    const conversation = conversationId === null ? null : await desk.conversation(conversationId);
    if (conversation === null) {
      return show(api, host, sayingView("This message is in no thread of a conversation."), interaction);
    }
    const { id, status, assignee } = conversation;
    const seen = { status, assignedTo: assignee?.email ?? null };
    return open("message", { conversationId: id, seen, place, messageId: messageIdOf(channelId, ts) }, interaction);
  }

  function placeOf(interaction: Interaction): string {
    const { container, message, channel } = interaction;
    const channelId = filled(container?.channel_id) ?? filled(channel?.id) ?? desk.channel;
    const root = filled(container?.thread_ts) ?? filled(message?.thread_ts) ?? filled(container?.message_ts);
    return placeIn(channelId, root);
  }
}

/** Opens a dialog. A failure loses nothing: the agent clicks again. */
async function show(
  api: SlackApi,
  { log }: Pick<ChannelHost, "log">,
  view: Json,
  { trigger_id: trigger }: Interaction,
): Promise<Reply> {
  try {
    await api.within(dialogMs).views.open({ trigger_id: filled(trigger) ?? "", view: view as never });
  } catch (error) {
    log.warn({ failure: failureOf(error) }, "slack: opening a dialog failed");
  }
  return null;
}
