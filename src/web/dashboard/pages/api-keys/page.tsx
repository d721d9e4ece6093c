import { useState } from "preact/hooks";
import { Button, Empty } from "#web/shared/ui/elements.tsx";
import { dateText } from "#web/shared/ui/time.ts";
import { api } from "#web/dashboard/api.ts";
import type { DashboardPage } from "#web/dashboard/page.ts";
import { useDashboard } from "#web/dashboard/store.ts";
import { ConfirmDialog, FormDialog } from "#web/dashboard/ui/confirm-dialog.tsx";
import { NumberField, TextField } from "#web/dashboard/ui/fields/text.tsx";
import type { FormState } from "#web/dashboard/ui/form.tsx";
import { icons } from "#web/dashboard/ui/icons.ts";
import { Badge, RelativeTime } from "#web/dashboard/ui/marks.tsx";
import { PageHead } from "#web/dashboard/ui/page.tsx";
import { Loaded, useResource } from "#web/dashboard/ui/resource.tsx";
import { ShownOnceDialog } from "#web/dashboard/ui/shown-once-dialog.tsx";
import { DataTable } from "#web/dashboard/ui/table.tsx";
import { OAuthClients } from "./oauth-clients.tsx";

export const apiKeys: DashboardPage = {
  path: "api-keys",
  label: "API keys",
  about: "Keys for your own servers.",
  group: "Workspace",
  icon: icons.key,
  roles: ["admin"],
  render: () => <ApiKeys />,
};

interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly hint: string;
  readonly limit_minute: number | null;
  readonly limit_day: number | null;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  readonly last_used_at: string | null;
}

interface NewKey {
  readonly id: string;
  readonly name: string;
  readonly key: string;
}

type Open = { readonly kind: "create" } | { readonly kind: "change" | "rotate" | "revoke"; readonly key: ApiKey };

function ApiKeys() {
  const keys = useResource(async () => (await api.get<{ readonly keys: readonly ApiKey[] }>("keys")).keys, []);
  const { me } = useDashboard();
  const [open, setOpen] = useState<Open>();
  const [made, setMade] = useState<NewKey>();
  return (
    <>
      <PageHead
        title="API keys"
        lead={
          <>
            A key opens <code>/v1</code> for this workspace. Keep keys on your servers, never in a browser. The{" "}
            <a href="/docs">API reference</a> shows every request.
          </>
        }
        actions={
          <Button label="Create a key" kind="primary" shape={icons.plus} onClick={() => setOpen({ kind: "create" })} />
        }
      />
      <Loaded of={keys}>{(rows) => <KeyTable keys={rows} open={setOpen} />}</Loaded>
      {me.value.workspace.plan === "enterprise" && <OAuthClients />}
      <KeyDialog open={open} close={() => setOpen(undefined)} reload={keys.reload} made={setMade} />
      {made !== undefined && (
        <ShownOnceDialog
          title={`The key of ${made.name}`}
          label="API key"
          value={made.key}
          hint="Copy it now. It is not shown again, since only a hash of it is stored."
          closed={() => setMade(undefined)}
        />
      )}
    </>
  );
}

function KeyTable({ keys, open }: { readonly keys: readonly ApiKey[]; readonly open: (next: Open) => void }) {
  return (
    <DataTable
      caption="API keys"
      rows={keys}
      rowKey={({ id }) => id}
      empty={
        <Empty shape={icons.key} title="No keys yet">
          <p>Create one for each program that calls the API, so that you can revoke it alone.</p>
        </Empty>
      }
      columns={[
        { header: "Name", cell: ({ name }) => <b dir="auto">{name}</b> },
        { header: "Ends with", cell: ({ hint }) => <code>…{hint}</code> },
        { header: "Limits", cell: limitsText },
        { header: "Last used", cell: ({ last_used_at: at }) => <RelativeTime at={at} /> },
        { header: "Created", cell: ({ created_at: at }) => <RelativeTime at={at} /> },
        { header: "State", cell: (key) => <KeyState of={key} /> },
        { header: "Actions", isHeaderHidden: true, align: "end", cell: (key) => <KeyActions of={key} open={open} /> },
      ]}
    />
  );
}

const limitsText = ({ limit_minute: minute, limit_day: day }: ApiKey): string =>
  minute === null && day === null
    ? "the plan's"
    : [minute === null ? "" : `${minute} a minute`, day === null ? "" : `${day} a day`].filter(Boolean).join(", ");

function KeyState({ of: { revoked_at: revoked, expires_at: end } }: { readonly of: ApiKey }) {
  if (revoked !== null) {
    return (
      <Badge>
        Revoked <RelativeTime at={revoked} />
      </Badge>
    );
  }
  if (end === null) return <Badge tone="good">Active</Badge>;
  if (Date.parse(end) <= Date.now()) return <Badge tone="bad">Expired</Badge>;
  return <Badge tone="wait">Until {dateText(Date.parse(end))}</Badge>;
}

