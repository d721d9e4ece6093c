import { useState } from "preact/hooks";
import { Button } from "#web/shared/ui/elements.tsx";
import { api } from "#web/dashboard/api.ts";
import { useCanWrite, useDashboard } from "#web/dashboard/store.ts";
import { FormDialog } from "#web/dashboard/ui/confirm-dialog.tsx";
import { TextField } from "#web/dashboard/ui/fields/text.tsx";
import { Badge } from "#web/dashboard/ui/marks.tsx";
import { Section } from "#web/dashboard/ui/page.tsx";
import type { ChannelAccount } from "./types.ts";

interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** Asks the platform whether the account works, and sends a test message where the platform lets the bot write first. */
export function Trials({ of: account }: { readonly of: ChannelAccount }) {
  const { notices, me } = useDashboard();
  const canWrite = useCanWrite();
  const [checks, setChecks] = useState<readonly Check[]>();
  const [isBusy, setBusy] = useState(false);
  const [isSending, setSending] = useState(false);
  const { test_address: address } = account;
  if (!canWrite || account.state === "disabled") return null;

  async function check(): Promise<void> {
    setBusy(true);
    try {
      setChecks((await api.post<{ readonly checks: readonly Check[] }>(`channels/${account.id}/check`)).checks);
    } catch (error) {
      notices.report(error);
    } finally {
      setBusy(false);
    }
  }
  return (
    <Section
      title="Check"
      lead={address === null ? "On this platform, only customers can begin a conversation." : undefined}
      actions={
        <>
          <Button
            label={isBusy ? "Checking…" : "Check the channel"}
            kind="secondary"
            disabled={isBusy}
            onClick={() => void check()}
          />
          {address !== null && <Button label="Send a test message" kind="secondary" onClick={() => setSending(true)} />}
        </>
      }
    >
      <ul class="checks" aria-live="polite">
        {checks?.map(({ name, ok, detail }) => (
          <li key={name}>
            <Badge tone={ok ? "good" : "bad"}>{ok ? "Works" : "Problem"}</Badge> <span class="break">{detail}</span>
          </li>
        ))}
      </ul>
      {isSending && address !== null && (
        <FormDialog
          title="Send a test message"
          label="Send"
          done="Test message sent. Answer it, and the answer appears in the inbox."
          initial={{ to: address.is_email ? me.value.agent.email : "", text: "This is a test message." }}
          send={(values) => api.post(`channels/${account.id}/test-message`, values)}
          closed={() => setSending(false)}
        >
          {(form) => (
            <>
              <TextField of={form.field("to")} label={address.label} hint={address.hint} required maxLength={200} />
              <TextField of={form.field("text")} label="Text" required maxLength={1_000} />
            </>
          )}
        </FormDialog>
      )}
    </Section>
  );
}
