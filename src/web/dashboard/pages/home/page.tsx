import { Icon } from "#web/shared/ui/elements.tsx";
import { api } from "#web/dashboard/api.ts";
import type { DashboardPage } from "#web/dashboard/page.ts";
import { addressOf } from "#web/dashboard/router.ts";
import { useDashboard, useListedPages } from "#web/dashboard/store.ts";
import { icons } from "#web/dashboard/ui/icons.ts";
import { PageHead, Section } from "#web/dashboard/ui/page.tsx";
import { Loaded, useResource } from "#web/dashboard/ui/resource.tsx";
import { Attention } from "./attention.tsx";
import { FirstSteps } from "./first-steps.tsx";
import type { Overview } from "./types.ts";

export const home: DashboardPage = {
  path: "",
  label: "Overview",
  about: "The workspace at a glance.",
  group: "Overview",
  icon: icons.home,
  roles: ["admin", "viewer"],
  render: () => <Home />,
};

function Home() {
  const { workspace, version } = useDashboard().me.value;
  const overview = useResource(() => api.get<Overview>("overview"), []);
  const others = useListedPages().filter(({ path }) => path !== home.path);
  return (
    <>
      <PageHead title="Overview" lead={`Settings and results of ${workspace.name}.`} />
      <Loaded of={overview}>
        {(found) => (
          <>
            <Attention of={found} reload={overview.reload} />
            <FirstSteps of={found.first_steps} reload={overview.reload} />
          </>
        )}
      </Loaded>
      <Section title="Go to">
        <ul class="page-links">
          <li>
            <a href="/inbox">
              <Icon name="inbox" />
              <span>
                <b>Inbox</b>
                <small>Conversations with customers.</small>
              </span>
            </a>
          </li>
          {others.map(({ path, label, about, icon }) => (
            <li key={path}>
              <a href={addressOf(path)}>
                <Icon name={icon} />
                <span>
                  <b>{label}</b>
                  <small>{about}</small>
                </span>
              </a>
            </li>
          ))}
        </ul>
      </Section>
      <p class="soft">Parley {version}</p>
    </>
  );
}
