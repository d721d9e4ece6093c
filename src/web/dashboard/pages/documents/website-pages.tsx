import { useState } from "preact/hooks";
import { Link } from "#web/shared/ui/content.tsx";
import { Empty } from "#web/shared/ui/elements.tsx";
import { api } from "#web/dashboard/api.ts";
import { FilterBar, FilterSelect } from "#web/dashboard/ui/filters.tsx";
import type { Tone } from "#web/dashboard/ui/marks.tsx";
import { Badge } from "#web/dashboard/ui/marks.tsx";
import { Section } from "#web/dashboard/ui/page.tsx";
import { Loaded, ShowMore, usePaged } from "#web/dashboard/ui/resource.tsx";
import type { Column } from "#web/dashboard/ui/table.tsx";
import { DataTable } from "#web/dashboard/ui/table.tsx";
import { pathOf } from "./documents.ts";

interface WebsitePage {
  readonly url: string;
  readonly state: keyof typeof states;
  readonly reason: string | null;
  readonly title: string | null;
  readonly passages: number;
}

const states = {
  kept: { label: "In use", tone: "good" },
  queued: { label: "Waiting", tone: "wait" },
  skipped: { label: "Left out", tone: "neutral" },
  failed: { label: "Failed", tone: "bad" },
  gone: { label: "Gone", tone: "bad" },
} as const satisfies Readonly<Record<string, { readonly label: string; readonly tone: Tone }>>;

const options = Object.entries(states).map(([value, { label }]) => ({ value, label }));

const columns: readonly Column<WebsitePage>[] = [
  {
    header: "Page",
    cell: ({ title, url }) => (
      <div class="document-name">
        <span>
          {title !== null && <span dir="auto">{title}</span>}
          <small>
            <Link href={url}>{url}</Link>
          </small>
        </span>
      </div>
    ),
  },
  {
    header: "State",
    cell: ({ state, reason }) => (
      <div class="document-state">
        <Badge tone={states[state].tone}>{states[state].label}</Badge>
        {reason !== null && <p class="hint">{reason}</p>}
      </div>
    ),
  },
  { header: "Passages", cell: ({ passages }) => passages, align: "end" },
];

/** The pages that were found on a website. */
export function WebsitePages({ id }: { readonly id: string }) {
  const [state, setState] = useState("");
  const list = usePaged<WebsitePage>(
    (cursor) => api.page(`${pathOf(id)}/pages`, "pages", { state, cursor }),
    [id, state],
  );
  return (
    <Section title="Pages">
      <FilterBar>
        <FilterSelect label="State" all="All states" options={options} value={state} set={setState} />
      </FilterBar>
      <Loaded of={list}>
        {(rows) => (
          <DataTable
            caption="Pages of the website"
            columns={columns}
            rows={rows}
            rowKey={({ url }) => url}
            empty={
              <Empty title="No pages">
                <p>None was found, or none is in this state.</p>
              </Empty>
            }
          />
        )}
      </Loaded>
      <ShowMore of={list} />
    </Section>
  );
}
