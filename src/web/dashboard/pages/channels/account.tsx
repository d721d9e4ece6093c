import { useState } from "preact/hooks";
import { Button } from "#web/shared/ui/elements.tsx";
import { api } from "#web/dashboard/api.ts";
import { addressOf } from "#web/dashboard/router.ts";
import { useCanWrite, useDashboard } from "#web/dashboard/store.ts";
import { ConfirmDialog } from "#web/dashboard/ui/confirm-dialog.tsx";
import { CopyField } from "#web/dashboard/ui/copy.tsx";
import { Form, useForm } from "#web/dashboard/ui/form.tsx";
import { icons } from "#web/dashboard/ui/icons.ts";
import { ManagedByFile, RelativeTime } from "#web/dashboard/ui/marks.tsx";
import { PageHead, Section } from "#web/dashboard/ui/page.tsx";
import type { Resource } from "#web/dashboard/ui/resource.tsx";
import { Loaded, useResource } from "#web/dashboard/ui/resource.tsx";
import { withoutEmpty } from "#web/dashboard/ui/schema-form/schema.ts";
import { InstallAgain } from "./install.tsx";
import type { AccountValues } from "./settings-fields.tsx";
import { AccountFields } from "./settings-fields.tsx";
import { SetupTexts, Steps } from "./setup.tsx";
import { ChannelState, LastError } from "./state.tsx";
import { Trials } from "./trials.tsx";
import { readKind } from "./kind.ts";
import type { ChannelAccount, ChannelKind } from "./types.ts";
import { usePolling } from "#web/dashboard/ui/polling.ts";

/** One account: how it does, its settings, and tries of it. */
export function AccountPage({ id }: { readonly id: string }) {
  const account = useResource(() => api.get<ChannelAccount>(`channels/${id}`), [id]);
  // Built-in channels have no settings here: the pages Widget and Settings have them.
  const isBuiltIn = account.data?.managed_by === "builtin";
  const channel = isBuiltIn ? undefined : account.data?.channel;
  const { provider = "" } = account.data?.settings ?? {};
  const kind = useResource(
    async () => (channel === undefined ? undefined : readKind(channel, typeof provider === "string" ? provider : "")),
    [channel, provider],
  );
  usePolling(true, account.reload);
  return (
    <>
      <PageHead
        title={(isBuiltIn ? account.data?.label : account.data?.name) ?? "Channel"}
        back={{ label: "Channels", href: addressOf("channels") }}
        lead={isBuiltIn || account.data?.name === account.data?.label ? undefined : account.data?.label}
        actions={account.data !== undefined && <Actions of={account.data} resource={account} />}
      />
      <Loaded of={account}>{(found) => <Status of={found} />}</Loaded>
      {account.data !== undefined && !isBuiltIn && <Trials of={account.data} />}
      {!isBuiltIn && (
        <Loaded of={kind}>
          {(found) =>
            found !== undefined &&
            account.data !== undefined && <Settings account={account.data} kind={found} resource={account} />
          }
        </Loaded>
      )}
    </>
  );
}

const Status = ({ of: account }: { readonly of: ChannelAccount }) => (
  <Section title="State">
    <p>
      <ChannelState of={account} /> Last event: <RelativeTime at={account.last_event_at} />
    </p>
    <LastError of={account} />
    {account.managed_by === "builtin" && (
      <p>
        Its texts and colours are on the page <a href={addressOf("widget")}>Widget</a>.
      </p>
    )}
    {account.webhook_url !== null && (
      <CopyField label="Webhook address" value={account.webhook_url} hint="The platform delivers messages to it." />
    )}
  </Section>
);

type Open = "pause" | "remove";

function Actions({
  of: account,
  resource,
}: {
  readonly of: ChannelAccount;
  readonly resource: Resource<ChannelAccount>;
}) {
  const { notices, router } = useDashboard();
  const canWrite = useCanWrite();
  const [open, setOpen] = useState<Open>();
  const close = (): void => setOpen(undefined);
  // The form of an account that the file declares says so itself.
  if (!account.can_pause) return account.managed_by === "builtin" && account.channel !== "api" && <ManagedByFile />;
  if (!canWrite) return null;
  const isOwn = account.managed_by === "dashboard";
  const path = `channels/${account.id}`;
  async function resume(): Promise<void> {
    try {
      resource.set(await api.post<ChannelAccount>(`${path}/resume`));
      notices.done("Channel resumed.");
    } catch (error) {
      notices.report(error);
    }
  }
  return (
    <>
      {account.state === "paused" ? (
        <Button label="Resume" kind="primary" shape={icons.play} onClick={() => void resume()} />
      ) : (
        <Button label="Pause" kind="secondary" shape={icons.pause} onClick={() => setOpen("pause")} />
      )}
      {isOwn && account.can_install && <InstallAgain of={account} />}
      {isOwn && <Button label="Remove" kind="secondary danger" shape={icons.trash} onClick={() => setOpen("remove")} />}
      {open === "pause" && (
        <ConfirmDialog
          title={`Pause ${isOwn ? account.name : account.label}?`}
          confirm="Pause"
          done="Channel paused."
          run={async () => resource.set(await api.post<ChannelAccount>(`${path}/pause`))}
          closed={close}
        >
          <p>
            {isOwn
              ? "Nothing is received. Replies wait until you resume the channel."
              : `${account.channel === "widget" ? "Websites show no chat" : "The chat page is closed"}. Replies wait until you resume the channel.`}
          </p>
        </ConfirmDialog>
      )}
      {open === "remove" && (
        <ConfirmDialog
          title={`Remove ${account.name}?`}
          confirm="Remove"
          done="Channel removed."
          run={async () => {
            await api.del(path);
            router.go(addressOf("channels"));
          }}
          closed={close}
        >
          <p>Its credentials are deleted. Conversations stay readable, and replies that wait are not sent.</p>
        </ConfirmDialog>
      )}
    </>
  );
}

function Settings(props: {
  readonly account: ChannelAccount;
  readonly kind: ChannelKind;
  readonly resource: Resource<ChannelAccount>;
}) {
  const { account, kind, resource } = props;
  const form = useForm<AccountValues>({ name: account.name, settings: account.settings });
  const [saves, setSaves] = useState(0);
  const [edited, setEdited] = useState(account);
  // Pausing is no change of what this form shows, so it is no conflict.
  const { revision } = shownOf(account) === shownOf(edited) ? account : edited;
  return (
    <Section title="Settings">
      <div class="with-preview">
        <Form
          form={form}
          label="Save"
          done="Channel saved."
          isManaged={account.managed_by !== "dashboard"}
          send={async ({ name, settings }) => {
            const saved = await api.patch<ChannelAccount>(`channels/${account.id}`, {
              name,
              settings: withoutEmpty(settings),
              revision,
            });
            resource.set(saved);
            setEdited(saved);
            form.setValues({ name: saved.name, settings: saved.settings });
            setSaves(saves + 1);
          }}
        >
          <AccountFields key={saves} kind={kind} form={form} secretsSet={account.secrets_set} />
        </Form>
        <div class="stack">
          <Steps of={kind} />
          <SetupTexts of={account.setup_files} />
        </div>
      </div>
    </Section>
  );
}

const shownOf = ({ name, settings }: ChannelAccount): string => JSON.stringify([name, settings]);
