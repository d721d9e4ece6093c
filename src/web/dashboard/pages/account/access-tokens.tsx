import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button, Empty } from "#web/shared/ui/elements.tsx";
import { api } from "#web/dashboard/api.ts";
import { ConfirmDialog, FormDialog } from "#web/dashboard/ui/confirm-dialog.tsx";
import { SelectField } from "#web/dashboard/ui/fields/choice.tsx";
import { TextField } from "#web/dashboard/ui/fields/text.tsx";
import { icons } from "#web/dashboard/ui/icons.ts";
import { RelativeTime } from "#web/dashboard/ui/marks.tsx";
import { Section } from "#web/dashboard/ui/page.tsx";
import { Loaded, useResource } from "#web/dashboard/ui/resource.tsx";
import { ShownOnceDialog } from "#web/dashboard/ui/shown-once-dialog.tsx";
import { DataTable } from "#web/dashboard/ui/table.tsx";

interface AccessToken {
  readonly id: string;
  readonly name: string;
  readonly hint: string;
  readonly scope: "read" | "write";
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
}

const scopes = { read: "Read", write: "Read and change" } as const;
const empty = { name: "", scope: "read", until: "" };

/** The access tokens below `path`, which are revoked below it too. */
function useTokens(path: string) {
  const tokens = useResource(
    async () => (await api.get<{ readonly access_tokens: readonly AccessToken[] }>(path)).access_tokens,
    [path],
  );
  const [revoked, setRevoked] = useState<AccessToken>();
  const dialog = revoked !== undefined && (
    <ConfirmDialog
      title={`Revoke ${revoked.name}?`}
      confirm="Revoke"
      done="Token revoked."
      run={async () => {
        await api.del(`${path}/${revoked.id}`);
        await tokens.reload();
      }}
      closed={() => setRevoked(undefined)}
    >
      <p>Requests with it are refused at once. This cannot be undone.</p>
    </ConfirmDialog>
  );
  return { tokens, setRevoked, dialog };
}

export function AccessTokens() {
  const { tokens, setRevoked, dialog } = useTokens("access-tokens");
  const [isCreating, setCreating] = useState(false);
  const [made, setMade] = useState<{ readonly name: string; readonly token: string }>();
  const create = async ({ name, scope, until }: typeof empty): Promise<void> => {
    const token = await api.post<{ readonly name: string; readonly token: string }>("access-tokens", {
      name,
      scope,
      expires_at: `${until}T23:59:59Z`,
    });
    await tokens.reload();
    setMade(token);
  };
  const none = (
    <Empty shape={icons.key} title="No access tokens">
      <p>Create one for each program, so that you can revoke it alone.</p>
    </Empty>
  );
  return (
    <Section
      title="Access tokens"
      lead="For programs of yours that call /admin/v1 as you. They end with your account."
      actions={<Button label="Create a token" kind="secondary" shape={icons.plus} onClick={() => setCreating(true)} />}
    >
      <Loaded of={tokens}>{(rows) => <TokenTable tokens={rows} revoke={setRevoked} empty={none} />}</Loaded>
      {isCreating && <CreateDialog create={create} close={() => setCreating(false)} />}
      {dialog}
      {made !== undefined && (
        <ShownOnceDialog
          title={`The token of ${made.name}`}
          label="Access token"
          value={made.token}
          hint="Copy it now. It is not shown again, since only a hash of it is stored."
          closed={() => setMade(undefined)}
        />
      )}
    </Section>
  );
}

/** The access tokens of a colleague, which can be revoked. */
export function AgentAccessTokens({ id }: { readonly id: string }) {
  const { tokens, setRevoked, dialog } = useTokens(`agents/${id}/access-tokens`);
  return (
    <Section title="Access tokens" lead="For programs that call /admin/v1 as this agent.">
      <Loaded of={tokens} lines={2}>
        {(rows) => <TokenTable tokens={rows} revoke={setRevoked} empty={<p class="soft">No access tokens.</p>} />}
      </Loaded>
      {dialog}
    </Section>
  );
}

const CreateDialog = (props: {
  readonly create: (values: typeof empty) => Promise<void>;
  readonly close: () => void;
}) => (
  <FormDialog title="Create an access token" label="Create" initial={empty} send={props.create} closed={props.close}>
    {(form) => (
      <>
        <TextField of={form.field("name")} label="Name" hint="The program that uses it." required maxLength={100} />
        <SelectField
          of={form.field("scope")}
          label="May"
          options={Object.entries(scopes).map(([value, label]) => ({ value, label }))}
        />
        <TextField of={form.field("until")} label="Last day" type="date" hint="At most a year ahead." required />
      </>
    )}
  </FormDialog>
);

const TokenTable = (props: {
  readonly tokens: readonly AccessToken[];
  readonly revoke: (token: AccessToken) => void;
  readonly empty: ComponentChildren;
}) => (
  <DataTable
    caption="Access tokens"
    rows={props.tokens}
    rowKey={({ id }) => id}
    empty={props.empty}
    columns={[
      { header: "Name", cell: ({ name }) => <b dir="auto">{name}</b> },
      { header: "Ends with", cell: ({ hint }) => <code>…{hint}</code> },
      { header: "May", cell: ({ scope }) => scopes[scope] },
      { header: "Last used", cell: ({ last_used_at: at }) => <RelativeTime at={at} /> },
      { header: "Expires", cell: ({ expires_at: at }) => (at === null ? "never" : at.slice(0, 10)) },
      {
        header: "Actions",
        isHeaderHidden: true,
        align: "end",
        cell: (token) => (
          <Button label={`Revoke ${token.name}`} kind="icon" shape={icons.trash} onClick={() => props.revoke(token)} />
        ),
      },
    ]}
  />
);
