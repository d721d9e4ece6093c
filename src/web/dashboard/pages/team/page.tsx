import { api } from "#web/dashboard/api.ts";
import type { DashboardPage } from "#web/dashboard/page.ts";
import { useQuery } from "#web/dashboard/store.ts";
import { PageHead } from "#web/dashboard/ui/page.tsx";
import { usePolling } from "#web/dashboard/ui/polling.ts";
import { useResource } from "#web/dashboard/ui/resource.tsx";
import { Tabs } from "#web/dashboard/ui/tabs.tsx";
import { AgentPage } from "./agent.tsx";
import { AgentList } from "./agents.tsx";
import { TeamList } from "./teams.tsx";
import { allAgents } from "./all-agents.ts";
import type { Team } from "./types.ts";

export const team: DashboardPage = {
  path: "team",
  label: "Team",
  about: "Colleagues, their roles and teams.",
  group: "Workspace",
  icon: "people",
  roles: ["admin"],
  render: (id) => (id === undefined ? <TeamPage /> : <AgentPage id={id} />),
};

function TeamPage() {
  const [tab, setTab] = useQuery("tab");
  const agents = useResource(allAgents, []);
  // A colleague accepts the invitation elsewhere.
  usePolling(agents.data?.some(({ invited_until: until }) => until !== null) === true, agents.reload);
  const teams = useResource(async () => (await api.get<{ readonly teams: readonly Team[] }>("teams")).teams, []);
  return (
    <>
      <PageHead title="Team" lead="The people who answer customers, and what each of them may do." />
      <Tabs
        label="Team"
        current={tab}
        choose={setTab}
        tabs={[
          { id: "agents", label: "Agents", render: () => <AgentList agents={agents} teams={teams.data ?? []} /> },
          { id: "teams", label: "Teams", render: () => <TeamList teams={teams} agents={agents.data ?? []} /> },
        ]}
      />
    </>
  );
}
