import { useState } from "preact/hooks";
import { Button, Empty } from "#web/shared/ui/elements.tsx";
import { messageOf } from "#web/shared/ui/notices.ts";
import { api } from "#web/dashboard/api.ts";
import type { DashboardPage } from "#web/dashboard/page.ts";
import { addressOf } from "#web/dashboard/router.ts";
import { useCanWrite, useDashboard } from "#web/dashboard/store.ts";
import { ConfirmDialog } from "#web/dashboard/ui/confirm-dialog.tsx";
import { icons } from "#web/dashboard/ui/icons.ts";
import { Badge, ManagedByFile } from "#web/dashboard/ui/marks.tsx";
import { PageHead } from "#web/dashboard/ui/page.tsx";
import { Loaded, useResource } from "#web/dashboard/ui/resource.tsx";
import { DataTable } from "#web/dashboard/ui/table.tsx";
import type { Skill, SkillList } from "./skill.ts";
import { describeSkill } from "./skill.ts";
import { SkillPage } from "./skill-page.tsx";

/** The part of the address of a skill that is not saved yet. No skill has it as its name. */
const newId = " new";

export const skillsPage: DashboardPage = {
  path: "skills",
  label: "Skills",
  about: "Look-ups on your servers, and other abilities of the bot.",
  group: "Knowledge",
  icon: icons.skill,
  roles: ["admin"],
  render: (id) => (id === undefined ? <SkillsPage /> : <SkillPage name={id === newId ? undefined : id} />),
};

const pathOf = ({ name }: Skill): string => `skills/${encodeURIComponent(name)}`;

function SkillsPage() {
  const list = useResource(() => api.get<SkillList>("skills"), []);
  const { notices, router } = useDashboard();
  const [removed, setRemoved] = useState<Skill>();
  const canWrite = useCanWrite() && list.data?.managed_by_file === false;
  const turn = async (skill: Skill): Promise<void> => {
    try {
      await api.put(pathOf(skill), { ...skill, enabled: skill.enabled === false });
    } catch (error) {
      notices.problem(messageOf(error));
    }
    await list.reload();
  };
  const open = () => router.go(addressOf("skills", newId));
  return (
    <>
      <PageHead
        title="Skills"
        lead="The bot uses a skill when a customer's message has one of its phrases, or when the language model chooses it."
        actions={canWrite && <Button label="Add a skill" kind="primary" shape={icons.plus} onClick={open} />}
      />
      <Loaded of={list}>
        {({ skills, managed_by_file: isManaged }) => (
          <>
            {isManaged && <ManagedByFile />}
            <DataTable
              caption="Skills"
              rows={skills}
              rowKey={({ name }) => name}
              empty={
                <Empty shape={icons.skill} title="No skills yet">
                  <p>A skill can look up an order on your server, or say when your team is there.</p>
                </Empty>
              }
              columns={[
                { header: "Skill", cell: ({ name }) => <a href={addressOf("skills", name)}>{name}</a> },
                { header: "About", cell: (skill) => <span dir="auto">{describeSkill(skill)}</span> },
                {
                  header: "State",
                  cell: ({ enabled }) => (enabled === false ? <Badge>Paused</Badge> : <Badge tone="good">On</Badge>),
                },
                {
                  header: "Actions",
                  isHeaderHidden: true,
                  align: "end",
                  cell: (skill) => canWrite && <RowButtons skill={skill} turn={turn} remove={setRemoved} />,
                },
              ]}
            />
          </>
        )}
      </Loaded>
      {removed !== undefined && (
        <ConfirmDialog
          title={`Delete ${removed.name}?`}
          confirm="Delete"
          done="Deleted."
          run={async () => {
            await api.del(pathOf(removed));
            await list.reload();
          }}
          closed={() => setRemoved(undefined)}
        >
          <p>Its address and its headers are deleted, too.</p>
        </ConfirmDialog>
      )}
    </>
  );
}

function RowButtons(props: {
  readonly skill: Skill;
  readonly turn: (skill: Skill) => Promise<void>;
  readonly remove: (skill: Skill) => void;
}) {
  const { skill, turn, remove } = props;
  const isPaused = skill.enabled === false;
  return (
    <div class="row-actions">
      <Button
        label={`${isPaused ? "Resume" : "Pause"} ${skill.name}`}
        kind="icon"
        shape={isPaused ? icons.play : icons.pause}
        onClick={() => void turn(skill)}
      />
      <Button label={`Delete ${skill.name}`} kind="icon" shape={icons.trash} onClick={() => remove(skill)} />
    </div>
  );
}
