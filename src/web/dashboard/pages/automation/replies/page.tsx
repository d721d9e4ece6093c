import { useState } from "preact/hooks";
import { Button, Empty } from "#web/shared/ui/elements.tsx";
import { api } from "#web/dashboard/api.ts";
import type { DashboardPage } from "#web/dashboard/page.ts";
import { useCanWrite } from "#web/dashboard/store.ts";
import { ConfirmDialog, FormDialog } from "#web/dashboard/ui/confirm-dialog.tsx";
import { TextAreaField, TextField } from "#web/dashboard/ui/fields/text.tsx";
import { icons } from "#web/dashboard/ui/icons.ts";
import { ManagedByFile } from "#web/dashboard/ui/marks.tsx";
import { PageHead } from "#web/dashboard/ui/page.tsx";
import { Loaded, useResource } from "#web/dashboard/ui/resource.tsx";
import { DataTable, EditAndDelete } from "#web/dashboard/ui/table.tsx";

export const repliesPage: DashboardPage = {
  path: "replies",
  label: "Saved replies",
  about: "Texts that agents insert into a reply.",
  group: "Work",
  icon: icons.reply,
  roles: ["admin", "viewer"],
  render: () => <RepliesPage />,
};

interface Reply {
  readonly name: string;
  readonly text: string;
}

interface ReplyList {
  readonly saved_replies: readonly Reply[];
  readonly managed_by_file: boolean;
}

type Dialog =
  | { readonly kind: "add" }
  | { readonly kind: "edit"; readonly reply: Reply }
  | { readonly kind: "remove"; readonly reply: Reply };

const pathOf = ({ name }: Reply): string => `saved-replies/${encodeURIComponent(name)}`;

function RepliesPage() {
  const list = useResource(() => api.get<ReplyList>("saved-replies"), []);
  const [dialog, setDialog] = useState<Dialog>();
  const canWrite = useCanWrite() && list.data?.managed_by_file === false;
  const changed = (): void => void list.reload();
  return (
    <>
      <PageHead
        title="Saved replies"
        lead="Agents insert them by / and the name."
        actions={
          canWrite && (
            <Button label="Add a reply" kind="primary" shape={icons.plus} onClick={() => setDialog({ kind: "add" })} />
          )
        }
      />
      <Loaded of={list}>
        {({ saved_replies: replies, managed_by_file: isManaged }) => (
          <>
            {isManaged && <ManagedByFile />}
            <DataTable
              caption="Saved replies"
              rows={replies}
              rowKey={({ name }) => name}
              empty={
                <Empty shape={icons.reply} title="No saved replies yet">
                  <p>Write the answers that agents give again and again.</p>
                </Empty>
              }
              columns={[
                { header: "Name", cell: ({ name }) => <span dir="auto">/{name}</span> },
                { header: "Text", cell: ({ text }) => <span dir="auto">{text}</span> },
                {
                  header: "Actions",
                  isHeaderHidden: true,
                  align: "end",
                  cell: (reply) =>
                    canWrite && (
                      <EditAndDelete
                        name={reply.name}
                        edit={() => setDialog({ kind: "edit", reply })}
                        remove={() => setDialog({ kind: "remove", reply })}
                      />
                    ),
                },
              ]}
            />
          </>
        )}
      </Loaded>
      {dialog !== undefined && <Open dialog={dialog} closed={() => setDialog(undefined)} changed={changed} />}
    </>
  );
}

function Open(props: { readonly dialog: Dialog; readonly closed: () => void; readonly changed: () => void }) {
  const { dialog, closed, changed } = props;
  const then = async (work: Promise<unknown>): Promise<void> => {
    await work;
    changed();
  };
  if (dialog.kind === "remove") {
    const { reply } = dialog;
    return (
      <ConfirmDialog
        title={`Delete ${reply.name}?`}
        confirm="Delete"
        done="Deleted."
        run={() => then(api.del(pathOf(reply)))}
        closed={closed}
      >
        <p>Agents cannot insert it any more.</p>
      </ConfirmDialog>
    );
  }
  const initial = dialog.kind === "edit" ? dialog.reply : { name: "", text: "" };
  return (
    <FormDialog
      title={dialog.kind === "edit" ? "Edit the reply" : "Add a reply"}
      initial={initial}
      label="Save"
      done="Saved."
      send={(values) =>
        then(dialog.kind === "edit" ? api.patch(pathOf(initial), values) : api.post("saved-replies", values))
      }
      closed={closed}
    >
      {(form) => (
        <>
          <TextField of={form.field("name")} label="Name" hint="Without spaces and capitals." maxLength={40} required />
          <TextAreaField
            of={form.field("text")}
            label="Text"
            hint="Markdown. Parley replaces {customer} and {agent} by their names."
            rows={5}
            maxLength={4_000}
            required
          />
        </>
      )}
    </FormDialog>
  );
}
