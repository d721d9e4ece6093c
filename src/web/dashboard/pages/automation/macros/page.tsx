import { useState } from "preact/hooks";
import { Button, Empty } from "#web/shared/ui/elements.tsx";
import { api } from "#web/dashboard/api.ts";
import type { DashboardPage } from "#web/dashboard/page.ts";
import { ActionFields } from "#web/dashboard/pages/automation/rules/rule-form.tsx";
import { useCanWrite } from "#web/dashboard/store.ts";
import { ConfirmDialog, FormDialog } from "#web/dashboard/ui/confirm-dialog.tsx";
import { TextField } from "#web/dashboard/ui/fields/text.tsx";
import { icons } from "#web/dashboard/ui/icons.ts";
import { Badge, ManagedByFile } from "#web/dashboard/ui/marks.tsx";
import { PageHead } from "#web/dashboard/ui/page.tsx";
import { Loaded, useResource } from "#web/dashboard/ui/resource.tsx";
import { DataTable, EditAndDelete } from "#web/dashboard/ui/table.tsx";
import type { Macro, MacroList } from "./macro.ts";
import { describeMacro, macroActions } from "./macro.ts";

export const macrosPage: DashboardPage = {
  path: "macros",
  label: "Macros",
  about: "Several actions that agents apply at once.",
  group: "Work",
  icon: icons.macro,
  roles: ["admin", "viewer"],
  render: () => <MacrosPage />,
};

type Dialog =
  | { readonly kind: "add" }
  | { readonly kind: "edit"; readonly macro: Macro }
  | { readonly kind: "remove"; readonly macro: Macro };

const pathOf = ({ name }: Macro): string => `macros/${encodeURIComponent(name)}`;

function MacrosPage() {
  const list = useResource(() => api.get<MacroList>("macros"), []);
  const [dialog, setDialog] = useState<Dialog>();
  const canWrite = useCanWrite() && list.data?.managed_by_file === false;
  return (
    <>
      <PageHead
        title="Macros"
        lead="Agents apply them in the inbox with the key m. All actions are done, or none."
        actions={
          canWrite && (
            <Button label="Add a macro" kind="primary" shape={icons.plus} onClick={() => setDialog({ kind: "add" })} />
          )
        }
      />
      <Loaded of={list}>
        {({ macros, managed_by_file: isManaged }) => (
          <>
            {isManaged && <ManagedByFile />}
            <DataTable
              caption="Macros"
              rows={macros}
              rowKey={({ name }) => name}
              empty={
                <Empty shape={icons.macro} title="No macros yet">
                  <p>A macro can reply, tag and resolve in one step.</p>
                </Empty>
              }
              columns={[
                { header: "Name", cell: ({ name }) => <span dir="auto">{name}</span> },
                { header: "Actions", cell: (macro) => <Actions macro={macro} /> },
                {
                  header: "Buttons",
                  isHeaderHidden: true,
                  align: "end",
                  cell: (macro) =>
                    canWrite && (
                      <EditAndDelete
                        name={macro.name}
                        edit={() => setDialog({ kind: "edit", macro })}
                        remove={() => setDialog({ kind: "remove", macro })}
                      />
                    ),
                },
              ]}
            />
          </>
        )}
      </Loaded>
      {dialog !== undefined && (
        <Open dialog={dialog} closed={() => setDialog(undefined)} changed={() => void list.reload()} />
      )}
    </>
  );
}

const Actions = ({ macro }: { readonly macro: Macro }) => (
  <div class="stack">
    <span dir="auto">{describeMacro(macro)}</span>
    {macro.problems.map((problem) => (
      <Badge key={problem} tone="bad">
        {problem}
      </Badge>
    ))}
  </div>
);

function Open(props: { readonly dialog: Dialog; readonly closed: () => void; readonly changed: () => void }) {
  const { dialog, closed, changed } = props;
  const then = async (work: Promise<unknown>): Promise<void> => {
    await work;
    changed();
  };
  if (dialog.kind === "remove") {
    const { macro } = dialog;
    return (
      <ConfirmDialog
        title={`Delete ${macro.name}?`}
        confirm="Delete"
        done="Deleted."
        run={() => then(api.del(pathOf(macro)))}
        closed={closed}
      >
        <p>Conversations keep what it has done.</p>
      </ConfirmDialog>
    );
  }
  const { name, actions } = dialog.kind === "edit" ? dialog.macro : { name: "", actions: [] };
  return (
    <FormDialog
      title={dialog.kind === "edit" ? "Edit the macro" : "Add a macro"}
      initial={{ name, actions }}
      label="Save"
      done="Saved."
      send={(values) =>
        then(dialog.kind === "edit" ? api.patch(pathOf(dialog.macro), values) : api.post("macros", values))
      }
      closed={closed}
    >
      {(form) => (
        <>
          <TextField of={form.field("name")} label="Name" maxLength={100} required />
          <p class="hint">
            Parley replaces {"{customer}"} and {"{agent}"} in a reply by their names.
          </p>
          <ActionFields of={form.field("actions")} parts={macroActions} />
        </>
      )}
    </FormDialog>
  );
}
