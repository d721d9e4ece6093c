import { useState } from "preact/hooks";
import { defaultEventTypes, eventTypes } from "#domain/event-types.ts";
import { Button, Empty } from "#web/shared/ui/elements.tsx";
import { api } from "#web/dashboard/api.ts";
import type { DashboardPage } from "#web/dashboard/page.ts";
import { addressOf } from "#web/dashboard/router.ts";
import { FormDialog } from "#web/dashboard/ui/confirm-dialog.tsx";
import { icons } from "#web/dashboard/ui/icons.ts";
import { ManagedByFile } from "#web/dashboard/ui/marks.tsx";
import { PageHead } from "#web/dashboard/ui/page.tsx";
import { Loaded, useResource } from "#web/dashboard/ui/resource.tsx";
import { ShownOnceDialog } from "#web/dashboard/ui/shown-once-dialog.tsx";
import { DataTable } from "#web/dashboard/ui/table.tsx";
import type { WebhookValues } from "./fields.tsx";
import { WebhookFields, WebhookState } from "./fields.tsx";
import { WebhookPage } from "./webhook.tsx";
import type { Webhook } from "./types.ts";

export const webhooks: DashboardPage = {
  path: "webhooks",
  label: "Webhooks",
  about: "Events for your own servers, and how they arrived.",
  group: "Workspace",
  icon: icons.webhook,
  roles: ["admin"],
  render: (id) => (id === undefined ? <Webhooks /> : <WebhookPage key={id} id={id} />),
};

interface Made {
  readonly url: string;
  readonly secret: string;
}

function Webhooks() {
  const list = useResource(
    async () => (await api.get<{ readonly webhooks: readonly Webhook[] }>("webhooks")).webhooks,
    [],
  );
  const [isAdding, setAdding] = useState(false);
  const [made, setMade] = useState<Made>();
  return (
    <>
      <PageHead
        title="Webhooks"
        lead="Parley sends events to these addresses, signed after the Standard Webhooks specification."
        actions={<Button label="Add a webhook" kind="primary" shape={icons.plus} onClick={() => setAdding(true)} />}
      />
      <Loaded of={list}>{(rows) => <WebhookTable webhooks={rows} />}</Loaded>
      {isAdding && (
        <AddDialog
          closed={() => setAdding(false)}
          added={async (added) => {
            await list.reload();
            setMade(added);
          }}
        />
      )}
      {made !== undefined && (
        <ShownOnceDialog
          title="The secret of the webhook"
          label="Signing secret"
          value={made.secret}
          hint={`Your server verifies requests to ${made.url} with it. It is not shown again; rotate it if it is lost.`}
          closed={() => setMade(undefined)}
        />
      )}
    </>
  );
}

const WebhookTable = ({ webhooks: rows }: { readonly webhooks: readonly Webhook[] }) => (
  <DataTable
    caption="Webhooks"
    rows={rows}
    rowKey={({ id }) => id}
    empty={
      <Empty shape={icons.webhook} title="No webhooks yet">
        <p>Add the address of your server to hear of new conversations, hand-overs and resolutions.</p>
      </Empty>
    }
    columns={[
      {
        header: "Address",
        cell: ({ id, url }) => (
          <a class="break" dir="ltr" href={addressOf("webhooks", id)}>
            {url}
          </a>
        ),
      },
      {
        header: "Events",
        cell: ({ events }) => (events.length === eventTypes.length ? "all" : `${events.length} types`),
      },
      { header: "State", cell: (webhook) => <WebhookState of={webhook} /> },
      { header: "Waiting", align: "end", cell: ({ waiting }) => String(waiting) },
      { header: "Owner", isHeaderHidden: true, cell: ({ managed_by: by }) => by === "file" && <ManagedByFile /> },
    ]}
  />
);

const AddDialog = (props: { readonly added: (made: Made) => Promise<void>; readonly closed: () => void }) => (
  <FormDialog<WebhookValues>
    title="Add a webhook"
    label="Add"
    initial={{ url: "", events: defaultEventTypes }}
    send={async (values) => props.added(await api.post<Made>("webhooks", values))}
    closed={props.closed}
  >
    {(form) => <WebhookFields form={form} />}
  </FormDialog>
);
