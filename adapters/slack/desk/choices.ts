import type { DeskNotice, DraftChoice } from "#channels/desk/contract.ts";
import type { Json } from "./card.ts";

const labels: Readonly<Record<DraftChoice, string>> = {
  send: "Send",
  take_over: "Take over and send",
  note: "Keep as note",
};

export const chooseAction = "parley_choose_";

type Choices = NonNullable<DeskNotice["choices"]>;

/** Buttons that decide about a held reply. */
export function choiceButtons({ conversationId, messageId, options }: Choices): Json {
  return {
    type: "actions",
    block_id: `choose|${conversationId}|${messageId}`.slice(0, 255),
    elements: options.map((choice) => ({
      type: "button",
      action_id: `${chooseAction}${choice}`,
      text: {
        type: "plain_text",
        text: choice === "send" && options.includes("take_over") ? "Send anyway" : labels[choice],
      },
      ...(choice === "send" ? { style: "primary" } : {}),
    })),
  };
}

export function parseChoice(
  blockId: string,
  actionId: string,
): { readonly conversationId: string; readonly messageId: string; readonly choice: DraftChoice } | undefined {
  const [, conversationId, messageId] =
    /^choose\|(conv_[0-9a-z]{26})\|([A-Z0-9]{1,60}:\d{1,11}\.\d{1,9})$/.exec(blockId) ?? [];
  const choice = actionId.slice(chooseAction.length);
  if (conversationId === undefined || messageId === undefined || !Object.hasOwn(labels, choice)) return undefined;
  return { conversationId, messageId, choice: choice as DraftChoice };
}
