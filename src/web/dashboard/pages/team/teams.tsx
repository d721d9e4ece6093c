import { useState } from "preact/hooks";
import { Button, Empty } from "#web/shared/ui/elements.tsx";
import { api } from "#web/dashboard/api.ts";
import { ConfirmDialog, FormDialog } from "#web/dashboard/ui/confirm-dialog.tsx";
import { CheckListField } from "#web/dashboard/ui/fields/choice.tsx";
import { TextField } from "#web/dashboard/ui/fields/text.tsx";
import { icons } from "#web/dashboard/ui/icons.ts";
import { ManagedByFile } from "#web/dashboard/ui/marks.tsx";
import type { Resource } from "#web/dashboard/ui/resource.tsx";
import { Loaded } from "#web/dashboard/ui/resource.tsx";
import { DataTable } from "#web/dashboard/ui/table.tsx";
import type { Agent, Team } from "./types.ts";

type Open = { readonly kind: "create" } | { readonly kind: "change" | "remove"; readonly team: Team };

/** Named sets of agents. */
export function TeamList(props: { readonly teams: Resource<readonly Team[]>; readonly agents: readonly Agent[] }) {
  const { teams, agents } = props;
  const [open, setOpen] = useState<Open>();
  const close = (): void => setOpen(undefined);
  return (
    <>
      <p class="row-actions">
        <Button label="Create a team" kind="primary" shape={icons.plus} onClick={() => setOpen({ kind: "create" })} />
      </p>
      <Loaded of={teams}>{(rows) => <TeamTable teams={rows} agents={agents} open={setOpen} />}</Loaded>
      {open?.kind === "create" && <TeamDialog agents={agents} saved={teams.reload} close={close} />}
      {open?.kind === "change" && (
        <TeamDialog key={open.team.id} of={open.team} agents={agents} saved={teams.reload} close={close} />
      )}
      {open?.kind === "remove" && (
        <ConfirmDialog
          title={`Remove the team ${open.team.name}?`}
          confirm="Remove"
          done="Team removed."
          run={async () => {
            await api.del(`teams/${open.team.id}`);
            await teams.reload();
          }}
          closed={close}
        >
          <p>Its agents stay.</p>
        </ConfirmDialog>
      )}
    </>
  );
}

function TeamTable(props: {
  readonly teams: readonly Team[];
  readonly agents: readonly Agent[];
  readonly open: (next: Open) => void;
}) {
  const { teams, agents, open } = props;
  const names = new Map(agents.map(({ id, name }) => [id, name]));
  return (
    <DataTable
      caption="Teams"
      rows={teams}
      rowKey={({ id }) => id}
      empty={
        <Empty shape="people" title="No teams yet">
          <p>A team is a named set of agents, such as Billing.</p>
        </Empty>
      }
      columns={[
        { header: "Name", cell: ({ name }) => <b dir="auto">{name}</b> },
        {
          header: "Agents",
          cell: ({ agent_ids: ids, expected_agents: expected }) =>
            [...ids.flatMap((id) => names.get(id) ?? []), ...expected.map((email) => `${email} (no agent yet)`)].join(
              ", ",
            ) || "none",
        },
        { header: "Owner", isHeaderHidden: true, cell: ({ managed_by: by }) => by === "file" && <ManagedByFile /> },
        {
          header: "Actions",
          isHeaderHidden: true,
          align: "end",
          cell: (team) =>
            team.managed_by === "dashboard" && (
              <div class="row-actions">
                <Button
                  label={`Change ${team.name}`}
                  kind="icon"
                  shape={icons.edit}
                  onClick={() => open({ kind: "change", team })}
                />
                <Button
                  label={`Remove ${team.name}`}
                  kind="icon"
                  shape={icons.trash}
                  onClick={() => open({ kind: "remove", team })}
                />
              </div>
            ),
        },
      ]}
    />
  );
}

function TeamDialog(props: {
  readonly of?: Team;
  readonly agents: readonly Agent[];
  readonly saved: () => Promise<void>;
  readonly close: () => void;
}) {
  const { of: team, agents, saved, close } = props;
  return (
    <FormDialog
      title={team === undefined ? "Create a team" : `Change ${team.name}`}
      label={team === undefined ? "Create" : "Save"}
      done={team === undefined ? "Team created." : "Saved."}
      initial={{ name: team?.name ?? "", agent_ids: team?.agent_ids ?? [] }}
      send={async (values) => {
        await (team === undefined ? api.post("teams", values) : api.patch(`teams/${team.id}`, values));
        await saved();
      }}
      closed={close}
    >
      {(form) => (
        <>
          <TextField of={form.field("name")} label="Name" required maxLength={100} />
          <CheckListField
            of={form.field("agent_ids")}
            label="Agents"
            optional
            options={agents.map(({ id, name, email }) => ({ value: id, label: name, hint: email }))}
          />
        </>
      )}
    </FormDialog>
  );
}
