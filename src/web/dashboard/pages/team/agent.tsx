import { useState } from "preact/hooks";
import { Button } from "#web/shared/ui/elements.tsx";
import { dateAndTime } from "#web/shared/ui/time.ts";
import { api } from "#web/dashboard/api.ts";
import type { Role } from "#web/dashboard/page.ts";
import { AgentAccessTokens } from "#web/dashboard/pages/account/access-tokens.tsx";
import { addressOf } from "#web/dashboard/router.ts";
import { useDashboard } from "#web/dashboard/store.ts";
import { ConfirmDialog, FormDialog } from "#web/dashboard/ui/confirm-dialog.tsx";
import { CheckListField, SelectField, SwitchField } from "#web/dashboard/ui/fields/choice.tsx";
import { TextField } from "#web/dashboard/ui/fields/text.tsx";
import { Form, useForm } from "#web/dashboard/ui/form.tsx";
import { icons } from "#web/dashboard/ui/icons.ts";
import { Callout } from "#web/dashboard/ui/marks.tsx";
import { Card, PageHead, Section } from "#web/dashboard/ui/page.tsx";
import { Loaded, useResource } from "#web/dashboard/ui/resource.tsx";
import { InvitationDialog, RoleHint } from "./agents.tsx";
import { allAgents } from "./all-agents.ts";
import { AgentCredentials } from "./credentials.tsx";
import { AgentSessions } from "./sessions.tsx";
import type { Agent, AgentDetail, Invitation, Team } from "./types.ts";
import { roleOptions } from "./types.ts";

interface Loadable {
  readonly agent: AgentDetail;
  readonly teams: readonly Team[];
}

/** One agent: what they may do, where they are signed in, and their removal. */
export function AgentPage({ id }: { readonly id: string }) {
  const loaded = useResource<Loadable>(async () => {
    const [agent, { teams }] = await Promise.all([
      api.get<AgentDetail>(`agents/${encodeURIComponent(id)}`),
      api.get<{ readonly teams: readonly Team[] }>("teams"),
    ]);
    return { agent, teams };
  }, [id]);
  return (
    <>
      <PageHead
        title={loaded.data?.agent.name ?? "Agent"}
        lead={loaded.data?.agent.email}
        back={{ label: "Team", href: addressOf("team") }}
      />
      <Loaded of={loaded}>
        {({ agent, teams }) => (
          <>
            {agent.invited_until !== null && <InvitedAgent agent={agent} reload={loaded.reload} />}
            <AgentForm agent={agent} teams={teams} changed={(next) => loaded.set({ agent: next, teams })} />
            <AgentCredentials agent={agent} changed={loaded.reload} />
            {agent.invited_until === null && <AgentSessions id={agent.id} />}
            {/* Other roles have none. */}
            {agent.role === "admin" && <AgentAccessTokens key={agent.id} id={agent.id} />}
            {agent.invited_until === null && <AgentRemoval agent={agent} />}
          </>
        )}
      </Loaded>
    </>
  );
}

function InvitedAgent({ agent, reload }: { readonly agent: Agent; readonly reload: () => Promise<void> }) {
  const { router, notices } = useDashboard();
  const [invitation, setInvitation] = useState<Invitation>();
  const [isRevoking, setRevoking] = useState(false);
  const path = `agents/${agent.id}/invitation`;
  const renew = async (): Promise<void> => {
    try {
      setInvitation(await api.post<Invitation>(path));
      await reload();
    } catch (error) {
      notices.report(error);
    }
  };
  return (
    <Callout tone="wait">
      <p>
        {agent.name} has not joined yet, so conversations cannot be assigned to them. The invitation ends{" "}
        <time dateTime={agent.invited_until ?? ""}>{dateAndTime(Date.parse(agent.invited_until ?? ""))}</time>.
      </p>
      <p class="row-actions">
        <Button label="Make a new link" kind="secondary" shape={icons.reload} onClick={() => void renew()} />
        <Button label="Revoke the invitation" kind="secondary" shape={icons.trash} onClick={() => setRevoking(true)} />
      </p>
      {invitation !== undefined && (
        <InvitationDialog name={agent.name} of={invitation} closed={() => setInvitation(undefined)} />
      )}
      {isRevoking && (
        <ConfirmDialog
          title={`Revoke the invitation of ${agent.name}?`}
          confirm="Revoke"
          done="Invitation revoked."
          run={async () => {
            await api.del(path);
            router.go(addressOf("team"));
          }}
          closed={() => setRevoking(false)}
        >
          <p>The link no longer works, and the agent is removed.</p>
        </ConfirmDialog>
      )}
    </Callout>
  );
}

