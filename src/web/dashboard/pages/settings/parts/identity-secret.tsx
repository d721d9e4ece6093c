import { useState } from "preact/hooks";
import { Button } from "#web/shared/ui/elements.tsx";
import { api } from "#web/dashboard/api.ts";
import { useDashboard } from "#web/dashboard/store.ts";
import { ConfirmDialog } from "#web/dashboard/ui/confirm-dialog.tsx";
import { icons } from "#web/dashboard/ui/icons.ts";
import { Section } from "#web/dashboard/ui/page.tsx";
import { ShownOnceDialog } from "#web/dashboard/ui/shown-once-dialog.tsx";

/** The secret with which the company's own server proves who a customer is. */
export function IdentitySecret() {
  const { me } = useDashboard();
  const [isAsking, setAsking] = useState(false);
  const [secret, setSecret] = useState<string>();
  if (me.value.agent.role !== "admin") return null;
  return (
    <Section
      title="Identity secret"
      lead="Your server signs the id of a signed-in customer with it, so that nobody else can write in their name."
    >
      <p class="row-actions">
        <Button label="Make an identity secret" kind="secondary" shape={icons.reload} onClick={() => setAsking(true)} />
      </p>
      {isAsking && (
        <ConfirmDialog
          title="Make an identity secret?"
          confirm="Make it"
          run={async () => {
            const made = await api.post<{ readonly identity_secret: string }>("identity-secret");
            setSecret(made.identity_secret);
          }}
          closed={() => setAsking(false)}
        >
          <p>
            The secret before stops working within a second. Until your server has the new one, customers in the chat
            are anonymous, and the API refuses their requests.
          </p>
        </ConfirmDialog>
      )}
      {secret !== undefined && (
        <ShownOnceDialog
          title="The identity secret"
          label="Identity secret"
          value={secret}
          hint="Copy it now, to your server only. It is not shown again."
          closed={() => setSecret(undefined)}
        />
      )}
    </Section>
  );
}
