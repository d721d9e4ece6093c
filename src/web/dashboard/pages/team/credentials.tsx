import { useState } from "preact/hooks";
import { Button } from "#web/shared/ui/elements.tsx";
import { dateAndTime } from "#web/shared/ui/time.ts";
import { api } from "#web/dashboard/api.ts";
import { useDashboard } from "#web/dashboard/store.ts";
import { ConfirmDialog } from "#web/dashboard/ui/confirm-dialog.tsx";
import { Section } from "#web/dashboard/ui/page.tsx";
import { ShownOnceDialog } from "#web/dashboard/ui/shown-once-dialog.tsx";
import type { Agent } from "./types.ts";

interface Removal {
  readonly label: string;
  readonly path: string;
  readonly done: string;
  readonly loss: string;
}

const removals: Readonly<Record<"second_factor" | "identity" | "picture", Removal>> = {
  second_factor: {
    label: "Turn the second factor off",
    path: "second-factor",
    done: "Second factor is off.",
    loss: "The password alone signs in until the agent sets a new one up.",
  },
  identity: {
    label: "Forget the provider's account",
    path: "identity",
    done: "Account forgotten.",
    loss: "The sessions end. At the next sign-in, the account of the provider with this e-mail address is the agent's.",
  },
  picture: {
    label: "Remove the picture",
    path: "avatar",
    done: "Picture removed.",
    loss: "Customers see the initials instead.",
  },
};

interface PasswordLink {
  readonly password_url: string;
  readonly expires_at: string;
}

/** Lets an agent set a new password, and removes what they lost or what must not be there. */
export function AgentCredentials({ agent, changed }: { readonly agent: Agent; readonly changed: () => Promise<void> }) {
  const { me, notices } = useDashboard();
  const [asked, setAsked] = useState<Removal>();
  const [link, setLink] = useState<PasswordLink>();
  const [isBusy, setBusy] = useState(false);
  const isSelf = me.value.agent.id === agent.id;
  const possible = [
    // Their own needs the password, on the page of the account.
    ...(agent.has_second_factor && !isSelf ? [removals.second_factor] : []),
    ...(agent.has_identity ? [removals.identity] : []),
    ...(agent.has_picture ? [removals.picture] : []),
  ];
  const maySetPassword = !isSelf && agent.invited_until === null;
  if (possible.length === 0 && !maySetPassword) return null;
  async function makeLink(): Promise<void> {
    // A second link would end the first. A disabled button would lose the focus, which the dialog returns to it.
    if (isBusy) return;
    setBusy(true);
    try {
      setLink(await api.post<PasswordLink>(`agents/${agent.id}/password-link`));
    } catch (error) {
      notices.report(error);
    } finally {
      setBusy(false);
    }
  }
  return (
    <Section title="Sign-in and picture">
      <div class="row-actions">
        {maySetPassword && (
          <Button
            label="Make a link for a new password"
            kind="secondary"
            aria-busy={isBusy}
            onClick={() => void makeLink()}
          />
        )}
        {possible.map((each) => (
          <Button key={each.path} label={each.label} kind="secondary" onClick={() => setAsked(each)} />
        ))}
      </div>
      {asked !== undefined && (
        <ConfirmDialog
          title={`${asked.label}?`}
          confirm={asked.label}
          done={asked.done}
          run={async () => {
            await api.del(`agents/${agent.id}/${asked.path}`);
            await changed();
          }}
          closed={() => setAsked(undefined)}
        >
          <p>{asked.loss}</p>
        </ConfirmDialog>
      )}
      {link !== undefined && (
        <ShownOnceDialog
          title={`A new password for ${agent.name}`}
          label="Link"
          value={link.password_url}
          hint={`Send it to ${agent.name}. It works once, until ${dateAndTime(Date.parse(link.expires_at))}. The password before works until the link is used.`}
          closed={() => setLink(undefined)}
        />
      )}
    </Section>
  );
}
