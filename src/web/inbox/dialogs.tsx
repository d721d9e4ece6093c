import type { ComponentChild } from "preact";
import { useRef } from "preact/hooks";
import type { Dialog as OpenDialog, InboxStore } from "./inbox-store.ts";
import { useInbox } from "./inbox-store.ts";
import { Button } from "#web/shared/ui/elements.tsx";
import { closeDialog, Dialog } from "#web/shared/ui/dialog.tsx";
import { MacroDialog } from "./composer/macros.tsx";
import { SkippedMessagesDialog } from "./list/skipped-messages.tsx";
import { ShortcutList, shortcuts } from "./ui/shortcuts.tsx";
import { dateText } from "#web/shared/ui/time.ts";

/** The dialog that is open. */
export function Dialogs() {
  const store = useInbox();
  const asked = store.dialog.value;
  if (asked === undefined) return null;
  if (asked.kind === "date") return <DateDialog />;
  if (asked.kind === "macros") return <MacroDialog />;
  if (asked.kind === "skipped-messages") return <SkippedMessagesDialog />;
  const { title, content, answers } = questionOf(asked, store);
  return (
    <Dialog title={title} closed={() => (store.dialog.value = undefined)}>
      {typeof content === "string" ? <p>{content}</p> : content}
      <div class={answers.length > 2 ? "dialog-actions stacked" : "dialog-actions"}>
        {answers.map(({ label, kind = "secondary", choose }) => (
          <Button
            key={label}
            label={label}
            kind={kind}
            onClick={(event) => {
              closeDialog(event);
              choose?.();
            }}
          />
        ))}
      </div>
    </Dialog>
  );
}

interface Question {
  readonly title: string;
  readonly content: string | ComponentChild;
  readonly answers: readonly { readonly label: string; readonly kind?: string; readonly choose?: () => void }[];
}

function questionOf(
  asked: Exclude<OpenDialog, { kind: "date" | "macros" | "skipped-messages" }>,
  store: InboxStore,
): Question {
  const { actions, sending, ownReplies } = store;
  const takeOver = (): Promise<boolean> => actions.act("claim", { takeOver: true });
  const sendAnyway = (): void => void sending.submit({ anyway: true });
  switch (asked.kind) {
    case "shortcuts":
      return {
        title: "Keyboard shortcuts",
        content: <ShortcutList list={shortcuts} />,
        answers: [{ label: "Close", kind: "primary" }],
      };
    case "take-over":
      return {
        title: "Take this conversation over?",
        content: `${asked.name} has claimed it. They will see that you took it over.`,
        answers: [{ label: "Leave it" }, { label: "Take over", kind: "primary", choose: () => void takeOver() }],
      };
    case "held":
      return {
        title: "Your reply was not sent",
        content: `${asked.name} has this conversation, and the customer might hear from both of you.`,
        answers: [
          {
            label: "Take over and send",
            kind: "primary",
            choose: () => void takeOver().then((isMine) => isMine && sendAnyway()),
          },
          { label: "Send anyway", choose: sendAnyway },
          { label: "Keep as note", choose: () => void sending.keepAsNote() },
          { label: "Keep editing", kind: "plain" },
        ],
      };
    case "delete-reply": {
      const remove = (): void => void ownReplies.remove(asked.messageId);
      return {
        title: "Delete your reply?",
        content: `It disappears for ${asked.customer}, too. What they have read they have read.`,
        answers: [{ label: "Keep it" }, { label: "Delete", kind: "primary danger", choose: remove }],
      };
    }
    case "remove-manual":
      return {
        title: "Remove the built-in manual?",
        content: "The bot then answers from your own documents only. This cannot be undone.",
        answers: [
          { label: "Keep it" },
          { label: "Remove", kind: "primary danger", choose: () => void store.removeManual() },
        ],
      };
  }
}

/** Asks for a day of the open conversation, and shows its first message. */
function DateDialog() {
  const { dialog, open, conversationSync } = useInbox();
  const day = useRef<HTMLInputElement>(null);
  const conversation = open.conversation.peek();
  const go = (): void => {
    const [year = 0, month = 1, date = 1] = (day.current?.value ?? "").split("-").map(Number);
    void conversationSync.jump({ at: new Date(year, month - 1, date).getTime() });
  };
  const first = dateText(conversation?.startedAt ?? 0);
  return (
    <Dialog title="Go to a date" closed={() => (dialog.value = undefined)}>
      <form method="dialog" onSubmit={go}>
        <label for="go-to-date">First message on or after this day</label>
        <input
          ref={day}
          type="date"
          id="go-to-date"
          required
          min={first}
          max={dateText(conversation?.lastMessageAt ?? 0)}
          defaultValue={first}
        />
        <div class="dialog-actions">
          <Button label="Cancel" kind="secondary" onClick={closeDialog} />
          <Button label="Go" kind="primary" type="submit" />
        </div>
      </form>
    </Dialog>
  );
}