interface AgentValues {
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  readonly away: boolean;
  readonly team_ids: readonly string[];
}

const agentValues = ({ name, email, role, away, teams }: Agent): AgentValues => ({
  name,
  email,
  role,
  away,
  team_ids: teams.map(({ id }) => id),
});

/** The values that the administrator has changed: what a colleague has changed meanwhile stays. */
const differing = (before: AgentValues, values: AgentValues): Partial<AgentValues> =>
  Object.fromEntries(
    Object.entries(values).filter(
      ([key, value]) => JSON.stringify(value) !== JSON.stringify(before[key as keyof AgentValues]),
    ),
  );

function AgentForm(props: {
  readonly agent: Agent;
  readonly teams: readonly Team[];
  readonly changed: (agent: AgentDetail) => void;
}) {
  const { agent, teams, changed } = props;
  const { me, reloadMe, router } = useDashboard();
  const [isAgreed, setAgreed] = useState(false);
  const isSelf = agent.id === me.value.agent.id;
  // The form's first values: `agent` may have been loaded again, with a colleague's change.
  const [before, setBefore] = useState(() => agentValues(agent));
  const form = useForm(before);
  const send = async (values: AgentValues): Promise<void> => {
    changed(await api.patch<AgentDetail>(`agents/${agent.id}`, differing(before, values)));
    setBefore(values);
    if (!isSelf) return;
    await reloadMe();
    // This page is no longer theirs.
    if (values.role !== "admin") router.go(addressOf(""));
  };
  const givesUp = isSelf && before.role === "admin" && form.values.role !== "admin";
  return (
    <Card>
      <Form form={form} send={send} label="Save" done="Saved." isBlocked={givesUp && !isAgreed}>
        <TextField of={form.field("name")} label="Name" hint="Customers see it." required maxLength={100} />
        {agent.invited_until === null && (
          <TextField
            of={form.field("email")}
            label="E-mail address"
            hint="They sign in with it. Their conversations go with them; reports keep the old address for earlier days."
            type="email"
            required
            maxLength={185}
          />
        )}
        <SelectField
          of={{ ...form.field("role"), set: (role) => form.field("role").set(role as Role) }}
          label="Role"
          hint={<RoleHint role={form.values.role} />}
          options={roleOptions}
        />
        {givesUp && (
          <SwitchField
            of={{ name: "agreed", value: isAgreed, set: setAgreed, errors: {} }}
            label="I give up the role of an administrator"
            hint="Only another administrator can give it back."
          />
        )}
        {teams.length > 0 && (
          <CheckListField
            of={form.field("team_ids")}
            label="Teams"
            optional
            options={teams.map(({ id, name }) => ({ value: id, label: name }))}
          />
        )}
        <SwitchField
          of={form.field("away")}
          label="Away"
          hint="Rules assign no conversations to an agent who is away."
        />
      </Form>
    </Card>
  );
}

function AgentRemoval({ agent }: { readonly agent: AgentDetail }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Section title="Remove" lead="Their sessions end at once. Their messages stay, with their name.">
      <p class="row-actions">
        <Button
          label={`Remove ${agent.name}`}
          kind="secondary danger"
          shape={icons.trash}
          onClick={() => setOpen(true)}
        />
      </p>
      {isOpen && <RemoveDialog agent={agent} close={() => setOpen(false)} />}
    </Section>
  );
}

function RemoveDialog({ agent, close }: { readonly agent: AgentDetail; readonly close: () => void }) {
  const { router } = useDashboard();
  const agents = useResource(allAgents, []);
  const heirs = (agents.data ?? []).filter(
    ({ id, role, invited_until: invited }) => id !== agent.id && role !== "viewer" && invited === null,
  );
  return (
    <FormDialog
      title={`Remove ${agent.name}?`}
      label="Remove"
      isDangerous
      done={`${agent.name} was removed.`}
      initial={{ reassign_to: "" }}
      send={async (values) => {
        const heir = values.reassign_to === "" ? "" : `?reassign_to=${values.reassign_to}`;
        await api.del(`agents/${agent.id}${heir}`);
        router.go(addressOf("team"));
      }}
      closed={close}
    >
      {(form) => (
        <>
          <p>This cannot be undone.</p>
          {agent.conversations > 0 && (
            <SelectField
              of={form.field("reassign_to")}
              label={`Their conversations: ${agent.conversations}`}
              none="Wait in the queue for any agent"
              options={heirs.map(({ id, name }) => ({ value: id, label: `Go to ${name}` }))}
            />
          )}
        </>
      )}
    </FormDialog>
  );
}
