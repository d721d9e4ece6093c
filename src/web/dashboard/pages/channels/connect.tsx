import { api } from "#web/dashboard/api.ts";
import { addressOf } from "#web/dashboard/router.ts";
import { useDashboard, useQuery } from "#web/dashboard/store.ts";
import { Form, useForm } from "#web/dashboard/ui/form.tsx";
import { PageHead } from "#web/dashboard/ui/page.tsx";
import { Loaded, useResource } from "#web/dashboard/ui/resource.tsx";
import { withoutEmpty } from "#web/dashboard/ui/schema-form/schema.ts";
import { Tabs } from "#web/dashboard/ui/tabs.tsx";
import { Install } from "./install.tsx";
import type { AccountValues } from "./settings-fields.tsx";
import { AccountFields } from "./settings-fields.tsx";
import { AddressNotice, NewAddress, SetupTexts, Steps } from "./setup.tsx";
import { readKind } from "./kind.ts";
import type { ChannelAccount, ChannelKind } from "./types.ts";

/** The form that connects an account of a platform, with the platform's steps beside it. */
export function ConnectPage({ channel }: { readonly channel: string }) {
  const [provider] = useQuery("provider");
  const kind = useResource(() => readKind(channel, provider), [channel, provider]);
  const { label } = kind.data ?? {};
  return (
    <>
      <PageHead
        title={label === undefined ? "Connect a channel" : `Connect ${label}`}
        back={{ label: "Channels", href: addressOf("channels") }}
      />
      <Loaded of={kind}>{(found) => <Connect kind={found} />}</Loaded>
    </>
  );
}

function Connect({ kind }: { readonly kind: ChannelKind }) {
  const [by, setBy] = useQuery("by");
  const { setup_files: files, install } = kind;
  const isInstalled = install !== null && by === "install";
  return (
    <div class="with-preview">
      {install === null ? (
        <EnterSettings kind={kind} />
      ) : (
        <Tabs
          label="How to connect"
          current={by}
          choose={setBy}
          tabs={[
            { id: "tokens", label: "Enter tokens", render: () => <EnterSettings kind={kind} /> },
            { id: "install", label: install.label, render: () => <Install of={kind} form={install} /> },
          ]}
        />
      )}
      <div class="stack">
        <Steps of={kind} />
        {!isInstalled && <NewAddress of={kind} />}
        <SetupTexts of={files} isNew />
      </div>
    </div>
  );
}

function EnterSettings({ kind }: { readonly kind: ChannelKind }) {
  const { router, notices } = useDashboard();
  const { channel, provider } = kind;
  const form = useForm<AccountValues>({ name: kind.label, settings: provider === null ? {} : { provider } });
  return (
    <Form
      form={form}
      label="Connect"
      send={async ({ name, settings }) => {
        const given = { channel, name, settings: withoutEmpty(settings), id: kind.new_account?.id };
        const { id } = await api.post<ChannelAccount>("channels", given);
        notices.done("Channel connected.");
        router.go(addressOf("channels", id));
      }}
    >
      <AddressNotice of={kind} />
      <AccountFields kind={kind} form={form} secretsSet={[]} />
    </Form>
  );
}