function KeyActions({ of: key, open }: { readonly of: ApiKey; readonly open: (next: Open) => void }) {
  if (key.revoked_at !== null) return null;
  const button = (kind: "change" | "rotate" | "revoke", label: string, shape: `M${string}`) => (
    <Button label={`${label} ${key.name}`} kind="icon" shape={shape} onClick={() => open({ kind, key })} />
  );
  return (
    <div class="row-actions">
      {button("change", "Change", icons.edit)}
      {button("rotate", "Rotate", icons.reload)}
      {button("revoke", "Revoke", icons.trash)}
    </div>
  );
}

function KeyDialog(props: {
  readonly open: Open | undefined;
  readonly close: () => void;
  readonly reload: () => Promise<void>;
  /** Called with a new key. */
  readonly made: (key: NewKey) => void;
}) {
  const { open, close, reload, made } = props;
  const created = async (key: NewKey): Promise<void> => {
    await reload();
    made(key);
  };
  switch (open?.kind) {
    case "create":
      return <CreateDialog created={created} close={close} />;
    case "change":
      return <ChangeDialog key={open.key.id} of={open.key} reload={reload} close={close} />;
    case "rotate":
      return (
        <ConfirmDialog
          title={`Rotate ${open.key.name}?`}
          confirm="Make a new key"
          run={async () => created(await api.post<NewKey>(`keys/${open.key.id}/rotate`))}
          closed={close}
        >
          <p>A second key with the same name and limits is made. Both work until you revoke the old one.</p>
        </ConfirmDialog>
      );
    case "revoke":
      return (
        <ConfirmDialog
          title={`Revoke ${open.key.name}?`}
          confirm="Revoke"
          done="Key revoked."
          run={async () => {
            await api.del(`keys/${open.key.id}`);
            await reload();
          }}
          closed={close}
        >
          <p>Requests with the key that ends with …{open.key.hint} are refused at once. This cannot be undone.</p>
        </ConfirmDialog>
      );
    case undefined:
      return null;
  }
}

interface KeyValues {
  readonly name: string;
  readonly limit_minute: number | null;
  readonly limit_day: number | null;
  /** The last day of a new key, such as "2027-12-24"; empty: none. An existing key keeps its own. */
  readonly expires_at: string;
}

const KeyFields = ({ form }: { readonly form: FormState<KeyValues> }) => (
  <>
    <TextField
      of={form.field("name")}
      label="Name"
      hint="The program that uses the key, such as Shop server."
      required
      maxLength={100}
    />
    <NumberField
      of={form.field("limit_minute")}
      label="Requests a minute"
      hint="Empty: the plan's limit."
      min={1}
      optional
    />
    <NumberField of={form.field("limit_day")} label="Requests a day" hint="Empty: the plan's limit." min={1} optional />
  </>
);

function CreateDialog(props: { readonly created: (made: NewKey) => Promise<void>; readonly close: () => void }) {
  const { plan } = useDashboard().me.value.workspace;
  const send = async ({ expires_at: day, ...values }: KeyValues): Promise<void> => {
    const end = day === "" ? {} : { expires_at: endOf(day) };
    await props.created(await api.post<NewKey>("keys", { ...values, ...end }));
  };
  return (
    <FormDialog<KeyValues>
      title="Create an API key"
      label="Create"
      initial={{ name: "", limit_minute: null, limit_day: null, expires_at: "" }}
      send={send}
      closed={props.close}
    >
      {(form) => (
        <>
          <KeyFields form={form} />
          {plan === "enterprise" && (
            <TextField
              of={form.field("expires_at")}
              label="Last day"
              hint="Empty: the key works until it is revoked."
              type="date"
              optional
            />
          )}
        </>
      )}
    </FormDialog>
  );
}

/** The last moment of the day where the administrator is. */
const endOf = (day: string): string => new Date(`${day}T23:59:59.999`).toISOString();

function ChangeDialog(props: {
  readonly of: ApiKey;
  readonly reload: () => Promise<void>;
  readonly close: () => void;
}) {
  const { id, name, limit_minute, limit_day } = props.of;
  return (
    <FormDialog<KeyValues>
      title={`Change ${name}`}
      label="Save"
      done="Saved."
      initial={{ name, limit_minute, limit_day, expires_at: "" }}
      send={async (values) => {
        await api.patch(`keys/${id}`, {
          name: values.name,
          limit_minute: values.limit_minute ?? "plan",
          limit_day: values.limit_day ?? "plan",
        });
        await props.reload();
      }}
      closed={props.close}
    >
      {(form) => <KeyFields form={form} />}
    </FormDialog>
  );
}
