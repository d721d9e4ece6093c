import type { Grouping } from "#domain/reporting/metrics.ts";
import { Empty } from "#web/shared/ui/elements.tsx";
import { api } from "#web/dashboard/api.ts";
import { useQuery } from "#web/dashboard/store.ts";
import { Loaded, useResource } from "#web/dashboard/ui/resource.tsx";
import { Tabs } from "#web/dashboard/ui/tabs.tsx";
import { NumberTable } from "./data-table.tsx";
import { DefinitionList } from "./definition-list.tsx";
import { GroupChart } from "./group-chart.tsx";
import type { Report, ReportNumber } from "./numbers.ts";
import { counted, numbers } from "./numbers.ts";
import type { Range } from "./range.ts";

const { conversations, messages, resolved, alone, handedOver, reopened, unanswered } = numbers;
const { firstReply, personReply, resolution, slaMet, satisfaction } = numbers;

const ofAgents: readonly ReportNumber[] = [
  counted("Assigned", "assigned"),
  counted("Messages", "messages_by_agents"),
  resolved,
  reopened,
  personReply,
  resolution,
  slaMet,
  satisfaction,
];

const groups: readonly {
  readonly by: Grouping;
  readonly label: string;
  readonly header: string;
  readonly columns: readonly ReportNumber[];
}[] = [
  {
    by: "channel",
    label: "Channels",
    header: "Channel",
    columns: [
      conversations,
      messages,
      resolved,
      alone,
      handedOver,
      unanswered,
      firstReply,
      personReply,
      resolution,
      slaMet,
      satisfaction,
    ],
  },
  { by: "agent", label: "Agents", header: "Agent", columns: ofAgents },
  { by: "team", label: "Teams", header: "Team", columns: ofAgents },
  {
    by: "tag",
    label: "Tags",
    header: "Tag",
    columns: [conversations, resolved, alone, handedOver, reopened, resolution, slaMet, satisfaction],
  },
];

/** A report has no more rows, the largest ones. */
const rowsMax = 200;

/** The numbers of the range by channel, agent, team and tag. The shown group is in the address. */
export function Breakdown({ range }: { readonly range: Range }) {
  const [shownGroup, show] = useQuery("by");
  return (
    <Tabs
      label="Divide by"
      current={shownGroup}
      choose={show}
      tabs={groups.map((group) => ({
        id: group.by,
        label: group.label,
        render: () => <Group key={group.by} {...group} range={range} />,
      }))}
    />
  );
}

function Group({ by, label, header, columns, range }: (typeof groups)[number] & { readonly range: Range }) {
  const { from, to, before } = range;
  const resource = useResource(async () => {
    const [report, earlier] = await Promise.all([
      api.get<Report>("analytics", { from, to, by }),
      api.get<Report>("analytics", { ...before, by }),
    ]);
    const shownKeys = new Set(report.rows.map(({ key }) => key));
    // A channel without anything in this range had something before.
    const isWhole = report.rows.length < rowsMax;
    const gone = earlier.rows
      .filter(({ key }) => isWhole && !shownKeys.has(key))
      .map((row) => ({ ...row, values: {} }));
    return {
      rows: [...report.rows, ...gone],
      before: new Map(earlier.rows.map(({ key, values }) => [key, values])),
    };
  }, [from, to, by]);
  return (
    <Loaded of={resource}>
      {({ rows, before: earlier }) =>
        rows.length === 0 ? (
          <Empty shape="layers" title={`No ${label.toLowerCase()}`}>
            <p>Nothing was counted for any in these days.</p>
          </Empty>
        ) : (
          <>
            <GroupChart title={label} columns={columns} rows={rows} before={earlier} />
            <NumberTable caption={label} rowHeader={header} columns={columns} rows={rows} before={earlier} />
            <DefinitionList of={columns} />
          </>
        )
      }
    </Loaded>
  );
}
