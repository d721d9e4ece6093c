import { useState } from "preact/hooks";
import { Button } from "#web/shared/ui/elements.tsx";
import { api } from "#web/dashboard/api.ts";
import { ConfirmDialog, FormDialog } from "#web/dashboard/ui/confirm-dialog.tsx";
import { CopyButton } from "#web/dashboard/ui/copy.tsx";
import { TextField } from "#web/dashboard/ui/fields/text.tsx";
import { icons } from "#web/dashboard/ui/icons.ts";
import { RelativeTime } from "#web/dashboard/ui/marks.tsx";
import { Section } from "#web/dashboard/ui/page.tsx";
import { Loaded, useResource } from "#web/dashboard/ui/resource.tsx";
import { ShownOnceDialog } from "#web/dashboard/ui/shown-once-dialog.tsx";
import { DataTable } from "#web/dashboard/ui/table.tsx";

interface Client {
  readonly id: string;
  readonly name: string;
  readonly last_used_at: string | null;
  readonly created_at: string;
}

interface NewClient {
  readonly client_secret: string;
  readonly name: string;
}

/** Clients that request tokens at `/oauth/token`, for workspaces on Enterprise. */
export function OAuthClients() {
  const list = useResource(
    async () => (await api.get<{ readonly oauth_clients: readonly Client[] }>("oauth-clients")).oauth_clients,
    [],
  );
  const [isAdding, setAdding] = useState(false);
  const [made, setMade] = useState<NewClient>();
  const [revoking, setRevoking] = useState<Client>();
  return (
    <Section
      title="OAuth clients"
      lead="A client exchanges its id and secret at /oauth/token for a token that is valid for an hour."
      actions={<Button label="Create a client" kind="secondary" shape={icons.plus} onClick={() => setAdding(true)} />}
    >
      <Loaded of={list}>{(clients) => <ClientTable clients={clients} revoke={setRevoking} />}</Loaded>
      {isAdding && (
        <FormDialog
          title="Create an OAuth client"
          label="Create"
          initial={{ name: "" }}
          send={async (values) => {
            setMade(await api.post<NewClient>("oauth-clients", values));
            await list.reload();
          }}
          closed={() => setAdding(false)}
        >
          {(form) => <TextField of={form.field("name")} label="Name" required maxLength={100} />}
        </FormDialog>
      )}
      {made !== undefined && (
        <ShownOnceDialog
          title={`The secret of ${made.name}`}
          label="Client secret"
          value={made.client_secret}
          hint="Copy it now. It is not shown again."
          closed={() => setMade(undefined)}
        />
      )}
      {revoking !== undefined && (
        <ConfirmDialog
          title={`Revoke ${revoking.name}?`}
          confirm="Revoke"
          done="Client revoked."
          run={async () => {
            await api.del(`oauth-clients/${revoking.id}`);
            await list.reload();
          }}
          closed={() => setRevoking(undefined)}
        >
          <p>Its tokens are refused at once. This cannot be undone.</p>
        </ConfirmDialog>
      )}
    </Section>
  );
}

const ClientId = ({ id, name }: Pick<Client, "id" | "name">) => (
  <span class="row-actions">
    <code class="break">{id}</code>
    <CopyButton text={id} label={`Copy the client id of ${name}`} kind="icon" />
  </span>
);

const ClientTable = (props: { readonly clients: readonly Client[]; readonly revoke: (client: Client) => void }) => (
  <DataTable
    caption="OAuth clients"
    rows={props.clients}
    rowKey={({ id }) => id}
    empty={<p class="soft">No clients yet.</p>}
    columns={[
      { header: "Name", cell: ({ name }) => <b dir="auto">{name}</b> },
      { header: "Client id", cell: ({ id, name }) => <ClientId id={id} name={name} /> },
      { header: "Last used", cell: ({ last_used_at: at }) => <RelativeTime at={at} /> },
      { header: "Created", cell: ({ created_at: at }) => <RelativeTime at={at} /> },
      {
        header: "Actions",
        isHeaderHidden: true,
        align: "end",
        cell: (client) => (
          <Button
            label={`Revoke ${client.name}`}
            kind="icon"
            shape={icons.trash}
            onClick={() => props.revoke(client)}
          />
        ),
      },
    ]}
  />
);
