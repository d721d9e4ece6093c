import { Empty, Icon } from "#web/shared/ui/elements.tsx";
import { api } from "#web/dashboard/api.ts";
import type { DashboardPage } from "#web/dashboard/page.ts";
import { addressOf } from "#web/dashboard/router.ts";
import { icons } from "#web/dashboard/ui/icons.ts";
import { ManagedByFile, RelativeTime } from "#web/dashboard/ui/marks.tsx";
import { PageHead, Section } from "#web/dashboard/ui/page.tsx";
import { Loaded, useResource } from "#web/dashboard/ui/resource.tsx";
import { DataTable } from "#web/dashboard/ui/table.tsx";
import { useCanWrite } from "#web/dashboard/store.ts";
import { AccountPage } from "./account.tsx";
import { ConnectPage } from "./connect.tsx";
import { usePolling } from "#web/dashboard/ui/polling.ts";
import { ChannelState } from "./state.tsx";
import type { ChannelAccount, ListedKind } from "./types.ts";

export const channelsPage: DashboardPage = {
  path: "channels",
  label: "Channels",
  about: "Where customers write: connect platforms, and see that they work.",
  group: "Channels",
  icon: icons.channels,
  roles: ["admin"],
  render: (id) => {
    if (id === undefined) return <Channels />;
    return id.startsWith("acc_") ? <AccountPage key={id} id={id} /> : <ConnectPage key={id} channel={id} />;
  },
};

function Channels() {
  const list = useResource(
    async () => (await api.get<{ readonly channels: readonly ChannelAccount[] }>("channels")).channels,
    [],
  );
  const kinds = useResource(
    async () => (await api.get<{ readonly kinds: readonly ListedKind[] }>("channels/kinds")).kinds,
    [],
  );
  const canWrite = useCanWrite();
  usePolling(true, list.reload);
  return (
    <>
      <PageHead title="Channels" lead="Customers write on these channels, and replies leave on the same one." />
      <Loaded of={list}>{(rows) => <AccountTable rows={rows} />}</Loaded>
      {canWrite && (
        <Section title="Connect a channel" lead="Choose a platform. It starts at once, without a restart.">
          <Loaded of={kinds}>{(found) => <Kinds of={found} />}</Loaded>
        </Section>
      )}
    </>
  );
}

const AccountTable = ({ rows }: { readonly rows: readonly ChannelAccount[] }) => (
  <DataTable
    caption="Channels"
    rows={rows}
    rowKey={({ id }) => id}
    empty={
      <Empty shape={icons.channels} title="No channels yet">
        <p>Connect a platform below.</p>
      </Empty>
    }
    columns={[
      {
        header: "Channel",
        cell: ({ id, channel, name, label, managed_by: by }) =>
          channel === "api" ? label : <a href={addressOf("channels", id)}>{by === "builtin" ? label : name}</a>,
      },
      { header: "Platform", cell: ({ label, managed_by: by }) => (by === "builtin" ? "Built in" : label) },
      { header: "State", cell: (account) => <ChannelState of={account} /> },
      { header: "Last event", cell: ({ last_event_at: at }) => <RelativeTime at={at} /> },
      {
        header: "Error",
        cell: ({ error, state }) =>
          error !== null && state === "broken" ? <span class="break">{error}</span> : <span class="soft">none</span>,
      },
      { header: "Owner", isHeaderHidden: true, cell: ({ managed_by: by }) => by === "file" && <ManagedByFile /> },
    ]}
  />
);

const needs: Readonly<Record<ListedKind["public_address"], string>> = {
  no: "Needs no public address",
  optional: "Works without a public address",
  required: "Needs a public https address",
};

const Kinds = ({ of: kinds }: { readonly of: readonly ListedKind[] }) => (
  <ul class="page-links">
    {kinds.map(({ channel, provider, label, public_address: need }) => (
      <li key={label}>
        <a href={`${addressOf("channels", channel)}${provider === null ? "" : `?provider=${provider}`}`}>
          <Icon name={icons.plus} />
          <span>
            <b>{label}</b>
            <small>{needs[need]}</small>
          </span>
        </a>
      </li>
    ))}
  </ul>
);
