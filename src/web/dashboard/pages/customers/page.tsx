import { useEffect, useRef, useState } from "preact/hooks";
import { Button, Empty } from "#web/shared/ui/elements.tsx";
import { api, withQuery } from "#web/dashboard/api.ts";
import type { DashboardPage } from "#web/dashboard/page.ts";
import { useDashboard, useQuery } from "#web/dashboard/store.ts";
import { ConfirmDialog } from "#web/dashboard/ui/confirm-dialog.tsx";
import { FilterBar, FilterSearch } from "#web/dashboard/ui/filters.tsx";
import { icons } from "#web/dashboard/ui/icons.ts";
import { PageHead, Section } from "#web/dashboard/ui/page.tsx";
import { Loaded, useResource } from "#web/dashboard/ui/resource.tsx";
import { DataTable } from "#web/dashboard/ui/table.tsx";
import { usePolling } from "#web/dashboard/ui/polling.ts";

export const customersPage: DashboardPage = {
  path: "customers",
  label: "Customer data",
  about: "Export or erase all data of a customer.",
  group: "Workspace",
  icon: "person",
  roles: ["admin"],
  render: () => <CustomerData />,
};

interface Contact {
  readonly id: string;
  readonly name: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly user_id: string | null;
  readonly conversation_count: number;
}

interface Erasure {
  readonly id: string;
  readonly email: string | null;
  readonly contact_id: string | null;
  readonly state: "queued" | "running" | "retrying";
  readonly conversations_left: number;
}

/** Names the customer to the server, and in a dialog. */
interface Named {
  readonly key: { readonly email: string } | { readonly contact_id: string };
  readonly name: string;
}

const find = async (q: string): Promise<readonly Contact[]> =>
  q.trim() === "" ? [] : (await api.get<{ readonly contacts: readonly Contact[] }>("customers", { q })).contacts;

function CustomerData() {
  const [q, setQ] = useQuery("q");
  const [erased, setErased] = useState<Named>();
  const { notices } = useDashboard();
  const found = useResource(() => find(q), [q]);
  const erasures = useResource(
    async () => (await api.get<{ readonly erasures: readonly Erasure[] }>("customers/erasures")).erasures,
    [],
  );
  const running = erasures.data?.length ?? 0;
  usePolling(running > 0, erasures.reload);
  const before = useRef(0);
  useEffect(() => {
    if (running < before.current) {
      notices.done("Customer erased.");
      void found.reload();
    }
    before.current = running;
  }, [running]);
  return (
    <>
      <PageHead
        title="Customer data"
        lead="Find a customer by the whole e-mail address, phone number or user id, or from a conversation in the inbox. Contacts that were merged are exported and erased together."
      />
      <FilterBar>
        <FilterSearch label="E-mail, phone, user id or contact id" value={q} set={setQ} />
      </FilterBar>
      {q.trim() !== "" && (
        <Loaded of={found}>{(contacts) => <Contacts contacts={contacts} searched={q} erase={setErased} />}</Loaded>
      )}
      {running > 0 && <Erasures erasures={erasures.data ?? []} />}
      {erased !== undefined && (
        <ConfirmDialog
          title={`Erase all data of ${erased.name}?`}
          confirm="Erase"
          typed={erased.name}
          run={async () => {
            await api.post("customers/erase", erased.key);
            await erasures.reload();
          }}
          closed={() => setErased(undefined)}
        >
          <p>
            All contacts of this customer, their conversations and files are deleted for good. Backups, log files, and
            data on the platforms are not.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}

function Contacts(props: {
  readonly contacts: readonly Contact[];
  readonly searched: string;
  readonly erase: (customer: Named) => void;
}) {
  const { contacts, searched, erase } = props;
  const sharedEmail = contacts.find(({ email }) => email?.toLowerCase() === searched.trim().toLowerCase())?.email;
  /** Names a customer by the address, their own or the one that merged contacts share, or else by the contact. */
  function namedOf({ id, name, email: own, phone, user_id: userId }: Contact): Named {
    const email = own ?? sharedEmail;
    if (typeof email === "string") return { key: { email }, name: email };
    return { key: { contact_id: id }, name: name ?? phone ?? userId ?? id };
  }
  return (
    <DataTable
      caption="Contacts found"
      rows={contacts}
      rowKey={({ id }) => id}
      empty={
        <Empty shape="person" title="No customer found">
          <p>Only a whole address, number or id is found.</p>
        </Empty>
      }
      columns={[
        { header: "Name", cell: ({ name }) => <b dir="auto">{name ?? "No name"}</b> },
        { header: "E-mail", cell: ({ email }) => <span dir="ltr">{email ?? "–"}</span> },
        { header: "Phone", cell: ({ phone }) => <span dir="ltr">{phone ?? "–"}</span> },
        { header: "User id", cell: ({ user_id: id }) => <span dir="auto">{id ?? "–"}</span> },
        { header: "Conversations", align: "end", cell: ({ conversation_count: count }) => count },
        {
          header: "Actions",
          isHeaderHidden: true,
          align: "end",
          cell: (contact) => <Actions of={namedOf(contact)} erase={erase} />,
        },
      ]}
    />
  );
}

const Actions = ({ of: customer, erase }: { readonly of: Named; readonly erase: (customer: Named) => void }) => (
  <div class="row-actions">
    <Button
      label="Export"
      kind="secondary"
      shape={icons.download}
      onClick={() => api.download(withQuery("customers/export", { ...customer.key }))}
    />
    <Button label="Erase…" kind="secondary danger" shape={icons.trash} onClick={() => erase(customer)} />
  </div>
);

const words: Readonly<Record<Erasure["state"], string>> = {
  queued: "waiting",
  running: "in progress",
  retrying: "failed, will be retried",
};

const Erasures = ({ erasures }: { readonly erasures: readonly Erasure[] }) => (
  <Section title="Erasures in progress" lead="They go on when this page is closed, and after a restart.">
    <DataTable
      caption="Erasures in progress"
      rows={erasures}
      rowKey={({ id }) => id}
      columns={[
        { header: "Customer", cell: ({ email, contact_id: id }) => <b dir="ltr">{email ?? id}</b> },
        { header: "State", cell: ({ state }) => words[state] },
        { header: "Conversations left", align: "end", cell: ({ conversations_left: left }) => left },
      ]}
    />
  </Section>
);
