import { Button } from "#web/shared/ui/elements.tsx";
import { icons } from "#web/dashboard/ui/icons.ts";
import { DataTable } from "#web/dashboard/ui/table.tsx";
import { saveCsv } from "./csv.ts";
import type { ReportNumber, ReportRow } from "./numbers.ts";
import { shown } from "./numbers.ts";

interface TableOf {
  /** Says what the rows are, and names the file. */
  readonly caption: string;
  readonly rowHeader: string;
  readonly columns: readonly ReportNumber[];
  readonly rows: readonly ReportRow[];
  readonly nameOf?: (row: ReportRow) => string;
}

/** The numbers of rows, with the button that saves them. */
export function NumberTable({ caption, rowHeader, columns, rows, nameOf = ({ name }) => name }: TableOf) {
  const save = (): void =>
    saveCsv(caption, [
      [rowHeader, ...columns.map(({ label, kind }) => (kind === "time" ? `${label} (seconds)` : label))],
      ...rows.map((row) => [row.name, ...columns.map(({ of }) => of(row.values))]),
    ]);
  return (
    <div class="report-table">
      <DataTable
        caption={caption}
        columns={[
          { header: rowHeader, cell: nameOf },
          ...columns.map(({ label, short = label, kind, of }) => ({
            header: short,
            align: "end" as const,
            cell: (row: ReportRow) => shown(kind, of(row.values)),
          })),
        ]}
        rows={rows}
        rowKey={({ key }) => key}
      />
      <Button label={`Save ${caption} as CSV`} kind="secondary" shape={icons.download} onClick={save} />
    </div>
  );
}
