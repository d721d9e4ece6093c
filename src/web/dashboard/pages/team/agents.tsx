import { useState } from "preact/hooks";
import { Avatar, Button } from "#web/shared/ui/elements.tsx";
import { api } from "#web/dashboard/api.ts";
import { addressOf } from "#web/dashboard/router.ts";
import { FormDialog } from "#web/dashboard/ui/confirm-dialog.tsx";
import { CheckListField, SelectField } from "#web/dashboard/ui/fields/choice.tsx";
import { TextField } from "#web/dashboard/ui/fields/text.tsx";
import { icons } from "#web/dashboard/ui/icons.ts";
import { Badge, RelativeTime } from "#web/dashboard/ui/marks.tsx";
import type { Resource } from "#web/dashboard/ui/resource.tsx";
import { Loaded } from "#web/dashboard/ui/resource.tsx";
import { ShownOnceDialog } from "#web/dashboard/ui/shown-once-dialog.tsx";
import { DataTable } from "#web/dashboard/ui/table.tsx";
import type { Agent, Invitation, Team } from "./types.ts";
import { roleName, roleOptions } from "./types.ts";

/** The agents, and the invitation of another one. */
export function AgentList(props: { readonly agents: Resource<readonly Agent[]>; readonly teams: readonly Team[] }) {
  const { agents, teams } = props;
  const [isInviting, setInviting] = useState(false);
  const [invited, setInvited] = useState<Invited>();
  return (
    <>
      <p class="row-actions">
        <Button label="Invite a colleague" kind="primary" shape={icons.plus} onClick={() => setInviting(true)} />
      </p>
      <Loaded of={agents}>{(rows) => <AgentTable agents={rows} />}</Loaded>
      {isInviting && (
        <InviteDialog
          teams={teams}
          invited={async (made) => {
            await agents.reload();
            setInvited(made);
          }}
          close={() => setInviting(false)}
        />
      )}
      {invited !== undefined && (
        <InvitationDialog name={invited.agent.name} of={invited} closed={() => setInvited(undefined)} />
      )}
    </>
  );
}

const AgentTable = ({ agents }: { readonly agents: readonly Agent[] }) => (
  <DataTable
    caption="Agents"
    rows={agents}
    rowKey={({ id }) => id}
    columns={[
      { header: "Name", cell: (agent) => <AgentName of={agent} /> },
      { header: "Role", cell: ({ role }) => roleName(role) },
      { header: "Teams", cell: ({ teams }) => teams.map(({ name }) => name).join(", ") || "–" },
      { header: "State", cell: (agent) => <AgentState of={agent} /> },
      { header: "Last seen", cell: ({ last_seen_at: at }) => <RelativeTime at={at} /> },
    ]}
  />
);

const AgentName = ({ of: { id, name, email } }: { readonly of: Agent }) => (
  <span class="person">
    <Avatar name={name} />
    <span>
      <a href={addressOf("team", id)} dir="auto">
        {name}
      </a>
      <small dir="ltr">{email}</small>
    </span>
  </span>
);

function AgentState({ of: agent }: { readonly of: Agent }) {
  if (agent.invited_until !== null) {
    return Date.parse(agent.invited_until) > Date.now() ? (
      <Badge tone="wait">Invited</Badge>
    ) : (
      <Badge tone="bad">Invitation expired</Badge>
    );
  }
  return agent.away ? <Badge>Away</Badge> : <Badge tone="good">Here</Badge>;
}

interface Invited extends Invitation {
  readonly agent: Agent;
}

function InviteDialog(props: {
  readonly teams: readonly Team[];
  readonly invited: (made: Invited) => Promise<void>;
  readonly close: () => void;
}) {
  const { teams, invited, close } = props;
  const noTeams: readonly string[] = [];
  return (
    <FormDialog
      title="Invite a colleague"
      label="Invite"
      initial={{ email: "", name: "", role: "agent", team_ids: noTeams }}
      send={async (values) => invited(await api.post<Invited>("agents", values))}
      closed={close}
    >
      {(form) => (
        <>
          <TextField
            of={form.field("email")}
            label="E-mail address"
            type="email"
            required
            maxLength={190}
            autocomplete="off"
          />
          <TextField
            of={form.field("name")}
            label="Name"
            hint="Customers see it."
            required
            maxLength={100}
            autocomplete="off"
          />
          <SelectField
            of={form.field("role")}
            label="Role"
            hint={<RoleHint role={form.values.role} />}
            options={roleOptions}
          />
          {teams.length > 0 && (
            <CheckListField
              of={form.field("team_ids")}
              label="Teams"
              optional
              options={teams.map(({ id, name }) => ({ value: id, label: name }))}
            />
          )}
        </>
      )}
    </FormDialog>
  );
}

export const RoleHint = ({ role }: { readonly role: string }) => (
  <>{roleOptions.find(({ value }) => value === role)?.hint}.</>
);

/** The link of an invitation, which is shown this once. */
export const InvitationDialog = (props: {
  readonly name: string;
  readonly of: Invitation;
  readonly closed: () => void;
}) => (
  <ShownOnceDialog
    title={`The invitation of ${props.name}`}
    label="Link"
    value={props.of.invitation_url}
    hint={`${props.of.mailed ? "Your colleague gets this link by mail, too." : "Send this link to your colleague: this installation sends no mail."} They choose a password and are signed in. It works once, for seven days, and is not shown again.`}
    closed={props.closed}
  />
);
