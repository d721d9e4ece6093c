import { Button } from "#web/shared/ui/elements.tsx";
import { icons } from "#web/dashboard/ui/icons.ts";
import { DataTable } from "#web/dashboard/ui/table.tsx";
import { saveCsv } from "./csv.ts";
import type { ReportNumber, ReportRow, Values } from "./numbers.ts";
import { changeOf, shown } from "./numbers.ts";

interface TableOf {
  /** Says what the rows are, and names the file. */
  readonly caption: string;
  readonly rowHeader: string;
  readonly columns: readonly ReportNumber[];
  readonly rows: readonly ReportRow[];
  readonly nameOf?: (row: ReportRow) => string;
  /** The values of the range before, by the keys of the rows. */
  readonly before?: ReadonlyMap<string, Values>;
}

/** The numbers of rows, with the button that saves them. */
export function NumberTable({ caption, rowHeader, columns, rows, nameOf = ({ name }) => name, before }: TableOf) {
  const save = (): void =>
    saveCsv(caption, [
      [
        rowHeader,
        ...columns.map(csvLabel),
        ...(before === undefined ? [] : columns.map((each) => `${csvLabel(each)} before`)),
      ],
      ...rows.map((row) => [
        row.name,
        ...columns.map(({ of }) => of(row.values)),
        ...(before === undefined ? [] : columns.map(({ of }) => earlier(of, row, before) ?? null)),
      ]),
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
            cell: (row: ReportRow) => <Cell now={of(row.values)} kind={kind} before={earlier(of, row, before)} />,
          })),
        ]}
        rows={rows}
        rowKey={({ key }) => key}
      />
      <Button label={`Save ${caption} as CSV`} kind="secondary" shape={icons.download} onClick={save} />
    </div>
  );
}

const csvLabel = ({ label, kind }: ReportNumber): string => (kind === "time" ? `${label} (seconds)` : label);

/** Undefined: there is no range before, or the row was not in it. */
const earlier = (
  of: ReportNumber["of"],
  { key }: ReportRow,
  before: ReadonlyMap<string, Values> | undefined,
): number | null | undefined => {
  const values = before?.get(key);
  return values === undefined ? undefined : of(values);
};

function Cell(props: {
  readonly now: number | null;
  readonly kind: ReportNumber["kind"];
  readonly before: number | null | undefined;
}) {
  const { now, kind, before } = props;
  const change = before === undefined ? undefined : (changeOf(now, before)?.text ?? `${shown(kind, before)} before`);
  if (change === undefined || ((now ?? 0) === 0 && (before ?? 0) === 0)) return <>{shown(kind, now)}</>;
  return (
    <span>
      {shown(kind, now)}
      <small class="cell-change">{change}</small>
    </span>
  );
}
