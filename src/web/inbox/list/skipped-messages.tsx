import { useEffect, useState } from "preact/hooks";
import type { SkippedMessageView } from "#http/inbox/wire.ts";
import { useInbox } from "#web/inbox/inbox-store.ts";
import { api } from "#web/inbox/store/api.ts";
import { closeDialog, Dialog } from "#web/shared/ui/dialog.tsx";
import { Button } from "#web/shared/ui/elements.tsx";
import { dateAndTime } from "#web/shared/ui/time.ts";

/** Lists the mails that became no conversation, so that agents can tell a customer's mail from a newsletter. */
export function SkippedMessagesDialog() {
  const store = useInbox();
  const [messages, setMessages] = useState<readonly SkippedMessageView[]>();
  const [error, setError] = useState<string>();
  useEffect(() => {
    api.skippedMessages().then(setMessages, () => setError("The list could not be loaded. Close it and try again."));
  }, []);
  return (
    <Dialog title="Skipped mail of the last 30 days" closed={() => (store.dialog.value = undefined)}>
      <p>These mails are in the mailbox. They became no conversation, and nobody answers them.</p>
      {error !== undefined && <p role="alert">{error}</p>}
      {messages === undefined && error === undefined && <p role="status">Loading…</p>}
      {messages !== undefined && (
        <ul class="skipped-messages" tabIndex={0} aria-label="Skipped mail">
          {messages.map(({ receivedAt, account, sender, title, reason }) => (
            <li key={`${receivedAt} ${sender ?? ""} ${title}`}>
              <bdi class="skipped-title">{title === "" ? "No subject" : title}</bdi>
              <span class="skipped-from">
                <bdi>{sender ?? "Unknown sender"}</bdi> · {dateAndTime(receivedAt)} · {account}
              </span>
              <span>Skipped because {reason}.</span>
            </li>
          ))}
        </ul>
      )}
      <div class="dialog-actions">
        <Button label="Close" kind="primary" onClick={closeDialog} />
      </div>
    </Dialog>
  );
}
