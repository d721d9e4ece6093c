import { useState } from "preact/hooks";
import { Button } from "#web/shared/ui/elements.tsx";
import { api } from "#web/dashboard/api.ts";
import { useCanWrite, useDashboard } from "#web/dashboard/store.ts";
import { ConfirmDialog } from "#web/dashboard/ui/confirm-dialog.tsx";
import { Callout } from "#web/dashboard/ui/marks.tsx";
import type { DeadLetter } from "./types.ts";

const shownMax = 5;

/** Work that was given up, which administrators try again or dismiss. */
export function DeadLetters(props: { readonly of: readonly DeadLetter[]; readonly reload: () => Promise<void> }) {
  const { of: letters, reload } = props;
  const { notices } = useDashboard();
  const canWrite = useCanWrite();
  const [isBusy, setBusy] = useState(false);
  const [dismissed, setDismissed] = useState<DeadLetter>();
  const [isWhole, setWhole] = useState(false);
  const retriable = letters.filter(({ can_retry: canRetry }) => canRetry).length;

  async function retry(path: string): Promise<void> {
    setBusy(true);
    try {
      const { retried } = await api.post<{ readonly retried: number }>(path);
      notices.done(doneText(retried));
    } catch (error) {
      notices.report(error);
    }
    // A refusal, too, can mean that the list is older than the work.
    await reload();
    setBusy(false);
  }
  async function dismiss({ id }: DeadLetter): Promise<void> {
    try {
      await api.del(`dead-letters/${id}`);
    } finally {
      // A refusal, too, can mean that the list is older than the work.
      await reload();
    }
  }
  return (
    <>
      {(isWhole ? letters : letters.slice(0, shownMax)).map((letter) => (
        <Letter
          key={letter.id}
          of={letter}
          isBusy={isBusy}
          retry={() => void retry(`dead-letters/${letter.id}/retry`)}
          dismiss={() => setDismissed(letter)}
        />
      ))}
      {!isWhole && letters.length > shownMax && (
        <p class="row-actions">
          <Button label={`Show ${letters.length - shownMax} more`} kind="secondary" onClick={() => setWhole(true)} />
        </p>
      )}
      {canWrite && retriable > 1 && (
        <p class="row-actions">
          <Button
            label="Try all again"
            kind="secondary"
            disabled={isBusy}
            onClick={() => void retry("dead-letters/retry")}
          />
        </p>
      )}
      {dismissed !== undefined && (
        <ConfirmDialog
          title="Dismiss this work?"
          confirm="Dismiss"
          run={() => dismiss(dismissed)}
          done="The work was dismissed."
          closed={() => setDismissed(undefined)}
        >
          <p>{dismissed.title}. It will not be done, and cannot be tried again.</p>
        </ConfirmDialog>
      )}
    </>
  );
}

function doneText(retried: number): string {
  if (retried === 0) return "Nothing is left to try again.";
  return retried === 1 ? "The work is being tried again." : `${retried} pieces of work are being tried again.`;
}

function Letter(props: {
  readonly of: DeadLetter;
  readonly isBusy: boolean;
  readonly retry: () => void;
  readonly dismiss: () => void;
}) {
  const { of: letter, isBusy, retry, dismiss } = props;
  const { title, error, conversation_id: conversationId } = letter;
  const canWrite = useCanWrite();
  return (
    <Callout tone="bad">
      <span dir="auto">{error === null ? `${title}.` : `${title}: ${error}`}</span>{" "}
      {conversationId !== null && <a href={`/inbox#/all/${conversationId}`}>Open the conversation</a>}
      {canWrite && (letter.can_retry || letter.can_dismiss) && (
        <p class="row-actions">
          {letter.can_retry && (
            <Button
              label="Try again"
              kind="secondary"
              disabled={isBusy}
              aria-label={`Try again: ${title}`}
              onClick={retry}
            />
          )}
          {letter.can_dismiss && (
            <Button
              label="Dismiss"
              kind="secondary"
              disabled={isBusy}
              aria-label={`Dismiss: ${title}`}
              onClick={dismiss}
            />
          )}
        </p>
      )}
    </Callout>
  );
}
