import { computed, effect, signal } from "@preact/signals";
import type { ConversationView, MessageView } from "#http/inbox/wire.ts";
import type { Actions } from "#web/inbox/store/actions.ts";
import type { Notices } from "#web/shared/ui/notices.ts";
import type { OpenConversation } from "#web/inbox/store/open-conversation.ts";

/** A reply that is being edited. `was`: its text before. */
export interface Editing {
  readonly messageId: string;
  readonly was: string;
  readonly text: string;
}

export type ToolName = "edit" | "remove";

/** Edits and deletes sent replies of this agent. */
export function createOwnReplies(
  open: OpenConversation,
  { amend }: Pick<Actions, "amend">,
  { problem }: Pick<Notices, "problem">,
) {
  const editing = signal<Editing | undefined>(undefined);

  function end(messageId: string): void {
    editing.value = undefined;
    focusTool(messageId, "edit");
  }

  effect(() => {
    const id = editing.value?.messageId;
    if (open.shown.value.messages.find((message) => message.id === id)?.own !== null) return;
    editing.value = undefined;
    problem("The reply that you were changing was deleted meanwhile.");
  });

  return {
    editing,
    editingId: computed(() => editing.value?.messageId),
    begin: (messageId: string, was: string) => void (editing.value = { messageId, was, text: was }),
    cancel: end,
    async save({ messageId, was, text }: Editing): Promise<boolean> {
      const isSaved = await amend(messageId, text.trim(), was);
      if (isSaved) end(messageId);
      return isSaved;
    },
    async remove(messageId: string): Promise<void> {
      await amend(messageId, null);
      focusTool(messageId, "remove");
    },
  };
}

/** The tools that a message has: none where the channel cannot change it, or it did not arrive. */
export function toolsOf(
  { own, changing, delivery, unsent }: MessageView,
  { edit, remove }: ConversationView["amendable"],
): readonly ToolName[] {
  if (own === null || changing !== null || delivery?.state === "failed" || delivery?.state === "unknown") return [];
  return [
    // A message of files only has no text to edit.
    ...((edit || unsent) && own !== "" ? (["edit"] as const) : []),
    ...(remove || unsent ? (["remove"] as const) : []),
  ];
}

export const toolId = (messageId: string, name: ToolName): string => `${name}-${messageId}`;

/** Returns the focus to the button that was pressed, for those who work by the keyboard. */
function focusTool(messageId: string, name: ToolName): void {
  requestAnimationFrame(() => {
    const tool = document.querySelector<HTMLElement>(`#${CSS.escape(toolId(messageId, name))}`);
    (tool ?? document.querySelector<HTMLElement>(".log"))?.focus({ preventScroll: true });
  });
}
