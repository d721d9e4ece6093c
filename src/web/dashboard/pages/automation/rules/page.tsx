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
import type { Rule, RuleList } from "./rule.ts";
import { describeRule } from "./rule.ts";
import { RulePage } from "./rule-page.tsx";

/** The part of the address of a rule that is not saved yet. No rule has it as its name. */
const newId = " new";

export const automationPage: DashboardPage = {
  path: "automation",
  label: "Automation",
  about: "Rules that tag, assign, reply and resolve by themselves.",
  group: "Work",
  icon: icons.automation,
  roles: ["admin", "viewer"],
  render: (id) => (id === undefined ? <RulesPage /> : <RulePage name={id === newId ? undefined : id} />),
};

const pathOf = ({ name }: Rule): string => `rules/${encodeURIComponent(name)}`;

function RulesPage() {
  const list = useResource(() => api.get<RuleList>("rules"), []);
  const { notices, router } = useDashboard();
  const [removed, setRemoved] = useState<Rule>();
  const canWrite = useCanWrite() && list.data?.managed_by_file === false;
  const rules = list.data?.rules ?? [];
  const change = async (work: Promise<unknown>): Promise<void> => {
    try {
      await work;
    } catch (error) {
      notices.problem(messageOf(error));
    }
    await list.reload();
  };
  const open = () => router.go(addressOf("automation", newId));
  return (
    <>
      <PageHead
        title="Automation"
        lead="Rules run in this order. A change is live within a second."
        actions={canWrite && <Button label="Add a rule" kind="primary" shape={icons.plus} onClick={open} />}
      />
      <Loaded of={list}>
        {({ managed_by_file: isManaged }) => (
          <>
            {isManaged && <ManagedByFile />}
            <DataTable
              caption="Automation rules"
              rows={rules}
              rowKey={({ name }) => name}
              empty={
                <Empty shape={icons.automation} title="No rules yet">
                  <p>A rule can tag refunds, assign urgent conversations, or close idle ones.</p>
                </Empty>
              }
              columns={[
                {
                  header: "Rule",
                  cell: ({ name }) => (
                    <a dir="auto" href={addressOf("automation", name)}>
                      {name}
                    </a>
                  ),
                },
                { header: "In words", cell: (rule) => <span dir="auto">{describeRule(rule)}</span> },
                {
                  header: "State",
                  cell: ({ enabled }) => (enabled === false ? <Badge>Off</Badge> : <Badge tone="good">On</Badge>),
                },
                {
                  header: "Actions",
                  isHeaderHidden: true,
                  align: "end",
                  cell: (rule) =>
                    canWrite && (
                      <RuleActions rule={rule} rules={rules} change={change} remove={() => setRemoved(rule)} />
                    ),
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
          <p>Conversations keep what the rule has done.</p>
        </ConfirmDialog>
      )}
    </>
  );
}

function RuleActions({
  rule,
  rules,
  change,
  remove,
}: {
  readonly rule: Rule;
  readonly rules: readonly Rule[];
  readonly change: (work: Promise<unknown>) => Promise<void>;
  readonly remove: () => void;
}) {
  const at = rules.indexOf(rule);
  const isOff = rule.enabled === false;
  const move = (by: 1 | -1): Promise<void> => {
    const names = rules.map(({ name }) => name);
    names.splice(at, 1);
    names.splice(at + by, 0, rule.name);
    return change(api.post("rules/order", { names }));
  };
  return (
    <div class="row-actions">
      <Button
        label={`${isOff ? "Turn on" : "Turn off"} ${rule.name}`}
        kind="icon"
        shape={isOff ? icons.play : icons.pause}
        onClick={() => void change(api.patch(pathOf(rule), { enabled: isOff }))}
      />
      <Button
        label={`Move ${rule.name} up`}
        kind="icon"
        shape={icons.up}
        disabled={at === 0}
        onClick={() => void move(-1)}
      />
      <Button
        label={`Move ${rule.name} down`}
        kind="icon"
        shape={icons.down}
        disabled={at === rules.length - 1}
        onClick={() => void move(1)}
      />
      <Button label={`Delete ${rule.name}`} kind="icon" shape={icons.trash} onClick={remove} />
    </div>
  );
}
