import type { ChannelHost } from "#channels/contract.ts";
import type { OpinionButton } from "#channels/opinion-buttons.ts";
import { buttonsAfter, readOpinion } from "#channels/opinion-buttons.ts";
import type { SlackApi } from "../client.ts";
import { isSlackAddress } from "../client.ts";
import { fieldsOf } from "../deliveries/deliveries.ts";
import type { Interaction } from "../deliveries/payloads.ts";
import { filled } from "../deliveries/payloads.ts";
import { failureOf } from "../errors.ts";
import { timeOf } from "../inbound.ts";
import { threadOf } from "./thread.ts";

/** The press is acknowledged after this at the latest, for which Slack waits three seconds. */
const displayMs = 1_000;

/** A row of buttons below a message. Action ids must differ within it. */
export const actionsBlock = (blockId: string, buttons: readonly OpinionButton[]) => ({
  type: "actions" as const,
  block_id: blockId,
  elements: buttons.map(({ label, name, data }) => ({
    type: "button" as const,
    text: { type: "plain_text" as const, text: label, emoji: true },
    accessibility_label: name,
    action_id: data,
    value: data,
  })),
});

/** Slack's own thumbs, in place of a row of two buttons. Undefined for other buttons. */
export function feedbackBlock(blockId: string, buttons: readonly OpinionButton[]) {
  const [positive, negative, ...others] = buttons.map(({ label, name, data }) => ({
    text: { type: "plain_text" as const, text: label, emoji: true },
    accessibility_label: name,
    value: data,
  }));
  if (positive === undefined || negative === undefined || others.length > 0) return undefined;
  return {
    type: "context_actions" as const,
    block_id: blockId,
    elements: [
      {
        type: "feedback_buttons" as const,
        action_id: "parley:feedback",
        positive_button: positive,
        negative_button: negative,
      },
    ],
  };
}

/** Resolves when the press is stored and, if Slack answers in time, the button is marked. */
export async function takePress(
  { api, host }: { readonly api: SlackApi; readonly host: ChannelHost },
  interaction: Interaction,
): Promise<void> {
  const { user, team, container, message, channel, actions } = interaction;
  const opinion = readOpinion(filled(actions?.[0]?.value) ?? "");
  const channelId = filled(container?.channel_id) ?? filled(channel?.id);
  const teamId = filled(user.team_id) ?? filled(team?.id);
  const at = filled(actions?.[0]?.action_ts);
  if (opinion === undefined || channelId === undefined || teamId === undefined || at === undefined) return;
  const ts = filled(message?.ts) ?? filled(container?.message_ts);
  const root = filled(message?.thread_ts) ?? filled(container?.thread_ts);
  const sender = { key: `${teamId}:${user.id}` };
  const { messageId } = await host.accept({
    ...opinion,
    externalId: `press:${user.id}:${at}:${opinion.of.messageId}`.slice(0, 190),
    // Slack lists the first message of a thread in its own thread.
    thread: threadOf({ channelId, threadTs: root === ts ? undefined : root }),
    sender,
    sentAt: timeOf(at),
  });
  // Null: it does not count, such as a press of somebody else in the channel.
  if (messageId === null) return;
  const pressed = filled(actions?.[0]?.block_id);
  const given: unknown = message?.blocks;
  if (pressed === undefined || !Array.isArray(given)) return;
  const buttons = buttonsAfter(opinion);
  const blocks = given.map((block: unknown) => {
    const { block_id: id, type } = fieldsOf(block);
    if (id !== pressed) return block;
    return (type === "context_actions" ? feedbackBlock(pressed, buttons) : undefined) ?? actionsBlock(pressed, buttons);
  });
  await redraw(api, host, interaction, { replace_original: true, text: message?.text ?? "", blocks });
}

/** Replaces or deletes the message of a pressed button. A failure loses nothing. */
export async function redraw(
  api: SlackApi,
  { log }: Pick<ChannelHost, "log">,
  { response_url: responseUrl }: Interaction,
  message: object,
): Promise<void> {
  const url = filled(responseUrl);
  if (url === undefined || !isSlackAddress(url, api.baseUrl)) return;
  try {
    const status = await api.respond(url, message, AbortSignal.timeout(displayMs));
    if (status >= 300) log.info({ status }, "slack: changing the message of a pressed button failed");
  } catch (error) {
    log.info({ failure: failureOf(error) }, "slack: changing the message of a pressed button failed");
  }
}
