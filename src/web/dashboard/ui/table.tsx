import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "#web/shared/ui/elements.tsx";
import { icons } from "./icons.ts";

export interface Column<Row> {
  readonly header: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** `end`: numbers, and buttons of the row. */
  readonly align?: "start" | "end";
  /** The header is for screen readers only, such as that of the buttons. */
  readonly isHeaderHidden?: boolean;
}

/**
 * A table, whose rows become blocks on phones. The first column names the row. The style sheet changes how it is laid
 * out, which makes some browsers forget that it is a table; the roles say it again.
 */
export function DataTable<Row>(props: {
  /** Says what the rows are; for screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string | number;
  /** In place of rows. */
  readonly empty?: ComponentChildren;
}) {
  const { caption, columns, rows, rowKey, empty } = props;
  if (rows.length === 0 && empty !== undefined) return <>{empty}</>;
  return (
    <Frame caption={caption}>
      <table class="data" role="table">
        <caption class="unseen">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ header, align, isHeaderHidden = false }) => (
              <th key={header} role="columnheader" scope="col" class={align}>
                <span class={isHeaderHidden ? "unseen" : undefined}>{header}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr key={rowKey(row)} role="row">
              {columns.map(({ header, cell, align, isHeaderHidden = false }, index) =>
                index === 0 ? (
                  <th key={header} role="rowheader" scope="row" class={align}>
                    {cell(row)}
                  </th>
                ) : (
                  <td key={header} role="cell" class={align} data-label={isHeaderHidden ? undefined : header}>
                    {cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </Frame>
  );
}

/** The frame of a table. It takes the focus while the table is wider, so that arrow keys can scroll it. */
function Frame({ caption, children }: { readonly caption: string; readonly children: ComponentChildren }) {
  const frame = useRef<HTMLDivElement>(null);
  const [isWider, setWider] = useState(false);
  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    const resized = new ResizeObserver(() => setWider(element.scrollWidth > element.clientWidth));
    resized.observe(element);
    return () => resized.disconnect();
  }, []);
  const focusable = isWider ? ({ tabIndex: 0, role: "region", "aria-label": caption } as const) : {};
  return (
    <div class="table-frame" ref={frame} {...focusable}>
      {children}
    </div>
  );
}

/** The buttons of a row, for its last column. */
export const EditAndDelete = (props: {
  readonly name: string;
  readonly edit: () => void;
  readonly remove: () => void;
}) => (
  <div class="row-actions">
    <Button label={`Edit ${props.name}`} kind="icon" shape={icons.edit} onClick={props.edit} />
    <Button label={`Delete ${props.name}`} kind="icon" shape={icons.trash} onClick={props.remove} />
  </div>
);
