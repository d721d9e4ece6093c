import type { ComponentChildren } from "preact";
import { Button } from "#web/shared/ui/elements.tsx";
import { addressOf } from "#web/dashboard/router.ts";
import { icons } from "#web/dashboard/ui/icons.ts";
import { RelativeTime } from "#web/dashboard/ui/marks.tsx";
import type { Column } from "#web/dashboard/ui/table.tsx";
import { DataTable } from "#web/dashboard/ui/table.tsx";
import type { KnowledgeDocument } from "./documents.ts";
import { originOf } from "./documents.ts";
import { Audience, DocumentState } from "./state.tsx";

interface TableProps {
  readonly rows: readonly KnowledgeDocument[];
  /** Documents of the built-in manual. */
  readonly manual: ReadonlySet<string>;
  readonly canWrite: boolean;
  readonly selected: ReadonlySet<string>;
  readonly select: (ids: ReadonlySet<string>) => void;
  readonly recrawl: (document: KnowledgeDocument) => void;
  readonly remove: (document: KnowledgeDocument) => void;
  readonly empty: ComponentChildren;
}

export function DocumentTable(props: TableProps) {
  const { rows, canWrite, empty } = props;
  const columns: readonly Column<KnowledgeDocument>[] = [
    { header: "Document", cell: (row) => <NameCell of={row} {...props} /> },
    { header: "State", cell: (row) => <DocumentState of={row} /> },
    { header: "Passages", cell: ({ chunks }) => chunks, align: "end" },
    { header: "Audience", cell: ({ audience }) => <Audience tags={audience} /> },
    { header: "Updated", cell: ({ indexed_at: at }) => <RelativeTime at={at} none="not yet" /> },
    ...(canWrite
      ? [
          {
            header: "Actions",
            isHeaderHidden: true,
            align: "end" as const,
            cell: (row: KnowledgeDocument) => <RowActions of={row} {...props} />,
          },
        ]
      : []),
  ];
  return (
    <div class="documents">
      <DataTable caption="Documents" columns={columns} rows={rows} rowKey={({ id }) => id} empty={empty} />
    </div>
  );
}

function NameCell({
  of: document,
  manual,
  canWrite,
  selected,
  select,
}: TableProps & { readonly of: KnowledgeDocument }) {
  const { id, title } = document;
  const toggle = (isOn: boolean): void =>
    select(new Set(isOn ? [...selected, id] : [...selected].filter((each) => each !== id)));
  return (
    <div class="document-name">
      {canWrite && (
        <input
          type="checkbox"
          aria-label={`Select ${title}`}
          checked={selected.has(id)}
          onChange={({ currentTarget }) => toggle(currentTarget.checked)}
        />
      )}
      <span>
        <a href={addressOf("documents", id)} dir="auto">
          {title}
        </a>
        <small dir="auto">
          {originOf(document)}
          {manual.has(id) && " · Manual"}
        </small>
      </span>
    </div>
  );
}

function RowActions({ of: document, recrawl, remove }: TableProps & { readonly of: KnowledgeDocument }) {
  const { title, kind } = document;
  return (
    <div class="row-actions">
      {kind === "website" && (
        <Button label={`Read ${title} again`} kind="icon" shape={icons.reload} onClick={() => recrawl(document)} />
      )}
      <Button label={`Delete ${title}`} kind="icon" shape={icons.trash} onClick={() => remove(document)} />
    </div>
  );
}
